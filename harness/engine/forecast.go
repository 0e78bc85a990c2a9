package engine

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"dgkip/harness/experiment"
	"dgkip/harness/stats"
	"dgkip/harness/store"
)

// State is the state of a run.
type State int

// States of a run.
const (
	Missing State = iota
	Done
	Failed
	Begun // has a checkpoint
)

// State returns Done, Failed or Missing. A run that failed before retry is missing. With force, all runs
// are.
func (r *Run) State(s *store.Store, retry time.Time, force bool) State {
	if force {
		return Missing
	}
	if s.Has(r.Key) {
		return Done
	}
	if failure := s.Failed(r.Key); failure != nil && !failure.Before(retry) {
		return Failed
	}
	return Missing
}

// Forecast predicts the cost of a run from records.
type Forecast struct {
	State   State
	Again   bool    // it failed and is tried again
	Seconds float64 // median of comparable records; 0 without any
	Bytes   int64   // largest peak memory of comparable records; 0 without any
	Basis   string  // "the same cell", "similar runs", or "" without any
}

// Forecasts returns the state of every run of a plan, and a forecast for the missing ones. It uses
// records of the same cell with other seeds. Without any, it uses records of the same dataset,
// method, networks, images per class and protocol. If the set is recorded, or distilled by an
// earlier run of the plan, the forecast covers only the scoring. Runs that failed before retry
// count as missing. With force, all runs do.
func Forecasts(p *Plan, s *store.Store, retry time.Time, force bool) ([]Forecast, error) {
	keys, err := s.Keys()
	if err != nil {
		return nil, err
	}
	like, sets := map[string][]*store.Record{}, map[string]bool{} // sets by their keys
	for _, key := range keys {
		r, err := s.Get(key)
		if err != nil { // -collect reports it
			continue
		}
		for _, kind := range kinds(r.Result.Identity) {
			like[kind] = append(like[kind], r)
		}
		if !force && r.Provenance.Of == "" && r.HasSet() {
			sets[setOf(r.Result.Identity).Key()] = true
		}
	}
	out, begun := make([]Forecast, len(p.Runs)), s.Begun()
	for i, r := range p.Runs {
		f := &out[i]
		if f.State = r.State(s, retry, force); f.State != Missing {
			continue
		}
		f.Again = s.Failed(r.Key) != nil
		if begun[r.job()] && !force {
			f.State = Begun
		}
		scoring := sets[r.job()]
		sets[r.job()] = true
		for j, kind := range kinds(r.Identity) {
			if records := like[kind]; len(records) > 0 {
				f.Basis = [...]string{"the same cell", "similar runs"}[j]
				f.Seconds, f.Bytes = typical(records, r, scoring)
				break
			}
		}
	}
	return out, nil
}

// kinds returns the keys under which records are comparable: the same cell, and similar runs.
func kinds(id experiment.Identity) [2]string {
	id.Seed = 0
	similar := []any{id.Dataset.Name, len(id.Dataset.Classes), id.Method.Name, id.Method.Version, id.Model, id.IPC, id.Eval.Name, updates(id) > 0}
	return [...]string{string(experiment.Canonical(id)), string(experiment.Canonical(similar))}
}

// typical returns the median time of records, or of their scoring, and their largest peak memory.
// It scales the time of distilling to the number of updates of the run.
func typical(records []*store.Record, run *Run, scoring bool) (seconds float64, bytes int64) {
	ours := updates(run.Identity)
	var times []float64
	for _, r := range records {
		p := r.Provenance
		took := p.Scoring
		if !scoring {
			ratio := 1.0
			if theirs := updates(r.Result.Identity); ours > 0 && theirs > 0 {
				ratio = ours / theirs
			}
			took += (p.Wall - p.Scoring) * ratio
		}
		times = append(times, took)
		bytes = max(bytes, p.Memory)
	}
	return stats.Median(times), bytes
}

// updates returns the number of updates in the settings of a method, or 0 if there is none. With a
// setting outer, each iteration has that many updates. If outer is 0, it equals the images per
// class, but is at most 50.
func updates(id experiment.Identity) float64 {
	number := func(key string) (float64, bool) {
		v, ok := id.Method.Settings[key]
		n, _ := strconv.ParseFloat(fmt.Sprint(v), 64) // values from files have other types than defaults
		return n, ok
	}
	if n, ok := number("updates"); ok {
		return n
	}
	n, _ := number("iterations")
	if outer, ok := number("outer"); ok {
		n *= cmp.Or(outer, float64(min(id.IPC, 50)))
	}
	return n
}
