package kip

import (
	"errors"
	"fmt"
	"math"

	"dgkip/harness/tensor"
)

// errSingular says that a regression has no solution in float64.
var errSingular = errors.New("the kernel of the set is singular")

// cholesky is a lower triangular L with L L' = K + s I.
type cholesky struct{ l tensor.Mat[float64] }

func factorise(k tensor.Mat[float64], s float64) (cholesky, error) {
	n := k.Rows
	l := tensor.NewMat[float64](n, n)
	for i := range n {
		row := l.Row(i)
		for j := range i {
			row[j] = (k.Row(i)[j] - dot(row[:j], l.Row(j)[:j])) / l.Row(j)[j]
		}
		p := k.Row(i)[i] + s - dot(row[:i], row[:i])
		if !(p > 0) || math.IsInf(p, 0) {
			return cholesky{}, fmt.Errorf("%w at image %d of %d: it may be like another, or have no features\nhint: raise jitter, or lower rate", errSingular, i, n)
		}
		row[i] = math.Sqrt(p)
	}
	return cholesky{l}, nil
}

// solve returns X with L L' X = B, for B [n, k].
func (c cholesky) solve(b tensor.Mat[float64]) tensor.Mat[float64] {
	n, x := b.Rows, tensor.NewMat[float64](b.Rows, b.Cols)
	v := make([]float64, n)
	for k := range b.Cols {
		for i := range v {
			row := c.l.Row(i)
			v[i] = (b.Row(i)[k] - dot(row[:i], v[:i])) / row[i]
		}
		for i := n - 1; i >= 0; i-- {
			row := c.l.Row(i)
			v[i] /= row[i]
			for j, l := range row[:i] {
				v[j] -= float64(l * v[i])
			}
		}
		for i, t := range v {
			x.Row(i)[k] = t
		}
	}
	return x
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += float64(v * y[i])
	}
	return sum
}
