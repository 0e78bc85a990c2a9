package tensor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// wideDot computes an inner product in float64 by its definition, for any values y.
func wideDot(x []float32, y []float64) float64 {
	sum := 0.0
	for len(x) > 0 {
		n := min(len(x), wideChunk)
		whole := n &^ 7
		part := lanes(x[:whole], y[:whole])
		if whole < n {
			if rest := lanes(x[whole:n], y[whole:n]); whole > 0 {
				part += rest
			} else {
				part = rest
			}
		}
		sum += part
		x, y = x[n:], y[n:]
	}
	return sum
}

func lanes(x []float32, y []float64) float64 {
	s := make([]float64, 8)
	for k := range x {
		s[k%8] += float64(float64(x[k]) * y[k])
	}
	for n := 4; n > 0; n /= 2 {
		for i := range n {
			s[i] += s[i+n]
		}
	}
	return s[0]
}

// randomMat returns a matrix with gaps between its rows, filled with NaN.
func randomMat(r *rand.Rand, rows, cols, gap int) Mat[float32] {
	m := Mat[float32]{Rows: rows, Cols: cols, Stride: cols + gap, Data: random(r, rows*(cols+gap))}
	for i := range rows {
		for j := range gap {
			m.Data[i*m.Stride+cols+j] = float32(math.NaN())
		}
	}
	if rows > 0 {
		m.Data = m.Data[: (rows-1)*m.Stride+cols : (rows-1)*m.Stride+cols]
	}
	return m
}

// guardedMat returns a matrix of values that must be overwritten, and a check that the
// gaps between its rows are unchanged.
func guardedMat[F Float](rows, cols, gap int) (m Mat[F], check func(t *testing.T, name string)) {
	m = Mat[F]{Rows: rows, Cols: cols, Stride: cols + gap, Data: make([]F, rows*(cols+gap))}
	for i := range m.Data {
		m.Data[i] = guard
	}
	return m, func(t *testing.T, name string) {
		t.Helper()
		for i := range m.Data {
			if i%m.Stride >= cols && m.Data[i] != guard {
				t.Fatalf("%s: wrote between the rows, at %d", name, i)
			}
		}
	}
}

// same64 compares the bits of float64 values.
func same64(t *testing.T, name string, got, want []float64) {
	t.Helper()
	for i, w := range want {
		if math.Float64bits(got[i]) != math.Float64bits(w) && !(w != w && got[i] != got[i]) {
			t.Fatalf("%s: element %d is %v (%016x), want %v (%016x)", name, i, got[i], math.Float64bits(got[i]), w, math.Float64bits(w))
		}
	}
}

// Every operation matches its definition to the last bit, for rows with gaps and for
// values such as NaN, Inf and zero.
func TestWide(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 7))
		for _, s := range [][3]int{{1, 1, 1}, {2, 3, 7}, {3, 1, 8}, {5, 7, 9}, {7, 5, 31}, {1, 50, 64}, {50, 1, 65}, {13, 27, 100},
			{4, 6, 2047}, {9, 10, 2048}, {11, 3, 2049}, {3, 2, 4103}, {49, 97, 24}, {0, 3, 5}, {3, 0, 5}, {3, 4, 0}} {
			n, m, k := s[0], s[1], s[2]
			for _, gap := range []int{0, 5} {
				for _, odd := range []bool{false, true} {
					name := fmt.Sprintf("%v gap %d", s, gap)
					a, b := randomMat(r, n, k, gap), randomMat(r, m, k, 2*gap)
					v, w := widen(random(r, k)), widen(random(r, n))
					for i := range v {
						v[i] *= 1 + 0x1p-40 // so that products are rounded
					}
					for i := range w {
						w[i] *= 1 - 0x1p-41
					}
					if odd && n*m*k > 0 {
						for _, x := range []float64{math.Inf(1), math.NaN(), 1e-45, math.MaxFloat32, math.Copysign(0, -1)} {
							a.Row(r.IntN(n))[r.IntN(k)] = float32(x)
							b.Row(r.IntN(m))[r.IntN(k)] = float32(x)
							v[r.IntN(k)], w[r.IntN(n)] = x, x
						}
					}
					cross, check := guardedMat[float64](n, m, gap)
					Cross64(cross, a, b)
					check(t, name)
					gram, check := guardedMat[float64](n, n, gap)
					Gram64(gram, a)
					check(t, name)
					for i := range n {
						for j := range m {
							same64(t, "Cross64 "+name, cross.Row(i)[j:], []float64{wideDot(a.Row(i), widen(b.Row(j)))})
						}
						for j := range n {
							same64(t, "Gram64 "+name, gram.Row(i)[j:], []float64{wideDot(a.Row(i), widen(a.Row(j)))})
						}
					}
					got, want := make([]float64, n), make([]float64, n)
					MulVec64(got, a, v)
					for i := range want {
						want[i] = wideDot(a.Row(i), v)
					}
					same64(t, "MulVec64 "+name, got, want)

					got, want = append([]float64(nil), v...), append([]float64(nil), v...)
					AddRows64(got, a, w)
					for i, c := range w {
						for j, x := range a.Row(i) {
							want[j] += float64(c * float64(x))
						}
					}
					same64(t, "AddRows64 "+name, got, want)

					y := widen(random(r, k))
					u := append([]float64(nil), w...)
					for i := range u {
						u[i] *= 3
					}
					one, check := guardedMat[float32](n, k, gap)
					Outer64(one, w, v, nil, nil)
					check(t, name)
					two, check := guardedMat[float32](n, k, gap)
					Outer64(two, w, v, u, y)
					check(t, name)
					for i := range n {
						want1, want2 := make([]float64, k), make([]float64, k)
						for j := range k {
							want1[j] = float64(float32(w[i] * v[j]))
							want2[j] = float64(float32(float64(w[i]*v[j]) + float64(u[i]*y[j])))
						}
						same64(t, "Outer64 with one "+name, widen(one.Row(i)), want1)
						same64(t, "Outer64 with two "+name, widen(two.Row(i)), want2)
					}
				}
			}
		}
	})
}
