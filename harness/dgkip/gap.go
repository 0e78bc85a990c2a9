package dgkip

import (
	"context"
	"math"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/teacher"
	"dgkip/harness/tensor"
)

// Learning holds the settings of the methods that lower the gap itself.
type Learning struct {
	Loop
	Objective string  `toml:"objective" enum:"gap,log-gap"`
	Labels    string  `toml:"labels" enum:"gain,scaled,target,fixed"` // what is learned of them
	LabelRate float64 `toml:"label_rate" min:"0"`

	// LabelStart is what scaled gains start from, with the sign of the class. At 0
	// the first update decides what class an image is of.
	LabelStart float64 `toml:"label_start,omitzero" min:"0"`
	Alpha      string  `toml:"alpha" enum:"through,detached"` // whether gradients pass through alpha
}

func learning(labels string) Learning {
	l := Learning{Loop: defaults(600), Objective: "log-gap", Labels: labels, LabelRate: 0.01, LabelStart: 1, Alpha: "through"}
	l.Schedule = "cosine" // steps of one size keep the model's offset swinging, and with it the accuracy
	return l
}

// check is what the methods have in common of Check.
func (l Learning) check() error {
	if math.IsInf(l.LabelRate, 0) {
		return &method.BadSetting{Key: "label_rate", Why: "must be finite", Hint: "0.01 is usual"}
	}
	return l.Loop.check()
}

func (l Learning) rate() float64 {
	if l.Labels == "fixed" {
		return 0
	}
	return l.LabelRate
}

// LR lowers the gap of logistic regression.
type LR struct{ Learning }

// SVM lowers the gap of the support vector machine.
type SVM struct {
	Learning
	// Temperature T of alpha = sigma((1-m)/T), smooth where the hinge is not. An
	// image with m = 0 adds 1/(1+e^(1/T)) to the gap. At the published T = 1 that is
	// more than its share, lambda_S/(2 n) |Theta_O|^2, of the gap that a set has
	// whose alpha are all 0, and the descent rests there.
	Temperature float64 `toml:"temperature"`
}

const citation = "Aoyama, Yang et al., dataset distillation by the duality gap (DGKIP)"

var deviations = []string{
	"the gradient is divided by the gap unless objective = \"gap\"",
	"lambda is 1e-6 for each image, of the real data and of the set alike",
	"images start at real ones of their class, at averages of them, or as noise",
	"labels are learned in units of lambda_S |Theta_O|, and begin at label_start of them, unless labels = \"gain\"",
	"the rates fall like a cosine unless schedule = \"\"",
	"the hinge's alpha has a temperature of 0.05; 1 is the published one",
}

func init() {
	method.Register(func() method.Method { return &LR{learning("scaled")} })
	method.Register(func() method.Method { return &SVM{learning("scaled"), 0.05} })
	method.Register(func() method.Method { return &Softmax{learning("target")} })
}

// Info implements method.Method.
func (*LR) Info() method.Info {
	return method.Info{
		Name: "dgkip-lr", Title: "DGKIP-LR", Version: 1, Protocol: "features", Citation: citation, Deviations: deviations,
		About: "duality gap of logistic regression, the published method",
	}
}

// Info implements method.Method.
func (*SVM) Info() method.Info {
	return method.Info{
		Name: "dgkip-svm", Title: "DGKIP-SVM", Version: 1, Protocol: "features", Citation: citation, Deviations: deviations,
		About: "duality gap of the support vector machine, the published method",
	}
}

// Check implements method.Checker.
func (m *LR) Check() error { return m.check() }

// Check implements method.Checker.
func (m *SVM) Check() error {
	switch {
	case m.Labels == "target":
		return &method.BadSetting{Key: "labels", Why: "is \"target\", a form that only the logistic and the softmax loss have", Hint: "use \"gain\", \"scaled\" or \"fixed\""}
	case !(m.Temperature > 0) || math.IsInf(m.Temperature, 0):
		return &method.BadSetting{Key: "temperature", Why: "must be positive and finite", Hint: "1 is the published one"}
	}
	return m.check()
}

// CheckSizes implements method.SizesChecker.
func (m *LR) CheckSizes(s method.Sizes) error { return m.sizes(s, convex.LogisticLoss) }

// CheckSizes implements method.SizesChecker.
func (m *SVM) CheckSizes(s method.Sizes) error { return m.sizes(s, convex.HingeLoss) }

// Estimate implements method.Estimator.
func (m *LR) Estimate(s method.Sizes) method.Estimate { return m.estimate(s, convex.LogisticLoss) }

// Estimate implements method.Estimator.
func (m *SVM) Estimate(s method.Sizes) method.Estimate { return m.estimate(s, convex.HingeLoss) }

// Distill implements method.Method.
func (m *LR) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	return m.margin(ctx, p, "dgkip-lr", convex.LogisticLoss, convex.Logistic{}, observe)
}

// Distill implements method.Method.
func (m *SVM) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	return m.margin(ctx, p, "dgkip-svm", convex.HingeLoss, convex.Hinge{Temperature: m.Temperature}, observe)
}

// margin lowers the gap of a loss of the margin.
func (l Learning) margin(ctx context.Context, p method.Problem, name string, loss convex.Loss, margin convex.Margin, observe func(method.Step)) (*method.Distilled, error) {
	r, err := l.newRun(ctx, p, name, loss, l.first, l.rate())
	if err != nil {
		return nil, err
	}
	o := &marginGap{
		gap:   convex.Gap{Loss: margin, Lambda: r.lambda, Targets: l.Labels == "target", Detach: l.Alpha == "detached"},
		named: loss, theta: r.theta, log: l.Objective == "log-gap",
	}
	switch l.Labels {
	case "target":
		o.moved = newMoved(hard(r.of), r)
	case "scaled":
		o.moved = newMoved(tensor.NewMat[float64](len(r.of), 1), r)
	}
	r.obj = o
	return r.distill(ctx, observe)
}

// first returns what learning starts from: gains -1 and +1, these in units, or no
// change of targets.
func (l Learning) first(of []int) tensor.Mat[float64] {
	if l.Labels == "target" {
		return tensor.NewMat[float64](len(of), 1)
	}
	y := teacher.Signs(of, 2)
	if l.Labels == "scaled" {
		for i := range y.Data {
			y.Data[i] *= l.LabelStart
		}
	}
	return y
}

// hard returns the targets 0 and 1 of two classes, [n, 1].
func hard(of []int) tensor.Mat[float64] {
	p := tensor.NewMat[float64](len(of), 1)
	for i, class := range of {
		p.Data[i] = float64(class)
	}
	return p
}

// moved are targets p = hard + unit q, or gains with nothing for hard. What is
// learned is q. A target matters by its distance b from the model's probability, a
// gain y where it is small by b = alpha y, Theta(b) being A'b/lambda_S: the unit that
// makes q of the order of one is lambda_S |Theta_O|.
type moved struct {
	hard, p tensor.Mat[float64]
	unit    float64
}

func newMoved(hard tensor.Mat[float64], r *run) moved {
	return moved{hard: hard, p: tensor.NewMat[float64](hard.Rows, hard.Cols), unit: r.lambda * r.theta.Norm}
}

// at returns the targets for q.
func (m *moved) at(q tensor.Mat[float64]) tensor.Mat[float64] {
	for i, h := range m.hard.Data {
		m.p.Data[i] = h + float64(m.unit*q.Data[i])
	}
	return m.p
}

// scale makes a gradient in q from one in the targets.
func (m *moved) scale(d tensor.Mat[float64]) {
	for i := range d.Data {
		d.Data[i] *= m.unit
	}
}

// marginGap is the duality gap as an objective.
type marginGap struct {
	gap   convex.Gap
	named convex.Loss
	theta *teacher.Theta
	log   bool  // divide gradients by the gap
	moved moved // for targets and scaled gains; the zero value for others
	v     convex.GapValue
	y     tensor.Mat[float64] // gains or targets
}

func (g *marginGap) eval(phi tensor.Mat[float32], labels tensor.Mat[float64], dphi *tensor.Mat[float32], dlabels tensor.Mat[float64]) error {
	g.y = labels
	if g.moved.unit != 0 {
		g.y = g.moved.at(labels)
	}
	g.v = g.gap.Eval(phi, g.theta.Weights.Row(0), g.y.Data, dphi, dlabels.Data)
	if g.moved.unit != 0 {
		g.moved.scale(dlabels)
	}
	if g.log && dphi != nil {
		divide(*dphi, dlabels, g.v.Gap)
	}
	return nil
}

// divide makes the gradient of log G from that of G. Where G is zero so is its
// gradient.
func divide(dphi tensor.Mat[float32], dlabels tensor.Mat[float64], gap float64) {
	if !(gap > 0) {
		return
	}
	s := 1 / gap
	tensor.Parallel(dphi.Rows, func(i int) {
		row := dphi.Row(i)
		for j, v := range row {
			row[j] = float32(float64(v) * s)
		}
	})
	for i := range dlabels.Data {
		dlabels.Data[i] *= s
	}
}

func (g *marginGap) loss() float64 { return g.v.Gap }

func (g *marginGap) bound() float64 { return g.v.Bound(g.gap.Lambda) / g.theta.Norm }

func (g *marginGap) describe(line map[string]float64) {
	line["gap"] = g.v.Gap
	alphaRange(line, g.v.Alpha)
	least, mean, most := math.Inf(1), 0.0, math.Inf(-1)
	for i, f := range g.v.Outputs {
		y := g.y.Data[i]
		if g.gap.Targets {
			y = 2*y - 1
		}
		m := float64(y * f)
		least, most = min(least, m), max(most, m)
		mean += m / float64(len(g.v.Outputs))
	}
	line["margin_min"], line["margin_mean"], line["margin_max"] = least, mean, most
}

func alphaRange(line map[string]float64, alpha []float64) {
	least, most := math.Inf(1), math.Inf(-1)
	for _, a := range alpha {
		least, most = min(least, a), max(most, a)
	}
	line["alpha_min"], line["alpha_max"] = least, most
}

// trivial tells whether the gap is at the plateau where all alpha vanish: the set
// says nothing of Theta_O, and its bound is that of no set at all.
func trivial(bound float64, alpha []float64) bool {
	most := 0.0
	for _, a := range alpha {
		most = max(most, math.Abs(a))
	}
	return math.Abs(bound-1) <= 1e-3 && most < 1e-5
}

const trivialNote = "trivial plateau: all dual variables have vanished and the bound is that of an empty set, so the images are not the result of a distillation"

func (g *marginGap) finish() labels {
	l := labels{
		kind:  method.Gain,
		model: teacher.Labels{Loss: g.named, Targets: g.gap.Targets, Values: g.y},
	}
	if g.gap.Targets {
		l.kind = method.Target
	}
	if trivial(g.bound(), g.v.Alpha) {
		l.notes = append(l.notes, trivialNote)
	}
	return l
}
