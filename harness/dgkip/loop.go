package dgkip

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"dgkip/harness/convex"
	"dgkip/harness/fmath"
	"dgkip/harness/method"
	"dgkip/harness/optim"
	"dgkip/harness/space"
	"dgkip/harness/teacher"
	"dgkip/harness/tensor"
)

// Loop holds the settings that all methods of this package share.
type Loop struct {
	Updates    int     `toml:"updates" min:"0"`                     // of the set
	Rate       float64 `toml:"rate" min:"0"`                        // learning rate of AdaBelief on the images
	Start      string  `toml:"start" enum:"real,noise,means"`       // training images, noise, or averages of the classes
	Lambda     float64 `toml:"lambda" min:"1e-14" max:"1e6"`        // regularisation per image
	TeacherGap float64 `toml:"teacher_gap,omitzero" min:"0"`        // relative gap at which Theta_O is accepted; 0: the default of the loss
	Schedule   string  `toml:"schedule,omitzero" enum:",cosine"`    // rates are constant, or fall to zero like a cosine
	Draws      int     `toml:"draws,omitzero" min:"0" max:"64"`     // of networks, used in turn; 0: the one draw of the run
	Travel     bool    `toml:"travel,omitzero"`                     // also store portable labels
	Beta2      float64 `toml:"beta2,omitzero" min:"0" max:"0.9999"` // of AdaBelief: its memory of the size of gradients; 0: the usual 0.999
}

func defaults(updates int) Loop {
	return Loop{Updates: updates, Rate: 0.01, Start: "real", Lambda: teacher.DefaultLambda}
}

// check is the part of Check that all methods share.
func (l Loop) check() error {
	return cmp.Or(method.PositiveLambda(l.Lambda), method.Positive("rate", l.Rate, "0.01 is usual"))
}

// objective is the function that a method lowers.
type objective interface {
	// eval returns the value for the view's set, with labels [n, k]. It pulls the gradient
	// with respect to the features back through the view, and stores the gradient with respect
	// to the labels in dlabels, unless that is empty.
	eval(ctx context.Context, view convex.View, labels, dlabels tensor.Mat[float64]) (float64, error)
	// settle computes the final labels, for a view of all draws and all real images.
	settle(ctx context.Context, view convex.View, labels tensor.Mat[float64]) error
	// describe adds to a line of the trace the bound on |Theta_O - Theta_S|, relative to
	// |Theta_O|, and metrics of the objective.
	describe(line map[string]float64)
	// finish returns the labels of the set.
	finish() labels
}

// labels are a set's labels, with notes for the record.
type labels struct {
	model convex.Labels
	notes []string
}

// run is a distillation in progress.
type run struct {
	Loop
	name    string
	problem method.Problem
	teacher teacher.Problem
	theta   *teacher.Theta
	pass    space.Pass
	view    convex.View            // of the current set
	settled bool                   // whether view is the whole view, and the objective has labels for it
	failed  error                  // why there are no labels for the current set
	apart   bool                   // whether final labels need a view of their own, by settle
	batches func(update int) []int // real images of an update; nil: all
	begin   *method.Distilled      // the initial images
	of      []int                  // their classes
	obj     objective
	lambda  float64 // lambda_S
	norm    float64 // |Theta_O|

	images, dx []float32
	learned    tensor.Mat[float64] // labels, [n, k]; k may be 0
	dlearned   tensor.Mat[float64] // empty if labels stay as they are
	variables  []method.Variable
}

// newRun returns a run that has not begun.
func (l Loop) newRun(p method.Problem, name string) *run {
	return &run{Loop: l, name: name, problem: p, apart: l.Draws > 0}
}

// train is Step 1: it trains Theta_O on the real images, or finds it in the cache.
func (r *run) train(ctx context.Context, loss convex.Loss) (err error) {
	r.teacher = teacher.Problem{Loss: loss, Lambda: r.Lambda, Gap: cmp.Or(r.TeacherGap, teacher.DefaultGap(loss))}
	if r.Draws > 0 { // every draw has its own Theta_O
		return nil
	}
	if r.theta, err = r.teacher.Theta(ctx, space.Of(r.problem)); err != nil {
		return method.Stopped(ctx, r.problem, err)
	}
	return nil
}

// initialise is Step 2: it chooses the initial images of S and computes their features. Set reals
// if the objective looks at the real images.
func (r *run) initialise(ctx context.Context, reals bool) (err error) {
	if r.begin, err = r.start(r.problem, r.name); err != nil {
		return err
	}
	r.of, r.lambda = r.begin.Of, float64(r.begin.Len())*r.Lambda
	move := optim.NewVariable("images", slices.Clone(r.begin.Images), r.rule(r.Rate))
	r.images, r.dx, r.variables = move.X, move.Grad, append(r.variables, move)
	source := space.Of(r.problem)
	if r.Draws > 0 {
		r.pass, r.norm, err = teacher.LearnInDraws(ctx, source, r.teacher, r.Draws, r.images, reals)
	} else {
		r.norm = r.theta.Norm
		r.pass, err = source.Space().Learn(ctx, r.images, &r.theta.Model, reals)
	}
	if err != nil {
		return method.Stopped(ctx, r.problem, err)
	}
	if r.norm == 0 {
		return teacher.ErrZero
	}
	return nil
}

// rule returns the rule of a variable.
func (l Loop) rule(rate float64) optim.Rule {
	return optim.AdaBelief(rate, 0.9, cmp.Or(l.Beta2, 0.999))
}

// learn makes the labels a variable of the optimisation, with an initial value and a rate. At rate 0
// they stay fixed.
func (r *run) learn(first tensor.Mat[float64], rate float64) {
	if r.learned = first; rate == 0 {
		return
	}
	labels := optim.NewVariable("labels", first.Data, r.rule(rate))
	r.dlearned = tensor.MatOf(labels.Grad, first.Rows, first.Cols)
	r.variables = append(r.variables, labels)
}

func (r *run) distill(ctx context.Context, observe func(method.Step)) (*method.Distilled, error) {
	set, err := method.Descent{
		Name: r.name, Updates: r.Updates, Variables: r.variables, Eval: r.eval, Gradient: r.gradient, Set: r.set, Metrics: r.metrics,
		Schedule: r.share,
	}.Run(ctx, r.problem, observe)
	if err == nil && set == nil {
		return nil, fmt.Errorf("%s: no labels can be solved for: %w", r.name, r.failed)
	}
	return set, err
}

func (r *run) eval(ctx context.Context, update int, gradient bool) (float64, error) {
	var batch []int
	if r.batches != nil {
		batch = r.batches(update)
	}
	r.view, r.settled = r.pass.View(update, gradient, batch), false
	return r.obj.eval(ctx, r.view, r.learned, r.dlearned)
}

// gradient propagates the gradient from the features to the images.
func (r *run) gradient(context.Context, int) (float64, error) {
	r.pass.Back(r.dx)
	return 0, nil
}

// share is the schedule of the rates. AdaBelief's steps are as long as the rate even close to a
// minimum, so falling rates end closer to it.
func (r *run) share(update int) float64 {
	if r.Schedule == "" {
		return 1
	}
	return fmath.CosineShare(update, r.Updates, 0)
}

// settle computes the final labels if updates do not: from all draws and all real images, by the
// criterion for labels. The metrics of the objective then refer to these.
func (r *run) settle() error {
	if !r.apart || r.settled {
		return nil
	}
	view := r.pass.Whole()
	if err := r.obj.settle(context.Background(), view, r.learned); err != nil {
		return err
	}
	r.view, r.settled = view, true
	return nil
}

func (r *run) metrics() map[string]float64 {
	if r.settle() != nil {
		return nil // distill returns the reason at the end
	}
	line := map[string]float64{}
	r.obj.describe(line)
	// With a background context, a line is complete even if the run is being stopped. If
	// training on S fails, the line has no deviation, and the run goes on.
	student, err := teacher.Train(context.Background(), r.view.Gram(), r.obj.finish().model, r.lambda)
	if err != nil {
		return line
	}
	line["deviation"] = r.view.Distance(student.C) / r.norm
	line["solve_gap"] = student.Gap
	return line
}

// set returns the current set, or nil if there are no labels for it.
func (r *run) set() *method.Distilled {
	if r.failed = r.settle(); r.failed != nil {
		return nil
	}
	d, final := r.begin.With(r.images, nil), r.obj.finish()
	d.Notes = final.notes
	teacher.SetLabels(d, final.model)
	if r.Travel {
		if student, err := teacher.Train(context.Background(), r.view.Gram(), final.model, r.lambda); err == nil {
			teacher.SetTravelLabels(d, student.Outputs)
		} else {
			d.Notes = append(d.Notes, "the set has no portable labels: its model could not be solved for")
		}
	}
	return d
}
