package convex

import (
	"math"
	"slices"

	"dgkip/harness/fmath"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// dual solves a convex problem in its dual variables, on the Gram matrix of the features: it
// maximises
//
//	D(alpha) = -sum_i L*(-alpha_i) - (1/(2 lambda)) sum_ij alpha_i alpha_j y_i y_j K_ij
//
// over alpha_i in [0, 1].
type dual struct {
	Gram   tensor.Mat[float32]
	Labels []float64 // gains y_i
	Loss   Loss      // LogisticLoss or HingeLoss
	Lambda float64
}

// solve runs coordinate ascent with exact steps for the logistic loss. The hinge loss has other
// methods: at small lambda its solution is nearly separating, which coordinate ascent finds only
// slowly. They need as much memory again as the Gram matrix.
func (d dual) solve(search *search) (Solution, error) {
	if d.Loss == HingeLoss {
		return d.hinge(search)
	}
	s := newAscent(d)
	for sweep := 0; ; sweep++ {
		fit := d.certify(s.alpha, s.f)
		if fit.Gap <= search.tol {
			// Updates have accumulated rounding errors in the outputs: the proof needs
			// fresh ones.
			copy(s.f, d.outputs(s.alpha))
			fit = d.certify(s.alpha, s.f)
		}
		fit.Sweeps = float64(sweep)
		if over, err := search.over(fit); over {
			return fit, err
		}
		s.careful = sweep >= patience
		s.sweep()
	}
}

// patience is the number of sweeps before steps become careful: see bestStep. Solvable problems
// need a tenth as many.
const patience = 500

// weights returns the coefficients c with theta(alpha) = sum_i c_i phi_i.
func (d dual) weights(alpha []float64) []float64 {
	w := make([]float64, len(alpha))
	for i, a := range alpha {
		w[i] = a * d.Labels[i] / d.Lambda
	}
	return w
}

// outputs returns the outputs of theta(alpha).
func (d dual) outputs(alpha []float64) []float64 { return dots(d.Gram, d.weights(alpha)) }

// certify returns the solution theta(alpha) with outputs f.
func (d dual) certify(alpha, f []float64) Solution {
	s := Solution{C: oneColumn(d.weights(alpha)), Outputs: oneColumn(f)}
	for i, a := range alpha {
		s.Norm2 += float64(a * float64(d.Labels[i]*f[i]))
	}
	s.Norm2 /= d.Lambda
	losses, gap := termsAt(marginOf(d.Loss), d.Labels, f, alpha)
	s.prove(losses, gap, d.Lambda)
	return s
}

// ascent is the state of coordinate ascent for the logistic loss.
type ascent struct {
	dual
	alpha, f []float64
	order    *rng.Rand
	careful  bool // see bestStep
}

func newAscent(d dual) *ascent {
	n := d.Gram.Rows
	// Start strictly between 0 and 1, where the entropy is smooth. For a small lambda this is near
	// the solution.
	first := min(0.5, 100*d.Lambda/float64(n))
	s := &ascent{dual: d, alpha: slices.Repeat([]float64{first}, n), order: rng.Stream(0, "convex", "order")}
	s.f = d.outputs(s.alpha)
	return s
}

// curvature returns the second derivative of the quadratic term with respect to alpha_i.
func (d dual) curvature(i int) float64 {
	y := d.Labels[i]
	return y * y * float64(d.Gram.Data[i*d.Gram.Stride+i]) / d.Lambda
}

// bestStep solves log(a/(1-a)) + m + q (a - a0) = 0. With a = sigma(z) this is a monotone
// equation in z, solved by Newton's method inside a shrinking bracket.
//
// Where sigma is flat, Newton's steps may alternate between the ends of the bracket. Careful
// steps prevent this by halving the bracket every other time. They are rarely needed, and would
// change the last bits of solutions found without them.
func bestStep(m, a0, q float64, careful bool) float64 {
	lo, hi := -m-float64(q*(1-a0)), -m+float64(q*a0)
	z := max(lo, min(hi, -m))
	for steps := range 100 {
		a := fmath.Sigmoid(z)
		g := z + m + float64(q*(a-a0))
		if g > 0 {
			hi = z
		} else {
			lo = z
		}
		step := g / (1 + float64(q*float64(a*fmath.Sigmoid(-z))))
		nz := z - step
		if !(nz >= lo && nz <= hi) || careful && steps%2 == 1 {
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

// sweep sets each variable to its best value with the others fixed, in a new random order each time.
func (s *ascent) sweep() {
	for _, i := range s.order.Perm(len(s.alpha)) {
		a := bestStep(float64(s.Labels[i]*s.f[i]), s.alpha[i], s.curvature(i), s.careful)
		w := (a - s.alpha[i]) * s.Labels[i] / s.Lambda
		s.alpha[i] = a
		if w == 0 {
			continue
		}
		row := s.Gram.Row(i)
		f := s.f[:len(row)]
		for j, k := range row {
			f[j] += float64(w * float64(k))
		}
	}
}
