package tensor

import "dgkip/harness/tensor/internal/kernel"

// Winograd's F(4x4, 3x3). The 4x4 outputs of a tile depend on a 6x6
// patch d of the input:
//
//	Y = A' [ (G g G') * (B' d B) ] A      (* elementwise, summed over channels)
//
// This leaves one product of matrices [tiles, in] x [in, out] for each of 36 positions:
// 36 multiplications where the definition needs 144.

// winogradTiles is the number of tiles that a task transforms and multiplies at a time.
// It is small enough for the two blocks of 36 matrices to stay in the cache, and large
// enough to read the weights seldom.
const winogradTiles = 56

// winogradWeights returns U = G g G' for weights [3, 3, in, out], packed as right
// operands, one position after another. It reuses buf's memory where that is large enough.
func winogradWeights(buf []float32, p *kernel.Path, w []float32, in, out int) []float32 {
	width := p.Cols
	panels := ceil(out, width)
	pitch := panels * width
	u := Grow(&buf, 36*in*pitch)
	g := gemm{k: in}
	Parallel(chunks(in)*panels, func(task int) {
		s := getScratch()
		defer putScratch(s)
		ch, panel := task/panels, task%panels
		k0, k1 := g.chunk(ch)
		a := &s.filter
		a.Plane, a.Tap = in*pitch, in*out
		valid := min(width, out-panel*width)
		for k := k0; k < k1; k++ {
			// The offset of row k in its panel of a packed operand.
			a.Dst = u[pitch*k0+panel*width*(k1-k0)+(k-k0)*width:]
			a.Src = w[k*out+panel*width:]
			a.C = valid
			p.WinogradFilter(a)
			for pos := 0; valid < width && pos < 36; pos++ {
				clear(a.Dst[pos*a.Plane+valid:][:width-valid])
			}
		}
	})
	return u
}

// winograd runs the job in blocks of tiles. Each block is a task.
func (j *convJob) winograd() {
	th, tw := ceil(j.h, 4), ceil(j.w, 4)
	tiles := j.n * th * tw
	blocks := ceil(tiles, winogradTiles)
	// With few tiles, a task takes some of the output channels and computes the input
	// transform of all its tiles.
	panels := ceil(j.out, j.path.Cols)
	for blocks < threads() && blocks*4 <= tiles {
		blocks++
	}
	split := 1
	for blocks*split < threads() && split < panels {
		split++
	}
	Parallel(blocks*split, func(task int) {
		b, part := task/split, task%split
		j.winogradBlock(b*tiles/blocks, (b+1)*tiles/blocks, part*panels/split, (part+1)*panels/split, th, tw)
	})
}

// winogradBlock computes tiles [t0, t1) for panels [p0, p1) of the output
// channels.
func (j *convJob) winogradBlock(t0, t1, p0, p1, th, tw int) {
	s := getScratch()
	defer putScratch(s)
	n, width := t1-t0, j.path.Cols
	o0, o1 := p0*width, min(j.out, p1*width)
	// An odd number of cache lines between rows keeps them from evicting each other.
	vRow, mRow := (j.in+15)&^15|16, ((p1-p0)*width+15)&^15|16
	v := Grow(&s.b, 36*n*vRow)
	m := Grow(&s.c, 36*n*mRow)

	in := &s.in
	in.Plane, in.Row, in.Pix = n*vRow, (4*tw+2)*j.in, j.in
	var padded []float32
	img := -1
	for t := t0; t < t1; t++ {
		if t/(th*tw) != img {
			img = t / (th * tw)
			padded = pad(s, j.x[img*j.h*j.w*j.in:][:j.h*j.w*j.in], j.h, j.w, j.in, 4*th+2, 4*tw+2)
		}
		r, c := t/tw%th, t%tw
		in.C = j.in
		in.Src, in.Dst = padded[4*r*in.Row+4*c*in.Pix:], v[(t-t0)*vRow:]
		j.path.WinogradIn(in)
	}

	pitch := ceil(j.out, width) * width
	g := gemm{path: j.path, n: pitch, k: j.in}
	t := &s.tile
	t.Segs = s.one()
	t.ARow, t.AK, t.BK, t.CRow, t.Cols = vRow, 1, width, mRow, width
	rowTiles := ceil(n, j.path.Rows)
	for pos := range 36 {
		u := j.weights[pos*j.in*pitch:][:j.in*pitch]
		for ch := range chunks(j.in) {
			k0, k1 := g.chunk(ch)
			t.K, t.Mode = k1-k0, 0
			if ch > 0 {
				t.Mode = kernel.Add
			}
			for p := p0; p < p1; p++ {
				t.B = u[pitch*k0+p*width*(k1-k0):][:width*(k1-k0)]
				for i := range rowTiles {
					r0, r1 := i*n/rowTiles, (i+1)*n/rowTiles
					t.Rows = r1 - r0
					t.A = v[(pos*n+r0)*vRow+k0:]
					t.C = m[(pos*n+r0)*mRow+(p-p0)*width:]
					j.path.Tile(t)
				}
			}
		}
	}
	j.winogradStore(s, m, mRow, t0, n, o0, o1, th, tw)
}

// winogradStore transforms the products of a block back and stores channels [o0, o1). A
// tile that crosses the image's edge, or adds to the output, goes through scratch memory.
func (j *convJob) winogradStore(s *scratch, m []float32, mRow, t0, n, o0, o1, th, tw int) {
	out := &s.out
	out.Plane = n * mRow
	mode := j.mode()
	edge := Grow(&s.d, 16*(o1-o0))
	for t := range n {
		img, r, c := (t0+t)/(th*tw), (t0+t)/tw%th, (t0+t)%tw
		out.Src, out.C = m[t*mRow:], o1-o0
		if mode&kernel.AddBias != 0 {
			out.Bias = j.e.Bias[o0:o1]
		}
		y := j.y[((img*j.h+4*r)*j.w+4*c)*j.out+o0:]
		rows, cols := min(4, j.h-4*r), min(4, j.w-4*c)
		if rows == 4 && cols == 4 && mode&kernel.Add == 0 {
			out.Dst, out.Row, out.Pix, out.Mode = y, j.w*j.out, j.out, mode
			j.path.WinogradOut(out)
			continue
		}
		out.Dst, out.Row, out.Pix, out.Mode = edge, 4*(o1-o0), o1-o0, mode
		if mode&kernel.Add != 0 {
			out.Mode = 0
		}
		j.path.WinogradOut(out)
		for a := range rows {
			for b := range cols {
				dst, src := y[(a*j.w+b)*j.out:][:o1-o0], edge[(4*a+b)*(o1-o0):][:o1-o0]
				if mode&kernel.Add == 0 {
					copy(dst, src)
					continue
				}
				for i, f := range src {
					f = dst[i] + f
					if mode&kernel.AddBias != 0 {
						f += out.Bias[i]
					}
					if mode&kernel.ReLU != 0 && f < 0 {
						f = 0
					}
					dst[i] = f
				}
			}
		}
	}
}
