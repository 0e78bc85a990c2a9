package kernel

import "sync"

// The methods of Path check bounds, because the assembly does not. Channels that do not
// fill a register are computed in plain Go. Pooling then uses plain Go for the whole row,
// because the channels of different pixels are adjacent.

const outOfBounds = "tensor: kernel: arguments reach outside their slices"

func check(ok bool) {
	if !ok {
		panic(outOfBounds)
	}
}

// lanes is a common multiple of the register widths.
const lanes = 16

// Tile runs the matrix micro-kernel.
func (p *Path) Tile(t *Tile) {
	m, k := t.Rows-1, t.K-1
	check(m >= 0 && m < p.Rows && (t.Cols == p.Cols || t.Cols == p.Half) && k >= 0 && len(t.Segs) > 0 &&
		t.ARow|t.AK|t.BK|t.CRow >= 0 && m*t.CRow+t.Cols <= len(t.C) &&
		(t.Mode&AddBias == 0 || len(t.Bias) >= t.Cols))
	lastA, lastB := len(t.A)-(m*t.ARow+k*t.AK+1), len(t.B)-(k*t.BK+t.Cols)
	for _, s := range t.Segs {
		check(s.A|s.B >= 0 && s.A <= lastA && s.B <= lastB)
	}
	p.tile(t)
}

// WinogradIn transforms one patch.
func (p *Path) WinogradIn(a *WinogradIn) {
	check(a.C >= 0 && a.Plane >= a.C && a.Row|a.Pix >= 0 &&
		35*a.Plane+a.C <= len(a.Dst) && 5*(a.Row+a.Pix)+a.C <= len(a.Src))
	all, whole := a.C, a.C&^(lanes-1)
	if a.C = whole; whole > 0 {
		p.winogradIn(a)
	}
	if whole < all {
		rest := *a
		rest.C = all - whole
		rest.Dst, rest.Src = rest.Dst[whole:], rest.Src[whole:]
		winogradInGeneric(&rest)
	}
}

// WinogradOut transforms one block of products back to pixels.
func (p *Path) WinogradOut(a *WinogradOut) {
	check(a.C >= 0 && a.Plane|a.Row|a.Pix >= 0 && 35*a.Plane+a.C <= len(a.Src) &&
		3*(a.Row+a.Pix)+a.C <= len(a.Dst) && (a.Mode&AddBias == 0 || len(a.Bias) >= a.C))
	all, whole := a.C, a.C&^(lanes-1)
	if a.C = whole; whole > 0 {
		p.winogradOut(a)
	}
	if whole < all {
		rest := *a
		rest.C = all - whole
		rest.Dst, rest.Src = rest.Dst[whole:], rest.Src[whole:]
		if rest.Mode&AddBias != 0 {
			rest.Bias = rest.Bias[whole:]
		}
		winogradOutGeneric(&rest)
	}
}

// WinogradFilter transforms the filters of one input channel.
func (p *Path) WinogradFilter(a *WinogradFilter) {
	check(a.C >= 0 && a.Plane|a.Tap >= 0 && 35*a.Plane+a.C <= len(a.Dst) && 8*a.Tap+a.C <= len(a.Src))
	all, whole := a.C, a.C&^(lanes-1)
	if a.C = whole; whole > 0 {
		p.winogradFilter(a)
	}
	if whole < all {
		rest := *a
		rest.C = all - whole
		rest.Dst, rest.Src = rest.Dst[whole:], rest.Src[whole:]
		winogradFilterGeneric(&rest)
	}
}

// vecs keeps argument structs, which would otherwise escape to the heap in each call.
var vecs = sync.Pool{New: func() any { return new(Vec) }}

func (p *Path) vec(fast, plain func(*Vec), y, x, z []float32, s float32) {
	n := len(x)
	check(len(y) == n && (z == nil || len(z) == n))
	a := vecs.Get().(*Vec)
	defer func() { *a = Vec{}; vecs.Put(a) }()
	whole := n &^ (lanes - 1)
	*a = Vec{Y: y, X: x, Z: z, A: s, N: whole}
	if whole > 0 {
		fast(a)
	}
	if whole < n {
		a.Y, a.X, a.N = y[whole:], x[whole:], n-whole
		if z != nil {
			a.Z = z[whole:]
		}
		plain(a)
	}
}

// ReLU sets y to max(0, x). NaN stays NaN.
func (p *Path) ReLU(y, x []float32) { p.vec(p.relu, reluGeneric, y, x, nil, 0) }

// Mask sets y to g where x > 0 and to 0 elsewhere.
func (p *Path) Mask(y, g, x []float32) { p.vec(p.mask, maskGeneric, y, x, g, 0) }

// Axpy sets y to z + s*x.
func (p *Path) Axpy(y []float32, s float32, x, z []float32) {
	p.vec(p.axpy, axpyGeneric, y, x, z, s)
}

func (p *Path) poolRow(fast, plain func(*Pool), a *Pool) {
	end := a.Row + 2*a.W*a.C
	check(a.W >= 0 && a.C > 0 && a.Row >= 2*a.W*a.C && a.W*a.C <= len(a.Small) && end <= len(a.Big) &&
		(a.Act == nil || end <= len(a.Act)) && (a.Bits == nil || 4*a.W*((a.C+7)/8) <= len(a.Bits)))
	// The channels of different pixels are adjacent. If they do not fill registers, plain
	// Go computes the whole row.
	if a.C%lanes == 0 {
		fast(a)
	} else {
		plain(a)
	}
}

// Pool sets Small to the sums over 2x2 pixels times Scale. If Bits is given, it records
// which of the pixels were positive.
func (p *Path) Pool(a *Pool) {
	if a.Bits == nil {
		p.poolRow(p.pool, poolGeneric, a)
	} else {
		p.poolRow(p.poolBits, poolBitsGeneric, a)
	}
}

// Unpool is the adjoint of ReLU and Pool. It sets values to zero where the bit in Bits is not
// set or, without Bits, where Act is not positive.
func (p *Path) Unpool(a *Pool) {
	if a.Bits != nil {
		p.poolRow(p.unpoolBits, unpoolBitsGeneric, a)
		return
	}
	check(a.Act != nil)
	p.poolRow(p.unpoolMask, unpoolMaskGeneric, a)
}

func (p *Path) cols(fast, plain func(*Cols), sum, two bool, a *Cols) {
	end := (a.Rows-1)*a.Stride + a.C
	ny, ncoef := end, a.C
	if sum {
		ny, ncoef = a.C, 0
	}
	check(a.Rows > 0 && a.C >= 0 && a.Stride >= a.C && len(a.X) >= end && len(a.Y) >= ny &&
		len(a.A) >= ncoef && len(a.D) >= ncoef && (!two || len(a.Z) >= end && (sum || len(a.B) >= ncoef)))
	all, whole := a.C, a.C&^(lanes-1)
	if a.C = whole; whole > 0 {
		fast(a)
	}
	if whole < all {
		rest := *a
		rest.C = all - whole
		for _, s := range []*[]float32{&rest.X, &rest.Y, &rest.Z, &rest.A, &rest.B, &rest.D} {
			if len(*s) > 0 {
				*s = (*s)[whole:]
			}
		}
		plain(&rest)
	}
}

// ColSum adds the sum over the rows of X to Y.
func (p *Path) ColSum(a *Cols) { p.cols(p.colSum, colSumGeneric, true, false, a) }

// ColDot adds the sum over the rows of X*Z to Y.
func (p *Path) ColDot(a *Cols) { p.cols(p.colDot, colDotGeneric, true, true, a) }

// Affine sets Y to A*X + D.
func (p *Path) Affine(a *Cols) { p.cols(p.affine, affineGeneric, false, false, a) }

// Affine2 sets Y to A*X + B*Z + D, added from the left.
func (p *Path) Affine2(a *Cols) { p.cols(p.affine2, affine2Generic, false, true, a) }

// PackRows copies K rows of p.Cols values.
func (p *Path) PackRows(a *Panel) {
	check(a.K > 0 && a.Row|a.Width >= 0 && (a.K-1)*a.Row+p.Cols <= len(a.Src) && (a.K-1)*a.Width+p.Cols <= len(a.Dst))
	p.packRows(a)
}

// PackTransposed writes 8 rows of K values as K rows of 8.
func (p *Path) PackTransposed(a *Panel) {
	check(a.K > 0 && a.Row|a.Width >= 0 && 7*a.Row+a.K <= len(a.Src) && (a.K-1)*a.Width+8 <= len(a.Dst))
	if a.K < 8 {
		packTransposedGeneric(a)
		return
	}
	last := *a
	a.K &^= 7
	p.packTransposed(a)
	if from := last.K - 8; a.K < last.K { // the last block overlaps the one before
		last.Src, last.Dst, last.K = last.Src[from:], last.Dst[from*last.Width:], 8
		p.packTransposed(&last)
	}
}
