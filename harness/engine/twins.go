package engine

import (
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"dgkip/harness/spec"
	"dgkip/harness/store"
)

// A set that is scored by several protocols is made once: what the method did does not
// depend on how it is scored.

// twin takes up the distillation of a run that differs in its scoring alone, one of this
// process or one on record, and reports whether there was one.
func (a *attempt) twin() bool {
	if a.s.Method != nil || a.run.distillation() == "" || len(a.s.Tracing.Score) > 0 {
		return false // this one has begun, or sees its set on the way
	}
	return a.fromProcess() || !a.Force && a.fromRecord()
}

func (a *attempt) fromProcess() bool {
	key := a.run.distillation()
	a.group.mu.Lock()
	defer a.group.mu.Unlock()
	state, ok := a.group.states[key]
	if !ok || len(a.s.Past) > 0 || !slices.Equal(a.s.Tracing.Every, state.Tracing.Every) {
		return false
	}
	if a.group.twins[key]--; a.group.twins[key] <= 1 {
		delete(a.group.states, key)
	}
	a.s = state.copy()
	a.from = max(0, a.s.Last)
	return true
}

// forTwins leaves what the method did to the runs that will score it otherwise.
func (a *attempt) forTwins() {
	key := a.run.distillation()
	a.group.mu.Lock()
	defer a.group.mu.Unlock()
	if key == "" || a.group.twins[key] < 2 || a.s.Set.Whole || len(a.s.Tracing.Score) > 0 {
		return
	}
	s := a.s.copy()
	a.close(&s)
	s.Of, s.Made = a.run.Key, len(s.Past)
	a.group.states[key] = s
}

// siblings lists the runs on record by what they distil.
func siblings(s *store.Store) map[string][]string {
	keys, err := s.Keys()
	if err != nil {
		return nil // sets are made anew
	}
	all := map[string][]string{}
	for _, key := range keys {
		if r, err := s.Get(key); err == nil {
			all[makes(r.Result.Identity)] = append(all[makes(r.Result.Identity)], key)
		}
	}
	return all
}

// makes is what a run distils, however it is watched and scored.
func makes(id spec.Identity) string {
	id.Eval = spec.PartIdentity{}
	return string(spec.Canonical(id))
}

// fromRecord takes up the set of a run on record. One whose trace has scores tells
// nobody what in it the method said of itself.
func (a *attempt) fromRecord() bool {
	for _, key := range a.siblings()[makes(a.run.Identity)] {
		r, err := a.store.Get(key)
		if err != nil || r.Provenance.Of != "" || len(r.Provenance.Trace.Score) > 0 || !r.Provenance.Trace.Covers(a.s.Tracing, r.Result.Updates) {
			continue
		}
		if s, ok := a.read(r); ok {
			a.s = s
			return true
		}
	}
	return false
}

// read returns the state in which a run on record was when its set was done, false if
// files that may be left out of a record are missing.
func (a *attempt) read(r *store.Record) (s saved, ok bool) {
	if _, err := r.File("distilled.npz"); err != nil {
		return s, false
	}
	set, err := store.ReadDistilled(filepath.Join(r.Dir, "distilled.npz"), a.data)
	if err != nil {
		return s, false
	}
	trace, err := r.Trace()
	if err != nil {
		return s, false
	}
	timing, err := r.Timing()
	if err != nil {
		return s, false
	}
	p := r.Provenance
	s = saved{
		Set: set, Tracing: a.s.Tracing, Last: r.Result.Updates, Timing: timing, Skipped: p.Timing.Excluded, Past: p.Sessions,
		Wall: p.Wall - p.Scoring, CPU: p.CPU * (1 - p.Scoring/p.Wall), Memory: p.Memory, Started: a.s.Started,
		Of: r.Result.Key, Made: len(p.Sessions),
	}
	ended := false // the method knew of its last update that it was
	for name := range r.Result.Metrics {
		ended = ended || strings.HasPrefix(name, "last.")
	}
	for _, row := range trace.Rows {
		line := traced{Update: int(row[0]), Values: map[string]float64{}}
		for j, v := range row[1:] {
			if !math.IsNaN(v) {
				line.Values[trace.Columns[j+1]] = v
			}
		}
		end := ended && line.Update == s.Last
		if end {
			s.End = traced{Update: line.Update, Values: maps.Clone(line.Values)}
		}
		if end || line.Update == 0 || s.Tracing.Due(line.Update) {
			s.Trace = append(s.Trace, line)
		}
	}
	return s, true
}

// apart returns the runs with those of each group that distil what one before them does
// at the group's end: side by side, both would distil it.
func apart(todo []*Run) []*Run {
	var out, again []*Run
	seen := map[string]bool{}
	for i, r := range todo {
		if i > 0 && r.group() != todo[i-1].group() {
			out, again = append(out, again...), nil
		}
		if key := r.distillation(); key == "" || !seen[key] {
			seen[key] = true
			out = append(out, r)
		} else {
			again = append(again, r)
		}
	}
	return append(out, again...)
}

// copy returns a state that shares nothing which a run changes.
func (s saved) copy() saved {
	s.Trace, s.Timing, s.Past = slices.Clone(s.Trace), slices.Clone(s.Timing), slices.Clone(s.Past)
	s.Set = s.Set.Clone()
	return s
}
