package experiment

import "slices"

// Trace defines the lines of a run's trace: at the start, at the end, and at every multiple of the given
// numbers of updates. It does not affect results or identities, so cells that want different lines can
// share a run.
type Trace struct {
	Every []int `json:"every,omitempty"` // updates between lines
	Score []int `json:"score,omitempty"` // updates between lines with scores on the test images
}

// newTrace returns a trace with lines at multiples of every, and scores at multiples of score. 0 means none.
func newTrace(every, score int) Trace {
	list := func(n int) []int {
		if n == 0 {
			return nil
		}
		return []int{n}
	}
	return Trace{list(every), list(score)}
}

// Due reports whether a line is due after an update other than the first and the last.
func (t Trace) Due(update int) bool { return divided(update, t.Every) }

// Scored reports whether a line with scores is due after an update other than the first and the last.
func (t Trace) Scored(update int) bool { return divided(update, t.Score) }

// divided reports whether n is a multiple of a number in the list.
func divided(n int, list []int) bool {
	return slices.ContainsFunc(list, func(d int) bool { return d > 0 && n%d == 0 })
}

// With returns the trace with the lines of both.
func (t Trace) With(o Trace) Trace {
	return Trace{union(t.Every, o.Every), union(t.Score, o.Score)}
}

// union returns the numbers of both lists without multiples of other numbers.
func union(a, b []int) (all []int) {
	both := slices.Concat(a, b)
	slices.Sort(both)
	for _, n := range both {
		if !divided(n, all) {
			all = append(all, n)
		}
	}
	return all
}

// Covers reports whether a run with the given number of updates has all the lines of another trace.
func (t Trace) Covers(o Trace, updates int) bool {
	missing := func(wanted, have []int) bool {
		return slices.ContainsFunc(wanted, func(n int) bool { return n < updates && !divided(n, have) })
	}
	if len(o.Score) > 0 && len(t.Score) == 0 {
		return false
	}
	return !missing(o.Every, slices.Concat(t.Every, t.Score)) && !missing(o.Score, t.Score)
}
