package engine

import (
	"cmp"
	"math"
	"slices"

	"dgkip/harness/method"
	"dgkip/harness/spec"
	"dgkip/harness/store"
)

// State is what a plan knows of a run.
type State int

// States of a run.
const (
	Missing State = iota
	Done
	Failed
	Begun // with a checkpoint
)

// Forecast is what is expected of a run that is still to be made.
type Forecast struct {
	State   State
	Again   bool    // it failed, and is tried again
	Seconds float64 // 0 if unknown
	Basis   string  // "the same cell", "similar runs", "operations", or "" if unknown

	// Bytes is how much memory it needs, 0 if unknown: a peak that was Measured in a
	// run of its kind, or else at least so much.
	Bytes    int64
	Measured bool
}

// Speed is what operations are converted to time with, per second; 0 if not
// measured.
type Speed float64

// Forecasts tells for every run of a plan whether it is done and, if not, how long
// it may take: as the same cell took with another seed, or on other data of the
// same shape; else by the time of an update in records of the same method, networks,
// number of images and shape of data; else by its operations. With retry, runs that
// failed count as still to be made.
func Forecasts(p *Plan, s *store.Store, speed Speed, retry bool) ([]Forecast, error) {
	past, err := readHistory(s)
	if err != nil {
		return nil, err
	}
	out := make([]Forecast, len(p.Runs))
	paid := map[string]float64{} // operations that the runs before it have made for a group
	for i, r := range p.Runs {
		f := &out[i]
		if s.Has(r.Key) {
			f.State = Done
			continue
		}
		f.Again = s.Failed(r.Key) != nil
		if f.Again && !retry {
			f.State = Failed
			continue
		}
		if state, err := s.Checkpoint(r.Key, false); state != nil && err == nil {
			f.State = Begun
		}
		past.forecast(f, r, speed, paid)
	}
	return out, nil
}

// history is what records tell of the time and memory of runs, by kinds of runs.
type history struct {
	cells   map[string][]float64 // seconds of the same cell with other seeds
	whole   map[string][]float64 // of the same settings on data of the same shape
	updates map[string][]pace    // of an update, whatever the settings
	rest    map[string][]float64 // seconds for all but the updates
	memory  map[string][]peak
}

// pace is the time of an update, and its operations if they are known.
type pace struct{ seconds, flops float64 }

// peak is the most memory a process held, in which there were other runs or not.
type peak struct {
	bytes  int64
	shared bool
}

func readHistory(s *store.Store) (*history, error) {
	keys, err := s.Keys()
	if err != nil {
		return nil, err
	}
	h := &history{map[string][]float64{}, map[string][]float64{}, map[string][]pace{}, map[string][]float64{}, map[string][]peak{}}
	for _, key := range keys {
		if r, err := s.Get(key); err == nil { // -collect tells of the others; a plan need not
			h.add(r)
		}
	}
	return h, nil
}

func (h *history) add(r *store.Record) {
	p, k := r.Provenance, kindsOf(r.Result.Identity, r.Provenance.Dataset.Shape)
	h.cells[k.cell] = append(h.cells[k.cell], p.Wall)
	if p.Dataset.Shape == (store.Shape{}) {
		return
	}
	h.whole[k.whole] = append(h.whole[k.whole], p.Wall)
	if t := p.Timing; t.Counted > 0 {
		h.updates[k.updates] = append(h.updates[k.updates], pace{t.Median, t.Flops})
		h.rest[k.rest] = append(h.rest[k.rest], max(0, p.Wall-t.Median*float64(t.Counted+t.Excluded)))
	}
	if p.Memory > 0 {
		h.memory[k.rest] = append(h.memory[k.rest], peak{p.Memory, p.Shared})
	}
}

// forecast fills in time and memory of a run. The first run of a group pays for what
// they share.
func (h *history) forecast(f *Forecast, r *Run, speed Speed, paid map[string]float64) {
	size := r.sizes()
	k := kindsOf(r.Identity, store.Shape{Train: size.Train, Test: size.Test, Height: size.H, Width: size.W, Channels: size.C})
	m, scoring := estimates(r)
	f.Bytes = max(m.Bytes, scoring.Bytes)
	if n := lowest(h.memory[k.rest]); n > 0 {
		f.Bytes, f.Measured = n, true
	}
	operations := func(flops float64) float64 {
		if speed <= 0 {
			return 0
		}
		return flops / float64(speed)
	}
	updates := m.Flops * float64(m.Updates)
	group := r.group()
	due := max(0, max(m.Shared, scoring.Shared)-paid[group])
	paid[group] += due
	setup := m.Setup + scoring.Setup + due
	switch {
	case len(h.cells[k.cell]) > 0:
		f.Seconds, f.Basis = middle(h.cells[k.cell]), "the same cell"
	case len(h.whole[k.whole]) > 0:
		f.Seconds, f.Basis = middle(h.whole[k.whole]), "similar runs"
	case len(h.updates[k.updates]) > 0 && m.Updates > 0:
		f.Seconds, f.Basis = float64(m.Updates)*ofAnUpdate(h.updates[k.updates], m.Flops), "similar runs"
		if rest := h.rest[k.rest]; len(rest) > 0 {
			f.Seconds += middle(rest)
		} else {
			f.Seconds += operations(setup)
		}
	case speed > 0 && setup+updates+m.Shared+scoring.Shared > 0:
		f.Seconds, f.Basis = operations(setup+updates), "operations"
	}
	if !(f.Seconds >= 0 && f.Seconds <= math.MaxFloat64) {
		f.Seconds, f.Basis = 0, ""
	}
}

func middle(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}

// ofAnUpdate is the median time of an update with so many operations. Other
// settings than the recorded ones may have more or less of them.
func ofAnUpdate(past []pace, flops float64) float64 {
	var all []float64
	for _, p := range past {
		scale := 1.0
		if p.flops > 0 && flops > 0 {
			scale = flops / p.flops
		}
		all = append(all, p.seconds*scale)
	}
	return middle(all)
}

// lowest is the peak nearest to a single run's own: a process also has those of
// its earlier runs, and of those at the same time.
func lowest(past []peak) int64 {
	if len(past) == 0 {
		return 0
	}
	return slices.MinFunc(past, func(a, b peak) int {
		if a.shared != b.shared {
			if b.shared {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.bytes, b.bytes)
	}).bytes
}

// kinds are names for runs that are alike in what a forecast needs.
type kinds struct{ cell, whole, updates, rest string }

func kindsOf(id spec.Identity, shape store.Shape) kinds {
	name := func(parts ...any) string { return string(spec.Canonical(parts)) }
	classes := len(id.Dataset.Classes)
	sameUpdates := name(id.Method.Name, id.Method.Version, id.Model, id.IPC, shape.Train, shape.Height, shape.Width, shape.Channels, classes)
	sameRest := name(sameUpdates, id.Eval, shape.Test)
	id.Seed = 0
	return kinds{cell: name(id), whole: name(sameRest, id.Method.Settings), updates: sameUpdates, rest: sameRest}
}

func estimates(r *Run) (m, scoring method.Estimate) {
	size := r.sizes()
	own := r.Cell.Method()
	if e, ok := own.(method.Estimator); ok {
		m = e.Estimate(size)
	}
	if own.Info().IgnoresIPC {
		size.IPC = 0
	}
	if e, ok := r.Cell.Protocol.(method.Estimator); ok {
		scoring = e.Estimate(size)
	}
	return m, scoring
}
