package engine

import (
	"testing"
	"time"
)

// SetLongAgo makes runs count as long ones sooner or later, until the function it returns
// is called.
func SetLongAgo(d time.Duration) func() {
	before := longAgo
	longAgo = d
	return func() { longAgo = before }
}

// What runs of a group share is there until a worker begins with another group and no run
// of the first is under way.
func TestGroupsAreLetGo(t *testing.T) {
	a, b := &group{}, &group{}
	e := &executor{Options: Options{Worker: true}, groups: map[string]*group{"a": a, "b": b}}
	held := func(g *group) bool {
		held := true
		for _, s := range []interface {
			Do(string, func() (any, error)) (any, error)
		}{&g.features, &g.scoring} {
			if _, err := s.Do("key", func() (any, error) { held = false; return 1, nil }); err != nil {
				t.Fatal(err)
			}
		}
		return held
	}
	e.enter(a)
	held(a)
	e.leave(a)
	e.enter(a)
	if !held(a) {
		t.Error("the next run of the group finds nothing")
	}
	e.enter(b)
	if !held(a) {
		t.Error("a run is at it, and it is gone")
	}
	e.leave(a)
	e.leave(b)
	e.enter(b)
	if held(a) {
		t.Error("no run is at it, and it is kept")
	}
	// All that is left of a plan in one process is in order: groups come one by one.
	e = &executor{groups: e.groups}
	e.enter(a)
	held(a)
	e.leave(a)
	e.enter(b)
	if !held(a) {
		t.Error("a plain process let it go before its last run")
	}
}
