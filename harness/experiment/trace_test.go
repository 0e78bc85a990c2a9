package experiment

import (
	"reflect"
	"testing"
)

func TestTrace(t *testing.T) {
	both := NewTrace(20, 50).With(NewTrace(50, 0)).With(NewTrace(40, 100))
	if want := (Trace{[]int{20, 50}, []int{50}}); !reflect.DeepEqual(both, want) {
		t.Errorf("together they are %v, want %v", both, want)
	}
	if !both.Due(40) || !both.Due(50) || both.Due(30) || !both.Scored(100) || both.Scored(40) {
		t.Errorf("%v has other lines than its own", both)
	}
	for _, c := range []struct {
		have, want Trace
		updates    int
		ok         bool
	}{
		{NewTrace(20, 20), NewTrace(20, 20), 100, true},
		{NewTrace(20, 20), NewTrace(40, 100), 100, true},
		{NewTrace(0, 20), NewTrace(40, 0), 100, true}, // lines with scores are lines
		{NewTrace(20, 0), NewTrace(20, 20), 100, false},
		{NewTrace(50, 50), NewTrace(20, 20), 100, false},
		{NewTrace(50, 50), NewTrace(20, 20), 0, true}, // only the start is due
		{NewTrace(50, 0), NewTrace(20, 20), 0, false},
		{NewTrace(50, 50), NewTrace(100, 100), 100, true},
		{both, NewTrace(100, 50), 200, true},
		{both, NewTrace(30, 50), 200, false},
	} {
		if got := c.have.Covers(c.want, c.updates); got != c.ok {
			t.Errorf("%v covers %v over %d updates: %v", c.have, c.want, c.updates, got)
		}
	}
}
