package convex

import (
	"context"

	"dgkip/harness/tensor"
)

// dense is the matrix H of a small set.
type dense struct {
	kernelProblem
	h   tensor.Mat[float64]
	ctx context.Context
}

func (h dense) apply(a []float64) []float64 { return multiply(h.h, oneColumn(a)).Data }

func (h dense) plus(d []float64) (func([]float64) []float64, bool) {
	m := times(1, h.h)
	for i, x := range d {
		m.Data[i*m.Stride+i] += x
	}
	l, bad := decompose(h.ctx, m, 0, 1e-15)
	return l.solve, bad < 0
}

func (h dense) at(a []float64, steps int) Solution {
	c := make([]float64, len(a))
	for i, x := range a {
		c[i] = float64(x*h.label(i)[0]) / h.Lambda
	}
	f := Solution{C: oneColumn(c), Sweeps: float64(steps)}
	f.Outputs = multiply(h.Gram, f.C)
	f.Norm2 = max(0, inner(f.C, f.Outputs))
	losses, gap := termsAt(Hinge{}, h.Labels.Values.Data, f.Outputs.Data, a)
	f.prove(losses, gap, h.Lambda)
	return f
}

// hinge solves the hinge loss by the interior-point method.
func (s kernelProblem) hinge(search *search) (Solution, error) {
	n := s.Gram.Rows
	search.limit = min(search.limit, interiorLimit)
	h := dense{s, tensor.NewMat[float64](n, n), search.ctx}
	for i := range n {
		for j, k := range s.Gram.Row(i) {
			h.h.Data[i*n+j] = float64(s.label(i)[0]*k) * s.label(j)[0] / s.Lambda
		}
	}
	b := newBox(h, n)
	fit, err := b.follow(search)
	if err == nil {
		// At a vertex of the constraints the gap is usually smaller.
		if exact := h.at(b.rounded(h.h), int(fit.Sweeps)); exact.Gap <= fit.Gap {
			fit = exact
		}
	} else if search.ctx.Err() == nil {
		err = s.unsolved(fit, search)
	}
	return fit, err
}

// rounded moves variables near a bound to the bound. It sets the others such that their margins
// are 1, clipped to [0, 1].
func (b *box) rounded(full tensor.Mat[float64]) []float64 {
	n := len(b.a)
	a := make([]float64, n)
	var free []int
	for i := range n {
		h := full.Row(i)[i]
		switch {
		case float64(h*b.a[i]) < b.z[i]:
		case float64(h*b.s[i]) < b.w[i]:
			a[i] = 1
		default:
			free = append(free, i)
		}
	}
	if len(free) == 0 {
		return a
	}
	m, rhs := tensor.NewMat[float64](len(free), len(free)), make([]float64, len(free))
	for p, i := range free {
		rhs[p] = 1 - dot64(full.Row(i), a)
		for q, j := range free {
			m.Data[p*m.Stride+q] = full.Row(i)[j]
		}
	}
	l, bad := decompose(context.Background(), m, 0, 1e-15)
	if bad >= 0 {
		return b.a
	}
	for p, x := range l.solve(rhs) {
		a[free[p]] = max(0, min(1, x))
	}
	return a
}
