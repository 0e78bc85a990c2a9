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
	// Sweeps is how often the Gram matrix was read: for steps in all variables, or
	// a product.
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

// Solve maximises the dual until the relative gap is at most tol. It fails when
// maxSweeps are not enough, with what was reached.
//
// For the logistic loss it takes exact steps in one variable at a time. At the
// usual small lambda the hinge's solution is nearly one without slack, which such
// steps find slowly: it has an interior-point method, which needs as much memory
// again as the Gram matrix.
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
	if _, ok := d.Loss.(Hinge); ok {
		return d.hinge(ctx, tol, maxSweeps)
	}
	s := newAscent(d)
	for sweep := 0; ; sweep++ {
		c := s.certify()
		c.Sweeps = float64(sweep)
		if c.Gap <= tol {
			// The outputs have been updated step by step: the proof counts only
			// with those computed anew.
			s.refresh()
			if c = s.certify(); c.Gap <= tol {
				c.Sweeps = float64(sweep)
				return c, nil
			}
		}
		if math.IsNaN(c.Gap) {
			return c, fmt.Errorf("convex: the features hold NaN or infinity")
		}
		if sweep >= maxSweeps {
			return c, fmt.Errorf("convex: logistic: relative gap %.2g after %d sweeps, wanted %.2g", c.Gap, sweep, tol)
		}
		if err := ctx.Err(); err != nil {
			return c, err
		}
		s.sweep()
	}
}

// ascent is the state of Solve for the logistic loss; its proof is one for both.
type ascent struct {
	Dual
	alpha, f []float64
	order    *rng.Rand
}

func newAscent(d Dual) *ascent {
	n := d.Gram.Rows
	s := &ascent{Dual: d, alpha: make([]float64, n), f: make([]float64, n), order: rng.Stream(0, "convex", "order")}
	// Inside the range, where the entropy is smooth, and near the solution
	// for the small lambda in use.
	for i := range s.alpha {
		s.alpha[i] = min(0.5, 100*d.Lambda/float64(n))
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

// sweep moves each variable once, in a new random order each time.
func (s *ascent) sweep() {
	for _, i := range s.order.Perm(len(s.alpha)) {
		s.move(i, s.target(i))
	}
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
