package engine_test

import (
	"testing"

	"dgkip/harness/store"
)

// The trace is not part of the identity of a run. A set on the way that cannot be scored must not
// fail the run, because the run would succeed without the trace.
func TestScoringOnTheWayFails(t *testing.T) {
	p := plan(t, text+"[eval.half]\nway = true\n")
	s := store.Open(t.TempDir())
	if o := execute(t, p, s, options()); o.Failed > 0 || o.Computed != len(p.Runs) {
		t.Fatalf("%+v", o)
	}
	r, err := s.Get(p.Runs[0].Key)
	if err != nil {
		t.Fatal(err)
	}
	trace, err := r.Trace()
	if err != nil {
		t.Fatal(err)
	}
	if r.Result.Metrics["test_acc"] == 0 || len(trace.Column("first")) < 3 {
		t.Errorf("metrics %v, %d lines", r.Result.Metrics, len(trace.Column("first")))
	}
}
