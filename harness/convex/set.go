package convex

import (
	"context"
	"fmt"
	"math"

	"dgkip/harness/fmath"
	"dgkip/harness/tensor"
)

// Loss names the loss of a Set.
type Loss string

const (
	LogisticLoss Loss = "logistic" // log(1 + e^-yf), or log(1 + e^f) - p f
	HingeLoss    Loss = "hinge"    // max(0, 1 - yf)
	SquaredLoss  Loss = "squared"  // |f - y|^2 / 2
	SoftmaxLoss  Loss = "softmax"  // log sum_k e^f_k - p'f
)

// Set is a convex problem on a small set, to be solved to high precision:
// minimise
//
//	P(Theta) = sum_i l_i(F_i) + (lambda/2) |Theta|^2,   F = A Theta',
//
// given by K = A A' alone. Its solution is Theta = C'A. All losses are convex for
// any real labels, so with lambda > 0 there is exactly one minimiser Theta,
// whatever K and the labels are; with a singular K, as of two equal images, C is
// one of several that give it.
type Set struct {
	Gram tensor.Mat[float64] // [n, n]
	Loss Loss
	// Targets reads the labels of the logistic loss as real targets p of
	// log(1+e^f) - p f in place of gains y.
	Targets bool
	// Labels [n, K] are gains y or real targets p (K = 1), the targets of the
	// squared loss, or rows p of targets of the softmax loss, which need be no
	// probabilities.
	Labels tensor.Mat[float64]
	Lambda float64

	// heat, where it is not zero, is a temperature t that makes the logistic and
	// the softmax loss smoother: log(1+e^f) becomes t log(1+e^(f/t)).
	heat float64
}

// Fitted is a solution with the proof of its quality.
type Fitted struct {
	C, Outputs   tensor.Mat[float64] // [n, K]; Outputs are K C
	Norm2        float64             // |Theta|^2
	Primal, Dual float64
	// Gap is the relative duality gap (P - D) / max(|P|, 1). P - D is computed
	// as a sum in which nothing cancels, and Dual from it.
	Gap float64
	// Sweeps is the number of steps that were made: of Newton's method, and for
	// the softmax loss of the conjugate gradients inside it.
	Sweeps float64
}

// Solve minimises until the relative gap is at most tol. The logistic and the
// softmax loss take Newton steps, the squared loss needs one, and the hinge takes
// those of an interior-point method.
func (s Set) Solve(ctx context.Context, tol float64) (Fitted, error) {
	if err := s.check(tol); err != nil {
		return Fitted{}, err
	}
	switch s.Loss {
	case HingeLoss:
		return s.interior(ctx, tol)
	default:
		return s.newton(ctx, tol)
	}
}

func (s Set) check(tol float64) error {
	n := s.Gram.Rows
	if n == 0 || s.Gram.Cols != n || s.Labels.Rows != n || s.Labels.Cols == 0 {
		panic("convex: Set.Solve: shapes do not fit")
	}
	switch s.Loss {
	case LogisticLoss, HingeLoss:
		if s.Labels.Cols != 1 {
			panic("convex: Set.Solve: the logistic and the hinge loss have one output")
		}
	case SquaredLoss, SoftmaxLoss:
	default:
		return fmt.Errorf("convex: no loss is called %q: use logistic, hinge, squared or softmax", string(s.Loss))
	}
	if s.Targets && s.Loss != LogisticLoss {
		return fmt.Errorf("convex: real targets in place of gains are for the logistic loss, not %s", s.Loss)
	}
	if !(s.Lambda > 0) || math.IsInf(s.Lambda, 0) {
		return fmt.Errorf("convex: lambda is %v, and must be positive and finite", s.Lambda)
	}
	if !(tol > 0) {
		return fmt.Errorf("convex: the gap to reach is %v, and must be positive", tol)
	}
	for i := range n {
		for _, v := range s.Labels.Row(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("convex: label of image %d is %v", i, v)
			}
		}
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

// slope returns loss i at outputs f and sets g to its gradient there. It is for
// the losses that have one.
func (s Set) slope(i int, f, g []float64) float64 {
	y := s.Labels.Row(i)
	t := s.temperature()
	switch {
	case s.Loss == SquaredLoss:
		sum := 0.0
		for k := range f {
			g[k] = f[k] - y[k]
			sum += float64(g[k] * g[k])
		}
		return sum / 2
	case s.Loss == SoftmaxLoss:
		for k, x := range f {
			g[k] = x / t
		}
		v := float64(t * Probabilities(g, g))
		for k, p := range y {
			g[k] -= p
			v -= float64(p * f[k])
		}
		return v
	case s.Targets:
		g[0] = fmath.Sigmoid(f[0]/t) - y[0]
		return float64(t*fmath.Softplus(f[0]/t)) - float64(y[0]*f[0])
	default:
		m := float64(y[0]*f[0]) / t
		g[0] = -float64(y[0] * fmath.Sigmoid(-m))
		return t * fmath.Softplus(-m)
	}
}

func (s Set) temperature() float64 {
	if s.heat == 0 {
		return 1
	}
	return s.heat
}

// certify returns the quality of C, whose outputs are F, and R = lambda C - B
// with the dual variables B_i = -grad l_i(F_i). At these all Fenchel-Young terms
// are zero, and the gap is
//
//	(lambda/2) |Theta - A'B/lambda|^2 = tr(R'K R) / (2 lambda).
//
// B is feasible by construction: for the softmax loss the conjugate
// l*(-B) = sum_k s_k log s_k, s = p - B, asks for s in the simplex, and
// s = softmax(F) is.
func (s Set) certify(c, f tensor.Mat[float64]) (Fitted, tensor.Mat[float64]) {
	r := tensor.NewMat[float64](c.Rows, c.Cols)
	fit := Fitted{C: c, Outputs: f}
	for i := range c.Rows {
		row := r.Row(i)
		fit.Primal += s.slope(i, f.Row(i), row)
		for k, x := range c.Row(i) {
			row[k] += float64(s.Lambda * x)
		}
	}
	fit.Norm2 = max(0, inner(c, f))
	gap := max(0, inner(r, multiply(s.Gram, r))) / (2 * s.Lambda)
	fit.settle(s.Lambda, gap)
	return fit, r
}

// settle completes a Fitted that has the sum of the losses in Primal.
func (f *Fitted) settle(lambda, gap float64) {
	f.Primal += float64(lambda / 2 * f.Norm2)
	f.Dual = f.Primal - gap
	f.Gap = gap / max(math.Abs(f.Primal), 1)
}

// unsolved is the error of a solver that stopped at f. Outputs K C are sums of
// terms B_i k / lambda with B up to the size y of the gains; where K is singular
// they may cancel, and of the margins y f only 1 in 10^16 of y^2 k / lambda is known.
func (s Set) unsolved(f Fitted, tol float64) error {
	most := 0.0
	for i := range s.Gram.Rows {
		for _, y := range s.Labels.Row(i) {
			most = max(most, float64(y*y)*s.Gram.Data[i*s.Gram.Stride+i]/s.Lambda)
		}
	}
	why := ""
	if gains := s.Loss == HingeLoss || s.Loss == LogisticLoss && !s.Targets; gains && most > 1e8 {
		why = fmt.Sprintf("; with gains y as large as these (y^2 k / lambda is %.1g) and images that are alike, float64 does not give more", most)
	}
	return fmt.Errorf("convex: %s loss on %d images: relative gap %.2g after %g steps, wanted %.2g%s", s.Loss, s.Gram.Rows, f.Gap, f.Sweeps, tol, why)
}

// inner is the sum of the products of the entries.
func inner(a, b tensor.Mat[float64]) float64 {
	sum := 0.0
	for i := range a.Rows {
		sum += dot64(a.Row(i), b.Row(i))
	}
	return sum
}
