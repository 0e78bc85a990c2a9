package kernel

import "dgkip/harness/fmath"

// This file holds the kernels in plain Go. They define what the assembly does, and run
// where there is no assembly. Products in sums are rounded explicitly, float32(x*y), because the compiler
// fuses them on some processors.

func tileGeneric(t *Tile) {
	for i := 0; i < t.Rows; i++ {
		for j := 0; j < t.Cols; j += 8 {
			var f [8]float32
			for _, s := range t.Segs {
				a, b := s.A+i*t.ARow, s.B+j
				for k := 0; k < t.K; k++ {
					x, row := t.A[a], t.B[b:b+8:b+8]
					for l := range f {
						f[l] = fmath.FMA32(x, row[l], f[l])
					}
					a += t.AK
					b += t.BK
				}
			}
			c := t.C[i*t.CRow+j:][:8]
			if t.Mode&Add != 0 {
				for l := range f {
					f[l] += c[l]
				}
			}
			if t.Mode&AddBias != 0 {
				for l, b := range t.Bias[j:][:8] {
					f[l] += b
				}
			}
			if t.Mode&ReLU != 0 {
				for l := range f {
					f[l] = relu(f[l])
				}
			}
			copy(c, f[:])
		}
	}
}

// relu returns max(0, x). It keeps NaN and minus zero.
func relu(x float32) float32 {
	if x < 0 {
		return 0
	}
	return x
}

// winogradInRow applies B' to six values.
func winogradInRow(d [6]float32) [6]float32 {
	x, y := d[4]-d[2], d[5]-d[3]
	z := d[3] - d[1]
	z += z
	u, v := d[4]-float32(4*d[2]), d[3]-float32(4*d[1])
	return [6]float32{float32(4*(d[0]-d[2])) + x, u + v, u - v, x + z, x - z, float32(4*(d[1]-d[3])) + y}
}

func winogradInGeneric(a *WinogradIn) {
	for c := 0; c < a.C; c++ {
		var rows [6][6]float32
		for i := range rows {
			var d [6]float32
			for j := range d {
				d[j] = a.Src[i*a.Row+j*a.Pix+c]
			}
			rows[i] = winogradInRow(d)
		}
		for j := range 6 {
			var d [6]float32
			for i := range d {
				d[i] = rows[i][j]
			}
			for i, v := range winogradInRow(d) {
				a.Dst[(6*i+j)*a.Plane+c] = v
			}
		}
	}
}

// winogradOutRow applies A' to six values.
func winogradOutRow(m [6]float32) [4]float32 {
	s, d := m[1]+m[2], m[1]-m[2]
	s2, d2 := m[3]+m[4], m[3]-m[4]
	return [4]float32{m[0] + s + s2, d + float32(2*d2), s + float32(4*s2), d + float32(8*d2) + m[5]}
}

func winogradOutGeneric(a *WinogradOut) {
	for c := 0; c < a.C; c++ {
		var rows [6][4]float32
		for i := range rows {
			var m [6]float32
			for j := range m {
				m[j] = a.Src[(6*i+j)*a.Plane+c]
			}
			rows[i] = winogradOutRow(m)
		}
		for j := range 4 {
			var m [6]float32
			for i := range m {
				m[i] = rows[i][j]
			}
			for i, y := range winogradOutRow(m) {
				if a.Mode&AddBias != 0 {
					y += a.Bias[c]
				}
				if a.Mode&ReLU != 0 {
					y = relu(y)
				}
				a.Dst[i*a.Row+j*a.Pix+c] = y
			}
		}
	}
}

// winogradFilterRow multiplies three filter taps, a row or a column, by the 6x3 matrix G of WinogradFilter.
func winogradFilterRow(g [3]float32) [6]float32 {
	q, r := 0-float32(Sixth*(g[0]+g[2])), float32(Sixth*g[1])
	t, e := float32(Sixth/4*g[0])+float32(Sixth*g[2]), float32(Sixth/2*g[1])
	return [6]float32{0.25 * g[0], q - r, q + r, t + e, t - e, g[2]}
}

func winogradFilterGeneric(a *WinogradFilter) {
	for c := 0; c < a.C; c++ {
		var rows [3][6]float32
		for i := range rows {
			var g [3]float32
			for j := range g {
				g[j] = a.Src[(3*i+j)*a.Tap+c]
			}
			rows[i] = winogradFilterRow(g)
		}
		for j := range 6 {
			for i, u := range winogradFilterRow([3]float32{rows[0][j], rows[1][j], rows[2][j]}) {
				a.Dst[(6*i+j)*a.Plane+c] = u
			}
		}
	}
}

func reluGeneric(a *Vec) {
	for i, x := range a.X[:a.N] {
		a.Y[i] = relu(x)
	}
}

func maskGeneric(a *Vec) {
	for i, x := range a.X[:a.N] {
		if x > 0 {
			a.Y[i] = a.Z[i]
		} else {
			a.Y[i] = 0
		}
	}
}

func axpyGeneric(a *Vec) {
	for i, x := range a.X[:a.N] {
		a.Y[i] = a.Z[i] + float32(a.A*x)
	}
}

func poolGeneric(a *Pool) {
	for w := 0; w < a.W; w++ {
		p := 2 * w * a.C
		for c := 0; c < a.C; c++ {
			top := a.Big[p+c] + a.Big[p+a.C+c]
			low := a.Big[p+a.Row+c] + a.Big[p+a.Row+a.C+c]
			a.Small[w*a.C+c] = a.Scale * (top + low)
		}
	}
}

// eachBig calls do with the index in Big of every value that is pooled, and with the place
// of its bit in Bits.
func (a *Pool) eachBig(do func(big, byteAt int, bit byte)) {
	size := (a.C + 7) / 8
	for w := 0; w < a.W; w++ {
		p := 2 * w * a.C
		for pos, q := range [4]int{p, p + a.C, p + a.Row, p + a.Row + a.C} {
			for c := 0; c < a.C; c++ {
				do(q+c, (4*w+pos)*size+c/8, 1<<(c%8))
			}
		}
	}
}

func poolBitsGeneric(a *Pool) {
	poolGeneric(a)
	clear(a.Bits[:4*a.W*((a.C+7)/8)])
	a.eachBig(func(big, at int, bit byte) {
		if a.Big[big] > 0 {
			a.Bits[at] |= bit
		}
	})
}

// unpool is the adjoint of pooling without ReLU.
func unpool(a *Pool) {
	for w := 0; w < a.W; w++ {
		p := 2 * w * a.C
		for c := 0; c < a.C; c++ {
			g := a.Scale * a.Small[w*a.C+c]
			a.Big[p+c], a.Big[p+a.C+c] = g, g
			a.Big[p+a.Row+c], a.Big[p+a.Row+a.C+c] = g, g
		}
	}
}

func unpoolMaskGeneric(a *Pool) {
	unpool(a)
	for _, row := range [2]int{0, a.Row} {
		n := 2 * a.W * a.C
		big, act := a.Big[row:][:n], a.Act[row:][:n]
		for i, x := range act {
			if !(x > 0) {
				big[i] = 0
			}
		}
	}
}

func unpoolBitsGeneric(a *Pool) {
	unpool(a)
	a.eachBig(func(big, at int, bit byte) {
		if a.Bits[at]&bit == 0 {
			a.Big[big] = 0
		}
	})
}

func colSumGeneric(a *Cols) {
	for r := 0; r < a.Rows; r++ {
		for c, x := range a.X[r*a.Stride:][:a.C] {
			a.Y[c] += x
		}
	}
}

func colDotGeneric(a *Cols) {
	for r := 0; r < a.Rows; r++ {
		z := a.Z[r*a.Stride:][:a.C]
		for c, x := range a.X[r*a.Stride:][:a.C] {
			a.Y[c] += float32(x * z[c])
		}
	}
}

func affineGeneric(a *Cols) {
	for r := 0; r < a.Rows; r++ {
		y := a.Y[r*a.Stride:][:a.C]
		for c, x := range a.X[r*a.Stride:][:a.C] {
			y[c] = float32(a.A[c]*x) + a.D[c]
		}
	}
}

func affine2Generic(a *Cols) {
	for r := 0; r < a.Rows; r++ {
		y, z := a.Y[r*a.Stride:][:a.C], a.Z[r*a.Stride:][:a.C]
		for c, x := range a.X[r*a.Stride:][:a.C] {
			y[c] = float32(a.A[c]*x) + float32(a.B[c]*z[c]) + a.D[c]
		}
	}
}

func packRowsGeneric(a *Panel) {
	for k := 0; k < a.K; k++ {
		copy(a.Dst[k*a.Width:][:8], a.Src[k*a.Row:][:8])
	}
}

func packTransposedGeneric(a *Panel) {
	for r := range 8 {
		for k, x := range a.Src[r*a.Row:][:a.K] {
			a.Dst[k*a.Width+r] = x
		}
	}
}
