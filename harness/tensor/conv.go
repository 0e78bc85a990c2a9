package tensor

import (
	"slices"
	"sync"

	"dgkip/harness/tensor/internal/kernel"
)

// Algorithm selects how a convolution is computed.
type Algorithm int

const (
	// Auto uses Winograd where the shape suits it: at least 64 input and output
	// channels, both multiples of 16, and images of at least 4x4 pixels. It ignores
	// the number of images, so that a result never depends on the batch.
	Auto Algorithm = iota
	// Direct sums the nine taps. Its relative rms error is about 1e-6 for 256
	// channels.
	Direct
	// Winograd is F(4x4, 3x3). It takes a quarter of the multiplications of Direct, and
	// its rounding errors are about four times as large.
	Winograd
)

// Conv is a 3x3 convolution of images with stride 1 and zero padding 1:
//
//	y[r, c, o] = sum over i, j in 0..2 and channel k of x[r+i-1, c+j-1, k] * w[i, j, k, o]
//
// Images are [n, h, w, channel] and weights [3, 3, in, out], both contiguous.
// The kernels read the weights in packed layouts, which are built on first use and
// rebuilt after Set. Several goroutines may use a Conv, but not while Set runs.
type Conv[F Float] struct {
	h, w, in, out     int
	winograd          bool
	weights           []F
	forward, backward layout
	taps              *Packed // instead of backward's data for few input channels
}

// layout holds weights in the order in which the kernels of a path read them.
type layout struct {
	once sync.Once
	path *kernel.Path
	data []float32
}

// NewConv returns a convolution of images of h x w pixels. Set gives it weights.
func NewConv[F Float](h, w, in, out int, algo Algorithm) *Conv[F] {
	if min(h, w, in, out) < 1 {
		panic("tensor: NewConv: sizes must be positive")
	}
	return &Conv[F]{h: h, w: w, in: in, out: out, winograd: algo == Winograd || algo == Auto && suitsWinograd(h, w, in, out)}
}

// suitsWinograd is the rule that Auto follows.
func suitsWinograd(h, w, in, out int) bool {
	return in >= 64 && out >= 64 && in%16 == 0 && out%16 == 0 && h >= 4 && w >= 4
}

// Set replaces the weights by a copy of w. Many batches often use the same weights, so it
// first compares, which takes much less time than new layouts. The comparison ignores the
// sign of zero; this is safe because sums start at +0.
func (c *Conv[F]) Set(w []F) {
	if len(w) != 9*c.in*c.out {
		panic("tensor: Conv.Set: weights do not fit the channels")
	}
	if !slices.Equal(w, c.weights) {
		c.weights = append(c.weights[:0], w...)
		c.forward.once, c.backward.once = sync.Once{}, sync.Once{}
	}
}

// Epilogue lists what is done to a convolution's sums before they are stored, in
// the order of the fields.
type Epilogue[F Float] struct {
	Add  bool // add to what the output holds
	Bias []F  // add to every pixel
	ReLU bool // replace negative values by zero
}

// Forward convolves n images. x and y must not overlap.
func (c *Conv[F]) Forward(y, x []F, n int, e Epilogue[F]) {
	if n < 0 || len(x) != n*c.h*c.w*c.in || len(y) != n*c.h*c.w*c.out || e.Bias != nil && len(e.Bias) != c.out {
		panic("tensor: Conv.Forward: shapes do not fit")
	}
	if !fast[F]() {
		convNaive(y, x, c.weights, n, c.h, c.w, c.in, c.out, e)
		return
	}
	c.run(&c.forward, convJob{y: as32(y), x: as32(x), n: n, in: c.in, out: c.out, e: Epilogue[float32]{e.Add, as32(e.Bias), e.ReLU}})
}

// BackwardInput applies the adjoint of Forward to dy and stores the result in dx, or
// adds it. dx and dy must not overlap.
func (c *Conv[F]) BackwardInput(dx, dy []F, n int, add bool) {
	if n < 0 || len(dx) != n*c.h*c.w*c.in || len(dy) != n*c.h*c.w*c.out {
		panic("tensor: Conv.BackwardInput: shapes do not fit")
	}
	if !fast[F]() {
		convNaive(dx, dy, adjointWeights(nil, c.weights, c.in, c.out), n, c.h, c.w, c.out, c.in, Epilogue[F]{Add: add})
		return
	}
	if c.in < fewChannels {
		c.backward.once.Do(func() { c.taps = packTaps(as32(c.weights), c.in, c.out) })
		convBackwardFewInputs(as32(dx), as32(dy), c.taps, n, c.h, c.w, c.in, c.out, add)
		return
	}
	c.run(&c.backward, convJob{y: as32(dx), x: as32(dy), n: n, in: c.out, out: c.in, e: Epilogue[float32]{Add: add}})
}

// run runs a job with the weights of a layout, which it builds on first use.
func (c *Conv[F]) run(l *layout, j convJob) {
	if j.n == 0 {
		return
	}
	l.once.Do(func() {
		w, pack := as32(c.weights), packDirect
		if l == &c.backward {
			s := getScratch()
			defer putScratch(s)
			w = adjointWeights(Grow(&s.d, len(w)), w, c.in, c.out)
		}
		if c.winograd {
			pack = winogradWeights
		}
		l.path = kernel.Active()
		l.data = pack(l.data, l.path, w, j.in, j.out)
	})
	j.path, j.weights, j.h, j.w = l.path, l.data, c.h, c.w
	if c.winograd {
		j.winograd()
	} else {
		j.direct()
	}
}

// adjointWeights returns the weights of the adjoint: taps rotated by half a turn, input
// and output channels exchanged. It reuses buf's memory where that is large enough.
func adjointWeights[F Float](buf, w []F, in, out int) []F {
	t := Grow(&buf, len(w))
	Parallel(9, func(tap int) {
		src, dst := w[tap*in*out:][:in*out], t[(8-tap)*in*out:][:in*out]
		for i := range in {
			for o, v := range src[i*out:][:out] {
				dst[o*in+i] = v
			}
		}
	})
	return t
}

// convNaive computes a convolution by its definition.
func convNaive[F Float](y, x, weights []F, n, h, w, in, out int, e Epilogue[F]) {
	Parallel(n*h, func(task int) {
		img, r := task/h, task%h
		for c := range w {
			dst := y[((img*h+r)*w+c)*out:][:out]
			for o := range dst {
				var f F
				for i := max(0, 1-r); i < min(3, h+1-r); i++ {
					for j := max(0, 1-c); j < min(3, w+1-c); j++ {
						src := x[((img*h+r+i-1)*w+c+j-1)*in:][:in]
						for k, v := range src {
							f += F(v * weights[((3*i+j)*in+k)*out+o])
						}
					}
				}
				if e.Add {
					f += dst[o]
				}
				if e.Bias != nil {
					f += e.Bias[o]
				}
				if e.ReLU && f < 0 {
					f = 0
				}
				dst[o] = f
			}
		}
	})
}

// convJob is one call of Forward or BackwardInput. The latter is a convolution with
// adjointWeights.
type convJob struct {
	path    *kernel.Path
	weights []float32 // in the layout of the algorithm
	y, x    []float32
	n, h, w int
	in, out int
	e       Epilogue[float32]
}

// mode returns the epilogue as a kernel's mode.
func (j *convJob) mode() int {
	m := 0
	if j.e.Add {
		m |= kernel.Add
	}
	if j.e.Bias != nil {
		m |= kernel.AddBias
	}
	if j.e.ReLU {
		m |= kernel.ReLU
	}
	return m
}

// direct sums the taps as a matrix product that reads its left operand in place.
// The three taps of a kernel row read 3*in consecutive values of a padded image, so a
// kernel row is one segment of the sum.
func (j *convJob) direct() {
	width := j.path.Cols
	panels := ceil(j.out, width)
	// Few images: tasks also split the output channels.
	split := 1
	for j.n*split < 2*threads() && split < panels {
		split++
	}
	Parallel(j.n*split, func(task int) {
		s := getScratch()
		defer putScratch(s)
		img, part := task/split, task%split
		x := j.padded(s, img)
		t := &s.tile
		t.A, t.ARow, t.AK, t.BK, t.K = x, j.in, 1, width, 3*j.in
		row := (j.w + 2) * j.in
		t.Segs = s.segs[:3]
		tiles := ceil(j.w, j.path.Rows)
		g := gemm{path: j.path, c: Mat[float32]{Rows: j.n * j.h * j.w, Cols: j.out, Stride: j.out, Data: j.y}, n: j.out, bias: j.e.Bias}
		for p := part * panels / split; p < (part+1)*panels/split; p++ {
			t.B = j.weights[p*9*j.in*width:][:9*j.in*width]
			for r := range j.h {
				for i := range tiles {
					c0, c1 := i*j.w/tiles, (i+1)*j.w/tiles
					for k := range t.Segs {
						t.Segs[k] = kernel.Seg{A: (r+k)*row + c0*j.in, B: k * 3 * j.in * width}
					}
					t.Rows = c1 - c0
					g.store(s, (img*j.h+r)*j.w+c0, p*width, j.mode())
				}
			}
		}
	})
}

// padded returns image img with a border of zeros one pixel wide.
func (j *convJob) padded(s *scratch, img int) []float32 {
	return pad(s, j.x[img*j.h*j.w*j.in:][:j.h*j.w*j.in], j.h, j.w, j.in, j.h+2, j.w+2)
}

// pad copies an image of h x w pixels into one of ph x pw pixels, after one row and
// one column of zeros.
func pad(s *scratch, x []float32, h, w, ch, ph, pw int) []float32 {
	p := Grow(&s.a, ph*pw*ch)
	clear(p[:pw*ch])
	for r := range h {
		row := p[(r+1)*pw*ch:][:pw*ch]
		clear(row[:ch])
		copy(row[ch:], x[r*w*ch:][:w*ch])
		clear(row[(w+1)*ch:])
	}
	clear(p[(h+1)*pw*ch:])
	return p
}

// packDirect packs weights [3, 3, in, out] into panels of consecutive output channels.
// It reuses buf's memory where that is large enough.
func packDirect(buf []float32, p *kernel.Path, w []float32, in, out int) []float32 {
	width := p.Cols
	panels := ceil(out, width)
	dst := Grow(&buf, panels*9*in*width)
	g := gemm{path: p, b: MatOf(w, 9*in, out), n: out}
	Parallel(panels, func(i int) {
		g.packPanel(dst[i*9*in*width:][:9*in*width], i*width, 0, 9*in)
	})
	return dst
}
