package tensor

import "dgkip/harness/tensor/internal/kernel"

// convBackwardThin is BackwardInput for few input channels, where a panel of
// output channels would be mostly empty: every output pixel spreads
// z = dy w' over the nine taps, one product with 9*in columns, and an input
// pixel gathers its nine shares in the order of the taps.
func convBackwardThin(dx, dy []float32, taps *Packed, n, h, w, in, out int, add bool) {
	Parallel(n, func(img int) {
		s := getScratch()
		defer putScratch(s)
		cols := 9 * in
		z := grow(&s.d, h*w*cols)
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

// ConvBackwardWeights sets dw, [3, 3, in, out], to the gradient of the weights
// of a 3x3 convolution of n images x of h x w pixels, where dy is the gradient
// of its output, or adds it.
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
	if x32, ok := as32(x); ok {
		dw32, _ := as32(dw)
		dy32, _ := as32(dy)
		convWeights(dw32, x32, dy32, n, h, w, in, out, add)
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

// convWeights is ConvBackwardWeights on the kernels. A tap's gradient is the
// product x' dy of the input shifted by the tap and the output's gradient,
// summed over pixels image by image; pixels that the shift moves out of the
// image are left out.
func convWeights(dw, x, dy []float32, n, h, w, in, out int, add bool) {
	p := kernel.Active()
	width := p.Cols
	panels, rows := ceil(out, width), ceil(in, p.Rows)
	panel := func(img, i int) int { return (img*panels + i) * h * w * width }
	packed := make([]float32, n*panels*h*w*width)
	Parallel(n, func(img int) {
		g := gemm{path: p, b: Mat[float32]{Rows: h * w, Cols: out, Stride: out, Data: dy[img*h*w*out:]}, n: out}
		for i := range panels {
			g.packPanel(nil, packed[panel(img, i):][:h*w*width], i*width, 0, h*w)
		}
	})
	// A task owns one tap's gradient for some output channels.
	Parallel(9*panels, func(task int) {
		tap, pl := task/panels, task%panels
		di, dj := tap/3-1, tap%3-1
		s := getScratch()
		defer putScratch(s)
		t := &s.tile
		g := gemm{path: p, c: Mat[float32]{Rows: 9 * in, Cols: out, Stride: out, Data: dw}, n: out}
		r0, r1 := max(0, -di), min(h, h-di)
		c0, c1 := max(0, -dj), min(w, w-dj)
		if r0 >= r1 || c0 >= c1 {
			if !add {
				for i := range in {
					clear(dw[(tap*in+i)*out+pl*width:][:min(width, out-pl*width)])
				}
			}
			return
		}
		segs := make([]kernel.Seg, 0, r1-r0)
		for r := r0; r < r1; r++ {
			segs = append(segs, kernel.Seg{A: ((r+di)*w + c0 + dj) * in, B: (r*w + c0) * width})
		}
		t.Segs, t.K, t.ARow, t.AK, t.BK = segs, c1-c0, 1, in, width
		for img := range n {
			mode := kernel.Add
			if img == 0 && !add {
				mode = 0
			}
			t.B = packed[panel(img, pl):][:h*w*width]
			for i := range rows {
				i0, i1 := i*in/rows, (i+1)*in/rows
				t.Rows = i1 - i0
				t.A = x[img*h*w*in+i0 : (img+1)*h*w*in]
				g.store(s, tap*in+i0, pl*width, mode)
			}
		}
	})
}
