package convex

import (
	"errors"
	"math"

	"dgkip/harness/tensor"
)

// single is H_ij = y_i y_j K_ij / lambda for a large Gram matrix K in float32.
type single struct {
	dual
	search   *search   // its context stops plus and the solver that plus returns
	products int       // number of products with K
	buffer   []float32 // of the factor
}

// closeGap is the smallest tolerance for which the interior-point method is tried first, to
// reproduce existing records. interiorProducts limits it, because it converges slowly if classes
// overlap. The records need 300 products (CIFAR-10) to 1,000 (MNIST).
const (
	closeGap         = 1e-3
	interiorProducts = 2000
)

// hinge solves the hinge loss by the method of multipliers, or first by the interior-point
// method: see closeGap. It counts products with K as steps.
func (d dual) hinge(search *search) (Solution, error) {
	h := &single{dual: d, search: search}
	m := newMultipliers(h)
	if search.tol >= closeGap && search.limit > interiorProducts {
		limit := search.limit
		search.limit = interiorProducts
		fit, err := newBox(h, len(d.Labels)).follow(search)
		if !errors.Is(err, ErrGap) {
			return fit, err
		}
		search.limit = limit + h.products
	}
	return m.solve()
}

func (h *single) at(a []float64, _ int) Solution {
	fit := h.certify(a, h.outputs(a))
	h.products++
	fit.Sweeps = float64(h.products)
	return fit
}

func (h *single) apply(v []float64) []float64 {
	h.products++
	u := make([]float64, len(v))
	for i, x := range v {
		u[i] = float64(x*h.Labels[i]) / h.Lambda
	}
	u = dots(h.Gram, u)
	for i := range u {
		u[i] = float64(u[i] * h.Labels[i])
	}
	return u
}

// plus solves (H + diag(d)) x = b to a thousandth by conjugate gradients in float64,
// preconditioned by a Cholesky factor of the matrix in float32. A solution that is cut short
// still serves as a direction.
func (h *single) plus(d []float64) (func([]float64) []float64, bool) {
	near, ok := h.factor(d)
	return func(b []float64) []float64 {
		x, r := make([]float64, len(b)), append([]float64(nil), b...)
		p := near(r)
		size := dot64(r, p)
		enough := 1e-6 * size
		for steps := 0; size > enough && steps < 100 && h.search.ctx.Err() == nil; steps++ {
			h.search.tick()
			q := h.apply(p)
			for i := range q {
				q[i] += float64(d[i] * p[i])
			}
			a := size / dot64(p, q)
			for i := range x {
				x[i] += float64(a * p[i])
				r[i] -= float64(a * q[i])
			}
			v := near(r)
			next := dot64(r, v)
			for i := range p {
				p[i] = v[i] + float64(next/size*p[i])
			}
			size = next
		}
		return x
	}, ok
}

// factor returns an approximate inverse of H + diag(d). Variables with d_i at most a hundred
// times H_ii are factorised in float32. The others, which are held at a bound, contribute only
// their diagonal. The factor takes at most as much memory as K.
func (h *single) factor(d []float64) (func([]float64) []float64, bool) {
	n := len(d)
	root := make([]float64, n)
	var in []int
	for i, x := range d {
		own := h.curvature(i)
		root[i] = 1 / math.Sqrt(own+x)
		if x <= 100*own {
			in = append(in, i)
		}
	}
	if need := len(in) * len(in); cap(h.buffer) < need {
		h.buffer = make([]float32, need)
	}
	m := tensor.MatOf(h.buffer[:len(in)*len(in)], len(in), len(in))
	var l cholesky32
	for jitter := 1e-6; ; jitter *= 10 {
		tensor.Parallel(len(in), func(p int) {
			i := in[p]
			scale := float64(root[i]*h.Labels[i]) / h.Lambda
			row, from := m.Row(p), h.Gram.Row(i)
			for q, j := range in[:p] {
				row[q] = float32(scale * float64(from[j]) * float64(root[j]*h.Labels[j]))
			}
			row[p] = float32(1 + jitter)
		})
		ok := false
		if l, ok = decompose32(h.search.ctx, m, h.search.tick); ok {
			break
		}
		if jitter > 0.01 || h.search.ctx.Err() != nil {
			return nil, false
		}
	}
	return func(r []float64) []float64 {
		out, part := make([]float64, n), make([]float64, len(in))
		for i, x := range r {
			out[i] = float64(float64(root[i]*root[i]) * x)
		}
		for p, i := range in {
			part[p] = float64(root[i] * r[i])
		}
		for p, x := range l.solve(part) {
			out[in[p]] = float64(root[in[p]] * x)
		}
		return out
	}, true
}
