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

// obtain has the set: from the checkpoint, from a record, or from the method.
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
	if w.s.Set != nil { // a session was stopped while the set was scored
		return nil
	}
	// What has begun goes on, and a run that is scored on the way has to see its set there.
	if begun := len(w.s.Used.Past) > 0; !begun && !w.Force && len(w.s.Trace.Asked.Score) == 0 && w.stored() {
		w.clock.from = w.s.Last
		return nil
	}
	return w.distil()
}

// distil has the method compute the set.
func (w *work) distil() error {
	r := w.run
	w.line.Phase("distil")
	p := method.Problem{
		Data: w.data, IPC: r.Cell.IPC, Model: r.Cell.Net, Seed: r.Seed, Shared: w.features, Resume: w.s.Method, Phase: w.line.Task,
		Begin: w.s.Times.begin,
	}
	w.s.Times.warm = warmUp
	w.distilling.Store(true)
	defer w.distilling.Store(false)
	set, err := r.Method().Distill(w.ctx, p, w.observe)
	if errors.Is(err, method.ErrCheckpoint) { // such as that of an earlier version
		w.s.restart()
		p.Resume = nil
		set, err = r.Method().Distill(w.ctx, p, w.observe)
	}
	if cause := context.Cause(w.ctx); cause != nil && err != nil {
		// Whatever the method made of it: it was told to stop. A set that was done
		// at that moment is kept.
		var stopped *method.Interrupted
		if errors.As(err, &stopped) && stopped.Checkpoint != nil {
			w.s.Method = stopped.Checkpoint
		} else {
			w.s.restart() // the method starts again from the beginning, and all that was written down of it
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
	w.s.Set, w.s.Method, w.s.Made = set, nil, w.used()
	times := w.s.Times.timing(r.flops(), w.s.Made.Past)
	w.s.Timing = &times
	if time.Since(w.clock.started) > time.Second || w.ctx.Err() != nil {
		w.keep()
	}
	return context.Cause(w.ctx)
}

// restart forgets what the method did, but not the time it took.
func (s *saved) restart() {
	s.Method, s.Last = nil, -1
	s.Trace, s.Times = recorder{Asked: s.Trace.Asked}, stopwatch{warm: warmUp}
}

// fits returns what is wrong with a set that the method computed.
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

// observe is what the method calls between updates. The time it takes counts for
// none of them.
func (w *work) observe(step method.Step) {
	now := time.Now()
	if context.Cause(w.ctx) != nil && w.s.Trace.Pending != nil {
		return // stopped while scoring: what comes after is for the next session
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

// recorder keeps what was observed of a set while it was computed.
type recorder struct {
	Asked   experiment.Trace // the lines that are due
	Lines   []traced
	End     traced  // what the method said of itself at its end
	Pending *traced // a line whose scoring was interrupted
}

// traced is a line of the trace.
type traced struct {
	Update int
	Values map[string]float64
	Set    *method.Distilled // of a pending one
	Score  []byte            // the protocol's checkpoint in scoring it
}

// record adds a line where one is due: at the start, at the end if the method knows
// it, and in between as the experiment says.
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
	if line.Set == nil { // none is wanted, or it has no labels as it stands
		t.Lines = append(t.Lines, line)
		return nil
	}
	if err := w.fits(line.Set); err != nil {
		return err
	}
	t.Pending = &line
	return w.pending()
}

// pending scores the set of a line of the trace that waits for it.
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
		// The result does not depend on the trace, and so a set along the way that
		// cannot be scored does not end the run.
		scores = &method.Scores{}
	}
	for name, v := range scores.Metrics {
		// What the method says of itself, such as a deviation, stays beside its bound.
		if _, own := line.Values[name]; !own {
			line.Values[name] = v
		}
	}
	line.Set, line.Score = nil, nil
	w.s.Trace.Lines = append(w.s.Trace.Lines, *line)
	w.s.Trace.Pending = nil
	return nil
}

// table lays the lines that a trace asks for out in columns.
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
