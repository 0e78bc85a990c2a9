package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"dgkip/harness/method"
	"dgkip/harness/progress"
	"dgkip/harness/store"
)

// Options say how to carry out a plan.
type Options struct {
	Jobs            int // runs at a time; 0 means 1
	Threads         int // for provenance
	Retry           bool
	Force           bool
	CheckpointEvery time.Duration // 0 means 30 seconds
	Args            []string      // for provenance
	Kernels         string        // for provenance
	Disk            method.Disk   // what runs share is kept there, too; nil for nowhere
	Board           *progress.Board
}

// Outcome counts what became of the runs of a plan.
type Outcome struct {
	Before int // records that were there
	Made   int
	Failed int // now, or earlier and not retried
	Left   int // not made, because of an interruption
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

	siblings func() map[string][]string // runs that were on record, by what they distil
}

// group is what runs with the same seed, data and networks share.
type group struct {
	left     int
	features method.Shared
	scoring  method.Shared

	mu     sync.Mutex
	twins  map[string]int           // runs to be made that differ in how they are scored, by distillation
	states map[string]saved         // of distillations that are over, for their twins
	making map[string]chan struct{} // closed when a run has ended with one of these
}

func newGroup(disk method.Disk) *group {
	g := &group{twins: map[string]int{}, states: map[string]saved{}}
	if disk != nil {
		g.features.SetDisk(part{disk, "shared/"})
		g.scoring.SetDisk(part{disk, "scoring/"})
	}
	return g
}

// part is what one kind of sharing sees of a disk: methods find nothing that was
// made of test images there, whatever they ask for.
type part struct {
	disk method.Disk
	name string
}

// Load implements method.Disk.
func (p part) Load(key string, read func(io.Reader) error) bool { return p.disk.Load(p.name+key, read) }

// Save implements method.Disk.
func (p part) Save(key string, size int64, write func(io.Writer) error) {
	p.disk.Save(p.name+key, size, write)
}

type verdict int

const (
	made verdict = iota
	already
	failed
	busy
	left
)

// Execute makes the runs of a plan that have no record. The error is of the store
// or the context; failures of runs are counted in the outcome. When ctx ends, runs
// leave checkpoints, from which the next Execute continues to the same bits.
func Execute(ctx context.Context, p *Plan, s *store.Store, o Options) (Outcome, error) {
	o.Jobs = max(1, o.Jobs)
	if o.CheckpointEvery == 0 {
		o.CheckpointEvery = 30 * time.Second
	}
	e := &executor{Options: o, store: s, groups: map[string]*group{}, images: map[*Dataset]int{}}
	e.siblings = sync.OnceValue(func() map[string][]string { return siblings(s) })
	remembered := s.Remember(ctx, p.Opened)
	todo := e.todo(p)
	o.Board.Expect(len(p.Runs), len(p.Runs)-len(todo))
	if len(todo) == 0 {
		return e.outcome, ctx.Err()
	}
	if err := cmp.Or(s.Prepare(), remembered); err != nil {
		return e.outcome, err
	}
	e.ctx, e.cancel = context.WithCancelCause(ctx)
	defer e.cancel(nil)
	waiting := e.rounds(todo)
	e.outcome.Left += waiting
	return e.outcome, cmp.Or(e.broken, ctx.Err())
}

// todo lists the runs to be made, and counts the others and what these share.
func (e *executor) todo(p *Plan) (todo []*Run) {
	s := e.store
	for _, r := range p.Runs {
		switch {
		case s.Has(r.Key) && !e.Force:
			e.outcome.Before++
			s.DropLeftover(r.Key) // it goes on without what was to replace it
		case s.Failed(r.Key) != nil && !e.Retry && !e.Force:
			e.outcome.Failed++
		default:
			if why := s.Damaged(r.Key); why != nil {
				message, _, _ := strings.Cut(why.Error(), "\n")
				e.Board.Printf("note: a damaged record is made again, and what is left of it kept in %s: %s", s.Aside(), message)
			}
			todo = append(todo, r)
			g := e.groups[r.group()]
			if g == nil {
				g = newGroup(e.Disk)
				e.groups[r.group()] = g
			}
			g.left++
			g.twins[r.distillation()]++
			e.images[r.Data]++
		}
	}
	return todo
}

// rounds works on runs until all are over or the context ends. It returns how many
// are left then, because other processes are at them.
func (e *executor) rounds(todo []*Run) (left int) {
	waiting := e.round(todo)
	if len(waiting) > 0 && e.ctx.Err() == nil {
		e.Board.Printf("waiting for another process, which is at %d of these runs: %v", len(waiting), e.busy)
	}
	for pause := time.Duration(0); len(waiting) > 0 && e.ctx.Err() == nil; {
		pause = longer(pause)
		select {
		case <-e.ctx.Done():
		case <-time.After(pause):
		}
		if e.ctx.Err() == nil {
			before := len(waiting)
			if waiting = e.round(waiting); len(waiting) < before {
				pause = 0
			}
		}
	}
	return len(waiting)
}

// longer returns the time until one looks again, after a time in which nothing
// changed: from a second to a minute, and never in step with other processes.
func longer(pause time.Duration) time.Duration {
	pause = min(max(2*pause, time.Second), 40*time.Second)
	return pause + time.Duration(rand.Int64N(int64(pause/2)))
}

// round works on runs, Jobs at a time, and returns those that other processes are
// at.
func (e *executor) round(todo []*Run) (waiting []*Run) {
	next := make(chan *Run)
	var wg sync.WaitGroup
	for range min(e.Jobs, len(todo)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for r := range next {
				v := e.one(r)
				e.mu.Lock()
				switch v {
				case made:
					e.outcome.Made++
				case already:
					e.outcome.Before++
				case failed:
					e.outcome.Failed++
				case busy:
					waiting = append(waiting, r)
				case left:
					e.outcome.Left++
				}
				if v != busy {
					e.release(r)
				}
				e.mu.Unlock()
			}
		}()
	}
	for _, r := range todo {
		next <- r
	}
	close(next)
	wg.Wait()
	return waiting
}

// release drops what a group shares when its last run is over, and images that no
// run needs any more.
func (e *executor) release(r *Run) {
	g := e.groups[r.group()]
	if g.left--; g.left == 0 {
		g.features.Clear()
		g.scoring.Clear()
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
	lock, err := e.store.Lock(r.Key)
	if err != nil {
		var other *store.Busy
		if errors.As(err, &other) {
			e.mu.Lock()
			e.busy = other
			e.mu.Unlock()
			return busy
		}
		e.stop(err)
		return left
	}
	defer lock.Unlock()
	line := e.Board.Start(r.Name())
	if e.store.Has(r.Key) && !e.Force {
		line.Done(false, "made by another process")
		return already
	}
	if e.store.Failed(r.Key) != nil && !e.Force && !e.Retry {
		line.Done(true, "failed in another process")
		return failed
	}
	a := &attempt{executor: e, run: r, line: line}
	a.s.Tracing = r.Trace
	if record, err := e.store.Get(r.Key); err == nil { // what replaces it has its lines, too
		a.s.Tracing = r.Trace.With(record.Provenance.Trace)
	}
	e.mu.Lock()
	g := e.groups[r.group()]
	e.mu.Unlock()
	a.group, a.features, a.scoring = g, &g.features, &g.scoring
	a.ctx, a.cancel = context.WithCancelCause(e.ctx)
	defer a.cancel(nil)
	if limit := r.limit(); limit > 0 {
		timer := time.AfterFunc(limit, func() { a.cancel(errTimeout) })
		defer timer.Stop()
	}
	over := make(chan struct{})
	defer close(over)
	go a.watch(lock, over)
	if state, err := e.store.Checkpoint(r.Key, e.Force); err != nil {
		e.Board.Printf("%s: %v; starting over", r.Name(), err)
	} else if state != nil && !a.restore(state) {
		e.Board.Printf("%s: the checkpoint is of another form; starting over", r.Name())
	}
	record, err := a.work()
	return e.finish(a, record, err)
}

// watch follows what becomes of the run's lock until the run is over.
func (a *attempt) watch(lock *store.Lock, over <-chan struct{}) {
	for {
		select {
		case err := <-lock.Late():
			a.Board.Printf("note: %s: %v", a.run.Name(), err)
		case <-lock.Lost():
			a.cancel(errLockLost)
			return
		case <-over:
			return
		}
	}
}

func (e *executor) finish(a *attempt, record *store.Record, err error) verdict {
	r := a.run
	var broken *panicked
	switch {
	case err == nil:
		a.line.Done(false, Summary(record))
		return made
	case errors.Is(err, store.ErrStorage):
		a.line.Done(true, err.Error())
		e.stop(err)
		return left
	case errors.Is(err, errLockLost):
		a.line.Done(false, "")
		return busy
	case e.ctx.Err() != nil && !errors.As(err, &broken):
		a.line.Done(false, "")
		return left
	}
	f := a.failure(err)
	if err := e.store.Fail(f); err != nil {
		e.stop(err)
	}
	if f.Kind != "time-out" {
		// From there it would only fail again.
		e.store.DropCheckpoint(r.Key)
	}
	a.line.Done(true, fmt.Sprintf("FAILED (%s): %s", f.Kind, f.Message))
	return failed
}

// Summary is a record in a line.
func Summary(r *store.Record) string {
	s := fmt.Sprintf("%.2f %%", 100*r.Result.Metrics["test_acc"])
	if t := r.Provenance.Timing; t.Counted > 0 {
		s += fmt.Sprintf(", %.3g s an update", t.Median)
	}
	return s + ", " + progress.Seconds(r.Provenance.Wall) + " in all"
}
