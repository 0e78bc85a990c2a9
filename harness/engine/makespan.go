package engine

import (
	"math"
	"slices"
)

// Outlook is how long some workers are expected to take for what is left of a plan.
type Outlook struct {
	Seconds float64 // until the last run is made
	Work    float64 // of all runs together
	Idle    float64 // share of the workers' time in which they have left or wait

	// Chain is the longest of what must be done one after the other: what a group
	// shares, and a run that needs it. No number of workers is faster. Last is that run.
	Chain float64
	Last  *Run
}

// NewOutlook goes through what workers do: each takes the longest run that nobody is at
// and whose group does not wait for what another one computes. Runs take as long as a
// forecast says, where all workers are like the machine that it is about.
func NewOutlook(p *Plan, forecasts []Forecast, workers int) Outlook {
	var out Outlook
	var todo []job
	shared := map[string]float64{}
	for i, f := range forecasts {
		if f.State == Done || f.State == Failed {
			continue
		}
		r := p.Runs[i]
		todo = append(todo, job{r, r.group(), f.Seconds - f.Shared})
		shared[r.group()] += f.Shared
		out.Work += f.Seconds
	}
	for _, j := range todo {
		if chain := shared[j.group] + j.seconds; chain > out.Chain || out.Last == nil {
			out.Chain, out.Last = chain, j.run
		}
	}
	if len(todo) == 0 {
		return out
	}
	longestFirst(todo, func(j job) *Run { return j.run })
	out.Seconds = simulate(todo, shared, workers)
	if out.Seconds > 0 {
		out.Idle = max(0, 1-out.Work/(float64(workers)*out.Seconds))
	}
	return out
}

// job is a run without what its group shares.
type job struct {
	run     *Run
	group   string
	seconds float64
}

// simulate returns when the last of some jobs is over.
func simulate(todo []job, shared map[string]float64, workers int) (end float64) {
	free := make([]float64, workers) // when each worker is free
	ready := map[string]float64{}    // when what a group shares is there, or will be
	for len(todo) > 0 {
		now := slices.Min(free)
		first := slices.Index(free, now)
		at, soonest := -1, math.Inf(1)
		for i, j := range todo {
			t, begun := ready[j.group]
			if !begun || t <= now {
				at = i
				break
			}
			soonest = min(soonest, t)
		}
		if at < 0 {
			free[first] = soonest
			continue
		}
		j := todo[at]
		if _, begun := ready[j.group]; !begun {
			now += shared[j.group]
			ready[j.group] = now
		}
		free[first] = now + j.seconds
		end = max(end, free[first])
		todo = slices.Delete(todo, at, at+1)
	}
	return end
}
