package engine_test

import (
	"testing"

	"dgkip/harness/engine"
	"dgkip/harness/store"
)

// The time of an update starts at Begin if a method calls it. The time of an iteration starts at
// the end of the previous one.
func TestBegin(t *testing.T) {
	const one = `schema = 1
name = "t"
title = "T"
[grid]
dataset = ["a"]
ipc = [1]
method = ["slow", "begins"]
[method.slow]
use = "walk"
updates = 8
wrong = "slow"
[method.begins]
use = "walk"
updates = 8
wrong = "begins"
`
	p := plan(t, one)
	s := store.Open(t.TempDir())
	if out := execute(t, p, s, options()); out != (engine.Outcome{Computed: 2}) {
		t.Fatalf("outcome %+v", out)
	}
	for _, r := range p.Runs {
		record, err := s.Get(r.Key)
		if err != nil {
			t.Fatal(err)
		}
		tm := record.Provenance.Timing
		if slow := tm.Median >= surroundings.Seconds(); tm.Counted < 5 || slow != (r.Cell.Column == "slow") || tm.Median <= 0 {
			t.Errorf("%s: %+v, with %v before every update", r.Cell.Column, tm, surroundings)
		}
		if tm.Iteration < surroundings.Seconds() || tm.PerIteration != 1 {
			t.Errorf("%s: %+v", r.Cell.Column, tm)
		}
		if record.Provenance.Wall < 8*surroundings.Seconds() {
			t.Errorf("%s: the run took %v s in all", r.Cell.Column, record.Provenance.Wall)
		}
	}
}
