package dgkip

import (
	"context"
	"math"
	"strconv"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/teacher"
	"dgkip/harness/tensor"
)

// Learning holds the settings of the methods that lower the gap itself.
type Learning struct {
	Loop
	Objective string  `toml:"objective" enum:"gap,log-gap"`                // what is lowered: the gap as published, or its logarithm, which has the same minima
	Labels    string  `toml:"labels" enum:"gain,scaled,target,dual,fixed"` // what is learned of them
	LabelRate float64 `toml:"label_rate" min:"0"`                          // of AdaBelief on the labels

	// LabelStart is what scaled gains start from, with the sign of the class, and dual
	// variables, with the class less the average over classes. At 0 the first update
	// decides what class an image is of.
	LabelStart float64 `toml:"label_start,omitzero" min:"0"`
	Alpha      string  `toml:"alpha" enum:"through,detached"` // whether gradients pass through alpha
}

func learning(labels string) Learning {
	l := Learning{Loop: defaults(600), Objective: "log-gap", Labels: labels, LabelRate: 0.01, LabelStart: 1, Alpha: "through"}
	l.Schedule = "cosine" // steps of one size keep the model's offset swinging, and with it the accuracy
	return l
}

// published are the defaults of the published method: the gap itself and labels as they are.
// What the publication does not say: AdaBelief soon forgets the size of the first gradients,
// a million times the later ones, which would otherwise keep its steps small for some twenty
// thousand updates; and labels change at a tenth of the images' rate, so that the margins of
// all images stay together, which is what another loss asks of a set.
func published() Learning {
	l := learning("gain")
	l.Objective, l.Schedule, l.LabelRate, l.Beta2 = "gap", "", 0.001, 0.9
	return l
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
	// image with margin m > 1 adds alpha (m-1) to the gap, which the hinge leaves: where all
	// m are the same, no alpha makes (2/lambda_S) G less than (1 - 1/m^2) |Theta_O|^2, and
	// the model of dual variables with the least is Theta_O/m. At the published T = 1 the
	// bound so ends just below |Theta_O|, though the direction is right; a lower T, with
	// smaller margins, brings it down, and makes alpha steeper.
	Temperature float64 `toml:"temperature"`
}

const citation = "Aoyama, Yang et al., dataset distillation by the duality gap (DGKIP)"

var deviations = []string{
	"the gradient is divided by the gap unless objective = \"gap\"",
	"lambda is 1e-6 for each image, of the real data and of the set alike",
	"images start at real ones of their class, at averages of them, or as noise",
	"labels are learned in units of lambda_S |Theta_O|, over sqrt(n) for dual variables, and begin at label_start of them, unless labels = \"gain\"",
	"the rates fall like a cosine where schedule = \"cosine\"",
	"the hinge's alpha has the published temperature of 1, or another one",
	"AdaBelief has a beta2 of 0.9 where beta2 says so; the publication gives none",
	"labels change at label_rate, where the publication gives one rate for all, 0.01",
}

func init() {
	method.Register(func() method.Method { return &LR{published()} })
	method.Register(func() method.Method { return &SVM{published(), 1} })
	method.Register(func() method.Method {
		l := learning("dual")
		l.LabelRate = 0.2
		return &Softmax{l}
	})
}

// Info implements method.Method.
func (m *LR) Info() method.Info {
	return method.Info{
		Name: "dgkip-lr", Title: "DGKIP-LR", Version: 1, Protocol: "features", SoftLabels: m.Travel || m.targets(1), Citation: citation, Deviations: deviations,
		About: "duality gap of logistic regression, the published method",
	}
}

// Info implements method.Method.
func (m *SVM) Info() method.Info {
	return method.Info{
		Name: "dgkip-svm", Title: "DGKIP-SVM", Version: 1, Protocol: "features", SoftLabels: m.Travel, Citation: citation, Deviations: deviations,
		About: "duality gap of the support vector machine, the published method",
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
func (m *LR) Check() error { return m.check() }

// Check implements method.Checker.
func (m *SVM) Check() error {
	switch {
	case m.targets(1):
		return &method.BadSetting{Key: "labels", Why: "is " + strconv.Quote(m.Labels) + ", a form that only the logistic and the softmax loss have", Hint: "use \"gain\", \"scaled\" or \"fixed\""}
	case !(m.Temperature > 0) || math.IsInf(m.Temperature, 0):
		return &method.BadSetting{Key: "temperature", Why: "must be positive and finite", Hint: "1 is the published one"}
	}
	return m.check()
}

// CheckSizes implements method.SizesChecker.
func (m *LR) CheckSizes(s method.Sizes) error { return m.sizes(s, convex.LogisticLoss) }

// CheckSizes implements method.SizesChecker.
func (m *SVM) CheckSizes(s method.Sizes) error { return m.sizes(s, convex.HingeLoss) }

// targets says whether labels are targets; gains are for one output.
func (l Learning) targets(outputs int) bool {
	return l.Labels == "target" || l.Labels == "dual" || outputs > 1
}

// first returns the numbers that learning starts from: no change of targets, or the
// gains -1 and +1, these times LabelStart where they are scaled. Dual variables start
// from LabelStart times the class less the average over classes.
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

// hardTargets returns the classes as targets: of the second class for one output.
func hardTargets(of []int, outputs int) tensor.Mat[float64] {
	p := tensor.NewMat[float64](len(of), outputs)
	for i, class := range of {
		if outputs > 1 {
			p.Row(i)[class] = 1
		} else {
			p.Data[i] = float64(class)
		}
	}
	return p
}

// units says which labels the learned numbers q stand for: origin + size q. A target
// matters by its distance alpha from the model's probability, a gain y where it is
// small by alpha y, Theta(alpha) being alpha'A/lambda_S. So what makes q of the order
// of one is the size lambda_S |Theta_O|:
//
//	target   the hard targets + lambda_S |Theta_O| q
//	scaled   gains lambda_S |Theta_O| q
//	gain     gains q, as published, and so for fixed ones
//	dual     Theta_O's own probabilities + lambda_S |Theta_O| q / sqrt(n)
//
// From hard targets alpha is near one, a hundred units, wherever Theta_O is unsure of an
// image. Labels do not get that far: the image has to move until Theta_O is sure of it,
// and where there are many images some never do. Dual variables start near zero, and
// targets follow the probabilities as images move. The more images there are, the less
// each has to say: by sqrt(n), |Theta(alpha)| starts near |Theta_O| for any number.
type units struct {
	origin tensor.Mat[float64] // none for dual variables
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

// labels returns those of a loss that q stands for, for the set that a view shows.
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

// gradient makes one in q from one in the labels.
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

	// What eval took up last.
	labels convex.Labels
	v      convex.GapValue
}

// gap returns the objective: G or its logarithm, with labels in the unit that is asked for.
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
	// Dual variables that are learned do not depend on the features.
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
	least, most := math.Inf(1), math.Inf(-1)
	for _, a := range alpha {
		least, most = min(least, a), max(most, a)
	}
	line["alpha_min"], line["alpha_max"] = least, most
}

// trivial says whether the gap is at the plateau where all alpha vanish: the set
// says nothing of Theta_O, and its bound is that of no set at all.
func trivial(bound float64, alpha []float64) bool {
	most := 0.0
	for _, a := range alpha {
		most = max(most, math.Abs(a))
	}
	return math.Abs(bound-1) <= 1e-3 && most < 1e-5
}

const trivialNote = "trivial plateau: all dual variables have vanished and the bound is that of an empty set, so the images are not the result of a distillation"

func (g *gap) finish() labels {
	l := labels{model: g.labels}
	if trivial(g.bound(), g.v.Alpha.Data) {
		l.notes = append(l.notes, trivialNote)
	}
	return l
}
