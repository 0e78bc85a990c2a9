package engine

import (
	"testing"

	"dgkip/harness/store"
)

// What another scoring took says nothing of a run; the time of an update does.
func TestOtherScoring(t *testing.T) {
	h := &history{Machine: Machine{Speed: func() float64 { return 1e9 }}, like: map[string][]past{"random": {{eval: "features", rest: 1}}, "dc": {{eval: "features", rest: 1, updates: 5, pace: 2}}}}
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
		if got := h.tells(c.k, c.updates); got != c.want {
			t.Errorf("%+v, %d updates: %v", c.k, c.updates, got)
		}
	}
}

// A run takes as long as a record of as many threads. Where these were more, or others were
// at work on the machine, it takes the same processor time.
func TestSlower(t *testing.T) {
	m := Machine{Threads: 2}
	of := func(cpu float64, shared bool, s ...store.Session) store.Provenance {
		return store.Provenance{Wall: 100, CPU: cpu, Shared: shared, Sessions: s}
	}
	for _, c := range []struct {
		p    store.Provenance
		want float64
	}{
		{of(190, false, store.Session{Threads: 2, Jobs: 1}), 1},
		{of(800, false, store.Session{Threads: 16, Jobs: 1}), 5},
		{of(800, true, store.Session{Threads: 16, Jobs: 4}), 2},
		{of(40, false, store.Session{Threads: 2, Jobs: 1, Beside: true}, store.Session{Threads: 2, Jobs: 1}), 0.25},
		{of(0, false, store.Session{Threads: 16, Jobs: 1}), 1},
		{of(190, false), 1},
	} {
		if got := m.slower(c.p); got != c.want {
			t.Errorf("%+v: %v, want %v", c.p, got, c.want)
		}
	}
}

// One record that is scored alike says more than any number of others.
func TestTypical(t *testing.T) {
	far, poor := guess{making: 3, distance: 2}, guess{making: 1000, distance: 0.1, poor: true}
	other := guess{making: 7, distance: 0, another: true}
	near := []guess{{making: 10, distance: 0.1}, {making: 20, distance: 0.2}, {making: 30, distance: 0.3}}
	for _, c := range []struct {
		all  []guess
		want float64
	}{
		{[]guess{poor, far, poor}, 3},
		{append(near, far, far, poor), 20},
		{[]guess{poor}, 1000},
		{[]guess{other, near[2], other}, 30},
		{[]guess{other, poor, poor}, 7},
	} {
		if got := typical(c.all).making; got != c.want {
			t.Errorf("%v: %v, want %v", c.all, got, c.want)
		}
	}
}
