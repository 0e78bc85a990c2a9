package engine

import "testing"

// What another scoring took says nothing of a run; the time of an update does.
func TestOtherScoring(t *testing.T) {
	h := &history{like: map[string][]past{"random": {{eval: "features", rest: 1}}, "dc": {{eval: "features", rest: 1, updates: 5, pace: 2}}}}
	for _, c := range []struct {
		k       kinds
		updates int
		want    bool
	}{
		{kinds{like: "random", eval: "features"}, 0, true},
		{kinds{like: "random", eval: "network"}, 0, false},
		{kinds{like: "dc", eval: "network"}, 5, true},
		{kinds{like: "dc", eval: "network"}, 0, false},
		{kinds{like: "dd", eval: "features"}, 5, false},
	} {
		if got := h.tells(c.k, c.updates, func() float64 { return 1e9 }); got != c.want {
			t.Errorf("%+v, %d updates: %v", c.k, c.updates, got)
		}
	}
}
