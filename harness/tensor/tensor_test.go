package tensor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func random(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

func widen(v []float32) []float64 {
	w := make([]float64, len(v))
	for i, x := range v {
		w[i] = float64(x)
	}
	return w
}

func near(t *testing.T, name string, got []float32, want []float64, tol float64) {
	t.Helper()
	var worst, scale float64
	for i, w := range want {
		worst = max(worst, math.Abs(float64(got[i])-w))
		scale = max(scale, math.Abs(w))
	}
	if !(worst <= tol*scale) {
		t.Errorf("%s: error %.2g of the largest entry", name, worst/scale)
	}
}

func TestQuick(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, path := range Paths() {
		if err := Use(path); err != nil {
			t.Fatal(err)
		}
		for _, s := range [][3]int{{1, 1, 1}, {3, 7, 13}, {15, 17, 31}, {33, 255, 300}, {64, 32, 512}, {100, 65, 1024}} {
			m, n, k := s[0], s[1], s[2]
			for _, o := range []Order{NN, NT, TN} {
				for _, add := range []bool{false, true} {
					a, b := MatOf(random(r, m*k), m, k), MatOf(random(r, k*n), k, n)
					if o == TN {
						a.Rows, a.Cols, a.Stride = k, m, m
					}
					if o == NT {
						b.Rows, b.Cols, b.Stride = n, k, k
					}
					c := MatOf(random(r, m*n), m, n)
					w := MatOf(widen(c.Data), m, n)
					Mul(w, Mat[float64]{a.Rows, a.Cols, a.Stride, widen(a.Data)}, Mat[float64]{b.Rows, b.Cols, b.Stride, widen(b.Data)}, o, add)
					Mul(c, a, b, o, add)
					near(t, fmt.Sprint(path, s, o, add), c.Data, w.Data, 1e-5)
				}
			}
		}
		for _, s := range [][5]int{{2, 8, 8, 16, 32}, {1, 7, 7, 64, 64}, {3, 5, 6, 3, 17}, {2, 14, 14, 64, 80}, {1, 1, 1, 4, 4}} {
			for _, algo := range []Algorithm{Direct, Winograd} {
				for _, add := range []bool{false, true} {
					n, h, w, in, out := s[0], s[1], s[2], s[3], s[4]
					wt, x, bias := random(r, 9*in*out), random(r, n*h*w*in), random(r, out)
					y, dy := random(r, n*h*w*out), random(r, n*h*w*out)
					dx, dw := random(r, len(x)), random(r, len(wt))
					y6, dx6, dw6 := widen(y), widen(dx), widen(dw)
					c, c6 := NewConv(wt, in, out, algo), NewConv(widen(wt), in, out, algo)
					c.Forward(y, x, n, h, w, Epilogue[float32]{add, bias, true})
					c6.Forward(y6, widen(x), n, h, w, Epilogue[float64]{add, widen(bias), true})
					near(t, fmt.Sprint(path, " forward ", s, algo, add), y, y6, 1e-5)
					c.BackwardInput(dx, dy, n, h, w, add)
					c6.BackwardInput(dx6, widen(dy), n, h, w, add)
					near(t, fmt.Sprint(path, " backward ", s, algo, add), dx, dx6, 1e-5)
					ConvBackwardWeights(dw, x, dy, n, h, w, in, out, add)
					ConvBackwardWeights(dw6, widen(x), widen(dy), n, h, w, in, out, add)
					near(t, fmt.Sprint(path, " weights ", s, add), dw, dw6, 1e-5)
				}
			}
		}
	}
	Use(Paths()[0])
}
