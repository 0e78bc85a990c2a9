package method

import (
	"context"
	"encoding"
	"fmt"
)

// Descent runs a method that works in updates. The method supplies its equations: the variables,
// their gradients, and the set that they describe. Run supplies the rest: the loop and its end,
// observations, checks, rates and checkpoints.
//
// The functions receive the number of updates so far. Random numbers for an update should come from
// a stream named by that number, so that they are the same after an interruption.
type Descent struct {
	Name      string // of the method, in messages
	Updates   int
	Iteration int        // updates in an iteration, as the method's authors count them; 0 means 1
	Variables []Variable // changed by every update; see optim.Variable

	// Eval, if given, evaluates the current set and returns its loss, which is observed
	// with that set. If gradient is true, it also prepares for Gradient. gradient is
	// false after the last update.
	Eval func(ctx context.Context, update int, gradient bool) (loss float64, err error)

	// Prepare, if given, does the work before an update, such as training a network. Its
	// time counts for the iteration, but not for the update. If it is stopped, it may have
	// changed only the parts in Keep, and later continues from them.
	Prepare func(ctx context.Context, update int) error

	// Gradient sets the gradients of all variables for the next update. Without Eval, its
	// loss is observed after that update, although it belongs to the set before it.
	Gradient func(ctx context.Context, update int) (loss float64, err error)

	// Set returns a copy of the current set.
	Set func() *Distilled

	// Metrics, if given, computes Step.Metrics.
	Metrics func() map[string]float64

	// Keep lists further parts of the state that a checkpoint must hold.
	Keep []Part

	// Schedule, if given, returns the factor on the learning rates in the next update.
	Schedule func(update int) float64

	Hint string // advice if the run diverges; "" advises lower rates
}

// Part is a part of a run's state. It saves all that later updates depend on, and is only restored
// in the same run.
type Part interface {
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

// Variable is a part that an update changes.
type Variable interface {
	Part
	Check() error       // returns an error if the gradient is not finite
	Step(share float64) // follows the gradient, with share times the learning rate
}

// Stopped returns the error of a run that ended with err before its first new update. If ctx is
// done, the error is an *Interrupted with the checkpoint that the run started from.
func Stopped(ctx context.Context, p Problem, err error) error {
	if ctx.Err() != nil {
		return &Interrupted{Checkpoint: p.Resume, Cause: context.Cause(ctx)}
	}
	return err
}

// descending is a Descent in progress.
type descending struct {
	Descent
	problem Problem
	observe func(Step)
	at      position
}

// position is the progress of a run.
type position struct {
	Update   int
	Seen     int  // the last observed update; -1 before the first
	Prepared bool // Prepare is done for the next update
}

// Run performs all updates, from p.Resume on if that is given. Distill of such a method only has to
// call Run.
func (d Descent) Run(ctx context.Context, p Problem, observe func(Step)) (*Distilled, error) {
	r := &descending{Descent: d, problem: p, observe: observe, at: position{Seen: -1}}
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

// advance observes the current set and then performs an update, unless the run is over. After an
// error the variables and the number of updates are unchanged.
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
	if r.at.Update >= r.Updates {
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
	return r.at.Update >= r.Updates, nil
}

// update performs one update, or none if it fails. It returns the loss of Gradient.
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

// judge returns an error if an evaluation failed or its loss is not finite.
func (r *descending) judge(loss float64, err error) error {
	if err == nil && loss-loss != 0 {
		err = r.diverged(fmt.Errorf("the loss is %v", loss))
	}
	return err
}

func (r *descending) diverged(err error) error {
	hint := r.Hint
	if hint == "" {
		hint = "choose a lower rate"
	}
	return fmt.Errorf("%w: the descent diverged\nhint: %s", err, hint)
}

// show calls the observer, once for every update. loss is nil if unknown.
func (r *descending) show(loss *float64) {
	if r.at.Update <= r.at.Seen {
		return
	}
	r.at.Seen = r.at.Update
	step := Step{Update: r.at.Update, Of: r.Updates, Iteration: r.Iteration, Metrics: r.Metrics, Distilled: r.Set, Checkpoint: r.checkpoint}
	if loss != nil {
		step.Loss, step.HasLoss = *loss, true
	}
	r.observe(step)
}
