package engine

import (
	"cmp"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"time"
)

// longAgo is how long a run must have taken for a worker to look at all runs again after
// it: others have made some by then, and left some.
var longAgo = time.Minute

// order puts the longest runs first, by the operations of their updates, so that no worker
// begins one last. Runs of a length come in any order, so that not all workers try the same,
// but after those of the last run's group: what that shares is here.
func (e *executor) order(todo []*Run) {
	rand.Shuffle(len(todo), func(i, j int) { todo[i], todo[j] = todo[j], todo[i] })
	slices.SortStableFunc(todo, func(a, b *Run) int { return e.elsewhere(a) - e.elsewhere(b) })
	operations := map[*Run]float64{}
	for _, r := range todo {
		operations[r] = updates(r.Identity) * r.flops()
	}
	slices.SortStableFunc(todo, func(a, b *Run) int { return cmp.Compare(operations[b], operations[a]) })
}

// elsewhere is 0 for a run of the group in which the last one was made.
func (e *executor) elsewhere(r *Run) int {
	if e.groups[r.group()] == e.last {
		return 0
	}
	return 1
}

// again has a worker go through all runs of a round once more.
func (e *executor) again(q *queue) {
	q.todo = append(q.todo, q.waiting...)
	q.waiting, q.sets = nil, 0
	e.order(q.todo)
}

// taken reports whether another process was at a run a moment ago. One look at the folder
// is for all runs.
func (e *executor) taken(r *Run) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if time.Since(e.seen) > time.Second {
		e.locked, e.seen = e.store.Locked(), time.Now()
	}
	return e.locked[r.Key]
}

// twins lists the other runs to be made here that have the same set.
func (e *executor) twins(r *Run) (keys []string) {
	if r.distillation() == "" {
		return nil
	}
	for _, o := range e.same[r.distillation()] {
		if o != r {
			keys = append(keys, o.Key)
		}
	}
	return keys
}

// twinTaken reports whether the lock of another run is taken that makes the same set, and
// what is to become of this one. Whoever makes the set scores it for both, if both are
// among the runs that it is to make; else one waits for the set.
func (e *executor) twinTaken(r *Run) (v verdict, taken bool) {
	if !e.Worker {
		return 0, false
	}
	for _, key := range e.twins(r) {
		switch also, is := e.store.Taken(key); {
		case is && slices.Contains(also, r.Key):
			return busy, true
		case is:
			v, taken = awaited, true
		}
	}
	return v, taken
}

// enter begins with a run of a group. What groups share is large, and a worker goes from
// one to another: it lets go what no run is at.
func (e *executor) enter(g *group) {
	e.mu.Lock()
	defer e.mu.Unlock()
	g.at++
	g.holds = true
	if !e.Worker {
		return
	}
	freed := false
	for _, other := range e.groups {
		if other.holds && other.at == 0 {
			other.clear()
			freed = true
		}
	}
	if freed {
		debug.FreeOSMemory() // before as much is needed again
	}
}

// leave ends it.
func (e *executor) leave(g *group) {
	e.mu.Lock()
	defer e.mu.Unlock()
	g.at--
}

// clear lets go what the runs of a group share.
func (g *group) clear() {
	g.features.Clear()
	g.scoring.Clear()
	g.holds = false
}

// also adds runs to those on record: other processes may have made them when one asks.
func also(all map[string][]string, runs []*Run) map[string][]string {
	if all == nil {
		all = map[string][]string{}
	}
	for _, r := range runs {
		set := makes(r.Identity)
		if !slices.Contains(all[set], r.Key) {
			all[set] = append(all[set], r.Key)
		}
	}
	return all
}
