package cli

import (
	"testing"

	"dgkip/harness/engine"
)

// A set with several scores is written once, from a record that keeps it.
func TestDistinct(t *testing.T) {
	run := func(seed uint64, protocol string) *engine.Run {
		r := &engine.Run{Seed: seed, Key: protocol}
		r.Identity.Seed, r.Identity.Eval.Name = seed, protocol
		return r
	}
	runs := []*engine.Run{run(0, "features"), run(0, "fresh"), run(1, "features"), run(0, "network")}
	got := distinct(runs, func(r *engine.Run) bool { return r.Key == "fresh" })
	if len(got) != 2 || got[0] != runs[1] || got[1] != runs[2] {
		t.Errorf("got %v", got)
	}
}
