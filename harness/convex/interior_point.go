package convex

import "math"

// interiorLimit is the step limit, several times what the hardest known problem needs.
const interiorLimit = 200

// box is the dual of the hinge loss: minimise a'H a / 2 - sum a over 0 <= a <= 1, with
// H_ij = y_i y_j K_ij / lambda. Its gradient is H a - 1 = m - 1 for the margins m. Mehrotra's
// predictor-corrector method solves it by following a z = s w = mu to mu = 0. The number of
// steps hardly depends on how many variables are at a bound, and K may be singular.
type box struct {
	h quadratic
	// s = 1 - a; z and w are the multipliers of a >= 0 and s >= 0.
	a, s, z, w []float64
}

// quadratic is the positive semidefinite matrix H, in a form that suits the set.
type quadratic interface {
	apply(a []float64) []float64 // H a
	// plus returns a solver of H + diag(d), or false if that matrix is not positive definite.
	plus(d []float64) (solve func(b []float64) []float64, ok bool)
	// at returns the solution at dual variables a after a number of steps.
	at(a []float64, steps int) Solution
}

// newBox starts with all variables at 1/2.
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

// follow takes steps until the search is over.
func (b *box) follow(search *search) (Solution, error) {
	for steps := 0; ; steps++ {
		fit := b.h.at(b.a, steps)
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

func (b *box) gradient() []float64 {
	g := b.h.apply(b.a)
	for i := range g {
		g[i]--
	}
	return g
}

// step takes one step, and reports whether it succeeded. For a target mu and corrections ea, es
// of the products, it solves
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
		// The smaller of a and s is more precise, so it determines the larger one.
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
