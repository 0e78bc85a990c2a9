package engine

import (
	"slices"
	"time"

	"dgkip/harness/stats"
	"dgkip/harness/store"
)

// warmUp is the number of untimed updates at the start of a session. During
// them, caches are cold and memory grows.
const warmUp = 2

// interval holds the seconds per update between two updates.
type interval struct {
	From, To int
	Seconds  float64 // mean of one update
	Before   float64 // mean time before an update, such as for training a network
}

// stopwatch times updates.
type stopwatch struct {
	Rows      []interval
	Skipped   int // number of untimed updates
	Iteration int // updates in an iteration

	mark  time.Time // start of the update and its preparation; zero if the update is not timed
	ready time.Time // end of the preparation; zero if there is none
	warm  int
}

// begin ends the preparation of an update.
func (s *stopwatch) begin() { s.ready = time.Now() }

// update records the time since the last observed update, which is -1 at first.
func (s *stopwatch) update(last, update, iteration int, now time.Time) {
	if n := update - last; n > 0 && last >= 0 {
		if s.mark.IsZero() || s.warm > 0 {
			s.warm -= n
			s.Skipped += n
		} else {
			if s.ready.IsZero() {
				s.ready = s.mark
			}
			s.Rows = append(s.Rows, interval{
				From: last, To: update,
				Seconds: now.Sub(s.ready).Seconds() / float64(n), Before: s.ready.Sub(s.mark).Seconds() / float64(n),
			})
		}
	}
	s.ready, s.Iteration = time.Time{}, iteration
}

// timing summarises the times of updates over sessions.
func (s *stopwatch) timing(sessions []store.Session) store.Timing {
	t := store.Timing{Excluded: s.Skipped}
	t.Median, t.Counted = median(s.Rows)
	if t.Counted > 0 {
		t.PerIteration = max(1, s.Iteration)
		t.Iteration = iteration(s.Rows, t.PerIteration)
	}
	hosts := map[string]bool{}
	for _, one := range sessions {
		hosts[one.Host.Name+"/"+one.Host.CPU] = true
		t.Shared = t.Shared || one.Jobs > 1 || one.Busy
	}
	t.Hosts = len(hosts)
	return t
}

// median returns the median time and the number of updates. A row of n updates counts n times.
func median(rows []interval) (seconds float64, updates int) {
	var all []float64
	for _, r := range rows {
		all = append(all, slices.Repeat([]float64{r.Seconds}, r.To-r.From)...)
	}
	return stats.Median(all), len(all)
}

// iteration returns the median time of an iteration of the given number of updates. It uses only
// iterations whose updates were all timed. If there are none, it scales those with the most timed
// updates.
func iteration(rows []interval, updates int) float64 {
	type timed struct {
		seconds float64
		updates int
	}
	by := map[int]timed{}
	for _, r := range rows {
		n := r.To - r.From
		one := by[r.From/updates]
		by[r.From/updates] = timed{one.seconds + float64(n)*(r.Seconds+r.Before), one.updates + n}
	}
	most := 0
	for _, one := range by {
		most = max(most, one.updates)
	}
	var all []float64
	for _, one := range by {
		if one.updates == most {
			all = append(all, one.seconds*float64(updates)/float64(most))
		}
	}
	return stats.Median(all)
}
