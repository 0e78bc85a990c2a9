package tensor

import "dgkip/harness/tensor/internal/kernel"

// convBackwardFewInputs is BackwardInput for few input channels, where a panel of
// output channels would be mostly empty. One product with 9*in columns gives
// z = dy w', the share of every output pixel in its nine neighbours. Then every input
// pixel adds up its nine shares in the order of the taps.
func convBackwardFewInputs(dx, dy []float32, taps *Packed, n, h, w, in, out int, add bool) {
	Parallel(n, func(img int) {
		s := getScratch()
		defer putScratch(s)
		cols := 9 * in
		z := Grow(&s.d, h*w*cols)
		g := gemm{path: taps.path, c: Mat[float32]{Rows: h * w, Cols: cols, Stride: cols, Data: z},
			a: Mat[float32]{Rows: h * w, Cols: out, Stride: out, Data: dy[img*h*w*out:]}, packed: taps, m: h * w, n: cols, k: out}
		tiles := ceil(g.m, g.path.Rows)
		g.block(0, tiles, 0, ceil(cols, g.path.Cols), tiles)
		for r := range h {
			for c := range w {
				dst := dx[((img*h+r)*w+c)*in:][:in]
				for k := range dst {
					var f float32
					for i := max(0, r+2-h); i < min(3, r+2); i++ {
						for j := max(0, c+2-w); j < min(3, c+2); j++ {
							f += z[((r+1-i)*w+c+1-j)*cols+(3*i+j)*in+k]
						}
					}
					if add {
						f += dst[k]
					}
					dst[k] = f
				}
			}
		}
	})
}

// packTaps returns weights [3, 3, in, out] as the right operand [out, 9*in].
func packTaps(w []float32, in, out int) *Packed { return Pack(MatOf(w, 9*in, out), NT) }

// ConvBackwardWeights sets dw, [3, 3, in, out], to the gradient of the weights of a
// 3x3 convolution, or adds it. x holds n images of h x w pixels, and dy the gradient
// of the output.
func ConvBackwardWeights[F Float](dw, x, dy []F, n, h, w, in, out int, add bool) {
	if n < 0 || h < 1 || w < 1 || in < 1 || out < 1 || len(dw) != 9*in*out || len(x) != n*h*w*in || len(dy) != n*h*w*out {
		panic("tensor: ConvBackwardWeights: shapes do not fit")
	}
	if n == 0 {
		if !add {
			clear(dw)
		}
		return
	}
	if fast[F]() {
		convWeights(as32(dw), as32(x), as32(dy), n, h, w, in, out, add)
		return
	}
	Parallel(9*in, func(task int) {
		tap, k := task/in, task%in
		i, j := tap/3, tap%3
		for o := range out {
			var f F
			for img := range n {
				for r := max(0, 1-i); r < min(h, h+1-i); r++ {
					for c := max(0, 1-j); c < min(w, w+1-j); c++ {
						f += F(x[((img*h+r+i-1)*w+c+j-1)*in+k] * dy[((img*h+r)*w+c)*out+o])
					}
				}
			}
			if add {
				f += dw[task*out+o]
			}
			dw[task*out+o] = f
		}
	})
}

// convWeights is ConvBackwardWeights on the kernels. The gradient of a tap is the
// product x' dy of the shifted input and the output's gradient, summed over pixels and
// then over images. Pixels shifted out of the image are left out.
func convWeights(dw, x, dy []float32, n, h, w, in, out int, add bool) {
	p := kernel.Active()
	panels := ceil(out, p.Cols)
	// A task computes some taps for one panel of output channels, which stays in the
	// cache from image to image.
	split := 1
	for panels*split < 3*threads() && split < 9 {
		split *= 3
	}
	Parallel(panels*split, func(task int) {
		s := getScratch()
		defer putScratch(s)
		t := convTaps{path: p, s: s, h: h, w: w, in: in, out: out, panel: task / split}
		for img := range n {
			t.run(task%split*9/split, (task%split+1)*9/split, dw, x[img*h*w*in:][:h*w*in], dy[img*h*w*out:][:h*w*out], add || img > 0)
		}
	})
}

// convTaps adds one image's share to the gradient of taps for one panel.
type convTaps struct {
	path          *kernel.Path
	s             *scratch
	h, w, in, out int
	panel         int
	segs          []kernel.Seg
}

func (c *convTaps) run(tap0, tap1 int, dw, x, dy []float32, add bool) {
	width, t := c.path.Cols, &c.s.tile
	b := gemm{path: c.path, b: Mat[float32]{Rows: c.h * c.w, Cols: c.out, Stride: c.out, Data: dy}, n: c.out}
	t.B = Grow(&c.s.b, c.h*c.w*width)
	b.packPanel(t.B, c.panel*width, 0, c.h*c.w)
	t.ARow, t.AK, t.BK = 1, c.in, width
	mode := 0
	if add {
		mode = kernel.Add
	}
	g := gemm{path: c.path, c: Mat[float32]{Rows: 9 * c.in, Cols: c.out, Stride: c.out, Data: dw}, n: c.out}
	rows := ceil(c.in, c.path.Rows)
	for tap := tap0; tap < tap1; tap++ {
		di, dj := tap/3-1, tap%3-1
		r0, r1 := max(0, -di), min(c.h, c.h-di)
		c0, c1 := max(0, -dj), min(c.w, c.w-dj)
		if r0 >= r1 || c0 >= c1 {
			if !add {
				for i := range c.in {
					clear(dw[(tap*c.in+i)*c.out+c.panel*width:][:min(width, c.out-c.panel*width)])
				}
			}
			continue
		}
		c.segs = c.segs[:0]
		for r := r0; r < r1; r++ {
			c.segs = append(c.segs, kernel.Seg{A: ((r+di)*c.w + c0 + dj) * c.in, B: (r*c.w + c0) * width})
		}
		t.Segs, t.K = c.segs, c1-c0
		for i := range rows {
			i0, i1 := i*c.in/rows, (i+1)*c.in/rows
			t.Rows, t.A = i1-i0, x[i0:]
			g.store(c.s, tap*c.in+i0, c.panel*width, mode)
		}
	}
}
