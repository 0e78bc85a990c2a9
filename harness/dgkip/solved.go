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
	"dgkip/harness/space"
	"dgkip/harness/teacher"
	"dgkip/harness/tensor"
)

// Solved moves the images and solves for the labels.
type Solved struct {
	Loop
	Loss   string `toml:"loss" enum:"auto,logistic,hinge,squared,softmax"` // auto: logistic for two classes, softmax for more
	Metric string `toml:"metric" enum:"parameter,prediction,loss"`         // the distance from Theta_O in weights or in outputs, or the loss of Theta_S on the real images

	// Relabel is the metric that labels are solved by when the images are done; "" for
	// that of the updates.
	Relabel string `toml:"relabel,omitzero" enum:",parameter,prediction,loss"`

	// Batch is how many real images an update of a metric on these looks at, drawn anew
	// for each; 0 for all.
	Batch int `toml:"batch,omitzero" min:"0"`
}

func init() {
	method.Register(func() method.Method {
		return &Solved{Loop: defaults(200), Loss: "auto", Metric: string(convex.Parameter)}
	})
}

// Info implements method.Method.
func (m *Solved) Info() method.Info {
	version := 1
	if m.Loss == string(convex.HingeLoss) {
		version = 2 // labels for images whose coefficient opposes the output
	}
	return method.Info{
		Name: "dgkip-ls", Title: "DGKIP-LS", Version: version, Protocol: "features",
		// The labels of the hinge and the squared loss are read by their sign.
		SoftLabels: m.Travel || m.Loss != string(convex.HingeLoss) && m.Loss != string(convex.SquaredLoss),
		Citation:   "this program; it builds on " + citation,
		About:      "labels solved in closed form, so that the bound is tight and only images move",
	}
}

// Check implements method.Checker.
func (m *Solved) Check() error {
	if err := cmp.Or(m.checkMetric("metric", m.Metric), m.checkMetric("relabel", m.Relabel)); err != nil {
		return err
	}
	switch {
	case m.Relabel == m.Metric:
		return &method.BadSetting{Key: "relabel", Why: fmt.Sprintf("is %q, which metric is as well", m.Relabel), Hint: "leave relabel out"}
	case m.Batch > 0 && m.Metric == string(convex.Parameter):
		return &method.BadSetting{Key: "batch", Why: "is for metrics that look at real images, and metric = \"parameter\" does not"}
	case m.Batch > 0 && m.Plateau > 0:
		return &method.BadSetting{Key: "plateau", Why: "is for updates that see the same images, and batch gives each others", Hint: "leave plateau out; updates says when to stop"}
	}
	return m.check()
}

// checkMetric says what a metric does not go with.
func (m *Solved) checkMetric(key, metric string) error {
	switch {
	case m.Loss == string(convex.HingeLoss) && metric != "" && metric != string(convex.Parameter):
		return &method.BadSetting{Key: key, Why: fmt.Sprintf("is %q, which is not for the hinge loss", metric), Hint: fmt.Sprintf("use loss = \"logistic\" or %s = \"parameter\"", key)}
	case m.Loss == string(convex.SquaredLoss) && metric == string(convex.RealLoss):
		return &method.BadSetting{Key: key, Why: "is \"loss\", which is for the logistic and the softmax loss", Hint: "use loss = \"logistic\", or for features the method kip with labels = \"solved\", which is nearly the same"}
	case m.Draws > 0 && metric == string(convex.Prediction):
		return &method.BadSetting{Key: key, Why: "is \"prediction\", and several draws have no outputs on the real images in common", Hint: "with draws, use \"parameter\" or \"loss\""}
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
	if n, real := s.IPC*s.Classes, m.batch(s.Train); m.Metric == string(convex.Prediction) && s.Train > 0 && n >= real {
		return &method.BadSetting{Key: "metric", Why: fmt.Sprintf("is \"prediction\", which is zero for any images: with ipc %d a set fits the outputs on %d real images exactly", s.IPC, real), Hint: "have fewer images in the set than real ones in an update"}
	}
	return m.sizes(s, m.loss(s.Classes))
}

// Flops implements method.Counter.
func (m *Solved) Flops(s method.Sizes) float64 {
	pass := s
	pass.Train = m.batch(s.Train) // it is beside the batch alone
	// Without features a real image is its inner products with the set.
	dim, batch := float64(cmp.Or(space.Dim(s.Model, s.H, s.W), s.IPC*s.Classes)), float64(pass.Train)
	flops := space.PassFlops(pass)
	if m.Metric != string(convex.Parameter) {
		flops += 2 * batch * dim * float64(s.IPC*s.Classes+teacher.Outputs(s.Classes))
	}
	return flops
}

// reals says whether real images are looked at, in updates or for labels.
func (m *Solved) reals() bool {
	return m.Metric != string(convex.Parameter) || m.Relabel != "" && m.Relabel != string(convex.Parameter)
}

// batch is the number of real images in an update.
func (m *Solved) batch(train int) int {
	if m.Batch == 0 {
		return train
	}
	return min(m.Batch, train)
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
		metric: convex.Metric(m.Metric), final: convex.Metric(cmp.Or(m.Relabel, m.Metric)),
		labels: teacher.RealLabels(train.Labels, len(p.Data.Classes), loss), real: m.Lambda,
	}
	r.obj, r.apart = o, r.apart || o.final != o.metric
	if n := m.batch(train.Len()); n < train.Len() {
		r.apart = true
		r.batches = func(update int) []int {
			o.batch = rng.Stream(p.Seed, "dgkip-ls", "batch", strconv.Itoa(update)).Perm(train.Len())[:n]
			return o.batch
		}
	}
	return r.distill(ctx, observe)
}

// solved is the distance of Theta_O from the best model on the images' features.
type solved struct {
	named  convex.Loss
	theta  *teacher.Theta
	norm   float64 // |Theta_O|
	lambda float64
	metric convex.Metric // of updates
	final  convex.Metric // of labels
	labels convex.Labels // of the real images
	real   float64       // lambda_O for each of these
	batch  []int         // those that the next view shows; nil for all

	view    convex.View
	by      convex.Metric // of what was taken up last
	s       convex.Nearest
	outputs tensor.Mat[float64] // of Theta_O on the set
	norm2   float64             // |Theta_O - Theta(alpha)|^2

	hinge convex.HingeLabels // for the hinge loss
}

func (o *solved) eval(ctx context.Context, view convex.View, _, _ tensor.Mat[float64]) (float64, error) {
	err := o.solve(ctx, view, o.metric, o.batch)
	return o.s.Value, err
}

func (o *solved) settle(ctx context.Context, view convex.View, _ tensor.Mat[float64]) error {
	return o.solve(ctx, view, o.final, nil)
}

// solve takes up a view, with all real images or a batch of them, by a metric.
func (o *solved) solve(ctx context.Context, view convex.View, by convex.Metric, batch []int) (err error) {
	switch {
	case by == convex.Prediction:
		o.s, err = convex.Fit(view, rows(o.theta.Outputs, batch))
	case by == convex.RealLoss:
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
	o.outputs = o.s.Outputs // a projection keeps them
	if by != convex.Parameter {
		o.outputs = view.Outputs()
	}
	o.norm2 = o.s.Norm2
	if o.named == convex.HingeLoss {
		o.clip()
	}
	return nil
}

// rows returns those of a matrix that are chosen, all if that is nil.
func rows(m tensor.Mat[float64], chosen []int) tensor.Mat[float64] {
	if chosen == nil {
		return m
	}
	out := tensor.NewMat[float64](len(chosen), m.Cols)
	tensor.GatherRows(out, m, chosen)
	return out
}

// clip makes the hinge's labels, and takes the clipping of dual variables into the
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

// bound is that of the gap at the solved model's own dual variables. For a
// projection the Fenchel-Young terms vanish, and it is the deviation itself.
func (o *solved) bound() float64 {
	return convex.Bound(o.gap(), o.lambda) / o.norm
}

func (o *solved) gap() float64 {
	terms := 0.0
	if o.by != convex.Parameter {
		terms = convex.FenchelYoung(o.named, o.outputs, o.s.Outputs)
	}
	return convex.SplitGap(terms, o.norm2, o.lambda)
}

func (o *solved) describe(line map[string]float64) {
	line["bound"], line["gap"] = o.bound(), o.gap()
	line["residual"] = math.Sqrt(o.s.Norm2) / o.norm
	switch o.by {
	case convex.Prediction:
		line["prediction_error"] = o.s.Value
	case convex.RealLoss:
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
		l.notes = append(l.notes, fmt.Sprintf("%d of %d dual variables had to be clipped to 1: the model on the set is not the projection", n, len(gains)))
	}
	return l
}
