package dgkip

import (
	"context"
	"strconv"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/teacher"
	"dgkip/harness/tensor"
)

// Softmax lowers the gap of multinomial logistic regression, the form for more
// than two classes. Its labels are rows of targets.
type Softmax struct{ Learning }

// Info implements method.Method.
func (*Softmax) Info() method.Info {
	return method.Info{
		Name: "dgkip-softmax", Title: "DGKIP-softmax", Version: 1, Protocol: "features", Citation: citation,
		Deviations: append([]string{"the published method is for two classes"}, deviations...),
		About:      "duality gap of multinomial logistic regression, for three classes or more",
	}
}

// Check implements method.Checker.
func (m *Softmax) Check() error {
	if m.Labels == "gain" || m.Labels == "scaled" {
		return &method.BadSetting{Key: "labels", Why: "is " + strconv.Quote(m.Labels) + ", a form for two classes", Hint: "use \"target\" or \"fixed\""}
	}
	return m.check()
}

// CheckSizes implements method.SizesChecker.
func (m *Softmax) CheckSizes(s method.Sizes) error { return m.sizes(s, convex.SoftmaxLoss) }

// Estimate implements method.Estimator.
func (m *Softmax) Estimate(s method.Sizes) method.Estimate { return m.estimate(s, convex.SoftmaxLoss) }

// Distill implements method.Method.
func (m *Softmax) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	classes := len(p.Data.Classes)
	r, err := m.newRun(ctx, p, "dgkip-softmax", convex.SoftmaxLoss, func(of []int) tensor.Mat[float64] {
		return tensor.NewMat[float64](len(of), classes)
	}, m.rate())
	if err != nil {
		return nil, err
	}
	hard := tensor.NewMat[float64](len(r.of), classes)
	for i, class := range r.of {
		hard.Row(i)[class] = 1
	}
	r.obj = &softmaxGap{
		gap:   convex.SoftmaxGap{Lambda: r.lambda, Detach: m.Alpha == "detached"},
		theta: r.theta, log: m.Objective == "log-gap", moved: newMoved(hard, r),
	}
	return r.distill(ctx, observe)
}

// softmaxGap is the duality gap of many classes as an objective.
type softmaxGap struct {
	gap   convex.SoftmaxGap
	theta *teacher.Theta
	log   bool
	moved moved
	v     convex.SoftmaxGapValue
}

func (g *softmaxGap) eval(phi tensor.Mat[float32], labels tensor.Mat[float64], dphi *tensor.Mat[float32], dlabels tensor.Mat[float64]) error {
	var dtargets *tensor.Mat[float64]
	if dphi != nil && dlabels.Rows > 0 {
		dtargets = &dlabels
	}
	g.v = g.gap.Eval(phi, g.theta.Weights, g.moved.at(labels), dphi, dtargets)
	if dtargets != nil {
		g.moved.scale(dlabels)
	}
	if g.log && dphi != nil {
		divide(*dphi, dlabels, g.v.Gap)
	}
	return nil
}

func (g *softmaxGap) loss() float64 { return g.v.Gap }

func (g *softmaxGap) bound() float64 { return g.v.Bound(g.gap.Lambda) / g.theta.Norm }

func (g *softmaxGap) describe(line map[string]float64) {
	line["gap"] = g.v.Gap
	alphaRange(line, g.v.Alpha.Data)
}

func (g *softmaxGap) finish() labels {
	l := labels{kind: method.Soft, model: teacher.Labels{Loss: convex.SoftmaxLoss, Values: g.moved.p}}
	if trivial(g.bound(), g.v.Alpha.Data) {
		l.notes = append(l.notes, trivialNote)
	}
	return l
}
