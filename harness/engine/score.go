package engine

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"dgkip/harness/method"
	"dgkip/harness/store"
)

// score computes the scores of a run and records them.
func (w *work) score(r *Run) (*store.Record, error) {
	if cause := context.Cause(w.ctx); cause != nil {
		return nil, cause
	}
	if w.s.Run != r.Key {
		w.begin(r)
	}
	w.line.Phase("score")
	scores, err := w.evaluate(w.s.Set, w.s.Score, true, func(step method.Step) {
		w.line.Step(step.Update, step.Of, step.Loss, step.HasLoss)
		if step.Checkpoint != nil && time.Since(w.kept) >= w.CheckpointEvery {
			if state, err := step.Checkpoint(); err == nil {
				w.s.Score = state
				w.keep()
			}
		}
	})
	if cause := context.Cause(w.ctx); cause != nil && err != nil {
		var stopped *method.Interrupted
		if errors.As(err, &stopped) {
			w.s.Score = stopped.Checkpoint
		}
		w.keep()
		return nil, cause
	}
	if err != nil {
		return nil, err
	}
	draft, err := w.draft(scores)
	if err != nil {
		return nil, err
	}
	if err := w.job.Data.intact(w.data); err != nil {
		return nil, err
	}
	record, err := w.store.Put(draft, w.Force)
	if err == nil {
		w.s.Of = cmp.Or(w.s.Of, r.Key)
	}
	return record, err
}

// evaluate scores a set by the protocol of the run in progress.
func (w *work) evaluate(set *method.Distilled, resume []byte, final bool, observe func(method.Step)) (*method.Scores, error) {
	from := time.Now()
	defer func() { w.s.Used.Scoring += time.Since(from).Seconds() }()
	cell := w.run.Cell
	trial := method.Trial{
		Data: w.data, Test: w.test, Set: set, Model: cell.Net, Seed: w.run.Seed,
		Shared: w.features, Own: w.scoring, Final: final, Resume: resume, Phase: w.line.Task,
	}
	scores, err := cell.Protocol.Score(w.ctx, trial, observe)
	if resume != nil && errors.Is(err, method.ErrCheckpoint) { // such as one of an earlier version
		w.Board.Printf("%s: %v; starting over", w.run.Name(), err)
		trial.Resume = nil
		scores, err = cell.Protocol.Score(w.ctx, trial, observe)
	}
	if err != nil {
		return nil, err
	}
	if _, ok := scores.Metrics["test_acc"]; !ok {
		return nil, errors.New("the protocol returned no test_acc")
	}
	for _, name := range slices.Sorted(maps.Keys(scores.Metrics)) {
		if v := scores.Metrics[name]; !finite(v) {
			return nil, &notFinite{name, v, w.s.Last}
		}
	}
	return scores, nil
}

// draft returns the record of the run in progress.
func (w *work) draft(scores *method.Scores) (store.Draft, error) {
	w.findOthers(0)
	r, s, u := w.run, w.s, w.used()
	set := s.Set
	set.Prep = w.data.Prep // checkpoints do not hold its functions
	trace := r.Trace
	if !s.Trace.Asked.Covers(trace, s.Last) { // the request has changed between sessions
		trace = s.Trace.Asked
	}
	d := store.Draft{
		Result: store.Result{
			Identity: r.Identity, Metrics: maps.Clone(scores.Metrics), Counts: scores.Counts,
			Updates: max(0, s.Last), Notes: slices.Concat(set.Notes, scores.Notes),
		},
		Set: set, Trace: s.Trace.table(trace),
	}
	if s.Trace.End.Update == d.Result.Updates {
		for _, name := range slices.Sorted(maps.Keys(s.Trace.End.Values)) {
			v := s.Trace.End.Values[name]
			if _, scored := scores.Metrics[name]; scored {
				continue
			}
			if !finite(v) {
				return d, &notFinite{name, v, s.Last}
			}
			d.Result.Metrics["last."+name] = v
		}
	}
	d.Provenance = store.Provenance{
		Started: u.Started.UTC().Truncate(time.Second), Finished: time.Now().UTC().Truncate(time.Second),
		Wall: u.Wall, CPU: u.CPU, Memory: u.Memory, Scoring: u.Scoring, Sessions: u.Past,
		Shared:  slices.ContainsFunc(u.Past, func(one store.Session) bool { return one.Jobs > 1 }),
		Dataset: r.Data.record(), Experiment: r.Cell.Exp, Profile: r.Profile, Cell: r.Cell.Point, Trace: trace,
		Timing: s.Timing,
	}
	if s.Of != r.Key {
		d.Provenance.Of = s.Of
	}
	return d, nil
}
