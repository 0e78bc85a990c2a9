package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"dgkip/harness/method"
	"dgkip/harness/progress"
	"dgkip/harness/store"
)

// Options say how to carry out a plan.
type Options struct {
	Jobs            int       // runs at a time; 0 means 1
	Threads         int       // for provenance
	Retry           time.Time // runs that failed before are tried again
	Force           bool
	CheckpointEvery time.Duration
	Args            []string       // for provenance
	Kernels         string         // for provenance
	Disk            *store.Cache   // keeps what runs share, unless it is nil
	There           *store.Listing // what was in the folder a moment ago; nil to look
	Board           *progress.Board

	// Worker leaves runs that other processes are at to those, instead of waiting for
	// them. It stays for as long as it takes to find out whether they are there.
	Worker bool
}

// Outcome counts what became of the runs of a plan.
type Outcome struct {
	Before int // records that were there
	Made   int
	Failed int // now, or earlier and not retried
	Broke  int // of these, here and now
	Left   int // not made, because of an interruption or because other processes are at them
}

type executor struct {
	Options
	store  *store.Store
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	broken  error // of the store
	busy    error // says who is at a run that is waited for
	outcome Outcome
	groups  map[string]*group
	images  map[*Dataset]int // runs that still need them
	damaged map[*Run]bool
	locked  map[string]bool // keys with locks, as seen at some moment
	seen    time.Time
	last    *group // of the last run that was made

	siblings func() map[string][]string // runs that were on record or may be by now, by what they distil
	same     map[string][]*Run          // runs to be made, by distillation
}

// group is what runs with the same seed, data and networks share.
type group struct {
	left     int
	at       int  // runs under way
	holds    bool // what is not let go yet
	features method.Shared
	scoring  method.Shared

	mu     sync.Mutex
	twins  map[string]int           // runs to be made that differ in how they are scored, by distillation
	states map[string]saved         // of distillations that are over, for their twins
	making map[string]chan struct{} // closed when a run has ended with one of these
}

type verdict int

const (
	made verdict = iota
	already
	failed
	broke
	busy    // another process is at it
	awaited // another process makes its set, to score it otherwise
	left
)

// Execute makes the runs of a plan that have no record. The error is of the store
// or the context; failures of runs are counted in the outcome. When ctx ends, runs
// leave checkpoints, from which the next Execute continues to the same bits.
func Execute(ctx context.Context, p *Plan, s *store.Store, o Options) (Outcome, error) {
	o.Jobs = max(1, o.Jobs)
	e := &executor{Options: o, store: s, groups: map[string]*group{}, images: map[*Dataset]int{}, damaged: map[*Run]bool{}, same: map[string][]*Run{}}
	remembered := s.Remember(ctx, p.Opened)
	if o.There == nil {
		o.There = s.List()
	}
	todo := e.todo(p, o.There)
	e.siblings = sync.OnceValue(func() map[string][]string { return also(siblings(o.There), todo) })
	o.Board.Expect(len(p.Runs), len(p.Runs)-len(todo))
	if len(todo) == 0 {
		return e.outcome, ctx.Err()
	}
	if err := cmp.Or(s.Prepare(), remembered); err != nil {
		return e.outcome, err
	}
	e.ctx, e.cancel = context.WithCancelCause(ctx)
	defer e.cancel(nil)
	e.outcome.Left += e.rounds(todo)
	return e.outcome, cmp.Or(e.broken, ctx.Err())
}

// settled reports whether a run that failed is left alone.
func (o *Options) settled(f *store.Failure) bool {
	return f != nil && !f.Before(o.Retry) && !o.Force
}

// todo lists the runs to be made, and counts the others and what these share.
func (e *executor) todo(p *Plan, s *store.Listing) (todo []*Run) {
	for _, r := range p.Runs {
		switch {
		case s.Has(r.Key) && !e.Force:
			e.outcome.Before++
			s.DropLeftover(r.Key) // it goes on without what was to replace it
		case e.settled(s.Failed(r.Key)):
			e.outcome.Failed++
		default:
			if why := s.Damaged(r.Key); why != nil {
				e.damaged[r] = true
				message, _, _ := strings.Cut(why.Error(), "\n")
				e.Board.Printf("note: a record is made again, and what is left of it kept in %s: %s", e.store.Aside(), message)
			}
			todo = append(todo, r)
			r.code() // as it is now: sources may change while runs go on
			g := e.groups[r.group()]
			if g == nil {
				g = &group{twins: map[string]int{}, states: map[string]saved{}}
				e.groups[r.group()] = g
			}
			g.left++
			g.twins[r.distillation()]++
			e.same[r.distillation()] = append(e.same[r.distillation()], r)
			e.images[r.Data]++
		}
	}
	if e.Worker {
		e.order(todo)
	}
	return todo
}

// rounds works on runs until all are over or the context ends. It returns how many
// are left then, because other processes are at them. A worker does not wait for those: it
// ends once it has had nothing to do for so long that whoever still has a lock is there.
func (e *executor) rounds(todo []*Run) (left int) {
	pause, idle, said := time.Duration(0), time.Now(), false
	for {
		before := e.outcome.Made + e.outcome.Broke
		waiting, sets := e.round(todo)
		if e.outcome.Made+e.outcome.Broke > before {
			pause, idle = 0, time.Now()
		}
		todo = waiting
		if len(todo) == 0 || e.ctx.Err() != nil || e.Worker && sets == 0 && time.Since(idle) > store.Stale {
			return len(todo)
		}
		if !e.Worker && !said {
			said = true
			e.Board.Printf("waiting for another process, which is at %d of these runs: %v", len(todo), e.busy)
		}
		pause = longer(pause)
		select {
		case <-e.ctx.Done():
		case <-time.After(pause):
		}
	}
}

// longer returns the time until one looks again, after a time in which there was nothing
// to do: from a second to a minute, and never in step with other processes.
func longer(pause time.Duration) time.Duration {
	pause = min(max(3*pause, time.Second), 40*time.Second)
	return pause + rand.N(pause/2)
}

// round works on runs, Jobs at a time. It returns those that wait for other processes,
// and how many of them wait for their sets alone.
func (e *executor) round(todo []*Run) (waiting []*Run, sets int) {
	q := &queue{todo: slices.Clone(todo), more: sync.NewCond(&e.mu)}
	var wg sync.WaitGroup
	for range min(e.Jobs, len(todo)) {
		wg.Go(func() {
			for r := e.next(q); r != nil; r = e.next(q) {
				from := time.Now()
				v := e.one(r)
				e.mu.Lock()
				e.count(q, r, v)
				if e.Worker && (v == made || v == broke) && time.Since(from) > longAgo {
					e.again(q)
				}
				q.at--
				q.more.Broadcast()
				e.mu.Unlock()
			}
		})
	}
	wg.Wait()
	return q.waiting, q.sets
}

// queue is the runs of a round.
type queue struct {
	todo    []*Run
	waiting []*Run // for other processes
	sets    int    // of these, those that wait for their sets
	at      int    // runs that are being made
	more    *sync.Cond
}

// next takes a run from the queue, nil if it is empty and will be: when a run is over, a
// worker may put back those that wait.
func (e *executor) next(q *queue) (r *Run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(q.todo) == 0 && q.at > 0 {
		q.more.Wait()
	}
	if len(q.todo) > 0 {
		r, q.todo = q.todo[0], q.todo[1:]
		q.at++
	}
	return r
}

// count writes down what became of a run.
func (e *executor) count(q *queue, r *Run, v verdict) {
	switch v {
	case made:
		e.outcome.Made++
		e.last = e.groups[r.group()]
	case already:
		e.outcome.Before++
	case failed:
		e.outcome.Failed++
	case broke:
		e.outcome.Failed++
		e.outcome.Broke++
	case awaited:
		q.sets++
	case left:
		e.outcome.Left++
	}
	if v == busy || v == awaited {
		q.waiting = append(q.waiting, r)
	} else {
		e.release(r)
	}
}

// release drops what a group shares when its last run is over, and images that no
// run needs any more.
func (e *executor) release(r *Run) {
	g := e.groups[r.group()]
	if g.left--; g.left == 0 {
		g.clear()
		g.mu.Lock()
		clear(g.states)
		g.mu.Unlock()
		debug.FreeOSMemory() // it may have been most of what there is
	}
	if e.images[r.Data]--; e.images[r.Data] == 0 {
		r.Data.letGo()
	}
}

// stop ends all runs because the store failed.
func (e *executor) stop(err error) {
	e.mu.Lock()
	if e.broken == nil {
		e.broken = err
	}
	e.mu.Unlock()
	e.cancel(errStorage)
}

// one makes a run, unless another process is at it or has made it.
func (e *executor) one(r *Run) verdict {
	if e.ctx.Err() != nil {
		return left
	}
	if e.Worker && e.taken(r) {
		return busy
	}
	if e.store.There(r.Key) && !e.Force && !e.damaged[r] { // it costs less to ask than to lock
		if e.Worker { // there may be thousands
			e.Board.Skip()
		} else {
			e.Board.Start(r.Name()).Done(false, "made by another process")
		}
		return already
	}
	if v, taken := e.twinTaken(r); taken {
		return v
	}
	lock, err := e.store.Lock(r.Key, e.twins(r)...)
	if err != nil {
		return e.refused(err)
	}
	defer lock.Unlock()
	if _, taken := e.twinTaken(r); taken { // by one who looked at the same moment
		return awaited
	}
	g := e.groups[r.group()]
	e.enter(g)
	defer e.leave(g)
	return e.hold(r, g)
}

// refused returns what becomes of a run whose lock was not to be had.
func (e *executor) refused(err error) verdict {
	if !errors.As(err, new(*store.Busy)) {
		e.stop(err)
		return left
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.busy = err
	e.seen = time.Time{} // others are about, and take more
	return busy
}

// hold makes a run that this process has the lock of.
func (e *executor) hold(r *Run, g *group) verdict {
	line := e.Board.Start(r.Name())
	if !e.Force && e.store.Has(r.Key) {
		line.Done(false, "made by another process")
		return already
	}
	if e.settled(e.store.Failed(r.Key)) {
		line.Done(true, "failed in another process")
		return failed
	}
	a := &attempt{executor: e, run: r, line: line}
	a.s.Tracing = r.Trace
	if record, err := e.store.Get(r.Key); err == nil { // what replaces it has its lines, too
		a.s.Tracing = r.Trace.With(record.Provenance.Trace)
	}
	a.ctx, a.cancel = context.WithCancelCause(e.ctx)
	defer a.cancel(nil)
	a.group, a.features, a.scoring = g, &g.features, &g.scoring
	if e.Disk != nil {
		a.features, a.scoring = g.features.With(part{a.ctx, e.Disk, "shared/"}), g.scoring.With(part{a.ctx, e.Disk, "scoring/"})
	}
	over := make(chan struct{})
	defer close(over)
	go a.watch(over)
	if state, err := e.store.Checkpoint(r.Key, e.Force); err != nil {
		e.Board.Printf("%s: %v; starting over", r.Name(), err)
	} else if state != nil && !a.restore(state) {
		e.Board.Printf("%s: the checkpoint is of another form; starting over", r.Name())
	}
	record, err := a.work()
	return e.finish(a, record, err)
}

// deaf is how long a run may go on after it was told to stop, before that is said.
const deaf = 10 * time.Second

// watch says so if the run goes on after it was told to stop.
func (a *attempt) watch(over <-chan struct{}) {
	select {
	case <-over:
		return
	case <-a.ctx.Done():
	}
	select {
	case <-over:
	case <-time.After(deaf):
		hint := ""
		if a.distilling.Load() {
			hint = "\nhint: a method looks at its context in every update, as method.Descent does"
		}
		a.Board.Printf("note: %s was told to stop %v ago and is still running%s", a.run.Name(), deaf, hint)
	}
}

func (e *executor) finish(a *attempt, record *store.Record, err error) verdict {
	r := a.run
	var broken *panicked
	switch {
	case err == nil:
		a.line.Done(false, summary(record))
		return made
	case errors.Is(err, store.ErrStorage):
		a.line.Done(true, "FAILED")
		e.stop(err)
		return left
	case errors.Is(err, errChanged):
		a.line.Done(true, "FAILED")
		e.stop(fmt.Errorf("%s: %w", r.Name(), err))
		return left
	case e.ctx.Err() != nil && !errors.As(err, &broken):
		a.line.Done(false, "")
		return left
	}
	f := a.failure(err)
	if err := e.store.Fail(f); err != nil {
		e.stop(err)
	}
	e.store.DropCheckpoint(r.Key) // from there it would only fail again
	a.line.Done(true, fmt.Sprintf("FAILED (%s): %s", f.Kind, f.Message))
	return broke
}

// summary is a record in a line.
func summary(r *store.Record) string {
	s := fmt.Sprintf("%.2f %%", 100*r.Result.Metrics["test_acc"])
	if t := r.Provenance.Timing; t.Counted > 0 {
		s += fmt.Sprintf(", %.3g s an update", t.Median)
	}
	return s + ", " + progress.Seconds(r.Provenance.Wall) + " in all"
}
