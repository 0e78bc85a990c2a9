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
	Metric string `toml:"metric" enum:"parameter,prediction"`

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
func (*Solved) Info() method.Info {
	return method.Info{
		Name: "dgkip-ls", Title: "DGKIP-LS", Version: 1, Protocol: "features",
		Citation: "this program; it builds on " + citation,
		About:    "labels solved in closed form, so that the bound is tight and only images move",
	}
}

// Check implements method.Checker.
func (m *Solved) Check() error {
	if m.Loss == string(convex.HingeLoss) && m.Metric == string(convex.Prediction) {
		return &method.BadSetting{Key: "metric", Why: "is \"prediction\", for which the hinge loss has no labels", Hint: "use loss = \"logistic\" or metric = \"parameter\""}
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
	if m.Metric == string(convex.Prediction) {
		k := float64(teacher.Outputs(s.Classes))
		e.Flops += 2 * float64(s.Train) * float64(teacher.Dim(s.Model, s.H, s.W)) * (float64(s.IPC*s.Classes) + k)
	}
	return e
}

// Distill implements method.Method.
func (m *Solved) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	loss := m.loss(len(p.Data.Classes))
	r, err := m.newRun(ctx, p, "dgkip-ls", loss, nil, 0)
	if err != nil {
		return nil, err
	}
	o := &solved{named: loss, theta: r.theta, lambda: r.lambda, box: m.Box}
	if m.Metric == string(convex.Prediction) {
		real := teacher.Of(p)
		phi, err := real.Features(ctx)
		if err != nil {
			return nil, method.Stopped(ctx, p, err)
		}
		o.real = &phi
	}
	r.obj = o
	return r.distill(ctx, observe)
}

// solved is the distance of Theta_O from the best model on the images' features.
type solved struct {
	named  convex.Loss
	theta  *teacher.Theta
	lambda float64
	box    bool
	real   *tensor.Mat[float32] // features of the real images, for the metric "prediction"

	s       convex.Nearest
	outputs tensor.Mat[float64] // of Theta_O on the set
	norm2   float64             // |Theta_O - Theta(alpha)|^2

	hinge convex.HingeLabels // for the hinge loss
}

func (o *solved) eval(phi tensor.Mat[float32], _ tensor.Mat[float64], dphi *tensor.Mat[float32], _ tensor.Mat[float64]) (err error) {
	switch {
	case o.box:
		o.s, o.hinge, err = convex.ProjectBox(phi, o.theta.Weights, o.lambda, dphi)
	case o.real != nil:
		o.s, err = convex.Fit(phi, *o.real, o.theta.Weights, o.theta.Outputs, dphi)
	default:
		o.s, err = convex.Project(phi, o.theta.Weights, dphi)
	}
	if err != nil {
		return err
	}
	o.outputs = o.s.Outputs // a projection keeps them
	if o.real != nil {
		o.outputs = convex.Apply(phi, o.theta.Weights)
	}
	o.norm2 = o.s.Norm2
	if o.named == convex.HingeLoss && !o.box {
		o.clip(phi)
	}
	return nil
}

// clip makes the hinge's labels, and takes the clipping of dual variables into the
// bound.
func (o *solved) clip(phi tensor.Mat[float32]) {
	o.hinge = o.s.HingeLabels(o.lambda)
	if o.hinge.Clipped == 0 {
		return
	}
	c := tensor.NewMat[float64](len(o.hinge.Gains), 1)
	for i, y := range o.hinge.Gains {
		c.Data[i] = o.hinge.Alpha[i] * y / o.lambda
	}
	d := convex.Distance(o.theta.Weights, convex.Combine(phi, c))
	o.norm2 = float64(d * d)
}

func (o *solved) loss() float64 { return o.s.Value }

// bound is that of the gap at the solved model's own dual variables. For a
// projection the Fenchel-Young terms vanish, and it is the deviation itself.
func (o *solved) bound() float64 {
	return convex.Bound(o.gap(), o.lambda) / o.theta.Norm
}

func (o *solved) gap() float64 {
	terms := 0.0
	if o.real != nil {
		terms = convex.FenchelYoung(o.named, o.outputs, o.s.Outputs)
	}
	return convex.SplitGap(terms, o.norm2, o.lambda)
}

func (o *solved) describe(line map[string]float64) {
	line["gap"] = o.gap()
	line["residual"] = math.Sqrt(o.s.Norm2) / o.theta.Norm
	if o.real != nil {
		line["prediction_error"] = o.s.Value
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
