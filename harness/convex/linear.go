package convex

import (
	"errors"
	"fmt"
	"math"

	"dgkip/harness/tensor"
)

// pieceLen is the length of the pieces in which vectors over the features are
// worked on, each by a task.
const pieceLen = 4096

func pieces(m int) int { return (m + pieceLen - 1) / pieceLen }

// dots returns A v: the inner product of each row of A and v.
func dots(a tensor.Mat[float32], v []float64) []float64 {
	n, p := a.Rows, pieces(a.Cols)
	parts := make([]float64, n*p)
	tensor.Parallel(n*p, func(t int) {
		i, from := t/p, t%p*pieceLen
		to := min(a.Cols, from+pieceLen)
		parts[t] = dot(a.Row(i)[from:to], v[from:to])
	})
	out := make([]float64, n)
	for i := range out {
		for _, x := range parts[i*p : (i+1)*p] {
			out[i] += x
		}
	}
	return out
}

// dot is an inner product with four sums, which the processor keeps apart.
func dot(x []float32, v []float64) float64 {
	var s [4]float64
	n := len(x) &^ 3
	for i := 0; i < n; i += 4 {
		x, v := x[i:i+4:i+4], v[i:i+4:i+4]
		s[0] += float64(float64(x[0]) * v[0])
		s[1] += float64(float64(x[1]) * v[1])
		s[2] += float64(float64(x[2]) * v[2])
		s[3] += float64(float64(x[3]) * v[3])
	}
	for i := n; i < len(x); i++ {
		s[0] += float64(float64(x[i]) * v[i])
	}
	return (s[0] + s[1]) + (s[2] + s[3])
}

// subtractRows returns v - A'w, the rows of A taken in order.
func subtractRows(v []float64, a tensor.Mat[float32], w []float64) []float64 {
	out := append([]float64(nil), v...)
	tensor.Parallel(pieces(len(v)), func(p int) {
		from, to := p*pieceLen, min(len(v), (p+1)*pieceLen)
		r := out[from:to]
		for i, c := range w {
			if c == 0 {
				continue
			}
			for j, x := range a.Row(i)[from:to] {
				r[j] -= float64(c * float64(x))
			}
		}
	})
	return out
}

// square is the squared norm of v.
func square(v []float64) float64 {
	parts := make([]float64, pieces(len(v)))
	tensor.Parallel(len(parts), func(p int) {
		for _, x := range v[p*pieceLen : min(len(v), (p+1)*pieceLen)] {
			parts[p] += float64(x * x)
		}
	})
	sum := 0.0
	for _, x := range parts {
		sum += x
	}
	return sum
}

// outer sets row i of d to a[i]*u + b[i]*v.
func outer(d tensor.Mat[float32], a, u, b, v []float64) {
	p := pieces(d.Cols)
	tensor.Parallel(d.Rows*p, func(t int) {
		i, from := t/p, t%p*pieceLen
		to := min(d.Cols, from+pieceLen)
		row := d.Row(i)[from:to]
		for j := range row {
			s := a[i] * u[from+j]
			if b != nil {
				s = float64(s) + float64(b[i]*v[from+j])
			}
			row[j] = float32(s)
		}
	})
}

// GramOf returns A A' in float64.
func GramOf(a tensor.Mat[float32]) tensor.Mat[float64] {
	k := tensor.NewMat[float64](a.Rows, a.Rows)
	tensor.Parallel(a.Rows, func(i int) {
		for j := range i + 1 {
			sum := 0.0
			x, y := a.Row(i), a.Row(j)
			for from := 0; from < a.Cols; from += pieceLen {
				to := min(a.Cols, from+pieceLen)
				sum += dot32(x[from:to], y[from:to])
			}
			k.Data[i*k.Stride+j] = sum
		}
	})
	for i := range a.Rows {
		for j := range i {
			k.Data[j*k.Stride+i] = k.Data[i*k.Stride+j]
		}
	}
	return k
}

// dot32 is dot for two rows of float32: products are exact in float64.
func dot32(x, y []float32) float64 {
	var s [4]float64
	n := len(x) &^ 3
	for i := 0; i < n; i += 4 {
		x, y := x[i:i+4:i+4], y[i:i+4:i+4]
		s[0] += float64(x[0]) * float64(y[0])
		s[1] += float64(x[1]) * float64(y[1])
		s[2] += float64(x[2]) * float64(y[2])
		s[3] += float64(x[3]) * float64(y[3])
	}
	for i := n; i < len(x); i++ {
		s[0] += float64(x[i]) * float64(y[i])
	}
	return (s[0] + s[1]) + (s[2] + s[3])
}

// Jitter is what factorise adds to the diagonal, relative to its mean: enough
// for rounding errors not to make a Gram matrix indefinite.
const Jitter = 1e-10

// ErrSingular says that a Gram matrix has no inverse.
var ErrSingular = errors.New("convex: the Gram matrix is singular")

// cholesky is a lower triangular L with L L' = K + jitter.
type cholesky struct{ l tensor.Mat[float64] }

func factorise(k tensor.Mat[float64]) (cholesky, error) {
	n := k.Rows
	mean := 0.0
	for i := range n {
		mean += k.Data[i*k.Stride+i]
	}
	mean /= float64(max(1, n))
	l := tensor.NewMat[float64](n, n)
	for i := range n {
		ri := l.Row(i)
		for j := range i + 1 {
			rj := l.Row(j)
			s := k.Data[i*k.Stride+j]
			if i == j {
				s += float64(Jitter * mean)
			}
			for q := range j {
				s -= float64(ri[q] * rj[q])
			}
			if i > j {
				ri[j] = s / rj[j]
				continue
			}
			if !(s > 0) || math.IsInf(s, 0) {
				return cholesky{}, fmt.Errorf("%w at row %d of %d: two of the images may be alike, or one may have no features", ErrSingular, i, n)
			}
			ri[i] = math.Sqrt(s)
		}
	}
	return cholesky{l}, nil
}

// solve returns (K + jitter)^-1 b.
func (c cholesky) solve(b []float64) []float64 {
	x := append([]float64(nil), b...)
	for i := range x {
		row := c.l.Row(i)
		for j := range i {
			x[i] -= float64(row[j] * x[j])
		}
		x[i] /= row[i]
	}
	for i := len(x) - 1; i >= 0; i-- {
		x[i] /= c.l.Data[i*c.l.Stride+i]
		for j, l := range c.l.Row(i)[:i] {
			x[j] -= float64(l * x[i])
		}
	}
	return x
}
