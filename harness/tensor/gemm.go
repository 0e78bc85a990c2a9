package tensor

import "dgkip/harness/tensor/internal/kernel"

// Order says which operands of a product are read transposed.
type Order int

const (
	NN Order = iota // A B
	NT              // A B'
	TN              // A' B
)

// kc is the length of the chains that a product's inner sum is cut into: long
// enough to keep the kernel busy, short enough for a panel of B to stay in the
// first-level cache and for rounding errors to stay small.
const kc = 1024

// chunks returns how many chains a sum of k terms is cut into.
func chunks(k int) int { return (k + kc - 1) / kc }

// Mul sets C to the product of A and B in the given order, or adds the product
// to C.
func Mul[F Float](c, a, b Mat[F], order Order, add bool) {
	m, k, k2, n := a.Rows, a.Cols, b.Rows, b.Cols
	switch order {
	case NT:
		k2, n = n, k2
	case TN:
		m, k = k, m
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
	c32, ok := mat32(c)
	if !ok {
		mulNaive(c, a, b, order, add)
		return
	}
	a32, _ := mat32(a)
	b32, _ := mat32(b)
	g := gemm{path: kernel.Active(), c: c32, a: a32, b: b32, m: m, n: n, k: k, transA: order == TN, transB: order == NT, add: add}
	g.run()
}

// Gram sets C to A A', computing one triangle and copying it to the other.
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
	n := (c.Rows + block - 1) / block
	Parallel(n, func(bi int) {
		for bj := 0; bj <= bi; bj++ {
			for i := bi * block; i < min(c.Rows, (bi+1)*block); i++ {
				row := c.Data[i*c.Stride:]
				for j := bj * block; j < min(i, (bj+1)*block); j++ {
					c.Data[j*c.Stride+i] = row[j]
				}
			}
		}
	})
}

// Packed is the right operand of a product in the order in which the kernel
// reads it, for weights that serve many products.
type Packed struct {
	path *kernel.Path
	k, n int
	data []float32
}

// Pack packs B (order NN) or B' (order NT).
func Pack(b Mat[float32], order Order) *Packed {
	b.check("tensor: Pack: data is too short for the shape")
	p := &Packed{path: kernel.Active(), k: b.Rows, n: b.Cols}
	switch order {
	case NN:
	case NT:
		p.k, p.n = p.n, p.k
	default:
		panic("tensor: Pack: order must be NN or NT")
	}
	w := p.path.Cols
	padded := (p.n + w - 1) / w * w
	p.data = make([]float32, padded*p.k)
	g := gemm{path: p.path, b: b, k: p.k, n: p.n, transB: order == NT}
	Parallel(padded/w, func(panel int) {
		s := getScratch()
		defer putScratch(s)
		for ch := range chunks(p.k) {
			k0, k1 := g.chunk(ch)
			g.packPanel(s, p.data[padded*k0+panel*w*(k1-k0):][:w*(k1-k0)], panel*w, k0, k1)
		}
	})
	return p
}

// MulPacked sets C to A B, then adds bias to every row if there is one, then
// sets negative values to zero if relu is true.
func MulPacked(c, a Mat[float32], b *Packed, bias []float32, relu bool) {
	if a.Cols != b.k || c.Rows != a.Rows || c.Cols != b.n || bias != nil && len(bias) != b.n {
		panic("tensor: MulPacked: shapes do not fit")
	}
	a.check("tensor: MulPacked: data of A is too short for its shape")
	c.check("tensor: MulPacked: data of C is too short for its shape")
	if a.Rows == 0 || b.n == 0 {
		return
	}
	g := gemm{path: b.path, c: c, a: a, packed: b, m: a.Rows, n: b.n, k: b.k, bias: bias, relu: relu}
	g.run()
}

// gemm is one product. Its output is cut into blocks, a task each; a block goes
// through the chunks of the inner sum in order, adding each to C.
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

// chunk returns the range of k that chunk i covers. The chunks are as even as
// can be and depend on the length of the sum alone.
func (g *gemm) chunk(i int) (from, to int) {
	n := chunks(g.k)
	return i * g.k / n, (i + 1) * g.k / n
}

func (g *gemm) run() {
	// Row tiles are as even as can be; a block is some of them by some panels.
	tiles := (g.m + g.path.Rows - 1) / g.path.Rows
	panels := (g.n + g.path.Cols - 1) / g.path.Cols
	bt, bp := min(tiles, 24), min(panels, max(1, 512/g.path.Cols))
	for want := 4 * threads(); threads() > 1 && ceil(tiles, bt)*ceil(panels, bp) < want; {
		switch {
		case bp > 2 && bp*g.path.Cols >= bt*g.path.Rows:
			bp = (bp + 1) / 2
		case bt > 2:
			bt = (bt + 1) / 2
		case bp > 1:
			bp = (bp + 1) / 2
		default:
			want = 0
		}
	}
	nt, np := ceil(tiles, bt), ceil(panels, bp)
	Parallel(nt*np, func(task int) {
		it, ip := task/np, task%np
		g.block(it*tiles/nt, (it+1)*tiles/nt, ip*panels/np, (ip+1)*panels/np, tiles)
	})
}

func ceil(a, b int) int { return (a + b - 1) / b }

// block computes row tiles [t0, t1) of the given number by panels [p0, p1).
func (g *gemm) block(t0, t1, p0, p1, tiles int) {
	row := func(t int) int { return t * g.m / tiles }
	w := g.path.Cols
	if g.lower && row(t1) <= p0*w {
		return
	}
	s := getScratch()
	defer putScratch(s)
	t := &s.tile
	t.Segs = s.one()
	for ch, n := 0, chunks(g.k); ch < n; ch++ {
		k0, k1 := g.chunk(ch)
		t.K = k1 - k0
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
		a, stride := g.rowsOfA(s, row(t0), row(t1), k0, k1)
		t.ARow, t.AK = stride, 1
		for p := p0; p < p1; p++ {
			first := t0
			for g.lower && first < t1 && row(first+1) <= p*w {
				first++
			}
			if first == t1 {
				continue
			}
			g.panelOfB(s, p, ch, t1-t0 == 1)
			for i := first; i < t1; i++ {
				t.Rows = row(i+1) - row(i)
				t.A = a[(row(i)-row(t0))*stride:]
				g.store(s, row(i), p*w, mode)
			}
		}
	}
}

// store runs the tile whose operands are set, for the elements of C from row i
// and column j on. At the right edge of C the tile goes to scratch memory and
// its valid columns are copied from there.
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
	t.C, t.CRow, t.Mode = grow(&s.c, t.Rows*t.Cols), t.Cols, 0
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

// rowsOfA returns rows [r0, r1) and columns [k0, k1) of the left operand and
// the distance of its rows. They are copied where A is transposed, and where
// rows lie a multiple of 2 KiB apart and would displace each other from the
// cache.
func (g *gemm) rowsOfA(s *scratch, r0, r1, k0, k1 int) (a []float32, stride int) {
	if g.transA {
		stride = (k1-k0+15)&^15 + 16
		a = grow(&s.a, (r1-r0)*stride)
		g.transposed(a, stride, g.a, k0, k1, r0, r1)
		return a, stride
	}
	if g.a.Stride%512 != 0 || r1-r0 <= 4 {
		return g.a.Data[r0*g.a.Stride+k0:], g.a.Stride
	}
	stride = (k1-k0+15)&^15 + 16
	a = grow(&s.a, (r1-r0)*stride)
	for r := r0; r < r1; r++ {
		copy(a[(r-r0)*stride:], g.a.Data[r*g.a.Stride+k0:r*g.a.Stride+k1])
	}
	return a, stride
}

// transposed writes rows [r0, r1) and columns [c0, c1) of m, transposed, to
// dst, whose rows lie stride apart.
func (g *gemm) transposed(dst []float32, stride int, m Mat[float32], r0, r1, c0, c1 int) {
	r := r0
	for ; r+8 <= r1; r += 8 {
		g.path.PackTransposed(&kernel.Panel{Dst: dst[r-r0:], Src: m.Data[r*m.Stride+c0:], K: c1 - c0, Row: m.Stride, Width: stride})
	}
	for ; r < r1; r++ {
		for c, x := range m.Data[r*m.Stride+c0 : r*m.Stride+c1] {
			dst[c*stride+r-r0] = x
		}
	}
}

// panelOfB sets the tile's right operand to panel p of chunk ch. A panel that
// is needed once is read where it lies.
func (g *gemm) panelOfB(s *scratch, p, ch int, once bool) {
	t, w := &s.tile, g.path.Cols
	k0, k1 := g.chunk(ch)
	switch {
	case g.packed != nil:
		padded := ceil(g.n, w) * w
		t.B, t.BK = g.packed.data[padded*k0+p*w*(k1-k0):][:w*(k1-k0)], w
	case once && !g.transB && (p+1)*w <= g.n:
		t.B, t.BK = g.b.Data[k0*g.b.Stride+p*w:], g.b.Stride
	default:
		t.B, t.BK = grow(&s.b, w*(k1-k0)), w
		g.packPanel(s, t.B, p*w, k0, k1)
	}
}

// packPanel writes columns [j, j+Cols) of rows [k0, k1) of the right operand to
// dst, with zeros for the columns it does not have.
func (g *gemm) packPanel(s *scratch, dst []float32, j, k0, k1 int) {
	w := g.path.Cols
	valid := min(w, g.n-j)
	if g.transB {
		if valid < w {
			clear(dst)
		}
		g.transposed(dst, w, g.b, j, j+valid, k0, k1)
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

// mulNaive is Mul by its definition.
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
