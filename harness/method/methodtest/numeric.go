package methodtest

import (
	"math"
	"slices"
	"testing"

	"dgkip/harness/method"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// Wide returns a vector in float64.
func Wide(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

// Array is a tensor of reference values in PyTorch's layout, [n, c, h, w] for images.
type Array struct {
	Shape []int
	Data  []float64
}

// NHWC returns images in our layout, [n, h, w, c].
func NHWC[F tensor.Float](a Array) []F {
	c, pixels := a.Shape[1], a.Shape[2]*a.Shape[3]
	out := make([]F, len(a.Data))
	for i, v := range a.Data {
		image, k, p := i/(c*pixels), i/pixels%c, i%pixels
		out[(image*pixels+p)*c+k] = F(v)
	}
	return out
}

// Convert returns a vector of another type.
func Convert[F tensor.Float](x []float64) []F {
	y := make([]F, len(x))
	for i, v := range x {
		y[i] = F(v)
	}
	return y
}

// Normal returns n normal numbers with mean zero and standard deviation sd.
func Normal[F tensor.Float](r *rng.Rand, n int, sd float64) []F {
	x := make([]F, n)
	for i := range x {
		x[i] = F(sd * r.Normal64())
	}
	return x
}

// Halves returns n images of 8x8 pixels of two classes in turn. They differ in which half is
// brighter, by shift.
func Halves(seed uint64, n int, shift float32) method.Images {
	of := method.Images{H: 8, W: 8, C: 1}
	s := rng.Stream(seed, "halves")
	for i := range n {
		for j := range 64 {
			v := float32(s.Normal64())
			if (j >= 32) == (i%2 == 1) {
				v += shift
			}
			of.X = append(of.X, v)
		}
		of.Labels = append(of.Labels, i%2)
	}
	return of
}

// Fell reports an error if the mean of the last n losses exceeds share times the mean of the first
// n after the start.
func Fell(t *testing.T, what string, losses []float64, n int, share float64) {
	t.Helper()
	mean := func(x []float64) (sum float64) {
		for _, v := range x {
			sum += v / float64(n)
		}
		return sum
	}
	if early, late := mean(losses[1:n+1]), mean(losses[len(losses)-n:]); late > share*early {
		t.Errorf("%s: mean loss %.3g at first, %.3g at last", what, early, late)
	}
}

// Ridge returns B A'(A A' + s I)^-1 y, the predictions for features B of a regression on features
// A [n, m] with labels y [n, k], where s is jitter times the mean of the diagonal of A A'.
func Ridge(a, b, y tensor.Mat[float64], jitter float64) tensor.Mat[float64] {
	n := a.Rows
	gram, cross, f := tensor.NewMat[float64](n, n), tensor.NewMat[float64](b.Rows, n), tensor.NewMat[float64](b.Rows, y.Cols)
	tensor.Mul(gram, a, a, tensor.NT, false)
	trace := 0.0
	for i := range n {
		trace += gram.Row(i)[i]
	}
	for i := range n {
		gram.Row(i)[i] += jitter * trace / float64(n)
	}
	tensor.Mul(cross, b, a, tensor.NT, false)
	tensor.Mul(f, cross, eliminate(gram, tensor.MatOf(slices.Clone(y.Data), n, y.Cols)), tensor.NN, false)
	return f
}

// eliminate solves a x = b by Gauss-Jordan elimination, without pivoting. It returns b, overwritten
// by x, and also changes a.
func eliminate(a, b tensor.Mat[float64]) tensor.Mat[float64] {
	for p := range a.Rows {
		for i := range a.Rows {
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
	for i := range a.Rows {
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
func Near[F tensor.Float](t *testing.T, what string, got []F, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d values, want %d", what, len(got), len(want))
		return
	}
	var worst, scale float64
	for i, v := range want {
		if math.IsNaN(v) {
			continue
		}
		worst, scale = max(worst, math.Abs(float64(got[i])-v)), max(scale, math.Abs(v))
	}
	if !(worst <= tol*scale) || scale == 0 {
		t.Errorf("%s: error %.3g, largest entry %.3g", what, worst, scale)
	}
}
