package dgkip

import (
	"context"
	"fmt"
	"math"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/teacher"
	"dgkip/harness/tensor"
)

// Solved moves the images and solves for the labels.
type Solved struct {
	Loop
	Loss   string `toml:"loss" enum:"auto,logistic,hinge,squared,softmax"` // auto: logistic for two classes, softmax for more
	Metric string `toml:"metric" enum:"parameter,prediction,loss"`

	// Box keeps the hinge's dual variables in [0, 1] while images move, and not
	// only when the labels are made.
	Box bool `toml:"box,omitzero"`
}

func init() {
	method.Register(func() method.Method {
		return &Solved{Loop: defaults(200), Loss: "auto", Metric: string(convex.Parameter)}
	})
}

// Info implements method.Method.
func (m *Solved) Info() method.Info {
	return method.Info{
		Name: "dgkip-ls", Title: "DGKIP-LS", Version: 1, Protocol: "features",
		// The labels of the hinge and the squared loss are read by their sign.
		SoftLabels: m.Travel || m.Loss != string(convex.HingeLoss) && m.Loss != string(convex.SquaredLoss),
		Citation:   "this program; it builds on " + citation,
		About:      "labels solved in closed form, so that the bound is tight and only images move",
	}
}

// Check implements method.Checker.
func (m *Solved) Check() error {
	switch {
	case m.Loss == string(convex.HingeLoss) && m.Metric != string(convex.Parameter):
		return &method.BadSetting{Key: "metric", Why: fmt.Sprintf("is %q, for which the hinge loss has no labels", m.Metric), Hint: "use loss = \"logistic\" or metric = \"parameter\""}
	case m.Loss == string(convex.SquaredLoss) && m.Metric == string(convex.RealLoss):
		return &method.BadSetting{Key: "metric", Why: "is \"loss\", which is for the logistic and the softmax loss", Hint: "with the squared loss, the method kip with labels = \"solved\" is nearly the same"}
	}
	if m.Draws > 0 && m.Metric != string(convex.Parameter) {
		return &method.BadSetting{Key: "draws", Why: fmt.Sprintf("is for metric = \"parameter\": %q looks at real images, which would have to be seen in every draw", m.Metric)}
	}
	if m.Box && m.Loss != string(convex.HingeLoss) {
		return &method.BadSetting{Key: "box", Why: "is for loss = \"hinge\", the only one whose dual variables have a range"}
	}
	return m.check()
}

func (m *Solved) loss(classes int) convex.Loss {
	if m.Loss == "auto" {
		return teacher.DefaultLoss(classes)
	}
	return convex.Loss(m.Loss)
}

// CheckSizes implements method.SizesChecker.
func (m *Solved) CheckSizes(s method.Sizes) error { return m.sizes(s, m.loss(s.Classes)) }

// Estimate implements method.Estimator.
func (m *Solved) Estimate(s method.Sizes) method.Estimate {
	e := m.estimate(s, m.loss(s.Classes))
	if m.Metric != string(convex.Parameter) {
		k := float64(teacher.Outputs(s.Classes))
		e.Flops += 2 * float64(s.Train) * float64(teacher.Dim(s.Model, s.H, s.W)) * (float64(s.IPC*s.Classes) + k)
	}
	return e
}

// Distill implements method.Method.
func (m *Solved) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	loss := m.loss(len(p.Data.Classes))
	metric := convex.Metric(m.Metric)
	r, err := m.newRun(ctx, p, "dgkip-ls", loss, nil, 0, metric != convex.Parameter)
	if err != nil {
		return nil, err
	}
	r.obj = &solved{
		named: loss, theta: r.theta, norm: r.norm, lambda: r.lambda, box: m.Box, metric: metric,
		labels: teacher.RealLabels(p.Data.Train.Labels, len(p.Data.Classes), loss),
	}
	return r.distill(ctx, observe)
}

// solved is the distance of Theta_O from the best model on the images' features.
type solved struct {
	named  convex.Loss
	theta  *teacher.Theta
	norm   float64 // |Theta_O|
	lambda float64
	box    bool
	metric convex.Metric
	labels convex.Labels // of the real images

	view    convex.View
	s       convex.Nearest
	outputs tensor.Mat[float64] // of Theta_O on the set
	norm2   float64             // |Theta_O - Theta(alpha)|^2

	hinge convex.HingeLabels // for the hinge loss
}

func (o *solved) eval(ctx context.Context, view convex.RealView, _, _ tensor.Mat[float64]) (_ float64, err error) {
	switch {
	case o.box:
		o.s, o.hinge, err = convex.ProjectBox(view, o.lambda)
	case o.metric == convex.Prediction:
		o.s, err = convex.Fit(view, o.theta.Outputs)
	case o.metric == convex.RealLoss:
		o.s, err = convex.Least(ctx, view, o.labels, o.theta.Lambda)
	default:
		o.s, err = convex.Project(view)
	}
	if err != nil {
		return 1, err
	}
	o.view = view
	o.outputs = o.s.Outputs // a projection keeps them
	if o.metric != convex.Parameter {
		o.outputs = view.Outputs()
	}
	o.norm2 = o.s.Norm2
	if o.named == convex.HingeLoss && !o.box {
		o.clip()
	}
	return 1, nil
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

func (o *solved) loss() float64 { return o.s.Value }

// bound is that of the gap at the solved model's own dual variables. For a
// projection the Fenchel-Young terms vanish, and it is the deviation itself.
func (o *solved) bound() float64 {
	return convex.Bound(o.gap(), o.lambda) / o.norm
}

func (o *solved) gap() float64 {
	terms := 0.0
	if o.metric != convex.Parameter {
		terms = convex.FenchelYoung(o.named, o.outputs, o.s.Outputs)
	}
	return convex.SplitGap(terms, o.norm2, o.lambda)
}

func (o *solved) describe(line map[string]float64) {
	line["gap"] = o.gap()
	line["residual"] = math.Sqrt(o.s.Norm2) / o.norm
	switch o.metric {
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
		l.notes = append(l.notes, fmt.Sprintf("%d of %d dual variables had to be clipped to [0, 1]: the model on the set is not the projection", n, len(gains)))
	}
	return l
}
