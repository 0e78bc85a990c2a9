package engine_test

import (
	"strings"
	"testing"

	"dgkip/harness/store"
)

// Runs that differ in their scoring alone share the set, and each has the record that
// it has by itself.
func TestTwinsShareTheSet(t *testing.T) {
	alone := strings.Replace(text, "score = 3", "score = 0", 1)
	both := strings.Replace(alone, "[eval]", "\"eval.half.way\" = [false, true]\n[eval]", 1)
	order.Lock()
	order.runs = nil
	order.Unlock()
	p := plan(t, both)
	s := store.Open(t.TempDir())
	if out := execute(t, p, s, options()); out.Made != 16 {
		t.Fatalf("outcome %+v", out)
	}
	if n := len(order.runs); n != 8 {
		t.Errorf("%d sets were made for 16 runs in pairs", n)
	}
	got := contents(t, p, s)
	for _, way := range []string{"false", "true"} {
		q := plan(t, strings.Replace(both, "[false, true]", "["+way+"]", 1))
		own := store.Open(t.TempDir())
		execute(t, q, own, options())
		for name, want := range contents(t, q, own) {
			if got[name] != want {
				t.Errorf("%s is not what it is alone", name)
			}
		}
	}
	// Scores along the way are each run's own.
	order.runs = nil
	p = plan(t, strings.Replace(both, "score = 0", "score = 3", 1))
	if out := execute(t, p, store.Open(t.TempDir()), options()); out.Made != 16 || len(order.runs) != 16 {
		t.Errorf("outcome %+v, %d sets", out, len(order.runs))
	}
}
