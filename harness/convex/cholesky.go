package convex

import (
	"context"
	"errors"
	"fmt"
	"math"

	"dgkip/harness/tensor"
)

// Jitter is what factorise adds to the diagonal, relative to its mean: enough
// for rounding errors not to make a Gram matrix indefinite.
const Jitter = 1e-10

// ErrSingular says that a Gram matrix has no inverse.
var ErrSingular = errors.New("convex: the Gram matrix is singular")

// cholesky is a lower triangular L with L L' = K, to which factorise has added
// jitter.
type cholesky struct {
	l   tensor.Mat[float64]
	dot func(x, y []float64) float64 // dot64 but for Ridge
}

// factorise is for Gram matrices: it adds jitter and fails where that is not
// enough.
func factorise(k tensor.Mat[float64]) (cholesky, error) {
	n := k.Rows
	mean := 0.0
	for i := range n {
		mean += k.Data[i*k.Stride+i]
	}
	mean /= float64(max(1, n))
	c, bad := decompose(context.Background(), k, float64(Jitter*mean), 0)
	switch {
	case bad >= 0 && !(mean < math.MaxFloat64):
		return cholesky{}, errNotFinite
	case bad >= 0:
		return cholesky{}, fmt.Errorf("%w at row %d of %d: two of the images may be alike, or one may have no features", ErrSingular, bad, n)
	}
	return c, nil
}

// decompose factorises K + shift I. A pivot below floor times its diagonal entry
// has been lost to rounding and is set to that. It returns the first row whose
// pivot is not positive and finite all the same, or that ctx was done at, or -1.
func decompose(ctx context.Context, k tensor.Mat[float64], shift, floor float64) (cholesky, int) {
	return decomposeBy(ctx, dot64, k, shift, floor)
}

// decomposeBy is decompose with an inner product, whose order of summation decides the bits.
func decomposeBy(ctx context.Context, dot func(x, y []float64) float64, k tensor.Mat[float64], shift, floor float64) (cholesky, int) {
	n := k.Rows
	l := tensor.NewMat[float64](n, n)
	for i := range n {
		if ctx.Err() != nil {
			return cholesky{}, i
		}
		ri := l.Row(i)
		for j := range i {
			ri[j] = (k.Data[i*k.Stride+j] - dot(ri[:j], l.Row(j)[:j])) / l.Data[j*l.Stride+j]
		}
		d := k.Data[i*k.Stride+i] + shift
		p := max(d-dot(ri[:i], ri[:i]), float64(floor*d))
		if !(p > 0) || math.IsInf(p, 0) {
			return cholesky{}, i
		}
		ri[i] = math.Sqrt(p)
	}
	return cholesky{l, dot}, -1
}

// solve returns the solution x of L L' x = b. Of no factor, as a stopped
// factorisation leaves, it returns b.
func (c cholesky) solve(b []float64) []float64 {
	return c.backward(c.forward(b))
}

// backward returns the solution x of L'x = b.
func (c cholesky) backward(b []float64) []float64 {
	x := append([]float64(nil), b...)
	for i := c.l.Rows - 1; i >= 0; i-- {
		x[i] /= c.l.Data[i*c.l.Stride+i]
		for j, l := range c.l.Row(i)[:i] {
			x[j] -= float64(l * x[i])
		}
	}
	return x
}

// forward returns the solution x of L x = b, whose squared norm is b'K^-1 b.
func (c cholesky) forward(b []float64) []float64 {
	x := append([]float64(nil), b...)
	for i := range c.l.Rows {
		row := c.l.Row(i)
		x[i] = (x[i] - c.dot(row[:i], x[:i])) / row[i]
	}
	return x
}
