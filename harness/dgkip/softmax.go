package dgkip

import (
	"context"
	"strconv"

	"dgkip/harness/convex"
	"dgkip/harness/method"
)

// Softmax lowers the gap of multinomial logistic regression, for three classes or more. Labels are
// rows of targets. The dual variables are learned: the targets less Theta_O's probabilities.
type Softmax struct{ Learning }

func softmaxDefaults() Learning {
	l := learning("dual")
	l.LabelRate = 0.2
	return l
}

// Info implements method.Method.
func (m *Softmax) Info() method.Info {
	return method.Info{
		Name: "dgkip-softmax", Title: "DGKIP-softmax", Version: 1, Protocol: "features", SoftLabels: m.Travel || m.Labels != "fixed", Citation: citation,
		Deviations: append([]string{"the published method is for two classes", "the dual variables are learned and labels follow from them, unless labels = \"target\"", "AdaBelief's beta2 is the usual 0.999; the paper does not give it"}, deviations...),
		About:      "duality gap of multinomial logistic regression, for three classes or more",
	}
}

// Distill implements method.Method.
func (m *Softmax) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	return m.algorithm1(ctx, p, "dgkip-softmax", convex.SoftmaxLoss, nil, observe)
}

// Check implements method.Checker.
func (m *Softmax) Check() error {
	if m.Labels == "gain" || m.Labels == "scaled" {
		return &method.BadSetting{Key: "labels", Why: "is " + strconv.Quote(m.Labels) + ", which is for two classes", Hint: "use \"dual\", \"target\" or \"fixed\""}
	}
	return m.check(softmaxDefaults())
}

// CheckSizes implements method.SizesChecker.
func (m *Softmax) CheckSizes(s method.Sizes) error {
	return m.sizes("dgkip-softmax", s, convex.SoftmaxLoss)
}
