package engine

import (
	"cmp"
	"context"
	"errors"
	"io"
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
	Jobs            int       // at a time; 0 means 1
	Threads         int       // for provenance
	Retry           time.Time // runs that failed before are tried again
	Force           bool
	CheckpointEvery time.Duration
	Args            []string     // for provenance
	Kernels         string       // for provenance
	Disk            *store.Cache // keeps what runs share, unless it is nil
	There           *store.Store // what was in the folder a moment ago; nil to look
	Board           *progress.Board

	// Worker leaves jobs that other processes are at to those, instead of waiting for
	// them. It stays for as long as it takes to find out whether they are there.
	Worker bool
}

// Outcome counts what became of the runs of a plan.
type Outcome struct {
	Before int // records that were there
	Made   int
	Failed int // now, or earlier and not retried
	Broke  int // of these, here and now
	Left   int // not computed, because of an interruption or because other processes are at their sets
}

type executor struct {
	Options
	store  *store.Store
	ctx    context.Context
	cancel context.CancelCauseFunc
	sets   func() map[string][]string // keys of runs that are or may be on record, by their sets

	mu      sync.Mutex
	broken  error // of the store
	busy    error // says who is at a job that is waited for
	outcome Outcome
	groups  map[string]*group
	images  map[*Dataset]int // jobs that still need them
	locked  map[string]bool  // jobs of other processes, as seen at some moment
	seen    time.Time
}

// Execute computes the runs of a plan that have no record, job by job. The error is of the
// store or the context; failures of runs are counted in the outcome. When ctx ends, jobs
// leave checkpoints, from which the next Execute continues to the same bits.
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
	for _, j := range e.rounds(e.jobs(runs)) {
		e.outcome.Left += len(j.Runs)
	}
	return e.outcome, cmp.Or(e.broken, ctx.Err())
}

// settled reports whether a run that failed is left alone.
func (o *Options) settled(f *store.Failure) bool {
	return f != nil && !f.Before(o.Retry) && !o.Force
}

// todo lists the runs to be computed, and counts the others. What replaces a record has the
// lines of its trace, too.
func (e *executor) todo(p *Plan) (todo []*Run) {
	for _, r := range p.Runs {
		switch {
		case e.There.Has(r.Key) && !e.Force:
			e.outcome.Before++
			continue
		case e.settled(e.There.Failed(r.Key)):
			e.outcome.Failed++
			continue
		}
		if old, err := e.There.Get(r.Key); err == nil {
			again := *r
			again.Trace = r.Trace.With(old.Provenance.Trace)
			r = &again
		} else if why := e.There.Damaged(r.Key); why != nil {
			message, _, _ := strings.Cut(why.Error(), "\n")
			e.Board.Printf("note: a record is computed again, and what is left of it kept in %s: %s", e.store.Aside(), message)
		}
		todo = append(todo, r)
		r.code() // as it is now: sources may change while runs go on
	}
	left := e.There.Begun() // states of which some are of no use any more
	for _, r := range todo {
		delete(left, r.job())
	}
	for i := 0; i < len(p.Runs) && len(left) > 0; i++ {
		if key := p.Runs[i].job(); left[key] && e.There.Has(p.Runs[i].Key) {
			delete(left, key)
			e.store.DropLeftover(key)
		}
	}
	return todo
}

// jobs groups runs by their sets. A worker begins with the longest, by the operations of
// their updates. Jobs that share features follow each other, and workers begin with any.
func (e *executor) jobs(runs []*Run) []*Job {
	all := Jobs(runs)
	rank, operations := map[string]float64{}, map[*Job]float64{}
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
			operations[j] = updates(first.Identity) * first.flops()
		}
	}
	slices.SortStableFunc(all, func(a, b *Job) int {
		return cmp.Or(cmp.Compare(operations[b], operations[a]), cmp.Compare(rank[a.Runs[0].group()], rank[b.Runs[0].group()]))
	})
	return all
}

// rounds works on jobs until all are over or the context ends. It returns those that are
// left then. A worker does not wait for other processes: it ends once it has had nothing to
// do for so long that whoever still has a lock is there.
func (e *executor) rounds(jobs []*Job) (left []*Job) {
	pause, idle, said := time.Duration(0), time.Now(), false
	for {
		before, from := e.outcome.Made+e.outcome.Broke, time.Now()
		e.seen = time.Time{} // locks may be stale by now
		jobs = e.round(jobs)
		if e.outcome.Made+e.outcome.Broke > before {
			pause, idle = 0, time.Now()
		}
		if len(jobs) == 0 || e.ctx.Err() != nil || e.Worker && from.Sub(idle) > store.Stale {
			return jobs
		}
		if !e.Worker && !said {
			said = true
			e.Board.Printf("waiting for another process, which computes %d of these sets: %v", len(jobs), e.busy)
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
	pause = min(max(3*pause, time.Second), store.Stale/4)
	return pause + rand.N(pause/2)
}

// round works on jobs, as many at a time as Options say. It returns those that other
// processes are at.
func (e *executor) round(jobs []*Job) (waiting []*Job) {
	next := make(chan *Job)
	var wg sync.WaitGroup
	for range min(e.Jobs, len(jobs)) {
		wg.Go(func() {
			for j := range next {
				over := e.one(j)
				e.mu.Lock()
				if !over {
					waiting = append(waiting, j)
				} else if e.images[j.Data]--; e.images[j.Data] == 0 {
					j.Data.letGo()
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

// one does a job, and reports whether it is over: another process may be at it.
func (e *executor) one(j *Job) (over bool) {
	if e.ctx.Err() != nil {
		e.count(func(o *Outcome) { o.Left += len(j.Runs) })
		return true
	}
	if e.Worker && e.taken(j) {
		return false
	}
	if e.settle(j); len(j.Runs) == 0 { // it costs less to look than to lock
		return true
	}
	lock, err := e.store.Lock(j.Key, j.keys()...)
	if errors.As(err, new(*store.Busy)) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.busy, e.seen = err, time.Time{} // others are about, and take more
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

// taken reports whether another process was at a job a moment ago. One look at the folder
// is for all jobs.
func (e *executor) taken(j *Job) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if time.Since(e.seen) > time.Second {
		e.locked, e.seen = e.store.Locked(), time.Now()
	}
	return e.locked[j.Key]
}

// settle takes the runs from a job that other processes have computed, or have seen fail.
func (e *executor) settle(j *Job) {
	j.Runs = slices.DeleteFunc(j.Runs, func(r *Run) bool {
		there := !e.Force && e.store.Has(r.Key)
		failed := !there && e.settled(e.store.Failed(r.Key))
		if !there && !failed {
			return false
		}
		e.count(func(o *Outcome) {
			if there {
				o.Before++
			} else {
				o.Failed++
			}
		})
		e.Board.Skip()
		return true
	})
}

func (e *executor) count(add func(*Outcome)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	add(&e.outcome)
}

// stop ends all runs because the store failed.
func (e *executor) stop(err error) {
	e.mu.Lock()
	e.broken = cmp.Or(e.broken, err)
	e.mu.Unlock()
	e.cancel(errStorage)
}

// errStorage is the cause when runs are stopped because of the store.
var errStorage = errors.New("results cannot be written")

// group is what jobs with the same seed, data and networks share.
type group struct {
	at       int  // jobs under way
	holds    bool // what is not let go yet
	features method.Shared
	scoring  method.Shared
}

// enter begins with a job of a group. What groups share is large: what no job is at is let
// go.
func (e *executor) enter(j *Job) *group {
	e.mu.Lock()
	defer e.mu.Unlock()
	key := j.Runs[0].group()
	g := e.groups[key]
	if g == nil {
		g = new(group)
		e.groups[key] = g
	}
	g.at++
	g.holds = true
	for _, other := range e.groups {
		if other.holds && other.at == 0 {
			other.features.Clear()
			other.scoring.Clear()
			other.holds = false
			defer debug.FreeOSMemory() // before as much is needed again
		}
	}
	return g
}

// leave ends it.
func (e *executor) leave(g *group) {
	e.mu.Lock()
	defer e.mu.Unlock()
	g.at--
}

// part is what a run sees of a disk for one kind of sharing: methods find nothing that was
// computed from test images there, whatever they ask for. It implements method.Disk.
type part struct {
	ctx  context.Context // the job's
	disk *store.Cache
	name string
}

func (p part) Load(key string, read func(io.Reader) error) bool {
	return p.disk.Load(p.ctx, p.name+key, read)
}

func (p part) Save(key string, size int64, write func(io.Writer) error) {
	p.disk.Save(p.name+key, size, write)
}

func (p part) Keep(key string, size int64, write func(io.Writer) error) {
	p.disk.Keep(p.name+key, size, write)
}
