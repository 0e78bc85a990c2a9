package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"dgkip/harness/env"
	"dgkip/harness/experiment"
	"dgkip/harness/method"
	"dgkip/harness/progress"
	"dgkip/harness/store"
)

// warmUp is how many updates at the start of a session are not timed, beside the
// first: caches are cold and memory is being grown.
const warmUp = 2

// maxTimingRows bounds timing.csv.
const maxTimingRows = 2000

// saved is the state of a run between sessions.
type saved struct {
	Method  []byte            // the method's checkpoint
	Set     *method.Distilled // what it returned, once it has
	Score   []byte            // the protocol's checkpoint in scoring that
	Pending *traced           // a line of the trace whose scoring was interrupted
	Trace   []traced
	Tracing experiment.Trace // the lines that are due
	End     traced           // what the method said of itself at its end
	Last    int              // update seen last
	Timing  []store.TimingRow
	Skipped int // updates without a time

	Iteration int // updates in one
	Past      []store.Session
	Wall      float64
	CPU       float64
	Scoring   float64
	Memory    int64
	Started   time.Time
	Of        string        // the run whose set this is; "" for its own
	Times     *store.Timing // of that one
}

// restart forgets what the method did, but not the time it took.
func (s *saved) restart() {
	s.Method, s.Pending, s.Trace, s.Timing = nil, nil, nil, nil
	s.End, s.Last, s.Skipped = traced{}, -1, 0
}

// traced is a line of the trace.
type traced struct {
	Update int
	Values map[string]float64
	Set    *method.Distilled // of a pending one
	Score  []byte            // the protocol's checkpoint in scoring it
}

// attempt is a session of work on a run.
type attempt struct {
	*executor
	run      *Run
	line     *progress.Line
	ctx      context.Context
	cancel   context.CancelCauseFunc
	s        saved
	data     *method.Data
	test     method.Images
	group    *group
	features *method.Shared
	scoring  *method.Shared

	distilling atomic.Bool // the method is at work

	started time.Time
	cpu     time.Duration
	mark    time.Time // since when an update, or what comes before it, is being made; zero if not to be timed
	ready   time.Time // when what comes before the update was over; zero if nothing does
	warm    int
	kept    time.Time // when a checkpoint was last saved
	looked  time.Time // when one last looked for other processes on this host
	beside  bool      // there were some
	from    int
}

// errStorage is the cause when runs are stopped because of the store.
var errStorage = errors.New("results cannot be written")

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

// work does the run, from its checkpoint if there is one, and records it. What is
// wrong with the record is the run's failure like any other, and so is a panic; only
// the store's own errors are more than that.
func (a *attempt) work() (record *store.Record, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{v, panicAt(), debug.Stack()}
		}
		if err != nil && a.data != nil {
			err = cmp.Or(a.run.Data.intact(a.data), err)
		}
	}()
	if a.Jobs == 1 {
		env.ResetPeak() // those before have their own
	}
	a.started, a.cpu, a.kept = time.Now(), env.CPU(), time.Now()
	a.lookAround(0)
	if a.s.Started.IsZero() {
		a.s.Started = a.started
		a.s.Last = -1
	}
	a.from = max(0, a.s.Last)
	a.line.Phase("loading data")
	if a.data, a.test, err = a.run.Data.Images(a.ctx); err != nil {
		if cause := context.Cause(a.ctx); cause != nil {
			err = cause
		}
		return nil, err
	}
	if err := a.pending(); err != nil {
		if cause := context.Cause(a.ctx); cause != nil {
			a.keep()
			return nil, cause
		}
		return nil, err
	}
	if err := a.make(); err != nil {
		return nil, err
	}
	scores, err := a.final()
	if err != nil {
		return nil, err
	}
	draft, err := a.draft(scores)
	if err != nil {
		return nil, err
	}
	if err := a.run.Data.intact(a.data); err != nil {
		return nil, err
	}
	return a.store.Put(draft, a.Force)
}

// distill has the method make the set.
func (a *attempt) distill() error {
	r := a.run
	a.line.Phase("distil")
	p := method.Problem{
		Data: a.data, IPC: r.Cell.IPC, Model: r.Cell.Net, Seed: r.Seed, Shared: a.features, Resume: a.s.Method, Phase: a.line.Task,
		Begin: a.begin,
	}
	a.warm = warmUp
	a.distilling.Store(true)
	defer a.distilling.Store(false)
	set, err := r.Method().Distill(a.ctx, p, a.observe)
	if errors.Is(err, method.ErrCheckpoint) { // such as that of an earlier version
		a.s.restart()
		p.Resume = nil
		set, err = r.Method().Distill(a.ctx, p, a.observe)
	}
	if cause := context.Cause(a.ctx); cause != nil {
		// Whatever the method made of it: it was told to stop. A set that was done
		// at that moment is kept.
		var stopped *method.Interrupted
		switch {
		case errors.As(err, &stopped) && stopped.Checkpoint != nil:
			a.s.Method = stopped.Checkpoint
		case err != nil:
			// The method starts again from the beginning, and so does all that
			// was written down of it.
			a.s.restart()
		}
		if err != nil {
			a.keep()
			return cause
		}
	}
	if err != nil {
		return err
	}
	if set == nil {
		return errors.New("the method returned neither a set nor an error")
	}
	if err := a.fits(set); err != nil {
		return err
	}
	a.s.Set, a.s.Method = set, nil
	if time.Since(a.started) > time.Second || a.ctx.Err() != nil {
		a.keep()
	}
	return context.Cause(a.ctx)
}

// fits returns what is wrong with a set that the method made.
func (a *attempt) fits(set *method.Distilled) error {
	ipc := a.run.Cell.IPC
	if a.run.Method().Info().IgnoresIPC {
		ipc = 0
	}
	if err := set.Fits(a.data, ipc); err != nil {
		return fmt.Errorf("method %s: %w", a.run.Method().Info().Name, err)
	}
	return nil
}

// begin says that what comes before an update is over.
func (a *attempt) begin() { a.ready = time.Now() }

// observe is what the method calls between updates. The time it takes counts for
// none of them.
func (a *attempt) observe(step method.Step) {
	now := time.Now()
	if context.Cause(a.ctx) != nil && a.s.Pending != nil {
		return // stopped while scoring: what comes after is for the next session
	}
	if n := step.Update - a.s.Last; n > 0 && a.s.Last >= 0 {
		if a.mark.IsZero() || a.warm > 0 {
			a.warm -= n
			a.s.Skipped += n
		} else {
			if a.ready.IsZero() {
				a.ready = a.mark
			}
			a.s.Timing = append(a.s.Timing, store.TimingRow{
				From: a.s.Last, To: step.Update,
				Seconds: now.Sub(a.ready).Seconds() / float64(n), Before: a.ready.Sub(a.mark).Seconds() / float64(n),
			})
		}
	}
	a.ready = time.Time{}
	a.s.Last, a.s.Iteration = step.Update, max(1, step.Iteration)
	if !finite(step.Loss) {
		a.cancel(&notFinite{"loss", step.Loss, step.Update})
		return
	}
	if err := a.trace(step); err != nil {
		a.cancel(err)
	}
	a.line.Step(step.Update, step.Of, step.Loss, step.HasLoss)
	if step.Checkpoint != nil && time.Since(a.kept) >= a.CheckpointEvery && a.ctx.Err() == nil {
		if state, err := step.Checkpoint(); err != nil {
			a.cancel(fmt.Errorf("checkpoint at update %d: %w", step.Update, err))
		} else {
			a.s.Method = state
			a.keep()
		}
	}
	a.mark = time.Now()
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// trace adds a line where one is due: at the start, at the end if the method knows
// it, and in between as the experiment says.
func (a *attempt) trace(step method.Step) error {
	t := a.s.Tracing
	end := step.Update == 0 || step.Of > 0 && step.Update == step.Of
	score := t.Scored(step.Update) || end && len(t.Score) > 0
	if !end && !score && !t.Due(step.Update) {
		return nil
	}
	line := traced{Update: step.Update, Values: map[string]float64{}}
	if step.Metrics != nil {
		maps.Copy(line.Values, step.Metrics())
	}
	if step.HasLoss {
		line.Values["loss"] = step.Loss
	}
	if end {
		a.s.End = traced{Update: step.Update, Values: maps.Clone(line.Values)}
	}
	if score && step.Distilled != nil {
		line.Set = step.Distilled()
	}
	if line.Set == nil { // none is wanted, or it has no labels as it stands
		a.s.Trace = append(a.s.Trace, line)
		return nil
	}
	if err := a.fits(line.Set); err != nil {
		return err
	}
	a.s.Pending = &line
	return a.pending()
}

// pending scores the set of a line of the trace that waits for it.
func (a *attempt) pending() error {
	line := a.s.Pending
	if line == nil {
		return nil
	}
	scores, err := a.score(line.Set, line.Score, false, func(method.Step) {})
	var stopped *method.Interrupted
	if errors.As(err, &stopped) {
		line.Score = stopped.Checkpoint
	}
	if err != nil && (stopped != nil || a.ctx.Err() != nil) {
		return err
	}
	if err != nil {
		// The result does not depend on the trace, and so a set along the way that
		// cannot be scored does not end the run.
		scores = &method.Scores{}
	}
	for name, v := range scores.Metrics {
		// What the method says of itself, such as a deviation, stays beside its bound.
		if _, own := line.Values[name]; !own {
			line.Values[name] = v
		}
	}
	line.Set, line.Score = nil, nil
	a.s.Trace = append(a.s.Trace, *line)
	a.s.Pending = nil
	return nil
}

func (a *attempt) score(set *method.Distilled, resume []byte, final bool, observe func(method.Step)) (*method.Scores, error) {
	from := time.Now()
	defer func() { a.s.Scoring += time.Since(from).Seconds() }()
	trial := method.Trial{
		Data: a.data, Test: a.test, Set: set, Model: a.run.Cell.Net, Seed: a.run.Seed,
		Shared: a.features, Own: a.scoring, Final: final, Resume: resume, Phase: a.line.Task,
	}
	scores, err := a.run.Cell.Protocol.Score(a.ctx, trial, observe)
	if resume != nil && errors.Is(err, method.ErrCheckpoint) { // such as that of an earlier version
		trial.Resume = nil
		scores, err = a.run.Cell.Protocol.Score(a.ctx, trial, observe)
	}
	if err == nil {
		if _, ok := scores.Metrics["test_acc"]; !ok {
			return nil, errors.New("the protocol returned no test_acc")
		}
		for _, name := range slices.Sorted(maps.Keys(scores.Metrics)) {
			if v := scores.Metrics[name]; !finite(v) {
				return nil, &notFinite{name, v, a.s.Last}
			}
		}
	}
	return scores, err
}

// final scores the set that counts.
func (a *attempt) final() (*method.Scores, error) {
	a.line.Phase("score")
	scores, err := a.score(a.s.Set, a.s.Score, true, func(step method.Step) {
		a.line.Step(step.Update, step.Of, step.Loss, step.HasLoss)
		if step.Checkpoint != nil && time.Since(a.kept) >= a.CheckpointEvery {
			if state, err := step.Checkpoint(); err == nil {
				a.s.Score = state
				a.keep()
			}
		}
	})
	if cause := context.Cause(a.ctx); cause != nil && err != nil {
		var stopped *method.Interrupted
		if errors.As(err, &stopped) {
			a.s.Score = stopped.Checkpoint
		}
		a.keep()
		return nil, cause
	}
	return scores, err
}

// lookAround finds out whether other processes are at work on this host, if it has not
// for some time.
func (a *attempt) lookAround(after time.Duration) {
	if !a.beside && time.Since(a.looked) >= after {
		a.beside, a.looked = a.store.Others(), time.Now()
	}
}

// keep saves the state of the run. A disk that cannot be written to ends all runs.
func (a *attempt) keep() {
	if a.data != nil && a.run.Data.intact(a.data) != nil {
		return // the run ends in an error
	}
	a.lookAround(10 * time.Minute)
	s := a.s
	a.close(&s)
	if s.Set != nil && s.Set.Whole && s.Score == nil || s.Set == nil && s.Method == nil && s.Last < 0 {
		return // nothing was computed yet
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(s); err != nil {
		a.cancel(fmt.Errorf("checkpoint: %w", err))
		return
	}
	if err := a.store.SaveCheckpoint(a.run.Key, a.Force, b.Bytes()); err != nil {
		a.stop(err)
		return
	}
	a.kept = time.Now()
}

// close counts this session into a state.
func (a *attempt) close(s *saved) {
	seconds, cpu := time.Since(a.started).Seconds(), (env.CPU() - a.cpu).Seconds()
	s.Wall += seconds
	s.CPU += cpu
	s.Memory = max(s.Memory, env.PeakMemory())
	s.Past = append(slices.Clone(s.Past), a.session(seconds))
}

func (a *attempt) session(seconds float64) store.Session {
	return store.Session{
		Host: env.Read(), Kernels: a.Kernels, Code: a.run.code(), Started: a.started.UTC().Truncate(time.Second), Seconds: seconds,
		Args: a.Args, Jobs: a.Jobs, Threads: a.Threads, Beside: a.beside, From: a.from,
	}
}

// restore takes up a state, and reports whether it could be read.
func (a *attempt) restore(state []byte) bool {
	var s saved
	if gob.NewDecoder(bytes.NewReader(state)).Decode(&s) != nil {
		return false
	}
	a.s = s
	return true
}

// draft makes the record.
func (a *attempt) draft(scores *method.Scores) (store.Draft, error) {
	a.lookAround(0)
	s := a.s
	a.close(&s)
	set := s.Set
	set.Prep = a.data.Prep // with its functions
	d := store.Draft{
		Result: store.Result{
			Identity: a.run.Identity, Metrics: map[string]float64{}, Counts: scores.Counts,
			Updates: max(0, s.Last), Notes: slices.Concat(set.Notes, scores.Notes),
		},
		Set: set, Trace: table(s.Trace), Timing: blocks(s.Timing),
	}
	maps.Copy(d.Result.Metrics, scores.Metrics)
	if s.End.Update == d.Result.Updates {
		for _, name := range slices.Sorted(maps.Keys(s.End.Values)) {
			if _, scored := scores.Metrics[name]; scored {
				continue
			}
			if !finite(s.End.Values[name]) {
				return d, &notFinite{name, s.End.Values[name], s.Last}
			}
			d.Result.Metrics["last."+name] = s.End.Values[name]
		}
	}
	cell := a.run.Cell
	record := a.run.Data.Record
	record.Shape = store.Shape{Train: a.data.Train.Len(), Test: a.test.Len(), Height: a.data.Train.H, Width: a.data.Train.W, Channels: a.data.Train.C}
	d.Provenance = store.Provenance{
		Started: s.Started.UTC().Truncate(time.Second), Finished: time.Now().UTC().Truncate(time.Second),
		Wall: s.Wall, CPU: s.CPU, Memory: s.Memory, Scoring: s.Scoring, Sessions: s.Past, Of: s.Of,
		Dataset: record, Experiment: cell.Exp, Profile: a.run.Profile, Cell: cell.Point, Trace: s.Tracing,
		Timing: a.timing(s),
	}
	for _, one := range s.Past {
		d.Provenance.Shared = d.Provenance.Shared || one.Jobs > 1
	}
	return d, nil
}

// timing is how long updates took.
func (a *attempt) timing(s saved) store.Timing {
	if s.Times != nil {
		return *s.Times
	}
	t := store.Timing{Excluded: s.Skipped}
	t.Median, t.Counted = median(s.Timing)
	if t.Counted > 0 {
		t.Iteration, t.PerIteration = iteration(s.Timing, max(1, s.Iteration)), max(1, s.Iteration)
	}
	t.Flops = a.run.flops()
	hosts := map[string]bool{}
	for _, one := range s.Past {
		hosts[one.Host.Name+"/"+one.Host.CPU] = true
		t.Shared = t.Shared || one.Jobs > 1 || one.Beside
	}
	t.Hosts = len(hosts)
	return t
}

// failure describes why a run has no result.
func (a *attempt) failure(err error) store.Failure {
	f := store.Failure{
		Identity: a.run.Identity, Kind: "error", Message: err.Error(), Update: max(0, a.s.Last),
		When: time.Now().UTC(), Session: a.session(time.Since(a.started).Seconds()), Cell: a.run.Cell.Point,
	}
	var p *panicked
	var n *notFinite
	switch {
	case errors.As(err, &p):
		f.Kind, f.Stack = "panic", string(p.stack)
	case errors.As(err, &n):
		f.Kind = "not-finite"
	}
	return f
}
