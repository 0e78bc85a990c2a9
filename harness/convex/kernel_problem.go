package convex

import (
	"cmp"
	"fmt"
	"math"

	"dgkip/harness/fmath"
	"dgkip/harness/tensor"
)

// kernelProblem solves a small set to high precision from K = A A' alone, with Theta = C'A.
// All losses are convex for any real labels. So with lambda > 0 there is exactly one minimiser
// Theta. If K is singular, as with two equal images, several C give that Theta, and the solver
// finds one of them.
type kernelProblem struct {
	Gram   tensor.Mat[float64] // [n, n]
	Labels Labels
	Lambda float64

	// heat is a temperature t > 1 that makes the logistic and the softmax loss smoother:
	// log(1+e^f) becomes t log(1+e^(f/t)). Zero means 1.
	heat float64
}

// solve runs an interior-point method for the hinge loss, and Newton's method for the others;
// the squared loss needs one step.
func (s kernelProblem) solve(search *search) (Solution, error) {
	if err := s.check(); err != nil {
		return Solution{}, err
	}
	if s.Labels.Loss == HingeLoss {
		return s.hinge(search)
	}
	return s.newton(search)
}

func (s kernelProblem) check() error {
	for i := range s.Gram.Rows {
		for j, v := range s.Gram.Row(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("convex: the Gram matrix contains %v for images %d and %d: their features contain NaN or infinity, or are too large\nhint: check the images, or lower rate", v, i, j)
			}
		}
	}
	return nil
}

func (s kernelProblem) label(i int) []float64 { return s.Labels.Values.Row(i) }

// slope returns loss i at outputs f and sets g to its gradient. The loss must not be the hinge.
func (s kernelProblem) slope(i int, f, g []float64) float64 {
	y := s.label(i)
	t := s.temperature()
	switch {
	case s.Labels.Loss == SquaredLoss:
		sum := 0.0
		for k := range f {
			g[k] = f[k] - y[k]
			sum += float64(g[k] * g[k])
		}
		return sum / 2
	case s.Labels.Loss == SoftmaxLoss:
		for k, x := range f {
			g[k] = x / t
		}
		v := float64(t * probabilities(g, g))
		for k, p := range y {
			g[k] -= p
			v -= float64(p * f[k])
		}
		return v
	case s.Labels.Form == Target:
		g[0] = fmath.Sigmoid(f[0]/t) - y[0]
		return float64(t*fmath.Softplus(f[0]/t)) - float64(y[0]*f[0])
	default:
		m := float64(y[0]*f[0]) / t
		g[0] = -float64(y[0] * fmath.Sigmoid(-m))
		return t * fmath.Softplus(-m)
	}
}

func (s kernelProblem) temperature() float64 { return cmp.Or(s.heat, 1) }

// certify returns the solution with coefficients C and outputs F, and V = lambda C + grad l(F).
// As alpha is -grad l(F), V alone determines the gap: see gradientTerm.
func (s kernelProblem) certify(c, f tensor.Mat[float64]) (Solution, tensor.Mat[float64]) {
	v := tensor.NewMat[float64](c.Rows, c.Cols)
	fit := Solution{C: c, Outputs: f, Norm2: max(0, inner(c, f))}
	losses := 0.0
	for i := range c.Rows {
		row := v.Row(i)
		losses += s.slope(i, f.Row(i), row)
		for k, x := range c.Row(i) {
			row[k] += float64(s.Lambda * x)
		}
	}
	fit.prove(losses, gradientTerm(max(0, inner(v, multiply(s.Gram, v))), s.Lambda), s.Lambda)
	return fit, v
}

// unsolved returns the error of a solver that stopped at f. Outputs K C are sums of terms as
// large as y k / lambda for gains y, which may cancel where K is singular. So margins y f have
// an absolute error of about 1e-16 y^2 k / lambda.
func (s kernelProblem) unsolved(f Solution, search *search) error {
	most := 0.0
	for i := range s.Gram.Rows {
		for _, y := range s.label(i) {
			most = max(most, float64(y*y)*s.Gram.Data[i*s.Gram.Stride+i]/s.Lambda)
		}
	}
	if s.Labels.Form == Gain && most > 1e8 {
		return fmt.Errorf("%w; float64 is not precise enough for gains y this large (y^2 k / lambda is %.1g) on similar images\nhint: raise lambda, or use smaller gains", search.failed(f), most)
	}
	return search.failed(f)
}

// inner is the Frobenius inner product.
func inner(a, b tensor.Mat[float64]) float64 {
	sum := 0.0
	for i := range a.Rows {
		sum += dot64(a.Row(i), b.Row(i))
	}
	return sum
}
