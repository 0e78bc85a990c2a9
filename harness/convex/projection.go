package convex

import (
	"math"

	"dgkip/harness/tensor"
)

// Nearest is the model Theta_S = C'A in the span of a set's features that is nearest to
// Theta_O by the measure of Project, Fit or Least. Row k of Theta_S is the weight vector of
// output k. Solved labels make Theta_S the minimiser on the set.
type Nearest struct {
	C        tensor.Mat[float64] // [n, K]
	Outputs  tensor.Mat[float64] // of Theta_S on the set, A A'C, [n, K]
	Value    float64             // what was minimised
	Residual Residual            // R = Theta_O - Theta_S
	Norm2    float64             // |R|^2, the squared deviation of the model
}

// Project returns the projection of the rows of Theta_O [K, M] onto the span of the features A.
// The projection minimises |Theta_O - Theta_S|^2:
//
//	C = K^-1 F,   |R|^2 = |Theta_O|^2 - tr F'K^-1 F.
//
// Project pulls back the gradient of |R|^2, row i of which is -2 sum_k c_ik r_k.
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

// Fit returns the model in the span of the features A that minimises (1/N) |F - Phi A'C|^2, the
// mean squared difference from the outputs F [N, K] of Theta_O on the real features Phi [N, M].
// Fit pulls back the gradient, row i of which is -(2/N) sum_k c_ik (Phi'E)_k with
// E = F - Phi A'C.
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
	// E', one row per output.
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

// spanOf returns E Phi [K, M] for E [K, N]. A single row is computed in float64, several rows in
// float32. The errors of float32, 1e-6 of the largest terms, are no larger than the errors of the
// features' gradients.
func spanOf(e tensor.Mat[float64], phi tensor.Mat[float32]) tensor.Mat[float64] {
	if e.Rows == 1 {
		out := tensor.NewMat[float64](1, phi.Cols)
		tensor.AddRows64(out.Data, phi, e.Row(0))
		return out
	}
	product := tensor.NewMat[float32](e.Rows, phi.Cols)
	tensor.Mul(product, tensor.Narrow(e), phi, tensor.NN, false)
	return tensor.Widen(product)
}

// finish sets the fields that do not depend on what was minimised.
func (s *Nearest) finish(view View, k tensor.Mat[float64]) {
	s.Outputs = multiply(k, s.C)
	s.Residual = view.Residual(s.C)
	s.Norm2 = s.Residual.Norm2
}

// Labels returns labels that make Theta_S = C'A the exact minimiser on the set. This works for
// any coefficients C. With the outputs F = A A'C on the set, the labels are
//
//	logistic   targets p = sigma(f) + lambda c of log(1+e^f) - p f, for one output
//	softmax    targets P = softmax(F) + lambda C of log sum_k e^f_k - p'f
//	squared    values Y = F + lambda C of |f-y|^2/2
//
// For the hinge loss, see HingeLabels.
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
		panic("convex: Nearest.Labels: the loss has no solved labels")
	}
	return Labels{Form: form, Loss: loss, Values: TargetsWith(loss, s.Outputs, times(lambda, s.C))}
}

// HingeLabels are gains and dual variables of the hinge loss. If none is clipped, Theta_S is the
// minimiser on the set; otherwise the minimiser differs and must be solved for.
type HingeLabels struct {
	Gains, Alpha []float64
	Clipped      int // number of dual variables clipped to 1
}

// HingeLabels returns gains y and dual variables alpha with alpha y = lambda c. Theta_S = C'A is
// the minimiser on the set if its margins y f agree with alpha:
//
//	0 <= lambda c f <= 1   y = 1/f, alpha = lambda c f:   on the margin, where alpha is free
//	lambda c f < 0         y = lambda c, alpha = 1:       y f < 1, where the slope is -1
//	lambda c f > 1         impossible: y f = 1 needs alpha > 1, and alpha = 1 gives y f > 1
//
// The second rule would also be valid in the first case. The first is preferred because it
// keeps outputs on the margin in other networks as well. An output f that is zero up to
// rounding has no gain 1/f and takes the second rule. Under the second rule, y has the sign
// of c and not that of f. In the last case, alpha is clipped. The model must have one output.
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
