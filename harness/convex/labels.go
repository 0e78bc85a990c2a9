package convex

import (
	"fmt"
	"math"

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

// Form says what labels are, and with it how a loss reads them.
type Form string

const (
	Gain   Form = "gain"   // y in the margin y f, [n, 1]: of the logistic and the hinge loss
	Target Form = "target" // p, any real numbers: of the logistic, [n, 1], and the softmax loss, [n, K]
	Value  Form = "value"  // y in |f - y|^2 / 2, [n, K]
)

// Labels are those of the images of a set.
type Labels struct {
	Form   Form
	Loss   Loss // that they are for
	Values tensor.Mat[float64]
}

// Values returns labels of the squared loss.
func Values(y tensor.Mat[float64]) Labels {
	return Labels{Form: Value, Loss: SquaredLoss, Values: y}
}

// Pair returns the loss and its dual variables.
func (l Labels) Pair() Pair {
	if l.Form == Gain {
		return gains{MarginOf(l.Loss)}
	}
	return targets(l.Loss)
}

// For returns the labels in the form that a loss takes. A gain or value y stands for
// the probability (1+y)/2 and the other way round.
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

// check says what keeps the labels from being those of a problem.
func (l Labels) check() error {
	var forms []Form
	switch l.Loss {
	case LogisticLoss:
		forms = []Form{Gain, Target}
	case HingeLoss:
		forms = []Form{Gain}
	case SquaredLoss:
		forms = []Form{Value}
	case SoftmaxLoss:
		forms = []Form{Target}
	default:
		return fmt.Errorf("convex: no loss is called %q: use logistic, hinge, squared or softmax", string(l.Loss))
	}
	known := false
	for _, f := range forms {
		known = known || f == l.Form
	}
	if !known {
		return fmt.Errorf("convex: labels of the form %q are not for the %s loss", string(l.Form), l.Loss)
	}
	if (l.Loss == LogisticLoss || l.Loss == HingeLoss) && l.Values.Cols != 1 {
		panic("convex: the logistic and the hinge loss have one output")
	}
	for i := range l.Values.Rows {
		for _, v := range l.Values.Row(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("convex: label of image %d is %v", i, v)
			}
		}
	}
	return nil
}
