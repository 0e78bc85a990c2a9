package features

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"sync"

	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// Config describes a feature map. The zero value of a number means the
// published one.
type Config struct {
	Kind    Kind
	H, W, C int // of the images
	Nets    int // 30 for FC, 8 for Conv
	Width   int // units of a layer, 1024, or channels, 256
	Depth   int // 3

	// Conv's algorithm; it changes the last bits of the features.
	Algorithm tensor.Algorithm
}

// Kind is the kind of networks that a map is made of.
type Kind string

const (
	FC   Kind = "fc"   // linear, ReLU
	Conv Kind = "conv" // 3x3 convolution, ReLU, 2x2 average
)

func (c Config) withDefaults() Config {
	nets, width := 30, 1024
	if c.Kind == Conv {
		nets, width = 8, 256
	}
	for _, d := range []struct {
		v     *int
		value int
	}{{&c.Nets, nets}, {&c.Width, width}, {&c.Depth, 3}} {
		if *d.v == 0 {
			*d.v = d.value
		}
	}
	return c
}

func (c Config) validate() error {
	if c.Kind != FC && c.Kind != Conv {
		return fmt.Errorf("features: kind %q is not known; it is %q or %q", c.Kind, FC, Conv)
	}
	if c.H < 1 || c.W < 1 || c.C < 1 || c.Nets < 1 || c.Width < 1 || c.Depth < 1 {
		return fmt.Errorf("features: image size, nets, width and depth must be positive: %+v", c)
	}
	if c.Kind == Conv && (c.H>>c.Depth == 0 || c.W>>c.Depth == 0) {
		return fmt.Errorf("features: %d layers halve an image of %dx%d pixels to nothing; use fewer layers", c.Depth, c.H, c.W)
	}
	return nil
}

// Map is a fixed random-feature map. It may be used by several goroutines, each
// with its own Pass.
type Map struct {
	cfg  Config
	nets []net
	in   int // values of an image
	out  int // features of one net
}

// net is one network of a map.
type net interface {
	// features writes the features of n images, times scale, to phi, whose rows
	// lie stride apart. Where s is not nil it keeps what backward needs.
	features(phi []float32, stride int, x []float32, n int, scale float32, s *state)
	// backward writes the gradient in the images to dx.
	backward(dx, dphi []float32, stride, n int, scale float32, s *state)
	// group is how many images it takes at a time.
	group() int
	// flops counts the multiplications and additions for one image, one way.
	flops() float64
}

// New draws a map from the seed. Every weight comes from a stream named after
// its net and layer.
func New(cfg Config, seed uint64, labels ...string) (*Map, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return build(cfg, func(net, layer, fanIn int, w, b []float32) {
		names := append(append([]string(nil), labels...), "net", strconv.Itoa(net), "layer", strconv.Itoa(layer))
		s := rng.Stream(seed, names...)
		s.FillNormal(w, 0, float32(math.Sqrt(2/float64(fanIn))))
		s.FillNormal(b, 0, 0.1)
	}), nil
}

// source fills the weights, [.., in, out], and biases of a layer. It gives the
// same values each time that it is called.
type source func(net, layer, fanIn int, w, b []float32)

func build(cfg Config, src source) *Map {
	m := &Map{cfg: cfg, in: cfg.H * cfg.W * cfg.C, nets: make([]net, cfg.Nets)}
	tensor.Parallel(cfg.Nets, func(i int) {
		layer := func(l, fanIn int, w, b []float32) { src(i, l, fanIn, w, b) }
		if cfg.Kind == FC {
			m.nets[i] = newFC(cfg, layer)
		} else {
			m.nets[i] = newConv(cfg, layer)
		}
	})
	m.out = cfg.Width
	if cfg.Kind == Conv {
		m.out *= (cfg.H >> cfg.Depth) * (cfg.W >> cfg.Depth)
	}
	return m
}

// Dim returns M, the number of features.
func (m *Map) Dim() int { return m.out * len(m.nets) }

// Flops returns the number of multiplications and additions that the features
// of one image take, by the definition of the networks; the gradient in the
// image takes as many again.
func (m *Map) Flops() float64 { return m.nets[0].flops() * float64(len(m.nets)) }

// scale is 1/sqrt(M).
func (m *Map) scale() float32 { return float32(1 / math.Sqrt(float64(m.Dim()))) }

// Features sets row i of phi, [n, M], to the features of image i of x,
// [n, h, w, c]. Beyond phi it needs the packed weights, 190 MB for the published
// ConvNets and 630 MB for the FCNets on CIFAR-10, and little more. Now and then it calls
// progress, if there is one, with the share done; it stops early with the
// context's error when ctx is done.
func (m *Map) Features(ctx context.Context, phi tensor.Mat[float32], x []float32, progress func(done float64)) error {
	n := m.images(x, "features: Map.Features: x is not a whole number of images")
	if !fits(phi, n, m.Dim()) {
		panic("features: Map.Features: phi does not fit")
	}
	// The images go through one net after the other, a batch at a time, so that
	// its weights stay in the cache.
	g := m.nets[0].group()
	batch := 32 * g
	for b, k := 0, 0; b < n; b += batch {
		size := min(batch, n-b)
		groups := (size + g - 1) / g
		for i := range m.nets {
			if err := ctx.Err(); err != nil {
				return err
			}
			tensor.Parallel(groups, func(t int) {
				from, to := b+t*size/groups, b+(t+1)*size/groups
				m.nets[i].features(phi.Data[from*phi.Stride+i*m.out:], phi.Stride, x[from*m.in:to*m.in], to-from, m.scale(), nil)
			})
			if k++; progress != nil {
				progress((float64(b)*float64(len(m.nets)) + float64(size)*float64(i+1)) / (float64(n) * float64(len(m.nets))))
			}
		}
	}
	return nil
}

// images returns the number of images in x.
func (m *Map) images(x []float32, message string) int {
	if len(x)%m.in != 0 {
		panic(message)
	}
	return len(x) / m.in
}

// Pass holds what one evaluation of a Map on a small set leaves for its
// backward pass. Its memory is reused from call to call.
type Pass struct {
	m      *Map
	n      int
	states []state // for each net and group of images
	dx     []float32
}

// NewPass returns a Pass over m.
func (m *Map) NewPass() *Pass { return &Pass{m: m} }

// groups returns how many groups the images are taken in.
func (p *Pass) groups() int { g := p.m.nets[0].group(); return (p.n + g - 1) / g }

// each runs do for every net and group of images.
func (p *Pass) each(do func(net, from, to int, s *state)) {
	groups := p.groups()
	tensor.Parallel(len(p.m.nets)*groups, func(t int) {
		i, g := t/groups, t%groups
		do(i, g*p.n/groups, (g+1)*p.n/groups, &p.states[t])
	})
}

// Forward is Features for a small set, and keeps what Backward needs.
func (p *Pass) Forward(phi tensor.Mat[float32], x []float32) {
	m := p.m
	p.n = m.images(x, "features: Pass.Forward: x is not a whole number of images")
	if !fits(phi, p.n, m.Dim()) {
		panic("features: Pass.Forward: phi does not fit")
	}
	if want := len(m.nets) * p.groups(); len(p.states) < want {
		p.states = append(p.states, make([]state, want-len(p.states))...)
	}
	p.each(func(i, from, to int, s *state) {
		m.nets[i].features(phi.Data[from*phi.Stride+i*m.out:], phi.Stride, x[from*m.in:to*m.in], to-from, m.scale(), s)
	})
}

// Backward sets dx to the gradient in the images of the last Forward, where
// dphi, [n, M], is the gradient in their features.
func (p *Pass) Backward(dx []float32, dphi tensor.Mat[float32]) {
	m := p.m
	if len(dx) != p.n*m.in || !fits(dphi, p.n, m.Dim()) {
		panic("features: Pass.Backward: shapes do not fit")
	}
	// Each net has its own share of the gradient; they are added in order.
	size := p.n * m.in
	shares := grow(&p.dx, len(m.nets)*size)
	p.each(func(i, from, to int, s *state) {
		m.nets[i].backward(shares[i*size+from*m.in:i*size+to*m.in], dphi.Data[from*dphi.Stride+i*m.out:], dphi.Stride, to-from, m.scale(), s)
	})
	copy(dx, shares[:size])
	for i := 1; i < len(m.nets); i++ {
		tensor.Axpy(dx, 1, shares[i*size:(i+1)*size], dx)
	}
}

// state is what a net keeps of one group of images for the backward pass.
type state struct {
	bits [][]byte    // Conv: which values of each layer's maps are positive
	acts [][]float32 // FC: each layer's values
}

// work is the working memory of one task.
type work struct {
	state    // where the caller keeps none
	turns    [2][]float32
	big, one []float32
}

var works = sync.Pool{New: func() any { return new(work) }}

// borrow returns working memory, and its own state in place of a nil one with
// room for the given number of layers.
func borrow(s *state, layers int) (*work, *state) {
	w := works.Get().(*work)
	if s == nil {
		s = &w.state
	}
	for len(s.bits) < layers {
		s.bits, s.acts = append(s.bits, nil), append(s.acts, nil)
	}
	return w, s
}

// fits tells whether m is a matrix of the shape.
func fits(m tensor.Mat[float32], rows, cols int) bool {
	return m.Rows == rows && m.Cols == cols && m.Stride >= cols && (rows == 0 || len(m.Data) >= (rows-1)*m.Stride+cols)
}

// grow returns a slice of n values that reuses buf's memory where it can.
func grow[T any](buf *[]T, n int) []T {
	if cap(*buf) < n {
		*buf = make([]T, n)
	}
	return (*buf)[:n]
}
