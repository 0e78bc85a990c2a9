package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"dgkip/harness/experiment"
	"dgkip/harness/method"
	"dgkip/harness/progress"
	"dgkip/harness/store"
)

// Job is one distilled set and everything it is scored by. What a method does does not
// depend on how its set is scored. Only a run whose trace has scores sees its set on the way,
// and is a job of its own.
type Job struct {
	Set  experiment.Identity // without a protocol
	Runs []*Run              // the scores to compute, each a record
	Data *Dataset
	Key  string // of its lock and its checkpoint
}

// Jobs groups runs by their sets, in the order of their first runs.
func Jobs(runs []*Run) (all []*Job) {
	byKey := map[string]*Job{}
	for _, r := range runs {
		key := r.job()
		j := byKey[key]
		if j == nil {
			j = &Job{Set: r.Set(), Data: r.Data, Key: key}
			byKey[key] = j
			all = append(all, j)
		}
		j.Runs = append(j.Runs, r)
	}
	return all
}

// trace has the lines that any of the runs asks for.
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

// work is a session on a job: it has one lock, and one checkpoint.
type work struct {
	*executor
	job    *Job
	s      saved
	run    *Run // the one under way
	line   *progress.Line
	ctx    context.Context
	cancel context.CancelCauseFunc
	clock  clock

	data     *method.Data
	test     method.Images
	features *method.Shared
	scoring  *method.Shared

	distilling atomic.Bool // the method is at work
	kept       time.Time   // when a checkpoint was last saved
	left       bool        // some run is for another session
}

// do reads the set of a job from a record or distils it, computes each score that is missing,
// and records it. A run that fails does not end the others, unless it is the set that fails.
func (e *executor) do(j *Job) {
	g := e.enter(j)
	defer e.leave(g)
	w := &work{executor: e, job: j, features: &g.features, scoring: &g.scoring, kept: time.Now()}
	w.ctx, w.cancel = context.WithCancelCause(e.ctx)
	defer w.cancel(nil)
	if e.Disk != nil {
		w.features, w.scoring = g.features.With(part{w.ctx, e.Disk, "shared/"}), g.scoring.With(part{w.ctx, e.Disk, "scoring/"})
	}
	over := make(chan struct{})
	defer close(over)
	go w.watch(j.Runs[0].Name(), over)
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
	if w.s.Set != nil && w.s.Of == "" && w.s.Made.Wall > 1 { // on no record, for every score failed
		w.s.Run, w.s.Score = "", nil
		w.keep()
	}
}

// show begins with a run, for people who watch.
func (w *work) show(r *Run) {
	if w.run != r {
		w.run, w.line = r, w.Board.Start(r.Name())
	}
}

// finish counts what became of the run under way, and records its failure.
func (w *work) finish(record *store.Record, err error) {
	switch {
	case err == nil:
		w.line.Done(false, summary(record))
		w.count(func(o *Outcome) { o.Made++ })
		return
	case errors.Is(err, store.ErrStorage):
		w.line.Done(true, "FAILED")
		w.stop(err)
	case errors.Is(err, errChanged):
		w.line.Done(true, "FAILED")
		w.stop(fmt.Errorf("%s: %w", w.run.Name(), err))
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

// summary is a record in a line.
func summary(r *store.Record) string {
	s := fmt.Sprintf("%.2f %%", 100*r.Result.Metrics["test_acc"])
	if t := r.Provenance.Timing; t.Counted > 0 {
		s += fmt.Sprintf(", %.3g s an update", t.Median)
	}
	return s + ", " + progress.Seconds(r.Provenance.Wall) + " in all"
}

// failure describes why a run has no result.
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

// deaf is how long a job may go on after it was told to stop, before that is said.
const deaf = 10 * time.Second

// watch says so if a job goes on after it was told to stop.
func (w *work) watch(name string, over <-chan struct{}) {
	select {
	case <-over:
		return
	case <-w.ctx.Done():
	}
	select {
	case <-over:
	case <-time.After(deaf):
		hint := ""
		if w.distilling.Load() {
			hint = "\nhint: a method looks at its context in every update, as method.Descent does"
		}
		w.Board.Printf("note: %s was told to stop %v ago and is still running%s", name, deaf, hint)
	}
}

// notFinite is the cause when a loss or a metric is NaN or infinite.
type notFinite struct {
	name   string
	value  float64
	update int
}

func (e *notFinite) Error() string {
	return fmt.Sprintf("%s is %v at update %d", e.name, e.value, e.update)
}

// panicked is the cause when a method or a protocol panics.
type panicked struct {
	value any
	at    string
	stack []byte
}

func (e *panicked) Error() string { return fmt.Sprintf("%v, at %s", e.value, e.at) }

// guard runs a part of a job. A panic is an error of it, and where the training images were
// changed that is the error.
func (w *work) guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{v, panicAt(), debug.Stack()}
		}
		if err != nil && w.data != nil {
			err = cmp.Or(w.job.Data.intact(w.data), err)
		}
	}()
	return f()
}

// tensors is the package that shares work out. Its panics are those of its callers.
const tensors = "dgkip/harness/tensor."

// panicAt is the place in the code that panicked, for the function that recovers.
func panicAt() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	for after, more := false, true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if after && !strings.HasPrefix(f.Function, "runtime.") && !strings.HasPrefix(f.Function, tensors) {
			return fmt.Sprintf("%s/%s:%d", filepath.Base(filepath.Dir(f.File)), filepath.Base(f.File), f.Line)
		}
		after = after || f.Function == "runtime.gopanic"
	}
	return "an unknown place"
}
