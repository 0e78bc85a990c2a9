package dgkip

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/teacher"
	"dgkip/harness/tensor"
)

// Learning holds the settings of the methods that lower the gap and learn labels.
type Learning struct {
	Loop
	Objective string  `toml:"objective" enum:"gap,log-gap"`                // the gap, as published, or its logarithm, which has the same minima
	Labels    string  `toml:"labels" enum:"gain,scaled,target,dual,fixed"` // how labels are parametrised: see units
	LabelRate float64 `toml:"label_rate" min:"0"`                          // of AdaBelief on the labels

	// LabelStart is the initial size of scaled gains, which have the sign of the class, and of
	// dual variables, which start from LabelStart (e - 1/K) for the class e, one-hot, of K classes.
	// At 0, the first update decides the class of an image.
	LabelStart float64 `toml:"label_start,omitzero" min:"0"`
	Alpha      string  `toml:"alpha" enum:"through,detached"` // whether gradients pass through alpha
}

func learning(labels string) Learning {
	l := Learning{Loop: defaults(600), Objective: "log-gap", Labels: labels, LabelRate: 0.01, LabelStart: 1, Alpha: "through"}
	l.Schedule = "cosine" // with steps of constant size, the offset of the model and the accuracy oscillate
	return l
}

// published returns the defaults of the published method: the gap itself, and labels as they are.
// The paper does not give beta2. At 0.9, AdaBelief soon forgets the first gradients, which are a
// million times larger than the later ones and would keep its steps small for some 28,000 updates.
// Labels change at a tenth of the images' rate, so that the margins of all images stay close and
// the set carries over to another loss.
func published() Learning {
	l := learning("gain")
	l.Objective, l.Schedule, l.LabelRate, l.Beta2 = "gap", "", 0.001, 0.9
	return l
}

// check is the part of Check that all methods share. usual are the method's defaults.
func (l Learning) check(usual Learning) error {
	err, with := l.Loop.check(), fmt.Sprintf("labels = %q", l.Labels)
	if l.Labels == "fixed" {
		err = cmp.Or(err, method.NoEffect("label_rate", l.LabelRate, with, usual.LabelRate))
	}
	if l.Labels == "dual" {
		err = cmp.Or(err, method.NoEffect("alpha", l.Alpha, with, usual.Alpha))
	} else if l.Labels != "scaled" {
		err = cmp.Or(err, method.NoEffect("label_start", l.LabelStart, with, usual.LabelStart))
	}
	return err
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
	// Temperature is T in alpha = sigma((1-m)/T), the smooth form of the hinge's dual variables.
	// An image with margin m > 1 adds alpha (m-1) to the gap. If all margins equal m, no
	// alpha brings (2/lambda_S) G below (1 - 1/m^2) |Theta_O|^2, and the best alpha give the model
	// Theta_O/m. So at the published T = 1 the bound ends just below |Theta_O|, although the model
	// has the right direction. A lower T allows smaller margins and a lower bound, but alpha
	// is steeper.
	Temperature float64 `toml:"temperature" min:"1e-6"`
}

const citation = "Aoyama, Yang et al., dataset distillation by the duality gap (DGKIP)"

// deviations lists what LR, SVM and softmax all do differently from the paper.
var deviations = []string{
	"the gradient is divided by the gap unless objective = \"gap\"",
	"lambda is 1e-6 per image, for the real data and for the set",
	"images start as real images of their class, as averages of these, or as noise",
	"labels = \"scaled\", \"target\" and \"dual\" are learned in units of lambda_S |Theta_O| (over sqrt(n) for \"dual\"); \"scaled\" and \"dual\" start at label_start units",
	"with schedule = \"cosine\", the rates fall to zero like a cosine",
	"labels have their own rate, label_rate; the paper has one rate for all, 0.01",
}

const beta2Deviation = "the paper does not give AdaBelief's beta2; the default here is 0.9"

func init() {
	method.Register(func() method.Method { return &LR{published()} })
	method.Register(func() method.Method { return &SVM{published(), 1} })
	method.Register(func() method.Method { return &Softmax{softmaxDefaults()} })
}

// Info implements method.Method.
func (m *LR) Info() method.Info {
	return method.Info{
		Name: "dgkip-lr", Title: "DGKIP-LR", Version: 1, Protocol: "features", SoftLabels: m.Travel || m.targets(1), Citation: citation,
		Deviations: append([]string{beta2Deviation}, deviations...),
		About:      "duality gap of logistic regression, the published method",
	}
}

// Info implements method.Method.
func (m *SVM) Info() method.Info {
	return method.Info{
		Name: "dgkip-svm", Title: "DGKIP-SVM", Version: 1, Protocol: "features", SoftLabels: m.Travel, Citation: citation,
		Deviations: append([]string{beta2Deviation, "the temperature of the hinge's alpha is a setting; the published one is 1"}, deviations...),
		About:      "duality gap of the support vector machine, the published method",
	}
}

// Distill implements method.Method.
func (m *LR) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	return m.algorithm1(ctx, p, "dgkip-lr", convex.LogisticLoss, nil, observe)
}

// Distill implements method.Method.
func (m *SVM) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	return m.algorithm1(ctx, p, "dgkip-svm", convex.HingeLoss, convex.Gains(convex.Hinge{Temperature: m.Temperature}), observe)
}

// Check implements method.Checker.
func (m *LR) Check() error { return m.check(published()) }

// Check implements method.Checker.
func (m *SVM) Check() error {
	switch {
	case m.targets(1):
		return &method.BadSetting{Key: "labels", Why: "is " + strconv.Quote(m.Labels) + ", which only the logistic and the softmax loss have", Hint: "use \"gain\", \"scaled\" or \"fixed\""}
	case !(m.Temperature > 0) || math.IsInf(m.Temperature, 0):
		return &method.BadSetting{Key: "temperature", Why: "must be positive and finite", Hint: "1 is published"}
	}
	return m.check(published())
}

// CheckSizes implements method.SizesChecker.
func (m *LR) CheckSizes(s method.Sizes) error { return m.sizes("dgkip-lr", s, convex.LogisticLoss) }

// CheckSizes implements method.SizesChecker.
func (m *SVM) CheckSizes(s method.Sizes) error { return m.sizes("dgkip-svm", s, convex.HingeLoss) }

// targets reports whether labels are targets. Gains exist for one output only.
func (l Learning) targets(outputs int) bool {
	return l.Labels == "target" || l.Labels == "dual" || outputs > 1
}

// first returns the initial label parameters q: zero for targets, -1 and +1 for gains,
// -LabelStart and +LabelStart for scaled gains, and LabelStart (e - 1/K) for dual variables, where e is
// the one-hot class.
func (l Learning) first(of []int, outputs int) tensor.Mat[float64] {
	if l.Labels == "dual" {
		q, classes := hardTargets(of, outputs), float64(max(2, outputs))
		for i := range q.Data {
			q.Data[i] = float64(l.LabelStart * (q.Data[i] - 1/classes))
		}
		return q
	}
	if l.targets(outputs) {
		return tensor.NewMat[float64](len(of), outputs)
	}
	y := teacher.Signs(of, 2)
	if l.Labels == "scaled" {
		for i := range y.Data {
			y.Data[i] *= l.LabelStart
		}
	}
	return y
}

// hardTargets returns the classes as targets. With one output, it is the target of the second class.
func hardTargets(of []int, outputs int) tensor.Mat[float64] {
	return teacher.RealLabels(of, max(2, outputs), convex.SoftmaxLoss).Values
}

// units maps the learned numbers q to labels, origin + size q. Theta(alpha) is alpha'A/lambda_S
// for targets and (alpha y)'A/lambda_S for gains y, so labels change on the scale of
// lambda_S |Theta_O|. In that unit q is of the order of one:
//
//	target   the hard targets + lambda_S |Theta_O| q
//	scaled   gains lambda_S |Theta_O| q
//	gain     gains q, as published; also for labels = "fixed" with one output; with several, those are the hard targets
//	dual     Theta_O's probabilities + lambda_S |Theta_O| q / sqrt(n)
//
// With hard targets, alpha starts near one for every image that Theta_O is unsure of. That is a
// hundred units or more, and labels do not move so far. Instead the image has to move until Theta_O is sure
// of it, and in a large set some images never do. Dual variables start near zero, and targets follow the
// probabilities as images move. The factor 1/sqrt(n) lets |Theta(alpha)| start near |Theta_O| for any
// number of images.
type units struct {
	origin tensor.Mat[float64] // empty for dual variables
	size   float64
}

func (l Learning) units(r *run, outputs int) units {
	u := units{size: r.lambda * r.norm}
	switch {
	case l.Labels == "dual":
		u.size /= math.Sqrt(float64(len(r.of)))
	case l.targets(outputs):
		u.origin = hardTargets(r.of, outputs)
	default:
		u.origin = tensor.NewMat[float64](len(r.of), outputs)
		if l.Labels != "scaled" {
			u.size = 1
		}
	}
	return u
}

// labels returns the labels that q stands for, on the view's set.
func (u units) labels(loss convex.Loss, view convex.View, q tensor.Mat[float64]) tensor.Mat[float64] {
	y := tensor.NewMat[float64](q.Rows, q.Cols)
	for i, v := range q.Data {
		y.Data[i] = float64(u.size * v)
	}
	if u.origin.Rows == 0 {
		return convex.TargetsWith(loss, view.Outputs(), y)
	}
	for i, from := range u.origin.Data {
		y.Data[i] += from
	}
	return y
}

// gradient turns the gradient with respect to labels into the gradient with respect to q.
func (u units) gradient(d tensor.Mat[float64]) {
	for i := range d.Data {
		d.Data[i] *= u.size
	}
}

// gap is the duality gap as an objective.
type gap struct {
	gap     convex.Gap
	norm    float64 // |Theta_O|
	log     bool    // divide gradients by the gap
	learned units

	// labels and v are from the last eval.
	labels convex.Labels
	v      convex.GapValue
}

// gap returns the objective, G or its logarithm, with labels in the chosen units.
func (l Learning) gap(r *run, loss convex.Loss, pair convex.Pair, outputs int) *gap {
	o := &gap{
		norm: r.norm, log: l.Objective == "log-gap",
		labels: convex.Labels{Form: convex.Gain, Loss: loss}, learned: l.units(r, outputs),
	}
	if l.targets(outputs) {
		o.labels.Form = convex.Target
	}
	if pair == nil {
		pair = o.labels.Pair()
	}
	// Learned dual variables do not depend on the features.
	o.gap = convex.Gap{Pair: pair, Lambda: r.lambda, Detach: l.Alpha == "detached" || l.Labels == "dual"}
	return o
}

func (g *gap) settle(ctx context.Context, view convex.View, q tensor.Mat[float64]) error {
	_, err := g.eval(ctx, view, q, tensor.Mat[float64]{})
	return err
}

func (g *gap) bound() float64 { return convex.Bound(g.v.Gap, g.gap.Lambda) / g.norm }

func (g *gap) describe(line map[string]float64) {
	line["bound"], line["gap"] = g.bound(), g.v.Gap
	alphaRange(line, g.v.Alpha.Data)
	if g.v.Outputs.Cols > 1 {
		return
	}
	least, mean, most := math.Inf(1), 0.0, math.Inf(-1)
	for i, f := range g.v.Outputs.Data {
		y := g.labels.Values.Data[i]
		if g.labels.Form == convex.Target {
			y = 2*y - 1
		}
		m := float64(y * f)
		least, most = min(least, m), max(most, m)
		mean += m / float64(g.v.Outputs.Rows)
	}
	line["margin_min"], line["margin_mean"], line["margin_max"] = least, mean, most
}

func alphaRange(line map[string]float64, alpha []float64) {
	line["alpha_min"], line["alpha_max"] = slices.Min(alpha), slices.Max(alpha)
}

// trivial reports whether all alpha have vanished. Such a set carries no information about
// Theta_O, and its bound equals that of an empty set.
func trivial(bound float64, alpha []float64) bool {
	return math.Abs(bound-1) <= 1e-3 && !slices.ContainsFunc(alpha, func(a float64) bool { return !(math.Abs(a) < 1e-5) })
}

const trivialNote = "trivial plateau: all dual variables have vanished and the bound is that of an empty set, so the images were not distilled"

func (g *gap) finish() labels {
	l := labels{model: g.labels}
	if trivial(g.bound(), g.v.Alpha.Data) {
		l.notes = append(l.notes, trivialNote)
	}
	return l
}
