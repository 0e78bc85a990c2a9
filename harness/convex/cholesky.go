package convex

import (
	"context"
	"errors"
	"fmt"
	"math"

	"dgkip/harness/tensor"
)

// Jitter is added to the diagonal by factorise, relative to the diagonal's mean. It keeps
// rounding errors from making a Gram matrix indefinite.
const Jitter = 1e-10

// ErrSingular is returned for a Gram matrix without an inverse.
var ErrSingular = errors.New("convex: the Gram matrix is singular")

// cholesky is a lower triangular L with L L' = K.
type cholesky struct {
	l   tensor.Mat[float64]
	dot func(x, y []float64) float64 // inOrder for Ridge, else dot64
}

// factorise factorises a Gram matrix plus jitter. It fails with ErrSingular if jitter does not
// make the matrix positive definite.
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
		return cholesky{}, fmt.Errorf("%w at row %d of %d: two images may be equal, or the features of one may all be zero\nhint: try another start, another seed or a lower ipc", ErrSingular, bad, n)
	}
	return c, nil
}

// decompose factorises K + shift I. It raises pivots lost to rounding to floor times their
// diagonal entry. It returns -1 on success, or else the row whose pivot was not positive or not
// finite, or at which ctx was done.
func decompose(ctx context.Context, k tensor.Mat[float64], shift, floor float64) (cholesky, int) {
	return decomposeBy(ctx, dot64, k, shift, floor)
}

// decomposeBy is decompose with a given inner product, whose order of summation fixes the bits.
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

// solve returns the solution x of L L' x = b. The zero cholesky, left by a cancelled
// factorisation, returns b.
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
