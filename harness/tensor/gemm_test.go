package tensor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// oracle returns op(A) op(B), computed by gonum in float64.
func oracle(a, b Mat[float32], order Order) []float64 {
	general := func(m Mat[float32]) blas64.General {
		return blas64.General{Rows: m.Rows, Cols: m.Cols, Stride: m.Stride, Data: widen(m.Data)}
	}
	ta, tb := blas.NoTrans, blas.NoTrans
	m, n := a.Rows, b.Cols
	switch order {
	case NT:
		tb, n = blas.Trans, b.Rows
	case TN:
		ta, m = blas.Trans, a.Cols
	}
	c := blas64.General{Rows: m, Cols: n, Stride: n, Data: make([]float64, m*n)}
	blas64.Gemm(ta, tb, 1, general(a), general(b), 0, c)
	return c.Data
}

// operands returns random matrices for a product of m x k by k x n, with gaps between
// their rows.
func operands(r *rand.Rand, m, n, k int, order Order) (a, b Mat[float32]) {
	mat := func(rows, cols int) Mat[float32] {
		stride := cols + r.IntN(5)
		return Mat[float32]{Rows: rows, Cols: cols, Stride: stride, Data: random(r, rows*stride)}
	}
	switch order {
	case NT:
		return mat(m, k), mat(n, k)
	case TN:
		return mat(k, m), mat(k, n)
	}
	return mat(m, k), mat(k, n)
}

var edges = []int{1, 3, 7, 13, 15, 17, 31, 33, 255}

// shapes returns products with every edge case in every dimension, and some larger ones.
func shapes() [][3]int {
	s := [][3]int{{100, 65, 1024}, {29, 512, 1500}, {200, 100, 2100}, {2, 300, 40}, {64, 64, 512}}
	for i, m := range edges {
		for j, n := range edges {
			s = append(s, [3]int{m, n, edges[(i+2*j)%len(edges)]})
		}
	}
	return s
}

func TestMul(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 1))
		for _, s := range shapes() {
			m, n, k := s[0], s[1], s[2]
			if Slow() && m*n*k > 1e6 {
				continue
			}
			for _, order := range []Order{NN, NT, TN} {
				a, b := operands(r, m, n, k, order)
				want := oracle(a, b, order)
				for _, add := range []bool{false, true} {
					name := fmt.Sprintf("%dx%dx%d order %d add %t", m, n, k, order, add)
					stride := n + r.IntN(5)
					data, check := guarded(t, r, m*stride)
					c := Mat[float32]{Rows: m, Cols: n, Stride: stride, Data: data}
					sum := append([]float64(nil), want...)
					for i := range m {
						for j := range c.Row(i) {
							if add {
								sum[i*n+j] += float64(c.Row(i)[j])
							}
						}
						for j := n; j < stride; j++ {
							data[i*stride+j] = guard
						}
					}
					Mul(c, a, b, order, add)
					var got []float32
					for i := range m {
						got = append(got, c.Row(i)...)
						for j := n; j < stride; j++ {
							if data[i*stride+j] != guard {
								t.Fatalf("%s: wrote between the rows of C", name)
							}
						}
					}
					near(t, name, got, sum, 2e-6*math.Sqrt(float64(k)))
					check(name)
				}
			}
			a, b := operands(r, m, n, k, NN)
			want := oracle(a, b, NN)
			bias := random(r, n)
			for i := range want {
				want[i] = max(0, want[i]+float64(bias[i%n]))
			}
			p := Pack(b, NN)
			data, check := guarded(t, r, m*n)
			MulPacked(MatOf(data, m, n), a, p, bias, true)
			near(t, fmt.Sprint("packed ", s), data, want, 2e-6*math.Sqrt(float64(k)))
			check("packed")

			bt := NewMat[float32](n, k)
			for i := range k {
				for j := range n {
					bt.Data[j*k+i] = b.Data[i*b.Stride+j]
				}
			}
			turned := make([]float32, m*n)
			MulPacked(MatOf(turned, m, n), a, Pack(bt, NT), bias, true)
			if digest(turned) != digest(data) {
				t.Errorf("packed %v: B and B' transposed differ", s)
			}
			if digest(p.Transposed().data) != digest(Pack(b, NT).data) {
				t.Errorf("packed %v: transposed differs from B' packed", s)
			}
		}
	})
}

// The float64 product serves as an oracle elsewhere. It agrees with gonum.
func TestMulFloat64(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 8))
	for _, s := range [][3]int{{1, 1, 1}, {7, 5, 9}, {13, 31, 17}} {
		m, n, k := s[0], s[1], s[2]
		for _, order := range []Order{NN, NT, TN} {
			a, b := operands(r, m, n, k, order)
			for _, add := range []bool{false, true} {
				c := MatOf(widen(random(r, m*n)), m, n)
				want := oracle(a, b, order)
				for i := range want {
					if add {
						want[i] += c.Data[i]
					}
				}
				Mul(c, Mat[float64]{a.Rows, a.Cols, a.Stride, widen(a.Data)}, Mat[float64]{b.Rows, b.Cols, b.Stride, widen(b.Data)}, order, add)
				for i, w := range want {
					if math.Abs(c.Data[i]-w) > 1e-12*(1+math.Abs(w)) {
						t.Fatalf("%v order %d add %t: %v, want %v", s, order, add, c.Data[i], w)
					}
				}
			}
		}
	}
}

func TestMulEmpty(t *testing.T) {
	c := MatOf([]float32{1, 2}, 1, 2)
	Mul(c, NewMat[float32](1, 0), NewMat[float32](0, 2), NN, true)
	if c.Data[0] != 1 || c.Data[1] != 2 {
		t.Error("adding an empty sum changed C")
	}
	Mul(c, NewMat[float32](1, 0), NewMat[float32](0, 2), NN, false)
	if c.Data[0] != 0 || c.Data[1] != 0 {
		t.Error("an empty sum is not zero")
	}
	Mul(NewMat[float32](0, 2), NewMat[float32](0, 3), NewMat[float32](3, 2), NN, false)
	Gram(NewMat[float32](0, 0), NewMat[float32](0, 3))
}

// A NaN or Inf in a row or column affects only the products with that row or column.
func TestMulSpecial(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 5))
		const m, n, k = 30, 70, 40
		a, b := MatOf(random(r, m*k), m, k), MatOf(random(r, k*n), k, n)
		a.Data[3*k+7] = float32(math.NaN())
		a.Data[5*k+9] = float32(math.Inf(1))
		b.Data[11*n+60] = float32(math.Inf(-1))
		c := NewMat[float32](m, n)
		for _, packed := range []bool{false, true} {
			if packed {
				MulPacked(c, a, Pack(b, NN), make([]float32, n), false)
			} else {
				Mul(c, a, b, NN, false)
			}
			for i := range m {
				for j := range n {
					x := float64(c.Data[i*n+j])
					switch {
					case i == 3 && !math.IsNaN(x):
						t.Fatalf("(%d, %d) is %v, want NaN", i, j, x)
					case i != 3 && (i == 5) != (j == 60) && !math.IsInf(x, 0):
						t.Fatalf("(%d, %d) is %v, want an infinity", i, j, x)
					case i != 3 && i != 5 && j != 60 && (math.IsNaN(x) || math.IsInf(x, 0)):
						t.Fatalf("(%d, %d) is %v", i, j, x)
					}
				}
			}
		}
		MulPacked(c, a, Pack(b, NN), nil, true)
		if !math.IsNaN(float64(c.Data[3*n])) {
			t.Error("ReLU stops a NaN")
		}
	})
}

func TestGram(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(2, 2))
		for _, s := range [][2]int{{1, 1}, {3, 17}, {33, 255}, {129, 100}, {255, 31}, {200, 512}, {300, 1100}} {
			n, k := s[0], s[1]
			if Slow() && n*n*k > 4e6 {
				continue
			}
			a := Mat[float32]{Rows: n, Cols: k, Stride: k + 2, Data: random(r, n*(k+2))}
			data, check := guarded(t, r, n*n)
			c := MatOf(data, n, n)
			Gram(c, a)
			check("Gram")
			near(t, fmt.Sprint("Gram ", s), data, oracle(a, a, NT), 1e-5)
			full := NewMat[float32](n, n)
			Mul(full, a, a, NT, false)
			if digest(full.Data) != digest(data) {
				t.Errorf("Gram %v differs from the full product", s)
			}
			for i := range n {
				for j := range i {
					if c.Data[i*n+j] != c.Data[j*n+i] {
						t.Fatalf("Gram %v is not symmetric", s)
					}
				}
			}
		}
	})
}

func ExampleMul() {
	a := MatOf([]float32{1, 2, 3, 4}, 2, 2)
	c := NewMat[float32](2, 2)
	Mul(c, a, a, NT, false)
	fmt.Println(c.Data)
	// Output: [5 11 11 25]
}
