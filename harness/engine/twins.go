package engine

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dgkip/harness/env"
	"dgkip/harness/experiment"
	"dgkip/harness/sets"
	"dgkip/harness/store"
)

// A set that is scored by several protocols is made once: what the method did does not
// depend on how it is scored.

// make has the run's set made, or takes up that of a run that differs in its scoring
// alone: one on record, or one of this process, for which it waits.
func (a *attempt) make() error {
	key := a.run.distillation()
	alone := key == "" || len(a.s.Tracing.Score) > 0 // it sees its set on the way
	switch {
	case a.s.Set != nil: // it was stopped while its set was scored
		if !alone {
			a.forTwins(key)
		}
		return nil
	case alone:
		return a.distill()
	}
	over, twin := a.begun(key)
	for ; over != nil; over, twin = a.begun(key) {
		a.line.Phase("another run makes the set")
		select {
		case <-over:
		case <-a.ctx.Done():
			return context.Cause(a.ctx)
		}
		a.started, a.cpu = time.Now(), env.CPU() // waiting is no work
	}
	defer a.ended(key)
	if !twin && !a.Force && len(a.s.Past) == 0 { // else this one has begun
		twin = a.fromRecord()
	}
	if twin {
		a.from = max(0, a.s.Last)
	} else if err := a.distill(); err != nil {
		return err
	}
	a.forTwins(key)
	return nil
}

// begun returns what is closed when another run has ended with this distillation, if one
// is at it. Else it takes up what one has left, and reports whether there was anything.
func (a *attempt) begun(key string) (over <-chan struct{}, twin bool) {
	g := a.group
	g.mu.Lock()
	defer g.mu.Unlock()
	if over, busy := g.making[key]; busy {
		return over, false
	}
	if g.making == nil {
		g.making = map[string]chan struct{}{}
	}
	g.making[key] = make(chan struct{})
	state, ok := g.states[key]
	if !ok || !slices.Equal(a.s.Tracing.Every, state.Tracing.Every) {
		return nil, false
	}
	a.s = state.copy()
	return nil, true
}

// ended lets other runs at this distillation.
func (a *attempt) ended(key string) {
	a.group.mu.Lock()
	defer a.group.mu.Unlock()
	close(a.group.making[key])
	delete(a.group.making, key)
}

// forTwins leaves what the method did to the runs that will score it otherwise.
func (a *attempt) forTwins(key string) {
	a.group.mu.Lock()
	defer a.group.mu.Unlock()
	if a.group.twins[key]--; a.group.twins[key] < 1 {
		delete(a.group.states, key)
		return
	}
	if _, there := a.group.states[key]; there || a.s.Set.Whole {
		return
	}
	s := a.s.copy()
	if s.Of == "" {
		a.close(&s)
		times := a.timing(s)
		s.Of, s.Times = a.run.Key, &times
	}
	a.group.states[key] = s
}

// siblings lists the runs on record by what they distil.
func siblings(there *store.Listing) map[string][]string {
	keys, err := there.Keys()
	if err != nil {
		return nil // sets are made anew
	}
	all := map[string][]string{}
	for _, key := range keys {
		if r, err := there.Get(key); err == nil {
			all[makes(r.Result.Identity)] = append(all[makes(r.Result.Identity)], key)
		}
	}
	return all
}

// Makes is what a run distils, however it is watched and scored.
func (r *Run) Makes() string { return makes(r.Identity) }

func makes(id experiment.Identity) string {
	id.Eval = experiment.PartIdentity{}
	return string(experiment.Canonical(id))
}

// reusable reports whether a record tells what its method did.
func reusable(r *store.Record) bool {
	if r.Provenance.Of != "" || len(r.Provenance.Trace.Score) == 0 {
		return r.Provenance.Of == ""
	}
	trace, err := r.Trace()
	if err != nil {
		return false
	}
	_, ok := ownColumns(trace.Columns[1:], r)
	return ok
}

// ownColumns tells which columns of a record's trace the method wrote, false if that
// cannot be told. Where sets were scored on the way, test_acc is the protocol's, and what
// the result has with "last." before it the method's. Another metric of the result may be
// of either: a method and a protocol that both have a deviation share its column.
func ownColumns(columns []string, r *store.Record) (own []bool, ok bool) {
	own = make([]bool, len(columns))
	for i, name := range columns {
		if len(r.Provenance.Trace.Score) == 0 {
			own[i] = true
			continue
		}
		_, said := r.Result.Metrics["last."+name]
		_, scored := r.Result.Metrics[name]
		if own[i] = said && !scored; !own[i] && name != "test_acc" {
			return nil, false
		}
	}
	return own, true
}

// fromRecord takes up the set of a run on record.
func (a *attempt) fromRecord() bool {
	for _, key := range a.siblings()[makes(a.run.Identity)] {
		if key == a.run.Key {
			continue // what is left of a damaged record
		}
		r, err := a.store.Get(key)
		if err != nil || r.Provenance.Of != "" || !r.Provenance.Trace.Covers(a.s.Tracing, r.Result.Updates) {
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
	if _, err := r.File(store.SetFile); err != nil { // as the run wrote it
		return s, false
	}
	set, err := sets.Read(sets.Place{File: filepath.Join(r.Dir, store.SetFile)}, sets.Options{}, a.data)
	if err != nil {
		return s, false
	}
	trace, err := r.Trace()
	if err != nil {
		return s, false
	}
	own, ok := ownColumns(trace.Columns[1:], r)
	if !ok {
		return s, false
	}
	timing, err := r.Timing()
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // without it, its summary is what there is
		return s, false
	}
	p := r.Provenance
	s = saved{
		Set: set, Tracing: a.s.Tracing, Last: r.Result.Updates, Timing: timing, Skipped: p.Timing.Excluded, Past: p.Sessions,
		Wall: p.Wall - p.Scoring, CPU: p.CPU * (1 - p.Scoring/max(p.Wall, 1e-9)), Memory: p.Memory, Started: a.s.Started,
		Of: r.Result.Key, Times: &p.Timing,
	}
	ended := false // the method knew of its last update that it was
	for name := range r.Result.Metrics {
		ended = ended || strings.HasPrefix(name, "last.")
	}
	for _, row := range trace.Rows {
		line := traced{Update: int(row[0]), Values: map[string]float64{}}
		for j, v := range row[1:] {
			if !math.IsNaN(v) && own[j] {
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

// copy returns a state that shares nothing which a run changes.
func (s saved) copy() saved {
	s.Trace, s.Timing, s.Past = slices.Clone(s.Trace), slices.Clone(s.Timing), slices.Clone(s.Past)
	s.Set = s.Set.Clone()
	return s
}
