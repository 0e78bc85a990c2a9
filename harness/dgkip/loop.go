package dgkip

import (
	"cmp"
	"context"
	"errors"
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

// Loop holds the settings that all methods here share.
type Loop struct {
	Updates    int     `toml:"updates" min:"0"`                       // of the set
	Rate       float64 `toml:"rate" min:"0"`                          // of AdaBelief on the images
	Start      string  `toml:"start" enum:"real,noise,means"`         // training images, noise, or averages of the classes
	Lambda     float64 `toml:"lambda"`                                // regularisation for each image
	TeacherGap float64 `toml:"teacher_gap,omitzero" min:"0"`          // relative gap of Theta_O; 0 for the loss's own default
	Schedule   string  `toml:"schedule,omitzero" enum:",cosine"`      // of the rates: constant, or falling to zero like a cosine
	Draws      int     `toml:"draws,omitzero" min:"0" max:"64"`       // of the networks, in turn; 0 for the run's own
	Travel     bool    `toml:"travel,omitzero"`                       // give the set labels for other networks, too
	Plateau    int     `toml:"plateau,omitzero" min:"0"`              // updates without progress after which to stop; 0 for never
	Beta2      float64 `toml:"beta2,omitzero" min:"0" max:"0.9999"`   // of AdaBelief: how long it remembers the size of gradients; 0 for the usual 0.999
	Progress   float64 `toml:"progress,omitzero" min:"0" max:"0.999"` // what counts: an objective lower by this share; 0 for 0.01
}

func defaults(updates int) Loop {
	return Loop{Updates: updates, Rate: 0.01, Start: "real", Lambda: teacher.DefaultLambda}
}

// check is what the methods have in common of Check.
func (l Loop) check() error {
	if err := cmp.Or(method.PositiveLambda(l.Lambda), method.Positive("rate", l.Rate, "0.01 is usual")); err != nil {
		return err
	}
	if l.Plateau > 0 && l.Draws > 0 {
		return &method.BadSetting{Key: "plateau", Why: "is for updates that see the same networks, and draws gives each others", Hint: "leave plateau out; updates says when to stop"}
	}
	return nil
}

// objective is what a method lowers.
type objective interface {
	// eval takes up a view of the set and its labels, [n, k], and returns the value. It
	// pulls the gradient back through the view, and sets dlabels, where there are any, to
	// that in the labels.
	eval(ctx context.Context, view convex.View, labels, dlabels tensor.Mat[float64]) (float64, error)
	// settle takes up the whole view, for which labels are made.
	settle(ctx context.Context, view convex.View, labels tensor.Mat[float64]) error
	// describe adds to a line of the trace the bound on |Theta_O - Theta_S|, over
	// |Theta_O|, and what is special to the objective.
	describe(line map[string]float64)
	// finish returns the labels that make the set.
	finish() labels
}

// labels are a set's labels, and what must be said of them.
type labels struct {
	model convex.Labels
	notes []string
}

// run is a distillation under way.
type run struct {
	Loop
	name    string
	problem method.Problem
	teacher teacher.Problem
	theta   *teacher.Theta
	pass    space.Pass
	view    convex.View            // of the set as it stands
	settled bool                   // the objective has settled on labels for the pass's whole view
	failed  error                  // why the set has no labels
	apart   bool                   // labels are made otherwise than the updates are
	batches func(update int) []int // real images of an update; nil for all
	begin   *method.Distilled      // the initial images
	of      []int                  // their classes
	obj     objective
	lambda  float64 // lambda_S
	norm    float64 // |Theta_O|

	images, dx []float32
	learned    tensor.Mat[float64] // labels, [n, k]; k may be 0
	dlearned   tensor.Mat[float64] // none if labels stay as they are
	variables  []method.Variable
}

// newRun returns a run of a method that has not begun.
func (l Loop) newRun(p method.Problem, name string) *run {
	return &run{Loop: l, name: name, problem: p, apart: l.Draws > 0}
}

// train trains Theta_O on the real images, or finds it trained: Step 1.
func (r *run) train(ctx context.Context, loss convex.Loss) (err error) {
	r.teacher = teacher.Problem{Loss: loss, Lambda: r.Lambda, Gap: r.TeacherGap}
	if r.Draws > 0 { // a pool has models of its own
		return nil
	}
	if r.theta, err = r.teacher.Theta(ctx, space.Of(r.problem)); err != nil {
		return method.Stopped(ctx, r.problem, err)
	}
	return nil
}

// initialise makes the images that S starts from, and takes them through the networks:
// Step 2. reals says that the objective looks at the real images.
func (r *run) initialise(ctx context.Context, reals bool) (err error) {
	if r.begin, err = r.start(r.problem, r.name); err != nil {
		return err
	}
	r.of, r.lambda = r.begin.Of, float64(r.begin.Len())*r.Lambda
	move, err := optim.NewVariable("images", slices.Clone(r.begin.Images), optim.NewAdaBelief[float32], optim.AdaBeliefConfig{LR: r.Rate, Beta2: r.Beta2})
	if err != nil {
		return err
	}
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

// learn has labels change at a rate of their own, from the first ones on; at a rate of 0
// they stay.
func (r *run) learn(first tensor.Mat[float64], rate float64) error {
	if r.learned = first; rate == 0 {
		return nil
	}
	relabel, err := optim.NewVariable("labels", first.Data, optim.NewAdaBelief[float64], optim.AdaBeliefConfig{LR: rate, Beta2: r.Beta2})
	if err != nil {
		return err
	}
	r.dlearned = tensor.MatOf(relabel.Grad, first.Rows, first.Cols)
	r.variables = append(r.variables, relabel)
	return nil
}

// distill lowers the objective until the updates are made or the plateau is
// reached.
func (r *run) distill(ctx context.Context, observe func(method.Step)) (*method.Distilled, error) {
	set, err := method.Descent{
		Name: r.name, Updates: r.Updates, Variables: r.variables, Eval: r.eval, Gradient: r.gradient, Set: r.set, Metrics: r.metrics,
		Schedule: r.share, Plateau: r.Plateau, Progress: r.Progress,
	}.Run(ctx, r.problem, observe)
	if err == nil && set == nil {
		return nil, fmt.Errorf("%s: no labels can be solved for: %w", r.name, withHint(r.failed))
	}
	return set, err
}

// eval takes up the set as it stands.
func (r *run) eval(ctx context.Context, update int, gradient bool) (float64, error) {
	var batch []int
	if r.batches != nil {
		batch = r.batches(update)
	}
	r.view, r.settled = r.pass.View(update, gradient, batch), false
	value, err := r.obj.eval(ctx, r.view, r.learned, r.dlearned)
	return value, withHint(err)
}

// withHint says what to do about a set whose Gram matrix is singular.
func withHint(err error) error {
	if errors.Is(err, convex.ErrSingular) {
		return fmt.Errorf("%w\nhint: try another start, another seed or a lower ipc", err)
	}
	return err
}

// gradient carries that in the view on to the images.
func (r *run) gradient(context.Context, int) (float64, error) {
	r.pass.Back(r.dx)
	return 0, nil
}

// share is the schedule of the rates. Steps of AdaBelief have the size of the rate,
// however near the minimum is, so that falling rates end nearer.
func (r *run) share(update int) float64 {
	if r.Schedule == "" {
		return 1
	}
	return fmath.CosineShare(update, r.Updates)
}

// settle has the objective take up the pass's whole view, for which labels are made:
// all draws of a pool, all real images, and the metric that labels are solved by. What
// it says of itself is then of these.
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

// metrics makes a line of the trace.
func (r *run) metrics() map[string]float64 {
	if r.settle() != nil {
		return nil // set says why, if it is the end
	}
	line := map[string]float64{}
	r.obj.describe(line)
	// A line is whole, even where the run is about to be stopped; where the model
	// cannot be solved for, its deviation is not known, and the run goes on.
	student, err := teacher.Train(context.Background(), r.view.Gram(), r.obj.finish().model, r.lambda)
	if err != nil {
		return line
	}
	line["deviation"] = r.view.Distance(student.C) / r.norm
	line["solve_gap"] = student.Gap
	return line
}

// set returns the set as it stands, nil if it has no labels.
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
			d.Notes = append(d.Notes, "the set has no labels that travel: its model could not be solved for")
		}
	}
	return d
}
