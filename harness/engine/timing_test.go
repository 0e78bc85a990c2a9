package engine

import "testing"

// An iteration has three updates, and its first trains no network. The first updates of a session
// are not timed.
func TestIteration(t *testing.T) {
	row := func(from int, before float64) interval {
		return interval{From: from, To: from + 1, Seconds: 1, Before: before}
	}
	whole := []interval{row(2, 4), row(3, 0), row(4, 4), row(5, 4), row(6, 0), row(7, 4), row(8, 6)}
	for _, c := range []struct {
		rows    []interval
		updates int
		want    float64
	}{
		{nil, 3, 0},
		{whole, 3, 12},     // median of 11 and 13; the first iteration is incomplete
		{whole, 1, 5},      // each update is an iteration
		{whole[:1], 3, 15}, // only a third of an iteration
		{[]interval{{From: 0, To: 3, Seconds: 2, Before: 1}}, 3, 9},
	} {
		if got := iteration(c.rows, c.updates); got != c.want {
			t.Errorf("%d rows, iterations of %d: %v, want %v", len(c.rows), c.updates, got, c.want)
		}
	}
}
