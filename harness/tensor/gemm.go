package tensor

import "dgkip/harness/tensor/internal/kernel"

// Order selects which operands of a product are read transposed.
type Order int

const (
	NN Order = iota // A B
	NT              // A B'
	TN              // A' B
)

// kc is the length of the chains that the inner sum of a product is cut into. It is long
// enough to keep the kernel busy. It is short enough for small rounding errors and for a
// panel of B to stay in the second-level cache.
const kc = 1024

// chunks returns the number of chains in a sum of k terms.
func chunks(k int) int { return (k + kc - 1) / kc }

// Mul sets C to the product of A and B in the given order, or adds the product to C.
// C must not overlap A or B.
func Mul[F Float](c, a, b Mat[F], order Order, add bool) {
	m, k, k2, n := a.Rows, a.Cols, b.Rows, b.Cols
	switch order {
	case NT:
		k2, n = n, k2
	case TN:
		m, k = k, m
	case NN:
	default:
		panic("tensor: Mul: unknown order")
	}
	if k != k2 || c.Rows != m || c.Cols != n {
		panic("tensor: Mul: shapes do not fit")
	}
	a.check("tensor: Mul: data of A is too short for its shape")
	b.check("tensor: Mul: data of B is too short for its shape")
	c.check("tensor: Mul: data of C is too short for its shape")
	if m == 0 || n == 0 {
		return
	}
	if k == 0 {
		if !add {
			for i := range m {
				clear(c.Row(i))
			}
		}
		return
	}
	if !fast[F]() {
		mulNaive(c, a, b, order, add)
		return
	}
	g := gemm{path: kernel.Active(), c: mat32(c), a: mat32(a), b: mat32(b), m: m, n: n, k: k, transA: order == TN, transB: order == NT, add: add}
	g.run()
}

// Gram sets C to A A'. It computes one triangle and copies it to the other. C and A must
// not overlap.
func Gram(c, a Mat[float32]) {
	if c.Rows != a.Rows || c.Cols != a.Rows {
		panic("tensor: Gram: shapes do not fit")
	}
	a.check("tensor: Gram: data of A is too short for its shape")
	c.check("tensor: Gram: data of C is too short for its shape")
	if a.Rows == 0 {
		return
	}
	if a.Cols == 0 {
		Mul(c, a, a, NT, false)
		return
	}
	g := gemm{path: kernel.Active(), c: c, a: a, b: a, m: a.Rows, n: a.Rows, k: a.Cols, transB: true, lower: true}
	g.run()
	mirror(c)
}

// mirror copies the lower triangle of c to the upper one, in blocks that fit
// the cache.
func mirror(c Mat[float32]) {
	const block = 64
	p := kernel.Active()
	Parallel(ceil(c.Rows, block), func(b int) {
		r0, r1 := b*block, min(c.Rows, (b+1)*block)
		for c0 := 0; c0 < r0; c0 += block {
			transpose(p, c.Data[c0*c.Stride+r0:], c.Stride, c, r0, r1, c0, c0+block)
		}
		for i := r0; i < r1; i++ {
			for j := r0; j < i; j++ {
				c.Data[j*c.Stride+i] = c.Data[i*c.Stride+j]
			}
		}
	})
}

// Packed is the right operand of a product in the order in which the kernel reads it. It
// is meant for weights that are used in many products.
type Packed struct {
	path *kernel.Path
	k, n int
	data []float32
}

// Pack packs B (order NN) or B' (order NT).
func Pack(b Mat[float32], order Order) *Packed {
	b.check("tensor: Pack: data is too short for the shape")
	if b.Rows < 1 || b.Cols < 1 {
		panic("tensor: Pack: the matrix is empty")
	}
	p := &Packed{path: kernel.Active(), k: b.Rows, n: b.Cols}
	switch order {
	case NN:
	case NT:
		p.k, p.n = p.n, p.k
	default:
		panic("tensor: Pack: order must be NN or NT")
	}
	w := p.path.Cols
	padded := ceil(p.n, w) * w
	p.data = make([]float32, padded*p.k)
	g := gemm{path: p.path, b: b, k: p.k, n: p.n, transB: order == NT}
	Parallel(padded/w, func(panel int) {
		for ch := range chunks(p.k) {
			k0, k1 := g.chunk(ch)
			g.packPanel(p.data[padded*k0+panel*w*(k1-k0):][:w*(k1-k0)], panel*w, k0, k1)
		}
	})
	return p
}

// Transposed packs B', where p is a packed B.
func (p *Packed) Transposed() *Packed {
	b, w := NewMat[float32](p.k, p.n), p.path.Cols
	padded := ceil(p.n, w) * w
	g := gemm{k: p.k}
	for ch := range chunks(p.k) {
		k0, k1 := g.chunk(ch)
		Parallel(padded/w, func(panel int) {
			from := p.data[padded*k0+panel*w*(k1-k0):]
			for k := k0; k < k1; k++ {
				copy(b.Row(k)[panel*w:], from[(k-k0)*w:][:w])
			}
		})
	}
	return Pack(b, NT)
}

// MulPacked sets C to A B. Then it adds bias to every row unless bias is nil, and sets
// negative values to zero if relu is true. C and A must not overlap.
func MulPacked(c, a Mat[float32], b *Packed, bias []float32, relu bool) {
	if a.Cols != b.k || c.Rows != a.Rows || c.Cols != b.n || bias != nil && len(bias) != b.n {
		panic("tensor: MulPacked: shapes do not fit")
	}
	a.check("tensor: MulPacked: data of A is too short for its shape")
	c.check("tensor: MulPacked: data of C is too short for its shape")
	if a.Rows == 0 {
		return
	}
	g := gemm{path: b.path, c: c, a: a, packed: b, m: a.Rows, n: b.n, k: b.k, bias: bias, relu: relu}
	g.run()
}

// gemm is one product. Its output is cut into blocks, and each block is a task. A block
// goes through the chunks of the inner sum in order and adds each to C.
type gemm struct {
	path           *kernel.Path
	c, a, b        Mat[float32]
	packed         *Packed // instead of b
	m, n, k        int
	transA, transB bool
	add            bool // to what C holds
	lower          bool // compute only tiles that touch the lower triangle
	bias           []float32
	relu           bool
}

// chunk returns the range of k that chunk i covers. Chunks are as even as possible and
// depend only on the length of the sum.
func (g *gemm) chunk(i int) (from, to int) {
	n := chunks(g.k)
	return i * g.k / n, (i + 1) * g.k / n
}

func (g *gemm) run() {
	// Row tiles are as even as possible. A task takes some of them and some panels.
	tiles := ceil(g.m, g.path.Rows)
	panels := ceil(g.n, g.path.Cols)
	bt, bp := tiles, min(panels, max(1, taskCols/g.path.Cols))
	for threads() > 1 && ceil(tiles, bt)*ceil(panels, bp) < 3*threads() && bt*bp > 4 {
		if bt*g.path.Rows > bp*g.path.Cols {
			bt = ceil(bt, 2)
		} else {
			bp = ceil(bp, 2)
		}
	}
	nt, np := ceil(tiles, bt), ceil(panels, bp)
	Parallel(nt*np, func(task int) {
		it, ip := task/np, task%np
		g.block(it*tiles/nt, (it+1)*tiles/nt, ip*panels/np, (ip+1)*panels/np, tiles)
	})
}

// taskCols is the number of columns of B that a task takes. stripTiles is the number of
// row tiles that go through the packed panels before the next ones, so that a strip of A
// stays in the second-level cache. A single strip goes through stripPanels panels at a
// time, while they are still in that cache from packing.
const (
	taskCols    = 2048
	stripTiles  = 12
	stripPanels = 2
)

func ceil(a, b int) int { return (a + b - 1) / b }

// block computes row tiles [t0, t1), out of the given number, by panels [p0, p1).
func (g *gemm) block(t0, t1, p0, p1, tiles int) {
	row := func(t int) int { return t * g.m / tiles }
	w := g.path.Cols
	s := getScratch()
	defer putScratch(s)
	t := &s.tile
	t.Segs, t.AK = s.one(), 1
	group := p1 - p0
	if t1-t0 <= stripTiles {
		group = stripPanels
	}
	for ch, n := 0, chunks(g.k); ch < n; ch++ {
		k0, k1 := g.chunk(ch)
		t.K = k1 - k0
		mode := g.mode(ch, n)
		var a []float32
		for q0 := p0; q0 < p1 && !(g.lower && row(t1) <= q0*w); q0 += group {
			q1 := min(p1, q0+group)
			b := g.panelsOfB(s, q0, q1, ch, t1-t0 <= 2)
			for s0 := t0; s0 < t1; s0 += stripTiles {
				s1 := min(t1, s0+stripTiles)
				if g.lower && row(s1) <= q0*w {
					continue
				}
				if q0 == p0 { // only a single strip has later groups
					a, t.ARow = g.rowsOfA(s, row(s0), row(s1), k0, k1)
				}
				for p := q0; p < q1; p++ {
					t.B, t.BK = b.panel(p)
					for i := s0; i < s1; i++ {
						if g.lower && row(i+1) <= p*w {
							continue
						}
						t.Rows = row(i+1) - row(i)
						t.A = a[(row(i)-row(s0))*t.ARow:]
						g.store(s, row(i), p*w, mode)
					}
				}
			}
		}
	}
}

// mode returns the steps that tiles apply to the sums of chunk ch of n.
func (g *gemm) mode(ch, n int) int {
	mode := 0
	if g.add || ch > 0 {
		mode = kernel.Add
	}
	if ch == n-1 {
		if g.bias != nil {
			mode |= kernel.AddBias
		}
		if g.relu {
			mode |= kernel.ReLU
		}
	}
	return mode
}

// store runs the tile whose operands are set, for the elements of C from row i and
// column j on. At the right edge of C the tile goes to scratch memory, and its valid
// columns are copied from there.
func (g *gemm) store(s *scratch, i, j, mode int) {
	t := &s.tile
	valid := min(g.path.Cols, g.n-j)
	t.Cols = g.path.Cols
	if valid <= g.path.Half {
		t.Cols = g.path.Half
	}
	if valid == t.Cols {
		t.C, t.CRow, t.Mode = g.c.Data[i*g.c.Stride+j:], g.c.Stride, mode
		if mode&kernel.AddBias != 0 {
			t.Bias = g.bias[j:]
		}
		g.path.Tile(t)
		return
	}
	t.C, t.CRow, t.Mode = Grow(&s.c, t.Rows*t.Cols), t.Cols, 0
	g.path.Tile(t)
	for r := range t.Rows {
		c := g.c.Data[(i+r)*g.c.Stride+j:][:valid]
		for l, f := range t.C[r*t.Cols:][:valid] {
			if mode&kernel.Add != 0 {
				f = c[l] + f
			}
			if mode&kernel.AddBias != 0 {
				f += g.bias[j+l]
			}
			if mode&kernel.ReLU != 0 && f < 0 {
				f = 0
			}
			c[l] = f
		}
	}
}

// rowsOfA returns rows [r0, r1) and columns [k0, k1) of the left operand and their
// stride. It copies them if A is transposed. It also copies rows that lie a multiple of
// 2 KiB apart, because they would evict each other from the cache.
func (g *gemm) rowsOfA(s *scratch, r0, r1, k0, k1 int) (a []float32, stride int) {
	if g.transA {
		stride = (k1-k0+15)&^15 + 16
		a = Grow(&s.a, (r1-r0)*stride)
		transpose(g.path, a, stride, g.a, k0, k1, r0, r1)
		return a, stride
	}
	if g.a.Stride%512 != 0 || r1-r0 <= 4 {
		return g.a.Data[r0*g.a.Stride+k0:], g.a.Stride
	}
	stride = (k1-k0+15)&^15 + 16
	a = Grow(&s.a, (r1-r0)*stride)
	for r := r0; r < r1; r++ {
		copy(a[(r-r0)*stride:], g.a.Data[r*g.a.Stride+k0:r*g.a.Stride+k1])
	}
	return a, stride
}

// transpose writes rows [r0, r1) and columns [c0, c1) of m, transposed, to dst with the
// given stride.
func transpose(p *kernel.Path, dst []float32, stride int, m Mat[float32], r0, r1, c0, c1 int) {
	r := r0
	for ; r+8 <= r1; r += 8 {
		p.PackTransposed(&kernel.Panel{Dst: dst[r-r0:], Src: m.Data[r*m.Stride+c0:], K: c1 - c0, Row: m.Stride, Width: stride})
	}
	for ; r < r1; r++ {
		for c, x := range m.Data[r*m.Stride+c0 : r*m.Stride+c1] {
			dst[c*stride+r-r0] = x
		}
	}
}

// panels holds one chunk of the right operand, panel by panel.
type panels struct {
	data          []float32
	first         int // panel that data begins with
	pitch, stride int // distance of two panels, and of two rows of a panel
}

func (b panels) panel(p int) (data []float32, stride int) {
	return b.data[(p-b.first)*b.pitch:], b.stride
}

// panelsOfB returns panels [p0, p1) of chunk ch. If few tiles need each panel, they read
// B in place, because packing would take longer.
func (g *gemm) panelsOfB(s *scratch, p0, p1, ch int, few bool) panels {
	w := g.path.Cols
	k0, k1 := g.chunk(ch)
	pitch := w * (k1 - k0)
	switch {
	case g.packed != nil:
		padded := ceil(g.n, w) * w
		return panels{g.packed.data[padded*k0+p0*pitch:], p0, pitch, w}
	case few && !g.transB && p1*w <= g.n:
		return panels{g.b.Data[k0*g.b.Stride+p0*w:], p0, w, g.b.Stride}
	}
	b := panels{Grow(&s.b, (p1-p0)*pitch), p0, pitch, w}
	for p := p0; p < p1; p++ {
		g.packPanel(b.data[(p-p0)*pitch:][:pitch], p*w, k0, k1)
	}
	return b
}

// packPanel writes columns [j, j+Cols) of rows [k0, k1) of the right operand to dst, and
// zeros for columns beyond the last.
func (g *gemm) packPanel(dst []float32, j, k0, k1 int) {
	w := g.path.Cols
	valid := min(w, g.n-j)
	if g.transB {
		if valid < w {
			clear(dst)
		}
		transpose(g.path, dst, w, g.b, j, j+valid, k0, k1)
		return
	}
	if valid == w {
		g.path.PackRows(&kernel.Panel{Dst: dst, Src: g.b.Data[k0*g.b.Stride+j:], K: k1 - k0, Row: g.b.Stride, Width: w})
		return
	}
	for k := k0; k < k1; k++ {
		row := dst[(k-k0)*w:][:w]
		copy(row, g.b.Data[k*g.b.Stride+j:][:valid])
		clear(row[valid:])
	}
}

// mulNaive computes Mul by its definition.
func mulNaive[F Float](c, a, b Mat[F], order Order, add bool) {
	k, ak, bk, ai, bj := a.Cols, 1, b.Stride, a.Stride, 1
	switch order {
	case NT:
		bk, bj = 1, b.Stride
	case TN:
		k, ak, ai = a.Rows, a.Stride, 1
	}
	for i := range c.Rows {
		row := c.Row(i)
		for j := range row {
			var f F
			for l := range k {
				f += F(a.Data[i*ai+l*ak] * b.Data[l*bk+j*bj])
			}
			if add {
				f += row[j]
			}
			row[j] = f
		}
	}
}
