package engine

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"slices"
	"time"

	"dgkip/harness/env"
	"dgkip/harness/method"
	"dgkip/harness/store"
)

// saved is the state of a job between sessions.
type saved struct {
	Forced bool // the job started from the beginning, despite a record or an earlier state

	Method []byte            // the method's checkpoint
	Set    *method.Distilled // the finished set, or nil
	Last   int               // the last update seen, or -1
	Trace  recorder
	Times  stopwatch

	Of     string       // key of the recorded run that distilled the set, or ""
	Made   usage        // time and memory for distilling the set
	Timing store.Timing // of the updates

	Run   string // key of the run in progress
	Used  usage  // time and memory of that run so far
	Score []byte // checkpoint of the protocol
}

// usage is the time and memory of a run, over all its sessions.
type usage struct {
	Started time.Time
	Wall    float64
	CPU     float64
	Scoring float64
	Memory  int64
	Past    []store.Session
}

// clock measures a session.
type clock struct {
	started time.Time
	cpu     time.Duration
	from    int       // first update
	looked  time.Time // time of the last search for other work on this host
	busy    bool      // the search has found some
}

// begin starts a session on a run. A run that only scores the set includes the time of distilling
// it, but not of scoring it for other runs.
func (w *work) begin(r *Run) {
	if w.s.Set != nil && w.s.Run != r.Key {
		w.s.Used, w.s.Score = w.s.Made, nil
	}
	w.s.Run = r.Key
	if w.Jobs == 1 {
		env.ResetPeak() // earlier runs do not count
	}
	w.clock = clock{started: time.Now(), cpu: env.CPU(), from: max(0, w.s.Last)}
	w.findOthers(0)
	if w.s.Used.Started.IsZero() {
		w.s.Used.Started = w.clock.started
	}
}

// findOthers looks for other work on this host, if the last search is older than after.
func (w *work) findOthers(after time.Duration) {
	if c := &w.clock; !c.busy && time.Since(c.looked) >= after {
		c.busy, c.looked = w.store.Others() || w.Busy != nil && w.Busy(), time.Now()
	}
}

// used returns the time and memory of the run in progress, including this session.
func (w *work) used() usage {
	u, one := w.s.Used, w.session()
	u.Wall += one.Seconds
	u.CPU += (env.CPU() - w.clock.cpu).Seconds()
	u.Memory = max(u.Memory, env.PeakMemory())
	u.Past = append(slices.Clone(u.Past), one)
	return u
}

// session describes the current session.
func (w *work) session() store.Session {
	c := w.clock
	return store.Session{
		Host: env.Read(), Kernels: w.Kernels, Code: w.run.code(), Started: c.started.UTC().Truncate(time.Second),
		Seconds: time.Since(c.started).Seconds(), Args: w.Args, Jobs: w.Jobs, Threads: w.Threads, Busy: c.busy, From: c.from,
	}
}

// keep saves the state of the job. It stops all runs if the disk cannot be written to.
func (w *work) keep() {
	w.findOthers(10 * time.Minute)
	s := w.s
	if s.Set != nil && s.Set.Whole && s.Score == nil || s.Set == nil && s.Method == nil && s.Last < 0 {
		return // nothing was computed yet
	}
	s.Used, s.Forced = w.used(), w.Force
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(s); err != nil {
		w.cancel(fmt.Errorf("checkpoint: %w", err))
		return
	}
	if err := w.store.SaveCheckpoint(w.job.Key, b.Bytes()); err != nil {
		w.stop(err)
		return
	}
	w.kept = time.Now()
}

// stillNeeded reports whether a state belongs to a run without a record, such as another score of the set.
func (e *executor) stillNeeded(key string) bool {
	s, err := load(e.store, key)
	return err == nil && s != nil && s.Run != "" && !e.There.Has(s.Run)
}

// load reads the state of a job. It returns nil without a checkpoint.
func load(s *store.Store, key string) (*saved, error) {
	state, err := s.Checkpoint(key)
	if err != nil || state == nil {
		return nil, err
	}
	out := new(saved)
	if gob.NewDecoder(bytes.NewReader(state)).Decode(out) != nil {
		return nil, errors.New("the checkpoint has an unknown format")
	}
	return out, nil
}

// restore loads the state of an earlier session. A forced job accepts only the state of a forced
// one. The run in progress moves to the front.
func (w *work) restore() {
	j := w.job
	s, err := load(w.store, j.Key)
	if err != nil {
		w.Board.Printf("%s: %v; starting over", j.Runs[0].Name(), err)
	}
	if s == nil || w.Force && !s.Forced {
		s = &saved{Last: -1, Trace: recorder{Asked: j.trace()}}
	}
	w.s = *s
	if i := slices.IndexFunc(j.Runs, func(r *Run) bool { return r.Key == w.s.Run }); i > 0 {
		j.Runs[0], j.Runs[i] = j.Runs[i], j.Runs[0]
	}
}
