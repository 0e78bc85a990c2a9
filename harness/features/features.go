package features

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"dgkip/harness/nn"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// Config describes a feature map. A zero for Nets, Width or Depth means the published default.
type Config struct {
	Kind    string // an architecture of package nn
	H, W, C int    // height, width and channels of the images
	Nets    int
	Width   int // units or channels of a layer
	Depth   int
}

// net returns one network of the map, without weights, and c with defaults filled in.
func (c Config) net() (*nn.Net[float32], Config, error) {
	a, _ := nn.Lookup(c.Kind)
	c.Nets, c.Width, c.Depth = cmp.Or(c.Nets, a.Nets), cmp.Or(c.Width, a.Width), cmp.Or(c.Depth, a.Depth)
	shape := nn.Shape{Kind: c.Kind, Width: c.Width, Depth: c.Depth}
	n, err := shape.Features(c.H, c.W, c.C)
	if err == nil && c.Nets < 1 {
		err = fmt.Errorf("the number of networks must be positive, not %d", c.Nets)
	}
	if err != nil {
		return nil, c, fmt.Errorf("features: %w", err)
	}
	return n, c, nil
}

// Dim returns M, the number of features, or 0 if c is not valid.
func (c Config) Dim() int {
	n, c, err := c.net()
	if err != nil {
		return 0
	}
	return n.Classes() * c.Nets
}

// Map is a fixed random-feature map. Several goroutines may use it, each with its own Pass.
type Map struct {
	cfg  Config
	nets []*nn.Frozen
	in   int // values of an image
	out  int // features of one network
}

// New draws a map from the seed. The weights of each network and layer come from a stream named
// after labels, network and layer.
func New(cfg Config, seed uint64, labels ...string) (*Map, error) {
	net, cfg, err := cfg.net()
	if err != nil {
		return nil, err
	}
	m := &Map{cfg: cfg, in: net.Inputs(), out: net.Classes(), nets: make([]*nn.Frozen, cfg.Nets)}
	tensor.Parallel(cfg.Nets, func(i int) {
		m.nets[i] = net.Freeze(func(layer int, tensors []nn.Tensor, theta []float32) {
			s := rng.Stream(seed, append(slices.Clone(labels), "net", strconv.Itoa(i), "layer", strconv.Itoa(layer))...)
			for _, t := range tensors {
				sd := float32(0.1)
				if t.Weight() {
					sd = float32(math.Sqrt(2 / float64(t.FanIn)))
				}
				s.FillNormal(theta[:t.Len], 0, sd)
				theta = theta[t.Len:]
			}
		})
	})
	return m, nil
}

// Dim returns M, the number of features.
func (m *Map) Dim() int { return m.out * len(m.nets) }

// scale is 1/sqrt(M).
func (m *Map) scale() float32 { return float32(1 / math.Sqrt(float64(m.Dim()))) }

// share returns rows [from, to) of the features of one network.
func (m *Map) share(phi tensor.Mat[float32], net, from, to int) tensor.Mat[float32] {
	return phi.Part(from, to, net*m.out, (net+1)*m.out)
}

// Features sets row i of phi, [n, M], to the features of image i of x, [n, h, w, c]. If ctx is
// done, it stops with the context's error. It calls progress, unless nil, with the fraction done.
//
// Apart from phi, it needs memory for the packed weights: on CIFAR-10, 190 MB for the published
// ConvNets and 630 MB for the FCNets. Pass.Backward packs them a second time, for a total of
// 340 MB and 1.26 GB.
func (m *Map) Features(ctx context.Context, phi tensor.Mat[float32], x []float32, progress func(done float64)) error {
	n := m.images(x, "features: Map.Features: x is not a whole number of images")
	if !fits(phi, n, m.Dim()) {
		panic("features: Map.Features: phi does not fit")
	}
	// A batch of images goes through one network after the other, so that the network's
	// weights stay in the cache.
	g := m.nets[0].Together()
	batch := 32 * g
	for b := 0; b < n; b += batch {
		size := min(batch, n-b)
		groups := (size + g - 1) / g
		for i := range m.nets {
			if err := ctx.Err(); err != nil {
				return err
			}
			tensor.Parallel(groups, func(t int) {
				from, to := b+t*size/groups, b+(t+1)*size/groups
				m.nets[i].Forward(m.share(phi, i, from, to), x[from*m.in:to*m.in], m.scale(), nil)
			})
			if progress != nil {
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

// Pass evaluates a Map on a small set, and takes gradients back to the images. It reuses its
// memory.
type Pass struct {
	m    *Map
	n    int
	kept []nn.Kept // for each network and group of images
	dx   []float32
}

// NewPass returns a Pass over m.
func (m *Map) NewPass() *Pass { return &Pass{m: m} }

// groups returns the number of groups of images.
func (p *Pass) groups() int { g := p.m.nets[0].Together(); return (p.n + g - 1) / g }

// each runs do for every network and group of images.
func (p *Pass) each(do func(net, from, to int, k *nn.Kept)) {
	groups := p.groups()
	tensor.Parallel(len(p.m.nets)*groups, func(t int) {
		i, g := t/groups, t%groups
		do(i, g*p.n/groups, (g+1)*p.n/groups, &p.kept[t])
	})
}

// Forward sets phi to the features of a small set, like Map.Features, and prepares for Backward.
func (p *Pass) Forward(phi tensor.Mat[float32], x []float32) {
	m := p.m
	p.n = m.images(x, "features: Pass.Forward: x is not a whole number of images")
	if !fits(phi, p.n, m.Dim()) {
		panic("features: Pass.Forward: phi does not fit")
	}
	if want := len(m.nets) * p.groups(); len(p.kept) < want {
		p.kept = append(p.kept, make([]nn.Kept, want-len(p.kept))...)
	}
	p.each(func(i, from, to int, k *nn.Kept) {
		m.nets[i].Forward(m.share(phi, i, from, to), x[from*m.in:to*m.in], m.scale(), k)
	})
}

// Backward sets dx to the gradient in the images of the last Forward, given the gradient dphi,
// [n, M], in their features.
func (p *Pass) Backward(dx []float32, dphi tensor.Mat[float32]) {
	m := p.m
	if len(dx) != p.n*m.in || !fits(dphi, p.n, m.Dim()) {
		panic("features: Pass.Backward: shapes do not fit")
	}
	// Each network has its own share of the gradient. The shares are added in order.
	size := p.n * m.in
	shares := tensor.Grow(&p.dx, len(m.nets)*size)
	p.each(func(i, from, to int, k *nn.Kept) {
		m.nets[i].Backward(shares[i*size+from*m.in:i*size+to*m.in], m.share(dphi, i, from, to), m.scale(), k)
	})
	copy(dx, shares[:size])
	for i := 1; i < len(m.nets); i++ {
		tensor.Axpy(dx, 1, shares[i*size:(i+1)*size], dx)
	}
}

// fits reports whether m has this shape and enough data.
func fits(m tensor.Mat[float32], rows, cols int) bool {
	return m.Rows == rows && m.Cols == cols && m.Stride >= cols && (rows == 0 || len(m.Data) >= (rows-1)*m.Stride+cols)
}
