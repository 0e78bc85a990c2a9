package engine

import (
	"slices"
	"sync"
	"time"

	"dgkip/harness/env"
	"dgkip/harness/progress"
	"dgkip/harness/store"
)

// parts times what a run prepares before it goes on, such as the features of the real
// images or their model. What another run has computed is no part of it.
type parts struct {
	mu    sync.Mutex // preparations may share work out
	what  string     // under way; "" for nothing
	since time.Time
	all   []store.Part
}

// task shows what is being prepared, and times it from its first mention on.
func (p *parts) task(line *progress.Line) func(what string, done float64) {
	return func(what string, done float64) {
		line.Task(what, done)
		p.mu.Lock()
		defer p.mu.Unlock()
		if what != p.what {
			p.end()
			p.what, p.since = what, time.Now()
		}
	}
}

// over ends what is being prepared, as the run goes on.
func (p *parts) over() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end()
}

// until are the parts so far.
func (p *parts) until() []store.Part {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.all)
}

func (p *parts) end() {
	if p.what == "" {
		return
	}
	one := store.Part{What: p.what, Seconds: time.Since(p.since).Seconds(), Memory: env.PeakMemory()}
	for i, x := range p.all {
		if x.What == one.What { // several times, as when a trace is scored
			p.all[i] = store.Part{What: x.What, Seconds: x.Seconds + one.Seconds, Memory: max(x.Memory, one.Memory)}
			p.what = ""
			return
		}
	}
	p.all, p.what = append(p.all, one), ""
}
