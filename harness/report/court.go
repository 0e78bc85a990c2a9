package report

import (
	"slices"

	"dgkip/harness/experiment"
)

// part is the verdict on one of the rows, cells or runs that a claim speaks of.
type part struct {
	where, what string
	verdict     Verdict
	why         string // it is open, where a run or number that is missing is not the reason
}

func (p part) String() string { return p.where + " (" + p.what + ")" }

// court judges one claim on our records or on published numbers.
type court struct {
	r         *Results
	claim     experiment.Claim
	metric    string
	cells     []*CellRuns
	published bool
}

// value returns a metric of a cell in the metric's own unit. Some of the planned
// seeds are not the mean over all of them.
func (c court) value(x *CellRuns, metric string) (float64, bool) {
	if c.published {
		v, _, ok := c.r.publishedOf(x.Cell, metric)
		if !ok {
			return 0, false
		}
		return v.Mean / about(metric).scale, true
	}
	s, ok := x.summary(metric)
	return s.Mean, ok && len(x.done()) == len(x.Runs)
}

// missing reports whether a value that is not there ought to be: what was never
// published of a column takes no part in the published comparison.
func (c court) missing(column, metric string) bool {
	return !c.published || slices.ContainsFunc(c.r.Spec.Published, func(p experiment.Published) bool {
		_, ok := p.Values[column]
		return ok && metricOr(p.Metric) == metric
	})
}

// apart says why the values of some cells, which are times, do not compare; "" if they do.
func (c court) apart(cells []*CellRuns) string {
	if c.published || !isTime(c.metric) {
		return ""
	}
	return machinesOf(cells).incomparable()
}

// matchups groups the cells by all axes but one.
func (c court) matchups(but string) []group {
	return c.r.groups(c.cells, slices.DeleteFunc(c.r.axes(), func(a string) bool { return a == but }))
}

// side is 0 for the columns that the claim is about, 1 for the others: those that it
// names, or all that are no controls. It is -1 for the rest.
func (c court) side(column string) int {
	switch {
	case slices.Contains(c.claim.Columns, column):
		return 0
	case slices.Contains(c.claim.Against, column):
		return 1
	case len(c.claim.Against) == 0 && (c.r.Spec.Table == nil || !slices.Contains(c.r.Spec.Table.Unmarked, column)):
		return 1
	}
	return -1
}

// meant reports whether a claim on single cells is about this one.
func (c court) meant(x *CellRuns) bool {
	return len(c.claim.Columns) == 0 || slices.Contains(c.claim.Columns, x.Cell.Column)
}
