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
	Method []byte            // the method's checkpoint
	Set    *method.Distilled // what it returned, once it has
	Last   int               // update seen last
	Trace  recorder
	Times  stopwatch

	Of     string        // the run on record that computed the set; "" if none is
	Made   usage         // what the set took
	Timing *store.Timing // of its updates

	Run   string // the key of the run under way, which computes the set or scores it
	Used  usage  // what that run took
	Score []byte // the protocol's checkpoint
}

// usage is what a run took, in all its sessions.
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
	from    int       // update
	looked  time.Time // when one last looked for other processes on this host
	beside  bool      // there were some
}

// begin begins a session on a run. Of what was used before, a run that only scores the set has
// what the set took, whatever other runs took to score it.
func (w *work) begin(r *Run) {
	if w.s.Set != nil && w.s.Run != r.Key {
		w.s.Used, w.s.Score = w.s.Made, nil
	}
	w.s.Run = r.Key
	if w.Jobs == 1 {
		env.ResetPeak() // those before have their own
	}
	w.clock = clock{started: time.Now(), cpu: env.CPU(), from: max(0, w.s.Last)}
	w.lookAround(0)
	if w.s.Used.Started.IsZero() {
		w.s.Used.Started = w.clock.started
	}
}

// lookAround finds out whether other processes are at work on this host, if it has not
// for some time.
func (w *work) lookAround(after time.Duration) {
	if c := &w.clock; !c.beside && time.Since(c.looked) >= after {
		c.beside, c.looked = w.store.Others(), time.Now()
	}
}

// used returns what the run under way took, with this session.
func (w *work) used() usage {
	u, one := w.s.Used, w.session()
	u.Wall += one.Seconds
	u.CPU += (env.CPU() - w.clock.cpu).Seconds()
	u.Memory = max(u.Memory, env.PeakMemory())
	u.Past = append(slices.Clone(u.Past), one)
	return u
}

// session describes the one under way.
func (w *work) session() store.Session {
	c := w.clock
	return store.Session{
		Host: env.Read(), Kernels: w.Kernels, Code: w.run.code(), Started: c.started.UTC().Truncate(time.Second),
		Seconds: time.Since(c.started).Seconds(), Args: w.Args, Jobs: w.Jobs, Threads: w.Threads, Beside: c.beside, From: c.from,
	}
}

// keep saves the state of the job. A disk that cannot be written to ends all runs.
func (w *work) keep() {
	if w.data != nil && w.job.Data.intact(w.data) != nil {
		return // the run ends in an error
	}
	w.lookAround(10 * time.Minute)
	s := w.s
	if s.Set != nil && s.Set.Whole && s.Score == nil || s.Set == nil && s.Method == nil && s.Last < 0 {
		return // nothing was computed yet
	}
	s.Used = w.used()
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(s); err != nil {
		w.cancel(fmt.Errorf("checkpoint: %w", err))
		return
	}
	if err := w.store.SaveCheckpoint(w.job.Key, w.Force, b.Bytes()); err != nil {
		w.stop(err)
		return
	}
	w.kept = time.Now()
}

// restore takes up the state that an earlier session left. The run that was under way comes
// first.
func (w *work) restore() {
	j := w.job
	none := saved{Last: -1, Trace: recorder{Asked: j.trace()}}
	w.s = none
	state, err := w.store.Checkpoint(j.Key, w.Force)
	if err == nil && state != nil {
		w.s = saved{}
		if err = gob.NewDecoder(bytes.NewReader(state)).Decode(&w.s); err != nil {
			w.s, err = none, errors.New("the checkpoint is of another form")
		}
	}
	if err != nil {
		w.Board.Printf("%s: %v; starting over", j.Runs[0].Name(), err)
	}
	if i := slices.IndexFunc(j.Runs, func(r *Run) bool { return r.Key == w.s.Run }); i > 0 {
		j.Runs[0], j.Runs[i] = j.Runs[i], j.Runs[0]
	}
}
