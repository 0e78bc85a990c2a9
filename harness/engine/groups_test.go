package engine

import "testing"

// Values of a group are kept until no job uses them and a job of another group starts.
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
		t.Error("the values are gone during a job")
	}
	e.leave(a)
	e.leave(b)
	begin(1)
	if held(a) {
		t.Error("the values are kept without a job")
	}
}
