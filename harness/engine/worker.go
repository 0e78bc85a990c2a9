package engine

import (
	"math/rand/v2"
	"slices"
	"time"
)

// order puts the longest runs first, and those of a length in any order, so that not all
// workers try the same.
func (e *executor) order(todo []*Run) {
	rand.Shuffle(len(todo), func(i, j int) { todo[i], todo[j] = todo[j], todo[i] })
	longestFirst(todo, func(r *Run) *Run { return r })
}

// taken reports whether the lock of a run was taken a moment ago. One look at the folder
// is for all locks. Whether their owners live is found out when there is nothing else to
// do.
func (e *executor) taken(r *Run) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if time.Since(e.seen) > time.Second {
		e.locked, e.seen = e.store.Locked(), time.Now()
	}
	return e.locked[r.Key]
}

// twinTaken reports whether the lock of another run is taken that makes the same set.
// Whoever holds it scores the set for both, if it is a worker.
func (e *executor) twinTaken(r *Run) bool {
	return e.Worker && r.distillation() != "" && slices.ContainsFunc(e.same[r.distillation()], func(o *Run) bool {
		return o != r && e.store.Taken(o.Key)
	})
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
