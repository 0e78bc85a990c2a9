package kernel

// This file holds the kernels that read or write float32 values and compute in float64.

// WideLanes is the number of partial sums of a sum over features. It is the same on every
// path, and so is the result.
const WideLanes = 8

// Cross describes the inner products of Rows rows of A, ARow apart, and Cols rows of B, BRow
// apart, over N features. With x a row of A and y a row of B,
//
//	var s [8]float64
//	for k < N { s[k%8] = fma(x[k], y[k], s[k%8]) }
//	C[i*CRow+j] = ((s[0]+s[4]) + (s[2]+s[6])) + ((s[1]+s[5]) + (s[3]+s[7]))
//
// The product of two float32 values is exact in float64. Fusing it with the sum therefore
// does not change the result.
//
// The kernels always compute a full register tile of CrossRows x CrossCols inner products
// and repeat the last row if there are fewer. C must have room for the full tile.
type Cross struct {
	C          []float64
	A, B       []float32
	ARow, BRow int
	CRow       int
	Rows, Cols int
	N          int
}

// Wide describes an operation on Rows rows of X, Row apart, with N features. U and V are
// float64 vectors over features, and S is one over rows. Every product and every sum is
// rounded by itself.
type Wide struct {
	X         []float32
	U, V, S   []float64
	Row, Rows int
	N         int
}

// AddRowsAtOnce is the number of rows that AddRows adds in one pass over U.
const AddRowsAtOnce = 4

// Cross computes the inner products. Features after the last whole group of eight have a
// sum of their own, which is added at the end.
func (p *Path) Cross(a *Cross) {
	check(a.Rows > 0 && a.Rows <= p.CrossRows && a.Cols > 0 && a.Cols <= p.CrossCols && a.N > 0 &&
		a.ARow|a.BRow >= 0 && a.CRow >= p.CrossCols && (p.CrossRows-1)*a.CRow+p.CrossCols <= len(a.C) &&
		(a.Rows-1)*a.ARow+a.N <= len(a.A) && (a.Cols-1)*a.BRow+a.N <= len(a.B))
	all, whole := a.N, a.N&^(WideLanes-1)
	if a.N = whole; whole > 0 {
		p.cross(a)
	}
	if whole == all {
		return
	}
	for i := range a.Rows {
		x := a.A[i*a.ARow:][whole:all]
		for j := range a.Cols {
			rest := dot32(x, a.B[j*a.BRow:][whole:all])
			if c := &a.C[i*a.CRow+j]; whole > 0 {
				*c += rest
			} else {
				*c = rest
			}
		}
	}
}

// MulVec sets S[i] to the inner product of row i and V, for at most WideRows rows. It uses
// the partial sums of Cross, but rounds the products.
func (p *Path) MulVec(a *Wide) {
	check(a.Rows > 0 && a.Rows <= p.WideRows && a.N > 0 && a.Row >= 0 && p.WideRows <= len(a.S) &&
		(a.Rows-1)*a.Row+a.N <= len(a.X) && a.N <= len(a.V))
	all, whole := a.N, a.N&^(WideLanes-1)
	if a.N = whole; whole > 0 {
		p.mulVec(a)
	}
	if whole == all {
		return
	}
	for i := range a.Rows {
		rest := dot64(a.X[i*a.Row:][whole:all], a.V[whole:all])
		if whole > 0 {
			a.S[i] += rest
		} else {
			a.S[i] = rest
		}
	}
}

// AddRows adds S[i] times row i to U, one row after another.
func (p *Path) AddRows(a *Wide) {
	check(a.Rows > 0 && a.N > 0 && a.Row >= 0 && a.Rows <= len(a.S) &&
		(a.Rows-1)*a.Row+a.N <= len(a.X) && a.N <= len(a.U))
	all, whole := *a, a.N&^(WideLanes-1)
	a.N = whole
	for left := all.Rows; left > 0 && whole > 0; left -= a.Rows {
		a.X, a.S = all.X[(all.Rows-left)*a.Row:], all.S[all.Rows-left:]
		if a.Rows = min(left, AddRowsAtOnce); a.Rows == AddRowsAtOnce {
			p.addRows(a)
		} else {
			a.Rows = 1
			p.addRow(a)
		}
	}
	if whole < all.N {
		all.X, all.U, all.N = all.X[whole:], all.U[whole:], all.N-whole
		addRowsGeneric(&all)
	}
}

// Outer sets the single row of X to S[0]*U + S[1]*V, or to S[0]*U if V is nil.
func (p *Path) Outer(a *Wide) {
	two := a.V != nil
	check(a.N > 0 && a.N <= len(a.X) && a.N <= len(a.U) && (!two && len(a.S) > 0 || two && len(a.S) > 1 && a.N <= len(a.V)))
	all, whole := *a, a.N&^(WideLanes-1)
	if a.N = whole; whole > 0 {
		if two {
			p.outer2(a)
		} else {
			p.outer(a)
		}
	}
	if whole < all.N {
		all.X, all.U, all.N = all.X[whole:], all.U[whole:], all.N-whole
		if two {
			all.V = all.V[whole:]
			outer2Generic(&all)
		} else {
			outerGeneric(&all)
		}
	}
}

func crossGeneric(a *Cross) {
	for i := 0; i < a.Rows; i++ {
		x := a.A[i*a.ARow:][:a.N]
		for j := 0; j < a.Cols; j++ {
			a.C[i*a.CRow+j] = dot32(x, a.B[j*a.BRow:][:a.N])
		}
	}
}

func dot32(x, y []float32) float64 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float64
	for len(x) >= 8 && len(y) >= 8 {
		s0 += float64(x[0]) * float64(y[0])
		s1 += float64(x[1]) * float64(y[1])
		s2 += float64(x[2]) * float64(y[2])
		s3 += float64(x[3]) * float64(y[3])
		s4 += float64(x[4]) * float64(y[4])
		s5 += float64(x[5]) * float64(y[5])
		s6 += float64(x[6]) * float64(y[6])
		s7 += float64(x[7]) * float64(y[7])
		x, y = x[8:], y[8:]
	}
	s := [8]float64{s0, s1, s2, s3, s4, s5, s6, s7}
	for k, v := range x {
		s[k] += float64(v) * float64(y[k])
	}
	return reduce(&s)
}

// reduce adds the partial sums.
func reduce(s *[WideLanes]float64) float64 {
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

func mulVecGeneric(a *Wide) {
	for i := 0; i < a.Rows; i++ {
		a.S[i] = dot64(a.X[i*a.Row:][:a.N], a.V[:a.N])
	}
}

func dot64(x []float32, v []float64) float64 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float64
	for len(x) >= 8 && len(v) >= 8 {
		s0 += float64(float64(x[0]) * v[0])
		s1 += float64(float64(x[1]) * v[1])
		s2 += float64(float64(x[2]) * v[2])
		s3 += float64(float64(x[3]) * v[3])
		s4 += float64(float64(x[4]) * v[4])
		s5 += float64(float64(x[5]) * v[5])
		s6 += float64(float64(x[6]) * v[6])
		s7 += float64(float64(x[7]) * v[7])
		x, v = x[8:], v[8:]
	}
	s := [8]float64{s0, s1, s2, s3, s4, s5, s6, s7}
	for k, f := range x {
		s[k] += float64(float64(f) * v[k])
	}
	return reduce(&s)
}

func addRowsGeneric(a *Wide) {
	u := a.U[:a.N]
	for i := 0; i < a.Rows; i++ {
		c := a.S[i]
		for k, x := range a.X[i*a.Row:][:len(u)] {
			u[k] += float64(c * float64(x))
		}
	}
}

// addRowsOnce is addRowsGeneric for AddRowsAtOnce rows.
func addRowsOnce(a *Wide) {
	n := a.N
	u, x0, x1, x2, x3 := a.U[:n], a.X[:n], a.X[a.Row:][:n], a.X[2*a.Row:][:n], a.X[3*a.Row:][:n]
	c0, c1, c2, c3 := a.S[0], a.S[1], a.S[2], a.S[3]
	for k, s := range u {
		s += float64(c0 * float64(x0[k]))
		s += float64(c1 * float64(x1[k]))
		s += float64(c2 * float64(x2[k]))
		s += float64(c3 * float64(x3[k]))
		u[k] = s
	}
}

func outerGeneric(a *Wide) {
	c, u := a.S[0], a.U[:a.N]
	for k := range a.X[:len(u)] {
		a.X[k] = float32(c * u[k])
	}
}

func outer2Generic(a *Wide) {
	c, d, x := a.S[0], a.S[1], a.X[:a.N]
	u, v := a.U[:len(x)], a.V[:len(x)]
	for k := range x {
		x[k] = float32(float64(c*u[k]) + float64(d*v[k]))
	}
}
