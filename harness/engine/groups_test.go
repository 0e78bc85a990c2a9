package engine

import "testing"

// What jobs of a group share is there until another group's job begins and no job of the
// first is under way.
func TestGroupsAreLetGo(t *testing.T) {
	e := &executor{groups: map[string]*group{}}
	begin := func(seed uint64) *group {
		return e.enter(&Job{Runs: []*Run{{Seed: seed}}})
	}
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
	a := begin(0)
	held(a)
	e.leave(a)
	if begin(0) != a || !held(a) {
		t.Error("the next job of the group finds nothing")
	}
	b := begin(1)
	if !held(a) {
		t.Error("a job is at it, and it is gone")
	}
	e.leave(a)
	e.leave(b)
	begin(1)
	if held(a) {
		t.Error("no job is at it, and it is kept")
	}
}
