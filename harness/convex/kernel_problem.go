package convex

import (
	"fmt"
	"math"

	"dgkip/harness/fmath"
	"dgkip/harness/tensor"
)

// kernelProblem is a problem on a small set, to be solved to high precision, given by
// K = A A' alone. Its solution is Theta = C'A. All losses are convex for any real
// labels, so with lambda > 0 there is exactly one minimiser Theta, whatever K and the
// labels are; with a singular K, as of two equal images, C is one of several that give
// it.
type kernelProblem struct {
	Gram   tensor.Mat[float64] // [n, n]
	Labels Labels
	Lambda float64

	// heat, where it is not zero, is a temperature t that makes the logistic and
	// the softmax loss smoother: log(1+e^f) becomes t log(1+e^(f/t)).
	heat float64
}

// solve makes Newton steps for the logistic and the softmax loss, the one that the
// squared loss needs, and those of an interior-point method for the hinge.
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
				return fmt.Errorf("convex: the Gram matrix holds %v for images %d and %d: their features hold NaN or infinity, or are too large", v, i, j)
			}
		}
		if d := s.Gram.Data[i*s.Gram.Stride+i]; d < 0 {
			return fmt.Errorf("convex: the Gram matrix holds %v on its diagonal, for image %d", d, i)
		}
	}
	return nil
}

// label returns that of image i.
func (s kernelProblem) label(i int) []float64 { return s.Labels.Values.Row(i) }

// slope returns loss i at outputs f and sets g to its gradient there. It is for
// the losses that have one.
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

func (s kernelProblem) temperature() float64 {
	if s.heat == 0 {
		return 1
	}
	return s.heat
}

// certify returns the solution C, whose outputs are F, and V = lambda C + grad l(F). As
// alpha is -grad l(F), V is all that is left of the gap: see gradientTerm.
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

// unsolved is the error of a solver that stopped at f. Outputs K C are sums of
// terms B_i k / lambda with B up to the size y of the gains; where K is singular
// they may cancel, and of the margins y f only 1 in 10^16 of y^2 k / lambda is known.
func (s kernelProblem) unsolved(f Solution, search *search) error {
	most := 0.0
	for i := range s.Gram.Rows {
		for _, y := range s.label(i) {
			most = max(most, float64(y*y)*s.Gram.Data[i*s.Gram.Stride+i]/s.Lambda)
		}
	}
	if s.Labels.Form == Gain && most > 1e8 {
		return fmt.Errorf("%w; with gains y as large as these (y^2 k / lambda is %.1g) and images that are alike, float64 does not give more", search.failed(f), most)
	}
	return search.failed(f)
}

// inner is the sum of the products of the entries.
func inner(a, b tensor.Mat[float64]) float64 {
	sum := 0.0
	for i := range a.Rows {
		sum += dot64(a.Row(i), b.Row(i))
	}
	return sum
}
