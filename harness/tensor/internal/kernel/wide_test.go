package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// fill64 is fill for float64.
func fill64(r *rand.Rand, n int) (v []float64, check func(t *testing.T)) {
	all := make([]float64, n+32)
	for i := range all {
		all[i] = guard
	}
	for i := range n {
		all[16+i] = r.NormFloat64()
	}
	return all[16 : 16+n : 16+n], func(t *testing.T) {
		t.Helper()
		for i := range 16 {
			if all[i] != guard || all[16+n+i] != guard {
				t.Fatal("wrote outside the output")
			}
		}
	}
}

func same64(t *testing.T, name string, got, want []float64) {
	t.Helper()
	for i, w := range want {
		if g := got[i]; math.Float64bits(g) != math.Float64bits(w) && !(g != g && w != w) {
			t.Fatalf("%s: element %d is %v (%016x), want %v (%016x)", name, i, g, math.Float64bits(g), w, math.Float64bits(w))
		}
	}
}

// sumAny computes a sum over features by its definition, independently of the kernels.
func sumAny(x []float32, y []float64) float64 {
	sum := func(x []float32, y []float64) float64 {
		var s [8]float64
		for k := range x {
			s[k%8] += float64(float64(x[k]) * y[k])
		}
		return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
	}
	whole := len(x) &^ 7
	if whole == 0 || whole == len(x) {
		return sum(x, y)
	}
	return sum(x[:whole], y[:whole]) + sum(x[whole:], y[whole:])
}

func widen(x []float32) []float64 {
	w := make([]float64, len(x))
	for i, f := range x {
		w[i] = float64(f)
	}
	return w
}

func TestWide(t *testing.T) {
	eachPath(t, func(t *testing.T, p *Path) {
		r := rand.New(rand.NewPCG(5, 6))
		for _, n := range []int{1, 5, 8, 9, 16, 23, 24, 40, 111, 256} {
			for _, odd := range []bool{false, true} {
				in := func(n int) []float32 {
					v := fill(r, n)
					if odd {
						special(r, v)
					}
					return v
				}
				for rows := 1; rows <= p.CrossRows; rows++ {
					for cols := 1; cols <= p.CrossCols; cols++ {
						name := fmt.Sprintf("cross of %dx%d rows of %d", rows, cols, n)
						a := Cross{ARow: n + r.IntN(3), BRow: n + r.IntN(3), CRow: p.CrossCols + r.IntN(3), Rows: rows, Cols: cols, N: n}
						a.A, a.B = in((rows-1)*a.ARow+n), in((cols-1)*a.BRow+n)
						a.A, a.B = a.A[:len(a.A):len(a.A)], a.B[:len(a.B):len(a.B)]
						var check func(t *testing.T)
						a.C, check = fill64(r, (p.CrossRows-1)*a.CRow+p.CrossCols)
						p.Cross(&a)
						check(t)
						for i := range rows {
							for j := range cols {
								want := sumAny(a.A[i*a.ARow:][:n], widen(a.B[j*a.BRow:][:n]))
								same64(t, name, a.C[i*a.CRow+j:], []float64{want})
							}
						}
					}
				}
				v, w := widen(in(n)), widen(in(n))
				for i := range v {
					v[i] *= 1 + 0x1p-40
				}
				for rows := 1; rows <= 11; rows++ {
					row := n + r.IntN(3)
					x, s := in((rows-1)*row+n), widen(in(max(2, rows)))
					if rows <= p.WideRows {
						out, check := fill64(r, p.WideRows)
						p.MulVec(&Wide{X: x, V: v, S: out, Row: row, Rows: rows, N: n})
						check(t)
						for i := range rows {
							same64(t, fmt.Sprintf("mulVec of %d rows of %d", rows, n), out[i:], []float64{sumAny(x[i*row:][:n], v)})
						}
					}
					u, check := fill64(r, n)
					want := append([]float64(nil), u...)
					p.AddRows(&Wide{X: x, U: u, S: s, Row: row, Rows: rows, N: n})
					check(t)
					for i := range rows {
						for k := range want {
							want[k] += float64(s[i] * float64(x[i*row+k]))
						}
					}
					same64(t, fmt.Sprintf("addRows of %d rows of %d", rows, n), u, want)

					one, two := fill(r, n), fill(r, n)
					want1, want2 := make([]float32, n), make([]float32, n)
					p.Outer(&Wide{X: one, U: v, S: s, N: n})
					p.Outer(&Wide{X: two, U: v, V: w, S: s, N: n})
					guarded(t, one)
					guarded(t, two)
					for k := range n {
						want1[k] = float32(s[0] * v[k])
						want2[k] = float32(float64(s[0]*v[k]) + float64(s[1]*w[k]))
					}
					same(t, fmt.Sprintf("outer of %d", n), one, want1)
					same(t, fmt.Sprintf("outer of two of %d", n), two, want2)
				}
			}
		}
	})
}

func TestWideBounds(t *testing.T) {
	eachPath(t, func(t *testing.T, p *Path) {
		x := func(n int) []float32 { return make([]float32, n) }
		v := func(n int) []float64 { return make([]float64, n) }
		cross := func(change func(*Cross)) func() {
			return func() {
				a := &Cross{A: x(24), B: x(24), C: v(p.CrossRows * p.CrossCols), ARow: 16, BRow: 16, CRow: p.CrossCols, Rows: 2, Cols: 2, N: 8}
				change(a)
				p.Cross(a)
			}
		}
		wide := func(op func(*Wide), change func(*Wide)) func() {
			return func() {
				a := &Wide{X: x(24), U: v(8), V: v(8), S: v(p.WideRows), Row: 16, Rows: 2, N: 8}
				change(a)
				op(a)
			}
		}
		// Valid as they are.
		cross(func(*Cross) {})()
		for _, op := range []func(*Wide){p.MulVec, p.AddRows, p.Outer} {
			wide(op, func(*Wide) {})()
		}
		for name, f := range map[string]func(){
			"cross A":       cross(func(a *Cross) { a.A = x(23) }),
			"cross B":       cross(func(a *Cross) { a.B = x(23) }),
			"cross C":       cross(func(a *Cross) { a.C = a.C[1:] }),
			"cross rows":    cross(func(a *Cross) { a.Rows, a.A = p.CrossRows+1, x(1000) }),
			"cross columns": cross(func(a *Cross) { a.Cols, a.B = p.CrossCols+1, x(1000) }),
			"cross none":    cross(func(a *Cross) { a.Rows = 0 }),
			"cross empty":   cross(func(a *Cross) { a.N = 0 }),
			"cross stride":  cross(func(a *Cross) { a.ARow = -1 }),
			"cross C row":   cross(func(a *Cross) { a.CRow = p.CrossCols - 1 }),
			"mulVec X":      wide(p.MulVec, func(a *Wide) { a.X = x(23) }),
			"mulVec V":      wide(p.MulVec, func(a *Wide) { a.V = v(7) }),
			"mulVec S":      wide(p.MulVec, func(a *Wide) { a.S = a.S[1:] }),
			"mulVec rows":   wide(p.MulVec, func(a *Wide) { a.Rows, a.X = p.WideRows+1, x(1000) }),
			"addRows X":     wide(p.AddRows, func(a *Wide) { a.X = x(23) }),
			"addRows U":     wide(p.AddRows, func(a *Wide) { a.U = v(7) }),
			"addRows S":     wide(p.AddRows, func(a *Wide) { a.S = v(1) }),
			"addRows none":  wide(p.AddRows, func(a *Wide) { a.Rows = 0 }),
			"outer X":       wide(p.Outer, func(a *Wide) { a.X = x(7) }),
			"outer U":       wide(p.Outer, func(a *Wide) { a.U = v(7) }),
			"outer V":       wide(p.Outer, func(a *Wide) { a.V = v(7) }),
			"outer S":       wide(p.Outer, func(a *Wide) { a.S = v(1) }),
		} {
			t.Run(name, func(t *testing.T) {
				defer func() {
					if r := recover(); r != outOfBounds {
						t.Errorf("recovered %v", r)
					}
				}()
				f()
			})
		}
	})
}
