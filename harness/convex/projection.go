package convex

import (
	"math"

	"dgkip/harness/tensor"
)

// Nearest is the model in the span of a set's features that is nearest to Theta_O,
// Theta_S = C'A, row k of which is the weight vector of output k. Solved labels make
// it the minimiser on the set.
type Nearest struct {
	C        tensor.Mat[float64] // [n, K]
	Outputs  tensor.Mat[float64] // of Theta_S on the set, A A'C, [n, K]
	Value    float64             // what was minimised
	Residual Residual            // Theta_O - Theta_S
	Norm2    float64             // its squared norm: the squared deviation of the model
}

// Project returns the projection of the rows of Theta_O [K, M] onto the span of the
// features A, which minimises |Theta_O - Theta_S|^2,
//
//	C = K^-1 F,   |R|^2 = |Theta_O|^2 - tr F'K^-1 F,
//
// and pulls back the gradient of that distance, row i of which is -2 sum_k c_ik r_k.
func Project(view View) (Nearest, error) {
	k := view.Gram()
	l, err := factorise(k)
	if err != nil {
		return Nearest{}, err
	}
	s := Nearest{C: columns(view.Outputs(), k.Rows, l.solve)}
	s.finish(view, k)
	s.Value = s.Norm2
	view.Pull(times(-2, s.C), s.Residual, nil)
	return s, nil
}

// Fit returns the model in the span of the features A that minimises the mean squared
// difference of outputs (1/N) |F - Phi A'C|^2 (Frobenius) for the outputs F [N, K] of Theta_O on the
// real features Phi [N, M]. It pulls back the gradient, row i of which is
// -(2/N) sum_k c_ik (Phi'E)_k with E = F - Phi A'C.
func Fit(view View, f tensor.Mat[float64]) (Nearest, error) {
	cross := view.Cross()
	n, outputs := cross.Rows, f.Cols
	if f.Rows != cross.Cols || outputs == 0 || f.Rows == 0 {
		panic("convex: Fit: shapes do not fit")
	}
	l, err := factorise(GramOf(cross))
	if err != nil {
		return Nearest{}, err
	}
	// The errors E, by rows: E'.
	e := tensor.NewMat[float64](outputs, f.Rows)
	s := Nearest{C: tensor.NewMat[float64](n, outputs)}
	for k := range outputs {
		out := f.Column(k)
		c := l.solve(dots(cross, out))
		s.C.SetColumn(k, c)
		copy(e.Row(k), subtractRows(out, cross, c))
	}
	s.finish(view, view.Gram())
	s.Value = frobenius2(e) / float64(f.Rows)
	view.PullReal(times(-2/float64(f.Rows), s.C), e, nil)
	return s, nil
}

// spanOf returns E Phi [K, M] for E [K, N]. One row is computed in float64; for
// more the product runs in float32, whose errors of 1e-6 of the largest terms
// are those of the gradients of the features too.
func spanOf(e tensor.Mat[float64], phi tensor.Mat[float32]) tensor.Mat[float64] {
	out := tensor.NewMat[float64](e.Rows, phi.Cols)
	if e.Rows == 1 {
		tensor.AddRows64(out.Data, phi, e.Row(0))
		return out
	}
	product := tensor.NewMat[float32](e.Rows, phi.Cols)
	tensor.Mul(product, tensor.Narrow(e), phi, tensor.NN, false)
	for i, x := range product.Data {
		out.Data[i] = float64(x)
	}
	return out
}

// finish sets the fields that do not depend on what was minimised.
func (s *Nearest) finish(view View, k tensor.Mat[float64]) {
	s.Outputs = multiply(k, s.C)
	s.Residual = view.Residual(s.C)
	s.Norm2 = s.Residual.Norm2
}

// Labels returns labels that make Theta_S = C'A the exact minimiser on the set,
// whatever the coefficients C are; F = A A'C are its outputs there:
//
//	logistic   targets p = sigma(f) + lambda c of log(1+e^f) - p f, for one output
//	softmax    targets P = softmax(F) + lambda C of log sum_k e^f_k - p'f
//	squared    values Y = F + lambda C of |f-y|^2/2
//
// The hinge loss has HingeLabels.
func (s Nearest) Labels(loss Loss, lambda float64) Labels {
	form := Target
	switch loss {
	case SquaredLoss:
		form = Value
	case LogisticLoss:
		if s.C.Cols != 1 {
			panic("convex: Nearest.Labels: the logistic loss has one output")
		}
	case SoftmaxLoss:
	default:
		panic("convex: Nearest.Labels: a loss without such labels")
	}
	return Labels{Form: form, Loss: loss, Values: TargetsWith(loss, s.Outputs, times(lambda, s.C))}
}

// HingeLabels are gains and dual variables of the hinge loss, and how many of these
// had to be clipped to 1. With none clipped Theta_S is the minimiser on the set;
// with some the minimiser is another, and must be solved for.
type HingeLabels struct {
	Gains, Alpha []float64
	Clipped      int
}

// HingeLabels returns gains y and dual variables alpha with alpha y = lambda c, so that
// Theta_S = C'A is the minimiser on the set if its margins y f agree with alpha:
//
//	0 <= lambda c f <= 1   y = 1/f, alpha = lambda c f:   on the margin, where alpha is free
//	lambda c f < 0         y = lambda c, alpha = 1:       y f < 1, where the slope is -1
//	lambda c f > 1         none: y f = 1 wants alpha > 1, and alpha = 1 gives y f > 1
//
// The second line holds in the first case, too; on the margin, outputs stay what they are
// in other networks as well. An output of zero but for rounding, which has no gain 1/f,
// takes the second. There the sign of a gain is that of c, and not of the class that f
// is of. In the last case alpha is clipped. It is for one output.
func (s Nearest) HingeLabels(lambda float64) HingeLabels {
	if s.C.Cols != 1 {
		panic("convex: Nearest.HingeLabels: the hinge loss has one output")
	}
	n, largest := s.C.Rows, 0.0
	for _, f := range s.Outputs.Data {
		largest = max(largest, math.Abs(f))
	}
	out := HingeLabels{Gains: make([]float64, n), Alpha: make([]float64, n)}
	for i, c := range s.C.Data {
		f := s.Outputs.Data[i]
		switch a := lambda * c * f; {
		case math.Abs(f) <= 1e-12*largest || a < 0:
			out.Gains[i], out.Alpha[i] = lambda*c, 1
		default:
			out.Gains[i], out.Alpha[i] = 1/f, min(a, 1)
			if a > 1 {
				out.Clipped++
			}
		}
	}
	return out
}
