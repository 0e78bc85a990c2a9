package convex

import (
	"context"
	"math"

	"dgkip/harness/tensor"
)

// interiorLimit is several times the steps that any problem has been seen to need.
const interiorLimit = 200

// box is the dual of the hinge loss: minimise a'H a / 2 - sum a over
// 0 <= a <= 1, with H_ij = y_i y_j K_ij / lambda. Its gradient H a - 1 is m - 1
// for the margins m.
type box struct {
	h quadratic
	// s = 1 - a; z and w are the multipliers of a >= 0 and s >= 0.
	a, s, z, w []float64
}

// quadratic is a positive semidefinite matrix H.
type quadratic interface {
	apply(a []float64) []float64 // H a
	// plus returns a solver of H + diag(d), false if that is not positive.
	plus(d []float64) (solve func(b []float64) []float64, ok bool)
}

// dense is H as it stands.
type dense struct {
	tensor.Mat[float64]
	ctx context.Context
}

func (h dense) apply(a []float64) []float64 { return multiply(h.Mat, oneColumn(a)).Data }

func (h dense) plus(d []float64) (func([]float64) []float64, bool) {
	m := tensor.NewMat[float64](h.Rows, h.Cols)
	copy(m.Data, h.Data)
	for i, x := range d {
		m.Data[i*m.Stride+i] += x
	}
	l, bad := decompose(h.ctx, m, 0, 1e-15)
	return l.solve, bad < 0
}

// newBox starts in the middle.
func newBox(h quadratic, n int) *box {
	b := &box{h: h, a: make([]float64, n), s: make([]float64, n), z: make([]float64, n), w: make([]float64, n)}
	for i := range n {
		b.a[i], b.s[i] = 0.5, 0.5
	}
	for i, g := range b.gradient() {
		start := max(1, math.Abs(g)) / 10
		b.z[i], b.w[i] = max(g, 0)+start, max(-g, 0)+start
	}
	return b
}

// interior solves the hinge loss by Mehrotra's predictor-corrector method, which
// follows a z = s w = mu to mu = 0. Its steps do not mind how many variables rest
// at an end of their range, or a singular K.
func (s small) interior(search *search) (Solution, error) {
	n := s.Gram.Rows
	h := dense{tensor.NewMat[float64](n, n), search.ctx}
	for i := range n {
		for j, k := range s.Gram.Row(i) {
			h.Data[i*n+j] = float64(s.label(i)[0]*k) * s.label(j)[0] / s.Lambda
		}
	}
	b := newBox(h, n)
	fit, err := b.follow(search, s.atAlpha)
	if err == nil {
		// At a vertex of the constraints the proof is usually better still.
		if exact := s.atAlpha(b.rounded(h.Mat)); exact.Gap <= fit.Gap {
			exact.Sweeps = fit.Sweeps
			fit = exact
		}
	} else if search.ctx.Err() == nil {
		err = s.unsolved(fit, search)
	}
	return fit, err
}

// follow makes steps until the search is over. at returns the solution that dual
// variables make.
func (b *box) follow(search *search, at func(a []float64) Solution) (Solution, error) {
	search.limit = min(search.limit, interiorLimit)
	for step := 0; ; step++ {
		fit := at(b.a)
		fit.Sweeps = float64(step)
		if over, err := search.over(fit); over {
			return fit, err
		}
		ok := b.step()
		if err := search.ctx.Err(); err != nil {
			return fit, err
		}
		if !ok {
			return fit, search.failed(fit)
		}
	}
}

// atAlpha is the solution that dual variables a make.
func (s small) atAlpha(a []float64) Solution {
	c := make([]float64, len(a))
	for i, x := range a {
		c[i] = float64(x*s.label(i)[0]) / s.Lambda
	}
	f := Solution{C: oneColumn(c)}
	f.Outputs = multiply(s.Gram, f.C)
	f.Norm2 = max(0, inner(f.C, f.Outputs))
	losses, gap := termsAt(Hinge{}, s.Labels.Values.Data, f.Outputs.Data, a)
	f.prove(losses, gap, s.Lambda)
	return f
}

func (b *box) gradient() []float64 {
	g := b.h.apply(b.a)
	for i := range g {
		g[i]--
	}
	return g
}

// step makes one step, and says whether it could. With a central weight and
// corrections ea, es of the products it solves
//
//	H da - dz + dw = -(g - z + w),   z da + a dz = mu - ea - a z,
//	                                -w da + s dw = mu - es - s w.
func (b *box) step() bool {
	n := len(b.a)
	g := b.gradient()
	d := make([]float64, n)
	mu := 0.0
	for i := range n {
		d[i] = b.z[i]/b.a[i] + b.w[i]/b.s[i]
		mu += float64(b.a[i]*b.z[i]) + float64(b.s[i]*b.w[i])
	}
	mu /= float64(2 * n)
	system, ok := b.h.plus(d)
	if !ok {
		return false
	}
	da, dz, dw := make([]float64, n), make([]float64, n), make([]float64, n)
	ea, es := make([]float64, n), make([]float64, n)
	solve := func(mu float64) {
		rhs := make([]float64, n)
		for i := range rhs {
			rhs[i] = -g[i] + (mu-ea[i])/b.a[i] - (mu-es[i])/b.s[i]
		}
		copy(da, system(rhs))
		for i, d := range da {
			dz[i] = (mu-ea[i]-float64(b.z[i]*d))/b.a[i] - b.z[i]
			dw[i] = (mu-es[i]+float64(b.w[i]*d))/b.s[i] - b.w[i]
		}
	}
	solve(0)
	t := b.longest(da, dz, dw)
	after := 0.0
	for i := range n {
		after += float64((b.a[i]+float64(t*da[i]))*(b.z[i]+float64(t*dz[i]))) + float64((b.s[i]-float64(t*da[i]))*(b.w[i]+float64(t*dw[i])))
	}
	central := after / float64(2*n) / mu
	for i := range n {
		ea[i], es[i] = float64(da[i]*dz[i]), -float64(da[i]*dw[i])
	}
	solve(float64(mu * central * central * central))
	t = min(1, 0.995*b.longest(da, dz, dw))
	for i := range n {
		b.a[i] += float64(t * da[i])
		b.s[i] -= float64(t * da[i])
		b.z[i] += float64(t * dz[i])
		b.w[i] += float64(t * dw[i])
		if !(b.a[i] > 0 && b.s[i] > 0 && b.z[i] > 0 && b.w[i] > 0) {
			return false
		}
		// Both are kept for their small values; the large one follows.
		if b.a[i] < 0.5 {
			b.s[i] = 1 - b.a[i]
		} else {
			b.a[i] = 1 - b.s[i]
		}
	}
	return true
}

// longest returns the longest step, up to 1, that keeps everything positive.
func (b *box) longest(da, dz, dw []float64) float64 {
	t := 1.0
	upTo := func(x, d float64) {
		if d < 0 {
			t = min(t, -x/d)
		}
	}
	for i := range da {
		upTo(b.a[i], da[i])
		upTo(b.s[i], -da[i])
		upTo(b.z[i], dz[i])
		upTo(b.w[i], dw[i])
	}
	return t
}

// rounded returns the variables with those near an end of their range set to it
// and the others such that their margins are 1, as far as they stay in the range.
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
