package engine

import (
	"cmp"
	"context"
	"errors"
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

// Options configure Execute.
type Options struct {
	Jobs            int         // sets computed at a time; 0 means 1
	Threads         int         // for provenance
	Busy            func() bool // reports whether other programs use the processors; may be nil
	Retry           time.Time   // runs that failed before this time are tried again
	Force           bool
	CheckpointEvery time.Duration
	Args            []string     // for provenance
	Kernels         string       // for provenance
	Disk            *store.Cache // cache of values that runs share; may be nil
	There           *store.Store // snapshot of the store; nil to take one
	Board           *progress.Board

	// After, unless nil, is called after jobs while runs go on, never twice at the same time.
	After func()

	// Worker skips jobs that other processes hold. When nothing else is left, it waits for
	// store.Stale, so that it takes over the jobs of dead processes.
	Worker bool
}

// Outcome counts the runs of a plan.
type Outcome struct {
	Before   int // already recorded
	Computed int
	Failed   int // failed now, or earlier and not retried
	Broke    int // failed now
	Left     int // not computed, because of an interruption or because another process holds the job
}

type executor struct {
	Options
	store  *store.Store
	ctx    context.Context
	cancel context.CancelCauseFunc
	sets   func() map[string][]string // keys of runs that are or may be recorded, by the key of their set

	after sync.Mutex // held during After

	mu      sync.Mutex
	broken  error // why all runs were stopped
	busy    error // the lock of another process
	outcome Outcome
	groups  map[string]*group
	images  map[*Dataset]int // number of jobs that still need the images
	locked  map[string]bool  // jobs that other processes hold
	seen    time.Time        // when locked was read
}

// Execute computes the runs of a plan that have no record. Failures of runs are only counted; the
// error concerns the store, the context or changed training images. When ctx ends, jobs save checkpoints. Another Execute
// continues from them to the same bits.
func Execute(ctx context.Context, p *Plan, s *store.Store, o Options) (Outcome, error) {
	o.Jobs = max(1, o.Jobs)
	e := &executor{Options: o, store: s, groups: map[string]*group{}, images: map[*Dataset]int{}}
	remembered := s.Remember(ctx, p.Opened)
	if e.There == nil {
		e.There = s.Snapshot()
	}
	runs := e.todo(p)
	e.Board.Expect(len(p.Runs), len(p.Runs)-len(runs))
	if len(runs) == 0 {
		return e.outcome, ctx.Err()
	}
	if err := cmp.Or(s.Prepare(), remembered); err != nil {
		return e.outcome, err
	}
	e.sets = sync.OnceValue(func() map[string][]string { return bySet(e.There, runs) })
	e.ctx, e.cancel = context.WithCancelCause(ctx)
	defer e.cancel(nil)
	jobs := e.jobs(runs)
	e.Jobs = min(e.Jobs, len(jobs)) // a single job shares nothing
	for _, j := range e.rounds(jobs) {
		e.outcome.Left += len(j.Runs)
	}
	return e.outcome, cmp.Or(e.broken, ctx.Err())
}

// settled reports whether a run need not be computed, according to a store, and counts such a run.
func (e *executor) settled(r *Run, s *store.Store) bool {
	state := r.State(s, e.Retry, e.Force)
	e.count(func(o *Outcome) {
		switch state {
		case Done:
			o.Before++
		case Failed:
			o.Failed++
		}
	})
	return state != Missing
}

// todo returns the runs to compute and counts the others. A run that replaces a record also keeps
// the trace lines of that record.
func (e *executor) todo(p *Plan) (todo []*Run) {
	for _, r := range p.Runs {
		if e.settled(r, e.There) {
			continue
		}
		if old, err := e.There.Get(r.Key); err == nil {
			again := *r
			again.Trace = r.Trace.With(old.Provenance.Trace)
			r = &again
		} else if why := e.There.Damaged(r.Key); why != nil {
			message, _, _ := strings.Cut(why.Error(), "\n")
			e.Board.Printf("note: a record is computed again, and its files are kept in %s: %s", e.store.Aside(), message)
		}
		todo = append(todo, r)
		r.code() // reads the sources now, because they may change while runs go on
	}
	left := e.There.Begun() // some of these states are no longer needed
	for _, r := range todo {
		delete(left, r.job())
	}
	for i := 0; i < len(p.Runs) && len(left) > 0; i++ {
		if key := p.Runs[i].job(); left[key] && e.There.Has(p.Runs[i].Key) {
			delete(left, key)
			if !e.stillNeeded(key) {
				e.store.DropLeftover(key)
			}
		}
	}
	return todo
}

// jobs groups runs by their sets. Jobs that share features follow each other. A worker starts with
// the jobs that have the most updates, training images and images per class. It shuffles groups of
// equal size, so that workers do not compete for the same jobs.
func (e *executor) jobs(runs []*Run) []*Job {
	all := Jobs(runs)
	rank, size := map[string]float64{}, map[*Job]float64{}
	for i, j := range all {
		e.images[j.Data]++
		first := j.Runs[0]
		if _, ok := rank[first.group()]; !ok {
			rank[first.group()] = float64(i)
			if e.Worker {
				rank[first.group()] = rand.Float64()
			}
		}
		if e.Worker {
			size[j] = updates(first.Identity) * float64(j.Data.Shape.Train) * float64(first.Identity.IPC)
		}
	}
	slices.SortStableFunc(all, func(a, b *Job) int {
		return cmp.Or(cmp.Compare(size[b], size[a]), cmp.Compare(rank[a.Runs[0].group()], rank[b.Runs[0].group()]))
	})
	return all
}

// rounds works on jobs until all are done or the context ends, and returns the remaining ones. A
// worker also returns when it has had nothing to do for store.Stale. The remaining locks then
// belong to live processes.
func (e *executor) rounds(jobs []*Job) (left []*Job) {
	pause, idle, said := time.Duration(0), time.Now(), false
	for {
		before, from := e.outcome.Computed+e.outcome.Broke, time.Now()
		e.seen = time.Time{} // locks may have become stale
		jobs = e.round(jobs)
		if e.outcome.Computed+e.outcome.Broke > before {
			pause, idle = 0, time.Now()
		}
		if len(jobs) == 0 || e.ctx.Err() != nil || e.Worker && from.Sub(idle) > store.Stale {
			return jobs
		}
		if !e.Worker && !said {
			said = true
			e.Board.Printf("waiting for another process (sets left: %d): %v", len(jobs), e.busy)
		}
		pause = longer(pause)
		select {
		case <-e.ctx.Done():
		case <-time.After(pause):
		}
	}
}

// longer returns the next pause of a process that has nothing to do. Pauses grow from a second to
// about a minute, and are random so that processes do not act in step.
func longer(pause time.Duration) time.Duration {
	pause = min(max(3*pause, time.Second), store.Stale/4)
	return pause + rand.N(pause/2)
}

// round works on jobs, Options.Jobs at a time. It returns the jobs that other processes hold.
func (e *executor) round(jobs []*Job) (waiting []*Job) {
	next := make(chan *Job)
	var wg sync.WaitGroup
	for range min(e.Jobs, len(jobs)) {
		wg.Go(func() {
			for j := range next {
				over := e.one(j)
				if e.After != nil && e.ctx.Err() == nil && e.after.TryLock() {
					e.After()
					e.after.Unlock()
				}
				e.mu.Lock()
				if !over {
					waiting = append(waiting, j)
				} else if e.images[j.Data]--; e.images[j.Data] == 0 {
					j.Data.release()
				}
				e.mu.Unlock()
			}
		})
	}
	for _, j := range jobs {
		next <- j
	}
	close(next)
	wg.Wait()
	return waiting
}

// one works on a job. It returns false if another process holds the job.
func (e *executor) one(j *Job) (over bool) {
	if e.ctx.Err() != nil {
		e.count(func(o *Outcome) { o.Left += len(j.Runs) })
		return true
	}
	if e.Worker && e.taken(j) {
		return false
	}
	if e.settle(j); len(j.Runs) == 0 { // looking is cheaper than locking
		return true
	}
	lock, err := e.store.Lock(j.Key, j.keys()...)
	if errors.As(err, new(*store.Busy)) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.busy, e.seen = err, time.Time{} // other processes are active, so locked is outdated
		return false
	}
	if err != nil {
		e.stop(err)
		e.count(func(o *Outcome) { o.Left += len(j.Runs) })
		return true
	}
	defer lock.Unlock()
	if e.settle(j); len(j.Runs) > 0 {
		e.do(j)
	}
	return true
}

// taken reports whether another process holds a job. It reads the locks at most once a second.
func (e *executor) taken(j *Job) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if time.Since(e.seen) > time.Second {
		e.locked, e.seen = e.store.Locked(), time.Now()
	}
	return e.locked[j.Key]
}

// settle removes from a job the runs that another process has computed or has seen fail.
func (e *executor) settle(j *Job) {
	j.Runs = slices.DeleteFunc(j.Runs, func(r *Run) bool {
		over := e.settled(r, e.store)
		if over {
			e.Board.Skip()
		}
		return over
	})
}

func (e *executor) count(add func(*Outcome)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	add(&e.outcome)
}

// stop ends all runs with an error.
func (e *executor) stop(err error) {
	e.mu.Lock()
	e.broken = cmp.Or(e.broken, err)
	e.mu.Unlock()
	e.cancel(errStopped)
}

// errStopped is the cause with which stop cancels the runs.
var errStopped = errors.New("all runs are stopped")

// group holds the values that jobs with the same seed, data and networks share.
type group struct {
	at       int // jobs in progress
	features method.Shared
	scoring  method.Shared
}

// enter starts a job in its group. Because shared values are large, it clears the groups without a
// job.
func (e *executor) enter(j *Job) *group {
	e.mu.Lock()
	key := j.Runs[0].group()
	g := e.groups[key]
	if g == nil {
		g = new(group)
		e.groups[key] = g
	}
	g.at++
	cleared := false
	for key, other := range e.groups {
		if other.at == 0 {
			other.features.Clear()
			other.scoring.Clear()
			delete(e.groups, key)
			cleared = true
		}
	}
	e.mu.Unlock() // collecting garbage takes long
	if cleared {
		debug.FreeOSMemory() // before new values need the memory
	}
	return g
}

// leave ends a job in its group.
func (e *executor) leave(g *group) {
	e.mu.Lock()
	defer e.mu.Unlock()
	g.at--
}
