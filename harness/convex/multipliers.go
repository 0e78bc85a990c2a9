package convex

import "slices"

// multipliers solves the dual of the hinge loss, see box, by the method of multipliers with
// semismooth Newton steps (Li, Sun and Toh 2018). The model Theta = sum_i b_i y_i phi_i / lambda
// has the margins m = H b. With dual variables a fixed, the hinge is smoothed to a loss of
// slope -u,
//
//	u_i = min(1, max(0, a_i + (1 - m_i)/tau)).
//
// Newton's method minimises the smooth objective; at the minimum b = u. Its linear systems
// contain only variables strictly between 0 and 1. Then a is set to u and tau reduced. Tau
// falls gradually from the mean of H_ii, so that few variables reach or leave a bound at a time.
// A fixed point of a solves the problem for any tau.
type multipliers struct {
	*single
	a, b   []float64
	margin []float64 // H b
	tau    float64
	mean   float64 // of H_ii
	moved  bool    // whether the last step changed b
}

const (
	// leastTau is the smallest tau relative to the mean of H_ii. For smaller ones, the factor
	// in float32 would be too inexact.
	leastTau = 1e-5
	// held is a diagonal entry so large that it fixes its variable.
	held = 1e200
)

func newMultipliers(h *single) *multipliers {
	n := len(h.Labels)
	s := &multipliers{single: h, a: make([]float64, n), b: make([]float64, n), margin: make([]float64, n), moved: true}
	for i := range n {
		s.mean += h.curvature(i) / float64(n)
	}
	s.tau = s.mean
	return s
}

// solve counts its steps in products with K.
func (s *multipliers) solve() (Solution, error) {
	for {
		u, free := s.duals(s.margin)
		fit := s.at(u, 0)
		if over, err := s.search.over(fit); over {
			return fit, err
		}
		if !s.moved || s.near(u, fit.Outputs.Data) {
			copy(s.a, u)
			s.tau = max(s.tau/3, leastTau*s.mean)
			u, free = s.duals(s.margin)
		}
		ok := false
		s.moved, ok = s.newton(u, free)
		if err := s.search.ctx.Err(); err != nil {
			return fit, err
		}
		if !ok {
			return fit, s.search.failed(fit)
		}
	}
}

// duals returns u for margins, and which variables are strictly between 0 and 1.
func (s *multipliers) duals(margin []float64) (u []float64, free []bool) {
	u, free = make([]float64, len(margin)), make([]bool, len(margin))
	for i, m := range margin {
		v := s.a[i] + (1-m)/s.tau
		u[i] = max(0, min(1, v))
		free[i] = v > 0 && v < 1
	}
	return u, free
}

// near reports whether the smooth problem is solved well enough to reduce tau; f are the
// outputs of u. The duality gap of the smooth problem is |b - u|^2/2 in the norm of H. It must be
// small compared with tau |u - a|^2/2 (Rockafellar 1976).
func (s *multipliers) near(u, f []float64) bool {
	gap, way := 0.0, 0.0
	for i, x := range u {
		gap += float64((s.b[i] - x) * (s.margin[i] - float64(s.Labels[i]*f[i])))
		way += float64((x - s.a[i]) * (x - s.a[i]))
	}
	return gap <= float64(0.1*s.tau*way)
}

// newton takes a Newton step. It reports down = false, and takes none, if the step does not
// descend, which happens once only rounding errors are left.
func (s *multipliers) newton(u []float64, free []bool) (down, ok bool) {
	n := len(u)
	diagonal := make([]float64, n)
	to := slices.Clone(u) // variables at a bound need no step
	for i := range to {
		if diagonal[i] = held; free[i] {
			diagonal[i], to[i] = s.tau, s.b[i]
		}
	}
	system, ok := s.plus(diagonal)
	if !ok {
		return false, false
	}
	left := make([]float64, n)
	for i, m := range s.apply(to) {
		if free[i] {
			left[i] = 1 - m - float64(s.tau*(to[i]-s.a[i]))
		}
	}
	for i, x := range system(left) {
		if free[i] {
			to[i] += x
		}
	}
	m := s.apply(to)
	// The slope of the objective along the step d is sum_i (H d)_i (b_i + t d_i - u_i(t)).
	at := make([]float64, n)
	slope := func(t float64) float64 {
		for i := range at {
			at[i] = s.margin[i] + float64(t*(m[i]-s.margin[i]))
		}
		u, _ := s.duals(at)
		sum := 0.0
		for i := range u {
			sum += float64((m[i] - s.margin[i]) * (s.b[i] + float64(t*(to[i]-s.b[i])) - u[i]))
		}
		return sum
	}
	if !(slope(0) < 0) {
		return false, true
	}
	t := searchLine(slope)
	for i := range at {
		s.b[i] += float64(t * (to[i] - s.b[i]))
		s.margin[i] += float64(t * (m[i] - s.margin[i]))
	}
	return true, true
}
