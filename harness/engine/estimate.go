package engine

import (
	"slices"
	"time"

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
	State State
	Time  time.Duration // 0 if unknown
	Basis string        // "the same cell", "similar runs", "operations", or "" if unknown
	Bytes int64         // of memory; 0 if unknown
}

// Speed is what operations are converted to time with, per second; 0 if not
// measured.
type Speed float64

// Forecasts tells for every run of a plan whether it is done and, if not, how long
// it may take: as the same cell took with another seed, else by the median time of
// an update in records of the same method, networks and number of images, else by
// its operations.
func Forecasts(p *Plan, s *store.Store, speed Speed) ([]Forecast, error) {
	keys, err := s.Keys()
	if err != nil {
		return nil, err
	}
	walls, updates := map[string][]float64{}, map[string][]float64{}
	for _, key := range keys {
		r, err := s.Get(key)
		if err != nil {
			continue // -collect tells; a plan need not
		}
		walls[cellKey(r.Result.Identity)] = append(walls[cellKey(r.Result.Identity)], r.Provenance.Wall)
		if t := r.Provenance.Timing; t.Counted > 0 {
			updates[kindKey(r.Result.Identity)] = append(updates[kindKey(r.Result.Identity)], t.Median)
		}
	}
	out := make([]Forecast, len(p.Runs))
	for i, r := range p.Runs {
		f := &out[i]
		switch {
		case s.Has(r.Key):
			f.State = Done
			continue
		case s.Failed(r.Key) != nil:
			f.State = Failed
		default:
			if state, err := s.Checkpoint(r.Key); state != nil && err == nil {
				f.State = Begun
			}
		}
		m, scoring := estimates(r)
		f.Bytes = max(m.Bytes, scoring.Bytes)
		similar := updates[kindKey(r.Identity)]
		switch {
		case len(walls[cellKey(r.Identity)]) > 0:
			f.Time, f.Basis = seconds(middle(walls[cellKey(r.Identity)])), "the same cell"
		case len(similar) > 0 && m.Updates > 0:
			f.Time, f.Basis = seconds(middle(similar)*float64(m.Updates)), "similar runs"
			if speed > 0 {
				f.Time += seconds((m.Setup + scoring.Setup) / float64(speed))
			}
		case speed > 0 && (m.Setup+scoring.Setup > 0 || m.Flops > 0 && m.Updates > 0):
			f.Time, f.Basis = seconds((m.Flops*float64(m.Updates)+m.Setup+scoring.Setup)/float64(speed)), "operations"
		}
	}
	return out, nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func middle(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}

// cellKey names all seeds of a cell.
func cellKey(id spec.Identity) string {
	id.Seed = 0
	return string(spec.Canonical(id))
}

// kindKey names runs whose updates should take the same time.
func kindKey(id spec.Identity) string {
	return string(spec.Canonical([]any{id.Method.Name, id.Model, id.IPC}))
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
