package methodtest

import (
	"math"
	"slices"
	"testing"
)

// Wide returns a vector in float64.
func Wide(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

// Eliminate solves a x = b by Gauss-Jordan elimination, without pivoting. a has n rows. It returns b,
// overwritten by x, and also changes a.
func Eliminate[M interface{ Row(i int) []float64 }](n int, a, b M) M {
	for p := range n {
		for i := range n {
			if i == p {
				continue
			}
			f := a.Row(i)[p] / a.Row(p)[p]
			for j, v := range a.Row(p) {
				a.Row(i)[j] -= f * v
			}
			for j, v := range b.Row(p) {
				b.Row(i)[j] -= f * v
			}
		}
	}
	for i := range n {
		for j := range b.Row(i) {
			b.Row(i)[j] /= a.Row(i)[i]
		}
	}
	return b
}

// Differences returns the central differences of f at the values 0, every, 2*every, ... of x, and NaN elsewhere.
func Differences(x []float64, every int, step float64, f func(x []float64) float64) []float64 {
	out := slices.Repeat([]float64{math.NaN()}, len(x))
	for i := 0; i < len(x); i += every {
		y := slices.Clone(x)
		y[i] = x[i] + step
		up := f(y)
		y[i] = x[i] - step
		out[i] = (up - f(y)) / (2 * step)
	}
	return out
}

// Near reports an error if got differs from want by more than tol times the largest entry of want. It
// ignores entries that are NaN in want.
func Near(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	var worst, scale float64
	for i, v := range want {
		if math.IsNaN(v) {
			continue
		}
		worst, scale = max(worst, math.Abs(got[i]-v)), max(scale, math.Abs(v))
	}
	if !(worst <= tol*scale) || scale == 0 {
		t.Errorf("%s: error %.3g, largest entry %.3g", what, worst, scale)
	}
}
