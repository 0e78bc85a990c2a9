package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"time"

	"dgkip/harness/experiment"
	"dgkip/harness/method"
	"dgkip/harness/progress"
	"dgkip/harness/store"
)

// Job is a distilled set with all its scores. The set does not depend on the scoring. Only a run
// whose trace has scores is a job of its own, because it scores the sets on the way.
type Job struct {
	Runs []*Run // the missing scores, each with its own record
	Data *Dataset
	Key  string // key of its lock and its checkpoint
}

// Jobs groups runs by their sets, in the order of their first runs.
func Jobs(runs []*Run) (all []*Job) {
	byKey := map[string]*Job{}
	for _, r := range runs {
		key := r.job()
		j := byKey[key]
		if j == nil {
			j = &Job{Data: r.Data, Key: key}
			byKey[key] = j
			all = append(all, j)
		}
		j.Runs = append(j.Runs, r)
	}
	return all
}

// trace returns the lines that any of the runs requests.
func (j *Job) trace() (t experiment.Trace) {
	for _, r := range j.Runs {
		t = t.With(r.Trace)
	}
	return t
}

func (j *Job) keys() (keys []string) {
	for _, r := range j.Runs {
		keys = append(keys, r.Key)
	}
	return keys
}

// work is a session on a job, which has one lock and one checkpoint.
type work struct {
	*executor
	job    *Job
	s      saved
	run    *Run // in progress
	line   *progress.Line
	ctx    context.Context
	cancel context.CancelCauseFunc
	clock  clock

	data     *method.Data
	test     method.Images
	features *method.Shared
	scoring  *method.Shared

	kept time.Time // time of the last checkpoint
	left bool      // some run is left for another session
}

// do reads the set from a record or distils it, then computes and records every missing score. If a
// score fails, the other scores are still computed. If the set fails, all scores fail.
func (e *executor) do(j *Job) {
	g := e.enter(j)
	defer e.leave(g)
	w := &work{executor: e, job: j, features: &g.features, scoring: &g.scoring, kept: time.Now()}
	w.ctx, w.cancel = context.WithCancelCause(e.ctx)
	defer w.cancel(nil)
	if e.Disk != nil { // methods must not read values that were computed from test images
		w.features, w.scoring = g.features.With(e.Disk.Part(w.ctx, "shared/")), g.scoring.With(e.Disk.Part(w.ctx, "scoring/"))
	}
	w.restore()
	noSet := w.guard(w.obtain)
	for _, r := range j.Runs {
		w.show(r)
		var record *store.Record
		err := noSet
		if err == nil {
			err = w.guard(func() (err error) {
				record, err = w.score(r)
				return err
			})
		}
		w.finish(record, err)
	}
	if w.left {
		return
	}
	e.store.DropCheckpoint(j.Key)
	if w.s.Set != nil && w.s.Of == "" && w.s.Made.Wall > 1 { // no record has the set, because every score failed
		w.s.Run, w.s.Score = "", nil
		w.keep()
	}
}

// show makes r the run in progress and shows it on the board.
func (w *work) show(r *Run) {
	if w.run != r {
		w.run, w.line = r, w.Board.Start(r.Name())
	}
}

// finish counts the outcome of the run in progress, and records a failure.
func (w *work) finish(record *store.Record, err error) {
	switch {
	case err == nil:
		w.line.Done(false, summary(record))
		w.count(func(o *Outcome) { o.Computed++ })
		return
	case errors.Is(err, store.ErrStorage):
		w.line.Done(true, "FAILED")
		w.stop(err)
	case errors.Is(err, errChanged):
		w.line.Done(true, "FAILED")
		w.stop(fmt.Errorf("%s: %w\nhint: runs share the images, so Distill must work on copies. Correct the method, delete the folder %s, which may have wrong values, and start again",
			w.run.Name(), err, filepath.Join(w.store.Dir(), "work", "cache")))
	case w.executor.ctx.Err() != nil && !errors.As(err, new(*panicked)):
		w.line.Done(false, "")
	default:
		f := w.failure(err)
		if err := w.store.Fail(f); err != nil {
			w.stop(err)
		}
		w.line.Done(true, fmt.Sprintf("FAILED (%s): %s", f.Kind, f.Message))
		w.count(func(o *Outcome) { o.Failed++; o.Broke++ })
		return
	}
	w.left = true
	w.count(func(o *Outcome) { o.Left++ })
}

// summary describes a record in a line.
func summary(r *store.Record) string {
	s := fmt.Sprintf("%.2f %%", 100*r.Result.Metrics["test_acc"])
	if t := r.Provenance.Timing; t.Counted > 0 {
		s += fmt.Sprintf(", %.3g s an update", t.Median)
	}
	return s + ", " + progress.Seconds(r.Provenance.Wall) + " in all"
}

// failure describes why the run in progress failed.
func (w *work) failure(err error) store.Failure {
	f := store.Failure{
		Identity: w.run.Identity, Kind: "error", Message: err.Error(), Update: max(0, w.s.Last),
		When: time.Now().UTC(), Session: w.session(), Cell: w.run.Cell.Point,
	}
	var p *panicked
	switch {
	case errors.As(err, &p):
		f.Kind, f.Stack = "panic", string(p.stack)
	case errors.As(err, new(*notFinite)):
		f.Kind = "not-finite"
	}
	return f
}

// notFinite is the error of a loss or metric that is NaN or infinite.
type notFinite struct {
	name   string
	value  float64
	update int
}

func (e *notFinite) Error() string {
	return fmt.Sprintf("%s is %v at update %d", e.name, e.value, e.update)
}

// panicked is the error of a method or protocol that panics.
type panicked struct {
	value any
	stack []byte
}

func (e *panicked) Error() string { return fmt.Sprint(e.value) }

// guard runs a part of a job and turns a panic into an error. If it fails and the training images were
// changed, guard returns errChanged.
func (w *work) guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{v, debug.Stack()}
		}
		if err != nil && w.data != nil {
			err = cmp.Or(w.job.Data.intact(w.data), err)
		}
	}()
	return f()
}
