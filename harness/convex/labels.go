package convex

import (
	"fmt"
	"math"
	"slices"

	"dgkip/harness/tensor"
)

// Loss names a loss.
type Loss string

const (
	LogisticLoss Loss = "logistic" // log(1 + e^-yf), or log(1 + e^f) - p f
	HingeLoss    Loss = "hinge"    // max(0, 1 - yf)
	SquaredLoss  Loss = "squared"  // |f - y|^2 / 2
	SoftmaxLoss  Loss = "softmax"  // log sum_k e^f_k - p'f
)

// Form is how a loss reads its labels.
type Form string

const (
	Gain   Form = "gain"   // y in the margin y f, [n, 1]: logistic or hinge loss
	Target Form = "target" // real p: logistic loss, [n, 1], or softmax loss, [n, K]
	Value  Form = "value"  // y in |f - y|^2 / 2, [n, K]: squared loss
)

// Labels are the labels of a set's images for one loss.
type Labels struct {
	Form   Form
	Loss   Loss
	Values tensor.Mat[float64]
}

// Values returns y as labels of the squared loss.
func Values(y tensor.Mat[float64]) Labels {
	return Labels{Form: Value, Loss: SquaredLoss, Values: y}
}

// Pair returns the loss paired with its dual variables.
func (l Labels) Pair() Pair {
	if l.Form == Gain {
		return gains{marginOf(l.Loss)}
	}
	return targets(l.Loss)
}

// For converts the labels to the form that another loss takes. A gain or value y corresponds
// to the probability p = (1+y)/2.
func (l Labels) For(loss Loss) Labels {
	out := Labels{Form: Value, Loss: loss, Values: l.Values}
	switch {
	case loss == SoftmaxLoss, loss == LogisticLoss && l.Form == Target:
		out.Form = Target
	case loss != SquaredLoss:
		out.Form = Gain
	}
	switch was, is := l.Form == Target, out.Form == Target; {
	case is && !was:
		out.Values = affine(l.Values, 0.5, 0.5)
	case was && !is:
		out.Values = affine(l.Values, 2, -1)
	}
	return out
}

func affine(y tensor.Mat[float64], a, b float64) tensor.Mat[float64] {
	out := tensor.NewMat[float64](y.Rows, y.Cols)
	for i := range y.Rows {
		for k, v := range y.Row(i) {
			out.Row(i)[k] = float64(a*v) + b
		}
	}
	return out
}

// check returns an error if the form does not fit the loss or a label is not finite.
func (l Labels) check() error {
	forms, known := map[Loss][]Form{LogisticLoss: {Gain, Target}, HingeLoss: {Gain}, SquaredLoss: {Value}, SoftmaxLoss: {Target}}[l.Loss]
	if !known {
		return fmt.Errorf("convex: unknown loss %q: use logistic, hinge, squared or softmax", string(l.Loss))
	}
	if !slices.Contains(forms, l.Form) {
		return fmt.Errorf("convex: the %s loss does not take labels of the form %q", l.Loss, string(l.Form))
	}
	if (l.Loss == LogisticLoss || l.Loss == HingeLoss) && l.Values.Cols != 1 {
		panic("convex: the logistic and the hinge loss have one output")
	}
	for i := range l.Values.Rows {
		for _, v := range l.Values.Row(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("convex: the label of image %d is %v, not a finite number", i, v)
			}
		}
	}
	return nil
}
