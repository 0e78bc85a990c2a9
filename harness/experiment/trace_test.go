package experiment

import (
	"reflect"
	"testing"
)

func TestTrace(t *testing.T) {
	both := newTrace(20, 50).With(newTrace(50, 0)).With(newTrace(40, 100))
	if want := (Trace{[]int{20, 50}, []int{50}}); !reflect.DeepEqual(both, want) {
		t.Errorf("together they are %v, want %v", both, want)
	}
	if !both.Due(40) || !both.Due(50) || both.Due(30) || !both.Scored(100) || both.Scored(40) {
		t.Errorf("%v has wrong lines", both)
	}
	for _, c := range []struct {
		have, want Trace
		updates    int
		ok         bool
	}{
		{newTrace(20, 20), newTrace(20, 20), 100, true},
		{newTrace(20, 20), newTrace(40, 100), 100, true},
		{newTrace(0, 20), newTrace(40, 0), 100, true}, // lines with scores are lines
		{newTrace(20, 0), newTrace(20, 20), 100, false},
		{newTrace(50, 50), newTrace(20, 20), 100, false},
		{newTrace(50, 50), newTrace(20, 20), 0, true}, // only the start is due
		{newTrace(50, 0), newTrace(20, 20), 0, false},
		{newTrace(50, 50), newTrace(100, 100), 100, true},
		{both, newTrace(100, 50), 200, true},
		{both, newTrace(30, 50), 200, false},
	} {
		if got := c.have.Covers(c.want, c.updates); got != c.ok {
			t.Errorf("%v covers %v over %d updates: %v", c.have, c.want, c.updates, got)
		}
	}
}
