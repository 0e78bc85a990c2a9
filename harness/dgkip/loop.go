package dgkip

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"math"

	"dgkip/harness/convex"
	"dgkip/harness/features"
	"dgkip/harness/fmath"
	"dgkip/harness/method"
	"dgkip/harness/optim"
	"dgkip/harness/teacher"
	"dgkip/harness/tensor"
)

// Loop holds the settings that all methods here share.
type Loop struct {
	Updates    int     `toml:"updates" min:"0"`
	Rate       float64 `toml:"rate" min:"0"` // of AdaBelief on the images
	Start      string  `toml:"start" enum:"real,noise,means"`
	Lambda     float64 `toml:"lambda"`                           // regularisation for each image
	TeacherGap float64 `toml:"teacher_gap,omitzero" min:"0"`     // relative gap of Theta_O; 0 for the loss's own default
	Schedule   string  `toml:"schedule,omitzero" enum:",cosine"` // of the rates: constant, or falling to zero like a cosine
	Plateau    int     `toml:"plateau,omitzero" min:"0"`         // updates without progress after which to stop; 0 for never
	Progress   float64 `toml:"progress,omitzero" max:"0.999"`    // what counts: an objective lower by this share; 0 for 0.01
}

func defaults(updates int) Loop {
	return Loop{Updates: updates, Rate: 0.01, Start: "real", Lambda: teacher.DefaultLambda}
}

// check is what the methods have in common of Check.
func (l Loop) check() error {
	switch {
	case !(l.Lambda > 0) || math.IsInf(l.Lambda, 0):
		return &method.BadSetting{Key: "lambda", Why: fmt.Sprintf("is %v, and must be positive and finite", l.Lambda), Hint: "1e-6 is usual"}
	case !(l.Rate > 0) || math.IsInf(l.Rate, 0):
		return &method.BadSetting{Key: "rate", Why: fmt.Sprintf("is %v, and must be positive and finite", l.Rate), Hint: "0.01 is usual"}
	case l.TeacherGap-l.TeacherGap != 0:
		return &method.BadSetting{Key: "teacher_gap", Why: "must be finite", Hint: "0 stands for the loss's own"}
	case l.Progress < 0:
		return &method.BadSetting{Key: "progress", Why: "must not be negative"}
	}
	return nil
}

// objective is what a method lowers.
type objective interface {
	// eval takes up features of the set, [n, M], and its labels, [n, k]. It sets
	// dphi to a gradient in the features and, where dlabels has any, dlabels to
	// that in the labels; neither where dphi is nil.
	eval(phi tensor.Mat[float32], labels tensor.Mat[float64], dphi *tensor.Mat[float32], dlabels tensor.Mat[float64]) error
	// loss is the objective's value at what eval took up last.
	loss() float64
	// bound is the bound on |Theta_O - Theta_S|, over |Theta_O|.
	bound() float64
	// describe adds what is special to a line of the trace.
	describe(line map[string]float64)
	// finish returns the labels that make the set.
	finish() labels
}

// labels are a set's labels as a file holds them, and as a convex model takes them.
type labels struct {
	kind  method.LabelKind
	model teacher.Labels
	notes []string
}

// run is a distillation under way.
type run struct {
	Loop
	problem method.Problem
	theta   *teacher.Theta
	fm      *features.Map
	pass    *features.Pass
	of      []int
	obj     objective
	lambda  float64 // lambda_S

	phi, dphi tensor.Mat[float32]
	dx        []float32
	images    []float32
	learned   tensor.Mat[float64] // labels that the optimiser moves, [n, k]; k may be 0
	dlearned  tensor.Mat[float64]
	move      *optim.AdaBelief[float32]
	relabel   *optim.AdaBelief[float64] // nil if labels are not moved
	labelRate float64

	update int
	seen   int     // the update that was observed last
	best   float64 // lowest objective of those that counted as progress
	since  int     // its update
}

// stopped tells an end that was asked for, before which nothing new was made, from
// other errors.
func stopped(ctx context.Context, p method.Problem, err error) error {
	if ctx.Err() != nil {
		return &method.Interrupted{Checkpoint: p.Resume, Cause: context.Cause(ctx)}
	}
	return err
}

// state is what a run needs to go on.
type state struct {
	Update, Seen, Since int
	Best                float64
	Images              []float32
	Learned             []float64
	Move, Relabel       []byte
}

// newRun prepares everything but the objective. labels are the first of those that
// are learned, at their own rate; nil if none are.
func (l Loop) newRun(ctx context.Context, p method.Problem, name string, loss convex.Loss, learned func(of []int) tensor.Mat[float64], labelRate float64) (*run, error) {
	real := teacher.Of(p)
	fm, err := real.Map()
	if err != nil {
		return nil, err
	}
	theta, err := real.Theta(ctx, teacher.Problem{Loss: loss, Lambda: l.Lambda, Gap: l.TeacherGap})
	if err != nil {
		return nil, stopped(ctx, p, err)
	}
	images, of, err := l.start(p, name)
	if err != nil {
		return nil, err
	}
	r := &run{
		Loop: l, problem: p, theta: theta, fm: fm, pass: fm.NewPass(), of: of, images: images,
		phi: tensor.NewMat[float32](len(of), fm.Dim()), dphi: tensor.NewMat[float32](len(of), fm.Dim()),
		dx: make([]float32, len(images)), lambda: float64(len(of)) * l.Lambda, seen: -1, best: math.Inf(1),
	}
	if r.move, err = optim.NewAdaBelief[float32](len(images), optim.AdaBeliefConfig{LR: l.Rate}); err != nil {
		return nil, err
	}
	if learned != nil {
		r.learned = learned(of)
		if r.labelRate = labelRate; labelRate > 0 {
			r.dlearned = tensor.NewMat[float64](r.learned.Rows, r.learned.Cols)
			if r.relabel, err = optim.NewAdaBelief[float64](len(r.learned.Data), optim.AdaBeliefConfig{LR: labelRate}); err != nil {
				return nil, err
			}
		}
	}
	if p.Resume != nil {
		if err := r.restore(p.Resume); err != nil {
			return nil, fmt.Errorf("checkpoint of %s: %w", name, err)
		}
	}
	return r, nil
}

// distill lowers the objective until the updates are made or the plateau is
// reached.
func (r *run) distill(ctx context.Context, observe func(method.Step)) (*method.Distilled, error) {
	for {
		if err := ctx.Err(); err != nil {
			state, saving := r.checkpoint()
			if saving != nil {
				return nil, saving
			}
			return nil, &method.Interrupted{Checkpoint: state, Cause: context.Cause(ctx)}
		}
		last := r.update == r.Updates
		r.pass.Forward(r.phi, r.images)
		dphi := &r.dphi
		if last {
			dphi = nil
		}
		if err := r.obj.eval(r.phi, r.learned, dphi, r.dlearned); err != nil {
			return nil, fmt.Errorf("update %d: %w", r.update, err)
		}
		if r.update > r.seen {
			r.seen = r.update
			r.judge()
			of := r.Updates
			if r.stuck() {
				of = r.update // it ends here
			}
			observe(method.Step{
				Update: r.update, Of: of, Loss: r.obj.loss(),
				Metrics: r.metrics, Distilled: r.set, Checkpoint: r.checkpoint,
			})
		}
		if last || r.stuck() {
			return r.set(), nil
		}
		if ctx.Err() != nil {
			continue
		}
		r.pass.Backward(r.dx, r.dphi)
		r.schedule()
		r.move.Step(r.images, r.dx)
		if r.relabel != nil {
			r.relabel.Step(r.learned.Data, r.dlearned.Data)
		}
		r.update++
	}
}

// schedule sets the rates of the step to come. Steps of AdaBelief have the size of
// the rate, however near the minimum is, so that falling rates end nearer.
func (r *run) schedule() {
	if r.Schedule == "" {
		return
	}
	share := (1 + fmath.Cos(float64(math.Pi*float64(r.update))/float64(r.Updates))) / 2
	r.move.SetLR(float64(r.Rate * share))
	if r.relabel != nil {
		r.relabel.SetLR(float64(r.labelRate * share))
	}
}

// stuck tells whether the plateau rule ends the run.
func (r *run) stuck() bool { return r.Plateau > 0 && r.update-r.since >= r.Plateau }

// judge notes progress of the objective.
func (r *run) judge() {
	progress := r.Progress
	if progress == 0 {
		progress = 0.01
	}
	if b := r.obj.loss(); b < float64(r.best*(1-progress)) {
		r.best, r.since = b, r.update
	}
}

// metrics makes a line of the trace.
func (r *run) metrics() map[string]float64 {
	line := map[string]float64{"bound": r.obj.bound()}
	r.obj.describe(line)
	// A line is whole, even where the run is about to be stopped; where the model
	// cannot be solved for, its deviation is not known, and the run goes on.
	student, err := teacher.Train(context.Background(), r.phi, r.obj.finish().model, r.lambda)
	if err != nil {
		return line
	}
	line["deviation"] = teacher.Distance(r.theta.Weights, student.Weights) / r.theta.Norm
	line["solve_gap"] = student.Gap
	return line
}

// set returns the set as it stands.
func (r *run) set() *method.Distilled {
	t := r.problem.Data.Train
	final := r.obj.finish()
	exact := final.model.Values
	d := &method.Distilled{
		H: t.H, W: t.W, C: t.C, Images: append([]float32(nil), r.images...), Of: append([]int(nil), r.of...),
		Kind: final.kind, Loss: string(final.model.Loss), Classes: r.problem.Data.Classes, Prep: r.problem.Data.Prep, Notes: final.notes,
		Labels: make([]float32, len(exact.Data)),
		Extra: map[string]method.Array{
			teacher.ExactLabels: {Shape: []int{exact.Rows, exact.Cols}, Data: append([]float64(nil), exact.Data...)},
		},
	}
	for i, v := range exact.Data {
		d.Labels[i] = float32(v)
	}
	return d
}

func (r *run) checkpoint() ([]byte, error) {
	s := state{Update: r.update, Seen: r.seen, Since: r.since, Best: r.best, Images: r.images, Learned: r.learned.Data}
	var err error
	if s.Move, err = r.move.MarshalBinary(); err != nil {
		return nil, err
	}
	if r.relabel != nil {
		if s.Relabel, err = r.relabel.MarshalBinary(); err != nil {
			return nil, err
		}
	}
	var b bytes.Buffer
	err = gob.NewEncoder(&b).Encode(s)
	return b.Bytes(), err
}

func (r *run) restore(from []byte) error {
	var s state
	if err := gob.NewDecoder(bytes.NewReader(from)).Decode(&s); err != nil {
		return err
	}
	if len(s.Images) != len(r.images) || len(s.Learned) != len(r.learned.Data) {
		return fmt.Errorf("it holds %d values of images and %d of labels, not %d and %d", len(s.Images), len(s.Learned), len(r.images), len(r.learned.Data))
	}
	if s.Update < 0 || s.Update > r.Updates {
		return fmt.Errorf("it is of update %d, and the run has %d", s.Update, r.Updates)
	}
	if err := r.move.UnmarshalBinary(s.Move); err != nil {
		return err
	}
	if r.relabel != nil {
		if err := r.relabel.UnmarshalBinary(s.Relabel); err != nil {
			return err
		}
	}
	copy(r.images, s.Images)
	copy(r.learned.Data, s.Learned)
	r.update, r.seen, r.since, r.best = s.Update, s.Seen, s.Since, s.Best
	return nil
}
