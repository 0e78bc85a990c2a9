package method

import (
	"context"
	"encoding"
	"fmt"
	"math"
)

// Descent is a method that goes by updates, as its equations leave it: what changes,
// along which gradients, and what set it stands for. Run adds all that such methods
// have in common: the loop, its end, observations, checks, rates and checkpoints.
//
// Functions are told the number of updates made so far. What they draw at random for
// an update should come from a stream named by that number: it is then the same after
// an interruption.
type Descent struct {
	Name      string // of the method, in messages
	Updates   int
	Iteration int        // updates in an iteration, as the method's authors count them; 0 stands for 1
	Variables []Variable // change in every update; see optim.Variable

	// Eval, if given, takes up the set as it stands and returns its loss, which is
	// observed with it. It prepares for Gradient if a gradient will be asked for,
	// which it is not once the updates are made.
	Eval func(ctx context.Context, update int, gradient bool) (loss float64, err error)

	// Prepare, if given, does what must be done before an update, such as the training
	// of a network: the time of an iteration includes it, that of an update does not. When it is stopped it must have
	// changed nothing but what is in Keep, and goes on from there.
	Prepare func(ctx context.Context, update int) error

	// Gradient sets the gradients of all variables for the next update. Its loss
	// counts where there is no Eval: it is observed after that update, as it was
	// before it.
	Gradient func(ctx context.Context, update int) (loss float64, err error)

	// Set returns the set as it stands, in memory of its own.
	Set func() *Distilled

	// Metrics, if given, makes Step.Metrics.
	Metrics func() map[string]float64

	// Keep is what else a checkpoint must hold.
	Keep []Part

	// Schedule, if given, is the share of their rates at which variables change in
	// the next update.
	Schedule func(update int) float64

	// Plateau is after how many updates without progress the run ends; 0 for never.
	// Progress is a loss that is lower by a share, 0.01 unless Progress says otherwise.
	Plateau  int
	Progress float64

	Hint string // what to do against divergence; "" for lower rates
}

// Part is a part of a run's state. It saves all that later updates depend on, and
// refuses to restore what another run has saved.
type Part interface {
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

// Variable is what an update changes.
type Variable interface {
	Part
	Check() error       // what is wrong with the gradient, if anything
	Step(share float64) // follows the gradient, at a share of the variable's own rate
}

// Stopped returns the error of a run that ended with err before it had made anything
// new. If ctx has ended that is an *Interrupted, from which the run continues as it
// would have now.
func Stopped(ctx context.Context, p Problem, err error) error {
	if ctx.Err() != nil {
		return &Interrupted{Checkpoint: p.Resume, Cause: context.Cause(ctx)}
	}
	return err
}

// descending is a Descent under way.
type descending struct {
	Descent
	problem Problem
	observe func(Step)
	at      position
}

// position is how far a run has come.
type position struct {
	Update   int
	Seen     int     // the update observed last; -1 before the first
	Prepared bool    // Prepare is done for the next update
	Best     float64 // the lowest of the losses that counted as progress
	Since    int     // its update
}

// Run makes the updates, from p.Resume on if there is one. It is all that the Distill
// of such a method has left to do.
func (d Descent) Run(ctx context.Context, p Problem, observe func(Step)) (*Distilled, error) {
	r := &descending{Descent: d, problem: p, observe: observe, at: position{Seen: -1, Best: math.Inf(1)}}
	if ctx.Err() != nil {
		return nil, Stopped(ctx, p, nil)
	}
	if p.Resume != nil {
		if err := r.restore(p.Resume); err != nil {
			return nil, fmt.Errorf("%w of %s: %w", ErrCheckpoint, d.Name, err)
		}
	}
	for {
		over, err := r.advance(ctx)
		if over {
			return d.Set(), nil
		}
		if ctx.Err() != nil {
			state, err := r.checkpoint()
			if err != nil {
				return nil, err
			}
			return nil, &Interrupted{Checkpoint: state, Cause: context.Cause(ctx)}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.Name, err)
		}
	}
}

// advance shows the set as it stands and, unless the run is over then, makes an
// update. After an error all is as it was before, but for what Keep holds.
func (r *descending) advance(ctx context.Context) (over bool, err error) {
	if r.Eval != nil {
		loss, err := r.Eval(ctx, r.at.Update, r.at.Update < r.Updates)
		if err = r.judge(loss, err); err != nil {
			return false, fmt.Errorf("update %d: %w", r.at.Update, err)
		}
		r.show(&loss)
	} else if r.at.Update == 0 {
		r.show(nil)
	}
	if r.over() {
		return true, nil
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	loss, err := r.update(ctx)
	if err != nil {
		return false, fmt.Errorf("update %d: %w", r.at.Update+1, err)
	}
	if r.Eval != nil {
		return false, nil
	}
	r.show(&loss)
	return r.over(), nil
}

// update makes an update, or none if it fails. It returns the loss of Gradient.
func (r *descending) update(ctx context.Context) (float64, error) {
	if r.Prepare != nil {
		if !r.at.Prepared {
			if err := r.Prepare(ctx, r.at.Update); err != nil {
				return 0, err
			}
			r.at.Prepared = true
		}
		if r.problem.Begin != nil {
			r.problem.Begin()
		}
	}
	loss, err := r.Gradient(ctx, r.at.Update)
	if err = r.judge(loss, err); err != nil {
		return 0, err
	}
	for _, v := range r.Variables {
		if err := v.Check(); err != nil {
			return 0, r.diverged(err)
		}
	}
	share := 1.0
	if r.Schedule != nil {
		share = r.Schedule(r.at.Update)
	}
	for _, v := range r.Variables {
		v.Step(share)
	}
	r.at.Update++
	r.at.Prepared = false
	return loss, nil
}

// judge returns what is wrong with an evaluation.
func (r *descending) judge(loss float64, err error) error {
	if err == nil && loss-loss != 0 {
		err = r.diverged(fmt.Errorf("the loss is %v", loss))
	}
	return err
}

func (r *descending) diverged(err error) error {
	hint := r.Hint
	if hint == "" {
		hint = "a lower rate keeps it stable"
	}
	return fmt.Errorf("%w: the descent diverged\nhint: %s", err, hint)
}

// show has the set observed, once after every update. Its loss is nil if unknown.
func (r *descending) show(loss *float64) {
	if r.at.Update <= r.at.Seen {
		return
	}
	r.at.Seen = r.at.Update
	step := Step{Update: r.at.Update, Of: r.Updates, Iteration: r.Iteration, Metrics: r.Metrics, Distilled: r.Set, Checkpoint: r.checkpoint}
	if loss != nil {
		step.Loss, step.HasLoss = *loss, true
		progress := r.Progress
		if progress == 0 {
			progress = 0.01
		}
		if *loss < float64(r.at.Best*(1-progress)) {
			r.at.Best, r.at.Since = *loss, r.at.Update
		}
	}
	if r.over() {
		step.Of = r.at.Update
	}
	r.observe(step)
}

// over reports whether no more updates are to be made.
func (r *descending) over() bool {
	return r.at.Update >= r.Updates || r.Plateau > 0 && r.at.Update-r.at.Since >= r.Plateau
}
