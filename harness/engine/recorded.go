package engine

import (
	"errors"
	"maps"
	"math"
	"path/filepath"
	"strings"

	"dgkip/harness/sets"
	"dgkip/harness/store"
)

// bySet groups the keys of runs by their sets. It includes runs to do, which another process may
// have recorded.
func bySet(there *store.Store, todo []*Run) map[string][]string {
	all := map[string][]string{}
	keys, _ := there.Keys() // after an error, sets are distilled again
	for _, key := range keys {
		if r, err := there.Get(key); err == nil {
			set := setOf(r.Result.Identity).Key()
			all[set] = append(all[set], key)
		}
	}
	for _, r := range todo {
		set := r.Set().Key()
		all[set] = append(all[set], r.Key)
	}
	return all
}

// ownColumns returns which columns of a trace the method wrote, or nil if that is unknown. If sets
// were scored on the way, test_acc comes from the protocol, and a column named in a "last." metric
// from the method. Any other column is ambiguous, because a method and a protocol may both have such a
// value.
func ownColumns(trace *store.Trace, r *store.Record) map[string]bool {
	own := map[string]bool{}
	for _, name := range trace.Columns[1:] {
		_, said := r.Result.Metrics["last."+name]
		_, scored := r.Result.Metrics[name]
		own[name] = said && !scored || len(r.Provenance.Trace.Score) == 0
		if !own[name] && name != "test_acc" {
			return nil
		}
	}
	return own
}

// stored restores the set from the record of another run, and reports whether there is one.
func (w *work) stored() bool {
	for _, key := range w.sets()[w.run.Set().Key()] {
		r, err := w.store.Get(key)
		if err == nil && r.Provenance.Of == "" && r.Provenance.Trace.Covers(w.s.Trace.Asked, r.Result.Updates) && w.read(r) == nil {
			return true
		}
	}
	return false
}

var errUnknown = errors.New("the trace does not show which columns the method wrote")

// read restores the state after distillation from a record.
func (w *work) read(r *store.Record) error {
	if _, err := r.File(store.SetFile); err != nil { // checks the file
		return err
	}
	set, err := sets.Read(sets.Place{File: filepath.Join(r.Dir, store.SetFile)}, sets.Options{}, w.data)
	if err != nil {
		return err
	}
	trace, err := r.Trace()
	if err != nil {
		return err
	}
	own := ownColumns(trace, r)
	if own == nil {
		return errUnknown
	}
	p := r.Provenance
	s := &w.s
	s.Set, s.Last, s.Of, s.Timing = set, r.Result.Updates, r.Result.Key, p.Timing
	s.Made = usage{Past: p.Sessions, Wall: p.Wall - p.Scoring, CPU: p.CPU * (1 - p.Scoring/max(p.Wall, 1e-9)), Memory: p.Memory, Started: s.Used.Started}
	s.Used = s.Made
	ended := false // the method knew its last update
	for name := range r.Result.Metrics {
		ended = ended || strings.HasPrefix(name, "last.")
	}
	for _, row := range trace.Rows {
		line := traced{Update: int(row[0]), Values: map[string]float64{}}
		for j, v := range row[1:] {
			if name := trace.Columns[j+1]; !math.IsNaN(v) && own[name] {
				line.Values[name] = v
			}
		}
		end := ended && line.Update == s.Last
		if end {
			s.Trace.End = traced{Update: line.Update, Values: maps.Clone(line.Values)}
		}
		if end || line.Update == 0 || s.Trace.Asked.Due(line.Update) {
			s.Trace.Lines = append(s.Trace.Lines, line)
		}
	}
	return nil
}
