package convex

import (
	"context"
	"fmt"
	"math"

	"dgkip/harness/fmath"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// Dual is a convex problem in its dual variables, on the Gram matrix of the
// features: maximise
//
//	D(alpha) = -sum_i L*(-alpha_i) - (1/(2 lambda)) sum_ij alpha_i alpha_j y_i y_j K_ij
//
// over alpha_i in [0, 1].
type Dual struct {
	Gram   tensor.Mat[float32]
	Labels []float64 // gains y_i
	Loss   Margin    // Logistic or Hinge
	Lambda float64
}

// Certificate is a solution with the proof of its quality.
type Certificate struct {
	Alpha   []float64
	Outputs []float64 // f_i = (1/lambda) sum_j alpha_j y_j K_ij
	Norm2   float64   // |theta|^2
	Primal  float64
	Dual    float64
	// Gap is the relative duality gap (P - D) / max(|P|, 1).
	Gap float64
	// Sweeps is the number of steps made, in units of the number of variables.
	Sweeps float64
}

// Coefficients returns the weights c with theta = sum_i c_i phi_i.
func (c Certificate) Coefficients(labels []float64, lambda float64) []float64 {
	w := make([]float64, len(labels))
	for i, a := range c.Alpha {
		w[i] = a * labels[i] / lambda
	}
	return w
}

// Solve maximises the dual until the relative gap is at most tol, by exact steps
// in one variable at a time. It fails when
// maxSweeps are not enough, with what was reached.
func (d Dual) Solve(ctx context.Context, tol float64, maxSweeps int) (Certificate, error) {
	n := d.Gram.Rows
	if d.Gram.Cols != n || len(d.Labels) != n || n == 0 {
		panic("convex: Dual.Solve: shapes do not fit")
	}
	if !(d.Lambda > 0) {
		return Certificate{}, fmt.Errorf("convex: lambda is %v, and must be positive", d.Lambda)
	}
	if !(tol > 0) {
		return Certificate{}, fmt.Errorf("convex: the gap to reach is %v, and must be positive", tol)
	}
	if _, ok := d.Loss.(Hinge); ok && n > LargeHinge {
		return d.largeHinge(ctx, tol, maxSweeps)
	}
	s := newAscent(d)
	steps := 0
	for {
		c := s.certify()
		c.Sweeps = float64(steps) / float64(n)
		if c.Gap <= tol {
			// The outputs have been updated step by step: the proof counts only
			// with those computed anew.
			s.refresh()
			if c = s.certify(); c.Gap <= tol {
				c.Sweeps = float64(steps) / float64(n)
				return c, nil
			}
		}
		if math.IsNaN(c.Gap) {
			return c, fmt.Errorf("convex: the features hold NaN or infinity")
		}
		if steps >= maxSweeps*n {
			return c, fmt.Errorf("convex: %s: relative gap %.2g after %d sweeps, wanted %.2g", d.Loss.Name(), c.Gap, maxSweeps, tol)
		}
		if err := ctx.Err(); err != nil {
			return c, err
		}
		steps += s.advance()
	}
}

// LargeHinge is the number
var LargeHinge = 512

// ascent is the state of Solve.
type ascent struct {
	Dual
	alpha, f []float64
	order    *rng.Rand
}

func newAscent(d Dual) *ascent {
	n := d.Gram.Rows
	s := &ascent{Dual: d, alpha: make([]float64, n), f: make([]float64, n), order: rng.Stream(0, "convex", "order")}
	if _, ok := d.Loss.(Logistic); ok {
		// Inside the range, where the entropy is smooth, and near the solution
		// for the small lambda in use.
		for i := range s.alpha {
			s.alpha[i] = min(0.5, 100*d.Lambda/float64(n))
		}
	}
	s.refresh()
	return s
}

// refresh computes the outputs from the variables.
func (s *ascent) refresh() {
	w := make([]float64, len(s.alpha))
	for i, a := range s.alpha {
		w[i] = a * s.Labels[i] / s.Lambda
	}
	s.f = dots(s.Gram, w)
}

func (s *ascent) certify() Certificate {
	c := Certificate{Alpha: s.alpha, Outputs: s.f}
	residual := 0.0
	for i, a := range s.alpha {
		m := float64(s.Labels[i] * s.f[i])
		c.Norm2 += float64(a * m)
		c.Primal += s.Loss.Value(m)
		residual += s.Loss.Residual(m, a)
	}
	c.Norm2 /= s.Lambda
	c.Primal += float64(s.Lambda / 2 * c.Norm2)
	// theta is theta(alpha), so only the residuals are left of the gap.
	c.Dual = c.Primal - residual
	c.Gap = residual / max(math.Abs(c.Primal), 1)
	return c
}

// curvature is that of the quadratic term in alpha_i.
func (s *ascent) curvature(i int) float64 {
	y := s.Labels[i]
	return y * y * float64(s.Gram.Data[i*s.Gram.Stride+i]) / s.Lambda
}

// target returns the best value of alpha_i with the others fixed.
func (s *ascent) target(i int) float64 {
	return logisticStep(float64(s.Labels[i]*s.f[i]), s.alpha[i], s.curvature(i))
}

// step is target for the hinge, at margin m.
func (s *ascent) step(i int, m float64) float64 {
	a, q := s.alpha[i], s.curvature(i)
	if q == 0 {
		if m < 1 {
			return 1
		}
		return 0
	}
	return max(0, min(1, a+(1-m)/q))
}

// logisticStep solves log(a/(1-a)) + m + q (a - a0) = 0: with a = sigma(z) a
// monotone equation in z, by Newton's method inside a shrinking bracket.
func logisticStep(m, a0, q float64) float64 {
	lo, hi := -m-float64(q*(1-a0)), -m+float64(q*a0)
	z := max(lo, min(hi, -m))
	for range 100 {
		a := fmath.Sigmoid(z)
		g := z + m + float64(q*(a-a0))
		if g > 0 {
			hi = z
		} else {
			lo = z
		}
		step := g / (1 + float64(q*float64(a*fmath.Sigmoid(-z))))
		nz := z - step
		if !(nz >= lo && nz <= hi) {
			nz = (lo + hi) / 2
		}
		if math.Abs(nz-z) <= 1e-13*(1+math.Abs(z)) {
			z = nz
			break
		}
		z = nz
	}
	return fmath.Sigmoid(z)
}

// advance makes some steps and returns how many rows of the Gram matrix they
// took. The logistic loss, all of whose variables matter, moves each once, in a new
// random order each time; the hinge, most of whose variables rest at an end of their
// range, takes the one with the largest share of the gap.
func (s *ascent) advance() int {
	n := len(s.alpha)
	if _, ok := s.Loss.(Hinge); ok {
		for k := range n {
			i := s.worst()
			if i < 0 {
				return k
			}
			s.move(i, s.step(i, float64(s.Labels[i]*s.f[i])))
		}
		return n
	}
	for _, i := range s.order.Perm(n) {
		s.move(i, s.target(i))
	}
	return n
}

// move sets variable i to a.
func (s *ascent) move(i int, a float64) {
	w := (a - s.alpha[i]) * s.Labels[i] / s.Lambda
	s.alpha[i] = a
	if w == 0 {
		return
	}
	row := s.Gram.Row(i)
	f := s.f[:len(row)]
	for j, k := range row {
		f[j] += float64(w * float64(k))
	}
}

// worst returns the variable with the largest residual of the hinge loss, -1 if
// there is none. The residual is written out: it is computed more often than
// anything else here.
func (s *ascent) worst() int {
	most, at := 0.0, -1
	y, f := s.Labels[:len(s.alpha)], s.f[:len(s.alpha)]
	for i, a := range s.alpha {
		d := 1 - float64(y[i]*f[i])
		v := -a * d
		if d > 0 {
			v = (1 - a) * d
		}
		if v > most {
			most, at = v, i
		}
	}
	return at
}
