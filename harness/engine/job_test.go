package engine_test

import (
	"context"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"dgkip/harness/engine"
	"dgkip/harness/store"
)

// Runs that differ only in their scoring share the set. Their records are the same as without
// sharing.
func TestTwinsShareTheSet(t *testing.T) {
	alone := strings.Replace(text, "score = 3", "score = 0", 1)
	both := strings.Replace(alone, "[eval]", "\"eval.half.way\" = [false, true]\n[eval]", 1)
	order.Lock()
	order.runs = nil
	order.Unlock()
	p := plan(t, both)
	s := store.Open(t.TempDir())
	if out := execute(t, p, s, options()); out.Computed != 16 {
		t.Fatalf("outcome %+v", out)
	}
	if n := len(order.runs); n != 8 {
		t.Errorf("%d sets were distilled for 16 runs in pairs", n)
	}
	got := contents(t, p, s)
	for _, way := range []string{"false", "true"} {
		q := plan(t, strings.Replace(both, "[false, true]", "["+way+"]", 1))
		own := store.Open(t.TempDir())
		execute(t, q, own, options())
		for name, want := range contents(t, q, own) {
			if got[name] != want {
				t.Errorf("%s differs from the run alone", name)
			}
		}
	}
	// Two jobs at a time do not distil the same set.
	order.runs = nil
	o := options()
	o.Jobs = 2
	if out := execute(t, p, store.Open(t.TempDir()), o); out.Computed != 16 || len(order.runs) != 8 {
		t.Errorf("outcome %+v, %d sets for 16 runs in pairs", out, len(order.runs))
	}
	// Recorded sets are not distilled again, except with force.
	order.runs = nil
	s = store.Open(t.TempDir())
	execute(t, plan(t, strings.Replace(both, "[false, true]", "[true]", 1)), s, options())
	order.runs = nil
	execute(t, p, s, options())
	if n := len(order.runs); n != 0 {
		t.Errorf("%d recorded sets were distilled again", n)
	}
	for name, want := range contents(t, p, s) {
		if got[name] != want {
			t.Errorf("%s differs from the run alone", name)
		}
	}
	for _, r := range p.Runs {
		record, err := s.Get(r.Key)
		if err != nil {
			t.Fatal(err)
		}
		if of := record.Provenance.Of; of != "" && (of == r.Key || !s.Has(of)) {
			t.Errorf("%s has the set of %s", r.Name(), of)
		}
	}
	// Neither are sets whose trace has scores, if the columns of the method are known. They are
	// unknown if the protocol has a value of the same name.
	for _, c := range []struct {
		says string
		made int
	}{{"false", 0}, {"true", 8}} {
		watched := store.Open(t.TempDir())
		scored := strings.Replace(alone, "[eval]", "\"eval.half.says\" = ["+c.says+"]\n[eval]", 1)
		execute(t, plan(t, strings.Replace(scored, "score = 0", "score = 3", 1)), watched, options())
		order.runs = nil
		other := plan(t, strings.Replace(both, "[false, true]", "[true]", 1))
		execute(t, other, watched, options())
		if n := len(order.runs); n != c.made {
			t.Errorf("says %s: %d sets were distilled next to records with scores, want %d", c.says, n, c.made)
		}
		for name, want := range contents(t, other, watched) {
			if got[name] != want {
				t.Errorf("says %s: %s differs from the run alone", c.says, name)
			}
		}
	}
	order.runs = nil
	o.Jobs, o.Force = 1, true
	execute(t, p, s, o)
	if n := len(order.runs); n != 8 {
		t.Errorf("%d sets were distilled with force, want 8", n)
	}
	// Runs with scores on the way do not share sets.
	order.runs = nil
	p = plan(t, strings.Replace(both, "score = 0", "score = 3", 1))
	if out := execute(t, p, store.Open(t.TempDir()), options()); out.Computed != 16 || len(order.runs) != 16 {
		t.Errorf("outcome %+v, %d sets", out, len(order.runs))
	}
}

// single is an experiment of one run, without scores on the way.
var single = strings.NewReplacer("score = 3", "score = 0", `["a", "b"]`, `["a"]`, "[1, 2]", "[1]", "count = 2", "count = 1").Replace(text)

// pair returns a plan of two runs that share a set.
func pair(t *testing.T) *engine.Plan {
	t.Helper()
	p := plan(t, strings.Replace(single, "[eval]", "\"eval.half.way\" = [false, true]\n[eval]", 1))
	if len(p.Runs) != 2 {
		t.Fatalf("%d runs", len(p.Runs))
	}
	return p
}

// The time of a shared set counts only in the session that distilled it. The waiting run does not
// add any.
func TestTimeOfTwins(t *testing.T) {
	p, s := pair(t), store.Open(t.TempDir())
	const long = 400 * time.Millisecond
	var once sync.Once
	hook = func(context.Context, int) { once.Do(func() { time.Sleep(long) }) }
	defer func() { hook = func(context.Context, int) {} }()
	o := options()
	o.Jobs = 2
	execute(t, p, s, o)
	of := map[bool]store.Provenance{} // by whether the run only scored the set
	for _, r := range p.Runs {
		record, err := s.Get(r.Key)
		if err != nil {
			t.Fatal(err)
		}
		of[record.Provenance.Of != ""] = record.Provenance
	}
	maker, twin := of[false], of[true]
	if len(maker.Sessions) != 1 || maker.Sessions[0].From != 0 || len(twin.Sessions) != 2 || twin.Sessions[1].From == 0 {
		t.Fatalf("sessions %+v and %+v", maker.Sessions, twin.Sessions)
	}
	if a, b := maker.Sessions[0].Seconds, twin.Sessions[1].Seconds; a < long.Seconds() || b > a/2 || twin.Wall > 1.5*a {
		t.Errorf("%g s for the set, %g s to score it, %g s in all", a, b, twin.Wall)
	}
}

// A job interrupted anywhere continues to the same records without distilling its set again.
func TestJobInterruptedAnywhere(t *testing.T) {
	p := pair(t)
	s := store.Open(t.TempDir())
	execute(t, p, s, options())
	want := contents(t, p, s)
	for _, force := range []bool{false, true} {
		for stop := range 11 { // updates, and steps of each score
			own := store.Open(t.TempDir())
			o := options()
			o.Force = force
			order.runs = nil
			if out, err := interrupt(p, own, o, after(stop)); err == nil || out.Failed > 0 || out.Left == 0 {
				t.Errorf("stopped at %d, force %v: %+v, %v", stop, force, out, err)
			}
			out := execute(t, p, own, o)
			if out.Computed+out.Before != 2 || force && out.Computed != 2 || len(order.runs) != 1 {
				t.Errorf("stopped at %d, force %v: outcome %+v, %d sets", stop, force, out, len(order.runs))
			}
			if !maps.Equal(contents(t, p, own), want) {
				t.Errorf("stopped at %d, force %v: the records differ", stop, force)
			}
			if names := checkpoints(t, own); len(names) > 0 {
				t.Errorf("stopped at %d, force %v: left behind %q", stop, force, names)
			}
			of := 0
			for _, r := range p.Runs {
				record, err := own.Get(r.Key)
				if err != nil {
					t.Fatal(err)
				}
				if record.Provenance.Of != "" {
					of++
				}
			}
			if of != 1 {
				t.Errorf("stopped at %d, force %v: %d runs reused a set, want 1", stop, force, of)
			}
		}
	}
}

// The state of an interrupted run stays while a recorded run of the same set is planned.
func TestStateOfAnotherScore(t *testing.T) {
	p, s := pair(t), store.Open(t.TempDir())
	a, b := &engine.Plan{Runs: p.Runs[:1]}, &engine.Plan{Runs: p.Runs[1:]}
	execute(t, a, s, options())
	_, err := interrupt(b, s, options(), after(0))
	if err == nil || len(checkpoints(t, s)) != 1 {
		t.Fatalf("%v, checkpoints %q", err, checkpoints(t, s))
	}
	if execute(t, a, s, options()); len(checkpoints(t, s)) != 1 {
		t.Error("the state is lost")
	}
	if execute(t, b, s, options()); len(checkpoints(t, s)) != 0 {
		t.Errorf("left behind: %q", checkpoints(t, s))
	}
}

// A failed score affects neither the set nor its other scores.
func TestScoreFails(t *testing.T) {
	order.runs = nil
	p, s := plan(t, strings.Replace(single, "[eval]", "\"eval.half.wrong\" = [true, false]\n[eval]", 1)), store.Open(t.TempDir())
	if out := execute(t, p, s, options()); out != (engine.Outcome{Computed: 1, Failed: 1, Broke: 1}) || len(order.runs) != 1 {
		t.Errorf("outcome %+v, %d sets", out, len(order.runs))
	}
	if r, err := s.Get(p.Runs[1].Key); err != nil || r.Provenance.Of != "" || len(checkpoints(t, s)) > 0 {
		t.Errorf("%v, or the run reused a set, or states are left: %q", err, checkpoints(t, s))
	}
	o := options()
	o.Retry = time.Now()
	if out := execute(t, p, s, o); out != (engine.Outcome{Before: 1, Failed: 1, Broke: 1}) || len(order.runs) != 1 {
		t.Errorf("tried again: outcome %+v, %d sets", out, len(order.runs))
	}
	// If no score is recorded, a set that took long is kept.
	var once sync.Once
	hook = func(context.Context, int) { once.Do(func() { time.Sleep(1100 * time.Millisecond) }) }
	defer func() { hook = func(context.Context, int) {} }()
	order.runs = nil
	p = &engine.Plan{Runs: p.Runs[:1]}
	s = store.Open(t.TempDir())
	for range 2 {
		o.Retry = time.Now()
		if out := execute(t, p, s, o); out != (engine.Outcome{Failed: 1, Broke: 1}) || len(order.runs) != 1 {
			t.Errorf("a long set: outcome %+v, %d sets", out, len(order.runs))
		}
	}
}

// A set that cannot be distilled fails all its scores after one attempt.
func TestSetFails(t *testing.T) {
	order.runs = nil
	p := plan(t, strings.NewReplacer("score = 3", "score = 0", "[eval]", "\"eval.half.way\" = [false, true]\n[eval]").Replace(text)+"[method.walk]\nwrong = \"panic\"\n")
	s := store.Open(t.TempDir())
	if out := execute(t, p, s, options()); out != (engine.Outcome{Failed: 16, Broke: 16}) || len(order.runs) != 8 {
		t.Errorf("outcome %+v, %d sets", out, len(order.runs))
	}
}

// Each run of a job has the trace lines that it requests.
func TestTracesOfAJob(t *testing.T) {
	p := plan(t, single)
	other := plan(t, strings.Replace(single, "trace = 2", "trace = 3", 1)+"[eval.half]\nsays = true\n")
	s, own := store.Open(t.TempDir()), store.Open(t.TempDir())
	both := &engine.Plan{Runs: []*engine.Run{p.Runs[0], other.Runs[0]}}
	order.runs = nil
	if out := execute(t, both, s, options()); out.Computed != 2 || len(order.runs) != 1 {
		t.Errorf("outcome %+v, %d sets", out, len(order.runs))
	}
	execute(t, other, own, options())
	execute(t, p, own, options())
	if !maps.Equal(contents(t, both, s), contents(t, both, own)) {
		t.Error("a trace differs from the run alone")
	}
}
