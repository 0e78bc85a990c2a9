package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"dgkip/harness/experiment"
	"dgkip/harness/method"
	"dgkip/harness/store"
)

// obtain gets the set from the checkpoint, from a record, or from the method.
func (w *work) obtain() (err error) {
	first := w.job.Runs[0]
	w.show(first)
	w.begin(first)
	w.line.Phase("loading data")
	if w.data, w.test, err = w.job.Data.Images(w.ctx); err != nil {
		return cmp.Or(context.Cause(w.ctx), err)
	}
	if err := w.pending(); err != nil {
		if cause := context.Cause(w.ctx); cause != nil {
			w.keep()
			return cause
		}
		return err
	}
	if w.s.Set != nil { // an earlier session stopped while scoring the set
		return nil
	}
	// A job that has begun continues. If sets are scored on the way, the method must compute them
	// again.
	if begun := len(w.s.Used.Past) > 0; !begun && !w.Force && len(w.s.Trace.Asked.Score) == 0 && w.stored() {
		w.clock.from = w.s.Last
		return nil
	}
	return w.distil()
}

// distil lets the method compute the set.
func (w *work) distil() error {
	r := w.run
	w.line.Phase("distil")
	p := method.Problem{
		Data: w.data, IPC: r.Cell.IPC, Model: r.Cell.Net, Seed: r.Seed, Shared: w.features, Resume: w.s.Method, Phase: w.line.Task,
		Begin: w.s.Times.begin,
	}
	w.s.Times.warm = warmUp
	set, err := r.Method().Distill(w.ctx, p, w.observe)
	if errors.Is(err, method.ErrCheckpoint) { // such as one of an earlier version
		w.Board.Printf("%s: %v; starting over", r.Name(), err)
		w.s.restart()
		p.Resume = nil
		set, err = r.Method().Distill(w.ctx, p, w.observe)
	}
	cause := context.Cause(w.ctx)
	if cause != nil && cause != context.Cause(w.executor.ctx) { // observe found a fault, such as a loss that is not finite
		return cause
	}
	if cause != nil && err != nil {
		// The method was told to stop, whatever its error says. A finished set comes without an
		// error, and is kept below.
		var stopped *method.Interrupted
		if errors.As(err, &stopped) && stopped.Checkpoint != nil {
			w.s.Method = stopped.Checkpoint
		} else {
			w.s.restart() // the next session starts from the beginning
		}
		w.keep()
		return cause
	}
	if err != nil {
		return err
	}
	if set == nil {
		return errors.New("the method returned neither a set nor an error")
	}
	if err := w.fits(set); err != nil {
		return err
	}
	w.findOthers(0)
	w.s.Set, w.s.Method, w.s.Made = set, nil, w.used()
	w.s.Timing = w.s.Times.timing(w.s.Made.Past)
	if time.Since(w.clock.started) > time.Second || w.ctx.Err() != nil {
		w.keep()
	}
	return context.Cause(w.ctx)
}

// restart forgets the progress of the method, but not the time used.
func (s *saved) restart() {
	s.Method, s.Last = nil, -1
	s.Trace, s.Times = recorder{Asked: s.Trace.Asked}, stopwatch{warm: warmUp}
}

// fits returns an error unless the set fits the data and the method.
func (w *work) fits(set *method.Distilled) error {
	ipc, info := w.run.Cell.IPC, w.run.Method().Info()
	if info.IgnoresIPC {
		ipc = 0
	}
	if err := set.Fits(w.data, ipc); err != nil {
		return fmt.Errorf("method %s: %w", info.Name, err)
	}
	return nil
}

// observe is called by the method after each update. Its own time does not count.
func (w *work) observe(step method.Step) {
	now := time.Now()
	if context.Cause(w.ctx) != nil && w.s.Trace.Pending != nil {
		return // stopped while scoring; the next session continues there
	}
	w.s.Times.update(w.s.Last, step.Update, max(1, step.Iteration), now)
	w.s.Last = step.Update
	if !finite(step.Loss) {
		w.cancel(&notFinite{"loss", step.Loss, step.Update})
		return
	}
	if err := w.record(step); err != nil {
		w.cancel(err)
	}
	w.line.Step(step.Update, step.Of, step.Loss, step.HasLoss)
	if step.Checkpoint != nil && time.Since(w.kept) >= w.CheckpointEvery && w.ctx.Err() == nil {
		if state, err := step.Checkpoint(); err != nil {
			w.cancel(fmt.Errorf("checkpoint at update %d: %w", step.Update, err))
		} else {
			w.s.Method = state
			w.keep()
		}
	}
	w.s.Times.mark = time.Now()
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// recorder collects the trace while the set is computed.
type recorder struct {
	Asked   experiment.Trace // the requested lines
	Lines   []traced
	End     traced  // values of the method at its last update
	Pending *traced // a line whose scoring was interrupted
}

// traced is a line of the trace.
type traced struct {
	Update int
	Values map[string]float64
	Set    *method.Distilled // set to score, if the line is pending
	Score  []byte            // checkpoint of the protocol for Set
}

// record adds a line at the start, at requested updates, and at the end if the method knows it.
func (w *work) record(step method.Step) error {
	t := &w.s.Trace
	end := step.Update == 0 || step.Of > 0 && step.Update == step.Of
	score := t.Asked.Scored(step.Update) || end && len(t.Asked.Score) > 0
	if !end && !score && !t.Asked.Due(step.Update) {
		return nil
	}
	line := traced{Update: step.Update, Values: map[string]float64{}}
	if step.Metrics != nil {
		maps.Copy(line.Values, step.Metrics())
	}
	if step.HasLoss {
		line.Values["loss"] = step.Loss
	}
	if end {
		t.End = traced{Update: step.Update, Values: maps.Clone(line.Values)}
	}
	if score && step.Distilled != nil {
		line.Set = step.Distilled()
	}
	if line.Set == nil { // not requested, or the set has no labels yet
		t.Lines = append(t.Lines, line)
		return nil
	}
	if err := w.fits(line.Set); err != nil {
		return err
	}
	t.Pending = &line
	return w.pending()
}

// pending scores the set of the pending line, if there is one.
func (w *work) pending() error {
	line := w.s.Trace.Pending
	if line == nil {
		return nil
	}
	scores, err := w.evaluate(line.Set, line.Score, false, func(method.Step) {})
	var stopped *method.Interrupted
	if errors.As(err, &stopped) {
		line.Score = stopped.Checkpoint
	}
	if err != nil && (stopped != nil || w.ctx.Err() != nil) {
		return err
	}
	if err != nil {
		// The result does not depend on the trace. A set on the way that cannot be scored therefore
		// does not fail the run.
		scores = &method.Scores{}
	}
	for name, v := range scores.Metrics {
		// Values of the method take precedence over scores of the same name, such as deviation.
		if _, own := line.Values[name]; !own {
			line.Values[name] = v
		}
	}
	line.Set, line.Score = nil, nil
	w.s.Trace.Lines = append(w.s.Trace.Lines, *line)
	w.s.Trace.Pending = nil
	return nil
}

// table returns the requested lines as a table.
func (t *recorder) table(asked experiment.Trace) store.Trace {
	names, lines := map[string]bool{}, []traced(nil)
	for _, l := range t.Lines {
		if l.Update == 0 || l.Update == t.End.Update || asked.Due(l.Update) || asked.Scored(l.Update) {
			lines = append(lines, l)
			for name := range l.Values {
				names[name] = true
			}
		}
	}
	out := store.Trace{Columns: append([]string{"update"}, slices.Sorted(maps.Keys(names))...)}
	for _, l := range lines {
		row := []float64{float64(l.Update)}
		for _, name := range out.Columns[1:] {
			v, ok := l.Values[name]
			if !ok {
				v = math.NaN()
			}
			row = append(row, v)
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}
