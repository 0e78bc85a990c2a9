package dgkip

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strconv"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/rng"
	"dgkip/harness/teacher"
	"dgkip/harness/tensor"
)

// Solved learns images and solves for their labels.
type Solved struct {
	Loop
	Loss  string `toml:"loss" enum:"auto,logistic,hinge,squared,softmax"` // auto: logistic for two classes, softmax for more
	Match Match  `toml:"match" enum:"weights,outputs,loss"`               // what an update lowers

	// RefitLabels is what the labels are solved for after the last update; "" means the same as match.
	RefitLabels Match `toml:"refit_labels,omitzero" enum:",weights,outputs,loss"`

	// Batch is the number of real images in an update that looks at them, drawn anew every time;
	// 0 means all.
	Batch int `toml:"batch,omitzero" min:"0"`
}

// Match is what makes Theta_S close to Theta_O.
type Match string

const (
	matchWeights Match = "weights" // |Theta_O - Theta_S|^2 is small: convex.Project
	matchOutputs Match = "outputs" // the mean squared difference of outputs on the real images is small: convex.Fit
	matchLoss    Match = "loss"    // the regularised loss of Theta_S on the real images is small: convex.Least
)

func init() {
	method.Register(func() method.Method {
		return &Solved{Loop: defaults(200), Loss: "auto", Match: matchWeights}
	})
}

// Info implements method.Method.
func (m *Solved) Info() method.Info {
	version := 1
	if m.Loss == string(convex.HingeLoss) {
		version = 2 // since it has labels for images whose coefficient and output differ in sign
	}
	return method.Info{
		Name: "dgkip-ls", Title: "DGKIP-LS", Version: version, Protocol: "features",
		// Labels of the hinge and the squared loss are read by their sign alone.
		SoftLabels: m.Travel || m.Loss != string(convex.HingeLoss) && m.Loss != string(convex.SquaredLoss),
		Citation:   "this program; it builds on " + citation,
		About:      "labels solved in closed form, so that the bound is tight and only images are learned",
	}
}

// Check implements method.Checker.
func (m *Solved) Check() error {
	if err := cmp.Or(m.checkMatch("match", m.Match), m.checkMatch("refit_labels", m.RefitLabels)); err != nil {
		return err
	}
	switch {
	case m.RefitLabels == m.Match:
		return &method.BadSetting{Key: "refit_labels", Why: fmt.Sprintf("is %q, the same as match", m.Match), Hint: "leave refit_labels out"}
	case m.Batch > 0 && m.Match == matchWeights:
		return &method.BadSetting{Key: "batch", Why: "chooses real images, which match = \"weights\" does not use", Hint: "leave batch out, or use match = \"outputs\" or \"loss\""}
	}
	return m.check()
}

// checkMatch returns an error if the value of a key does not fit the loss or the draws.
func (m *Solved) checkMatch(key string, match Match) error {
	switch {
	case m.Loss == string(convex.HingeLoss) && match != "" && match != matchWeights:
		return &method.BadSetting{Key: key, Why: fmt.Sprintf("is %q, which does not work with the hinge loss", match), Hint: fmt.Sprintf("use loss = \"logistic\" or %s = \"weights\"", key)}
	case m.Loss == string(convex.SquaredLoss) && match == matchLoss:
		return &method.BadSetting{Key: key, Why: "is \"loss\", which works with the logistic and the softmax loss only", Hint: "use loss = \"logistic\", or, for random features, the method kip with labels = \"solved\", which is nearly the same"}
	case m.Draws > 0 && match == matchOutputs:
		return &method.BadSetting{Key: key, Why: "is \"outputs\", but every draw has its own outputs on the real images", Hint: "with draws, use \"weights\" or \"loss\""}
	}
	return nil
}

func (m *Solved) loss(classes int) convex.Loss {
	if m.Loss == "auto" {
		return teacher.DefaultLoss(classes)
	}
	return convex.Loss(m.Loss)
}

// CheckSizes implements method.SizesChecker.
func (m *Solved) CheckSizes(s method.Sizes) error {
	for _, x := range []struct {
		key   string
		match Match
		real  int
	}{{"match", m.Match, m.batch(s.Train)}, {"refit_labels", m.RefitLabels, s.Train}} {
		if x.match == matchOutputs && s.Train > 0 && s.IPC*s.Classes >= x.real {
			return fmt.Errorf("%s is \"outputs\", which any set of ipc %d fits exactly on %d real images\nhint: lower ipc, or use more real images", x.key, s.IPC, x.real)
		}
	}
	return m.sizes("dgkip-ls", s, m.loss(s.Classes))
}

// reals reports whether updates or final labels look at the real images.
func (m *Solved) reals() bool {
	return m.Match != matchWeights || m.RefitLabels != "" && m.RefitLabels != matchWeights
}

// batch returns the number of real images in an update.
func (m *Solved) batch(train int) int {
	return min(cmp.Or(m.Batch, train), train)
}

// Distill implements method.Method.
func (m *Solved) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	loss := m.loss(len(p.Data.Classes))
	r := m.newRun(p, "dgkip-ls")
	if err := r.train(ctx, loss); err != nil {
		return nil, err
	}
	if err := r.initialise(ctx, m.reals()); err != nil {
		return nil, err
	}
	train := p.Data.Train
	o := &solved{
		named: loss, theta: r.theta, norm: r.norm, lambda: r.lambda,
		match: m.Match, final: cmp.Or(m.RefitLabels, m.Match),
		labels: teacher.RealLabels(train.Labels, len(p.Data.Classes), loss), real: m.Lambda,
	}
	r.obj, r.apart = o, r.apart || o.final != o.match
	if n := m.batch(train.Len()); n < train.Len() {
		r.apart = true
		r.batches = func(update int) []int {
			o.batch = rng.Stream(p.Seed, "dgkip-ls", "batch", strconv.Itoa(update)).Perm(train.Len())[:n]
			return o.batch
		}
	}
	return r.distill(ctx, observe)
}

// solved is the objective of dgkip-ls: how far the best model in the span of the images' features is
// from Theta_O.
type solved struct {
	named  convex.Loss
	theta  *teacher.Theta
	norm   float64 // |Theta_O|
	lambda float64
	match  Match         // of updates
	final  Match         // of the final labels
	labels convex.Labels // of the real images
	real   float64       // lambda_O per real image
	batch  []int         // real images in the next view; nil: all

	view    convex.View
	by      Match // of the last solution
	s       convex.Nearest
	outputs tensor.Mat[float64] // of Theta_O on the set
	norm2   float64             // |Theta_O - Theta(alpha)|^2

	hinge convex.HingeLabels // of the hinge loss
}

func (o *solved) eval(ctx context.Context, view convex.View, _, _ tensor.Mat[float64]) (float64, error) {
	err := o.solve(ctx, view, o.match, o.batch)
	return o.s.Value, err
}

func (o *solved) settle(ctx context.Context, view convex.View, _ tensor.Mat[float64]) error {
	return o.solve(ctx, view, o.final, nil)
}

// solve finds the best model for a view of the set and of all real images or a batch.
func (o *solved) solve(ctx context.Context, view convex.View, by Match, batch []int) (err error) {
	switch {
	case by == matchOutputs:
		o.s, err = convex.Fit(view, rows(o.theta.Outputs, batch))
	case by == matchLoss:
		labels := o.labels
		labels.Values = rows(labels.Values, batch)
		o.s, err = convex.Least(ctx, view, labels, float64(labels.Values.Rows)*o.real)
	default:
		o.s, err = convex.Project(view)
	}
	if err != nil {
		return err
	}
	o.view, o.by = view, by
	o.outputs = o.s.Outputs // the projection has the outputs of Theta_O
	if by != matchWeights {
		o.outputs = view.Outputs()
	}
	o.norm2 = o.s.Norm2
	if o.named == convex.HingeLoss {
		o.clip()
	}
	return nil
}

// rows returns the chosen rows of a matrix; nil means all.
func rows(m tensor.Mat[float64], chosen []int) tensor.Mat[float64] {
	if chosen == nil {
		return m
	}
	out := tensor.NewMat[float64](len(chosen), m.Cols)
	tensor.GatherRows(out, m, chosen)
	return out
}

// clip computes the labels of the hinge loss. Where dual variables had to be clipped, it corrects the
// bound.
func (o *solved) clip() {
	o.hinge = o.s.HingeLabels(o.lambda)
	if o.hinge.Clipped == 0 {
		return
	}
	c := tensor.NewMat[float64](len(o.hinge.Gains), 1)
	for i, y := range o.hinge.Gains {
		c.Data[i] = o.hinge.Alpha[i] * y / o.lambda
	}
	d := o.view.Distance(c)
	o.norm2 = float64(d * d)
}

// bound returns the bound at the solved model's dual variables, relative to |Theta_O|. For a projection
// the Fenchel-Young terms vanish, and the bound equals the deviation unless dual variables were clipped.
func (o *solved) bound() float64 {
	return convex.Bound(o.gap(), o.lambda) / o.norm
}

func (o *solved) gap() float64 {
	terms := 0.0
	if o.by != matchWeights {
		terms = convex.FenchelYoung(o.named, o.outputs, o.s.Outputs)
	}
	return convex.SplitGap(terms, o.norm2, o.lambda)
}

func (o *solved) describe(line map[string]float64) {
	line["bound"], line["gap"] = o.bound(), o.gap()
	line["residual"] = math.Sqrt(o.s.Norm2) / o.norm
	switch o.by {
	case matchOutputs:
		line["prediction_error"] = o.s.Value
	case matchLoss:
		line["real_loss"] = o.s.Value
	}
	if o.named == convex.HingeLoss {
		alphaRange(line, o.hinge.Alpha)
		line["clipped"] = float64(o.hinge.Clipped)
		return
	}
	alpha := make([]float64, len(o.s.C.Data))
	for i, c := range o.s.C.Data {
		alpha[i] = o.lambda * c
	}
	alphaRange(line, alpha)
}

func (o *solved) finish() labels {
	if o.named != convex.HingeLoss {
		return labels{model: o.s.Labels(o.named, o.lambda)}
	}
	gains := o.hinge.Gains
	l := labels{model: convex.Labels{Form: convex.Gain, Loss: o.named, Values: tensor.MatOf(gains, len(gains), 1)}}
	if n := o.hinge.Clipped; n > 0 {
		l.notes = append(l.notes, fmt.Sprintf("%d of %d dual variables had to be clipped to 1, so the model on the set is not the projection", n, len(gains)))
	}
	return l
}
