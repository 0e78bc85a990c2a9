package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"dgkip/harness/experiment"
	"dgkip/harness/stats"
)

// claimKinds maps each kind of claim to the unit of its parts and the function that judges them.
var claimKinds = map[string]struct {
	unit  string
	parts func(claimData) []part
}{
	"rank":     {"rows", rank},
	"less":     {"rows", less},
	"growth":   {"series", growth},
	"keeps":    {"cells", keeps},
	"above":    {"runs", above},
	"together": {"runs", correlation},
	"opposed":  {"runs", correlation},
}

// part is the verdict on one of the rows, series, cells or runs that a claim is about.
type part struct {
	where, what string // the place, and the numbers that decide
	verdict     Verdict
	why         string // why it is open; empty if a run or a number is missing
}

// claimData is a claim and the numbers to judge it by.
type claimData struct {
	r *Results
	experiment.Claim
	metric    string
	cells     []*CellRuns
	published bool // judge by published numbers, not by our records
}

func (r *Results) claimData(c experiment.Claim, published bool) claimData {
	return claimData{r, c, metricOr(c.Metric), r.only(c.Only), published}
}

// judgeClaims judges every claim by our records and by the published numbers.
func (r *Results) judgeClaims() []JudgedClaim {
	var out []JudgedClaim
	for _, c := range r.Spec.Claims {
		j := JudgedClaim{Claim: c, Ours: r.claimData(c, false).judge(), Published: r.claimData(c, true).judge()}
		if j.Ours.Fails > 0 {
			j.Reason = r.reasonOfClaim(c.ID)
		}
		out = append(out, j)
	}
	return out
}

// Reasons for open parts: the usual one, and the one if no run is missing.
const (
	notThere    = "runs or numbers are missing"
	notRecorded = "the records lack a number that the claim needs"
)

func (c claimData) judge() Judgement {
	kind := claimKinds[c.Kind]
	switch {
	case c.published && kind.unit == "runs":
		return Judgement{nothing: "curves have not been published as numbers"}
	case len(c.cells) == 0:
		return Judgement{nothing: "no cell of the report belongs to the claim"}
	}
	j := Judgement{Unit: kind.unit, nothing: "there are no numbers to judge it by"}
	missing := notThere
	if !slices.ContainsFunc(c.cells, func(x *CellRuns) bool { return len(x.done()) < len(x.Runs) }) {
		missing = notRecorded
	}
	for _, p := range kind.parts(c) {
		switch p.verdict {
		case Open:
			j.Open++
			j.reasons = with(j.reasons, cmp.Or(p.why, missing))
		case Fails:
			j.Fails++
			j.failures = append(j.failures, p.where+" ("+p.what+")")
		case Holds:
			j.Holds++
		}
	}
	return j
}

// value returns a metric of a cell in the unit of the records. A value counts only if all
// planned seeds are done.
func (c claimData) value(x *CellRuns, metric string) (float64, bool) {
	if c.published {
		v, _, ok := c.r.publishedOf(x.Cell, metric)
		return v.Mean / about(metric).scale, ok
	}
	s := c.r.cell(x, metric)
	return s.middle(), s.N > 0 && len(x.done()) == len(x.Runs)
}

// expected reports whether a missing value of a column leaves a claim open. A column without any
// published number of the metric is left out instead.
func (c claimData) expected(column, metric string) bool {
	return !c.published || slices.ContainsFunc(c.r.Spec.Published, func(p experiment.Published) bool {
		_, ok := p.Values[column]
		return ok && metricOr(p.Metric) == metric
	})
}

// apart returns why the values of some cells cannot be compared, or "" if they can.
func (c claimData) apart(cells []*CellRuns) string {
	if !c.published && isTime(c.metric) && !c.r.comparable(cells...) {
		return "the times were not all taken on an idle machine of the kind that took most of them"
	}
	return ""
}

// groupsBut groups the cells by all axes but one.
func (c claimData) groupsBut(axis string) []group {
	return c.r.groups(c.cells, slices.DeleteFunc(c.r.axes(), func(a string) bool { return a == axis }))
}

// side returns 0 for a column that the claim is about, 1 for a rival, and -1 for the rest. Rivals
// are the columns in Against or, without Against, all that the table ranks.
func (c claimData) side(column string) int {
	switch {
	case slices.Contains(c.Columns, column):
		return 0
	case slices.Contains(c.Against, column):
		return 1
	case len(c.Against) == 0 && !slices.Contains(c.r.layout.t.Unmarked, column):
		return 1
	}
	return -1
}

// about reports whether a claim on single cells is about this one.
func (c claimData) about(x *CellRuns) bool {
	return len(c.Columns) == 0 || slices.Contains(c.Columns, x.Cell.Column)
}

// rival is a column of a row with its value.
type rival struct {
	name  string
	value float64
}

// contests judges every row in which both sides have a column. Judge gets the columns of the claim
// and their rivals, the best first, and returns the two that decide, and whether the claim holds.
// A missing value may still be any number. The verdict is open if it depends on that number.
func (c claimData) contests(better direction, judge func(mine, theirs []rival) (own, other rival, holds bool)) []part {
	var out []part
	for _, m := range c.groupsBut("method") {
		var known [2][]rival
		var missing [2]int
		var cells []*CellRuns
		for _, x := range m.cells {
			side := c.side(x.Cell.Column)
			if side < 0 {
				continue
			}
			cells = append(cells, x)
			if v, ok := c.value(x, c.metric); ok {
				known[side] = append(known[side], rival{c.r.valueTitle("method", x.Cell.Column), v})
			} else if c.expected(x.Cell.Column, c.metric) {
				missing[side]++
			}
		}
		if c.published && len(known[0])+len(known[1]) == 0 || len(known[0])+missing[0] == 0 || len(known[1])+missing[1] == 0 {
			continue
		}
		p := part{where: c.r.placeName(m.cells[0].Cell, "method"), why: c.apart(cells)}
		if better == unranked {
			p.why = "the program does not know whether a high or a low value is better"
		}
		if p.why == "" && len(known[0]) > 0 && len(known[1]) > 0 {
			side := func(i int, instead float64) []rival {
				s := append(slices.Clone(known[i]), slices.Repeat([]rival{{value: instead}}, missing[i])...)
				slices.SortStableFunc(s, func(a, b rival) int { return better.compare(a.value, b.value) })
				return s
			}
			best := math.Copysign(math.MaxFloat64, float64(better))
			_, _, certain := judge(side(0, -best), side(1, best))
			own, other, possible := judge(side(0, best), side(1, -best))
			switch {
			case certain:
				p.verdict = Holds
			case !possible:
				p.verdict = Fails
				p.what = fmt.Sprintf("%s %s against %s %s", own.name, show(c.metric, own.value), other.name, show(c.metric, other.value))
			}
		}
		out = append(out, p)
	}
	return out
}

// rank judges that one of Columns is among the best Top of every row.
func rank(c claimData) []part {
	better := about(c.metric).better
	return c.contests(better, func(mine, theirs []rival) (own, other rival, holds bool) {
		if len(theirs) < c.Top {
			return own, other, true
		}
		own, other = mine[0], theirs[c.Top-1]
		return own, other, !better.ahead(other.value, own.value)
	})
}

// less judges that each of Columns is lower than each of Against in every row.
func less(c claimData) []part {
	return c.contests(lower, func(mine, theirs []rival) (own, other rival, holds bool) {
		own, other = mine[len(mine)-1], theirs[0]
		return own, other, lower.ahead(own.value, other.value)
	})
}

// growth judges how much the metric grows from one end of Axis to the other: by at most Factor
// for Columns, and by more for Against.
func growth(c claimData) []part {
	points := c.r.valuesOf(c.cells, c.Axis)
	if len(points) == 0 {
		return nil // the axis belongs to another profile
	}
	if numeric(points) { // the grid may have them in any order
		points = slices.SortedFunc(slices.Values(points), func(a, b string) int { return cmp.Compare(numberOf(a), numberOf(b)) })
	}
	first, last := points[0], points[len(points)-1]
	var out []part
	for _, m := range c.groupsBut(c.Axis) {
		column := m.cells[0].Cell.Column
		mine := slices.Contains(c.Columns, column)
		if !mine && !slices.Contains(c.Against, column) {
			continue
		}
		values := map[string]float64{}
		var ends []*CellRuns
		for _, x := range m.cells {
			at, _ := x.Cell.At(c.Axis)
			if at != first && at != last {
				continue
			}
			ends = append(ends, x)
			if v, ok := c.value(x, c.metric); ok {
				values[at] = v
			}
		}
		if c.published && len(values) == 0 {
			continue
		}
		p := part{where: c.r.placeName(m.cells[0].Cell, c.Axis), why: c.apart(ends)}
		if p.why == "" && len(values) == 2 && values[first] > 0 {
			factor := values[last] / values[first]
			p.what, p.verdict = times(factor), Fails
			if mine == (factor <= c.Factor) {
				p.verdict = Holds
			}
		}
		out = append(out, p)
	}
	return out
}

// keeps judges that Other of a cell is below Metric by at most Tolerance.
func keeps(c claimData) []part {
	var out []part
	for _, x := range c.cells {
		a, ok1 := c.value(x, c.metric)
		b, ok2 := c.value(x, c.Other)
		if !c.about(x) || c.published && (!ok1 && !ok2 || !c.expected(x.Cell.Column, c.Other)) {
			continue
		}
		p := part{where: c.r.placeName(x.Cell)}
		if ok1 && ok2 {
			p.what, p.verdict = show(c.metric, a)+" against "+show(c.Other, b), Fails
			// Decimal tolerances are not exact in their last bits.
			if c.Tolerance-(a-b) >= -1e-12*math.Max(math.Abs(a), math.Abs(b)) {
				p.verdict = Holds
			}
		}
		out = append(out, p)
	}
	return out
}

// traces judges every run by two columns of its trace. Runs without these columns are left out,
// unless the claim names their method.
func (c claimData) traces(judge func(a, b []float64) part) []part {
	var out []part
	for _, x := range c.cells {
		if !c.about(x) {
			continue
		}
		for _, run := range x.Runs {
			a, b := c.columns(run)
			if run.Record != nil && c.r.trace(run.Record) != nil && len(a) == 0 && len(c.Columns) == 0 {
				continue
			}
			var p part
			if len(a) > 0 {
				p = judge(a, b)
			}
			p.where = fmt.Sprintf("%s seed %d", c.r.placeName(x.Cell), run.Seed)
			out = append(out, p)
		}
	}
	return out
}

// columns returns Metric and Other along a run's trace, where both are numbers.
func (c claimData) columns(run Run) (x, y []float64) {
	if run.Record == nil {
		return nil, nil
	}
	t := c.r.trace(run.Record)
	if t == nil {
		return nil, nil
	}
	a, b := t.Column(c.Claim.Metric), t.Column(c.Other)
	for i := range min(len(a), len(b)) {
		if !math.IsNaN(a[i]) && !math.IsNaN(b[i]) {
			x, y = append(x, a[i]), append(y, b[i])
		}
	}
	return x, y
}

// slack is the relative difference allowed between two ways to compute the same number in float32.
const slack = 1e-6

// above judges that Metric is at least Other in every line of a trace.
func above(c claimData) []part {
	return c.traces(func(a, b []float64) part {
		for i := range a {
			if a[i] < b[i]-slack*math.Max(math.Abs(a[i]), math.Abs(b[i])) {
				return part{verdict: Fails, what: fmt.Sprintf("%s is %s and %s is %s", c.Claim.Metric, significant(a[i], 6), c.Other, significant(b[i], 6))}
			}
		}
		return part{verdict: Holds}
	})
}

const (
	fewestLines     = 5   // of a trace, for a correlation
	leastCorrelated = 0.5 // rank correlation from which two quantities go together
	correlationText = "Two quantities rise and fall together when their rank correlation along a trace is 0.5 or more. They are opposed when it is −0.5 or less. A quantity claimed to fall must also end lower than it began."
)

// correlation judges that Metric and Other rise and fall together, or are opposed. Falls
// asks in addition that Metric ends below its start.
func correlation(c claimData) []part {
	return c.traces(func(a, b []float64) part {
		if len(a) < fewestLines {
			return part{}
		}
		rho := stats.Spearman(a, b)
		if math.IsNaN(rho) {
			return part{}
		}
		p := part{verdict: Fails, what: "rank correlation " + fixed(rho, 2)}
		from, to := a[0], a[len(a)-1]
		if c.Falls {
			p.what += fmt.Sprintf(", %s from %s to %s", metricTitle(c.Claim.Metric), significant(from, 3), significant(to, 3))
		}
		if c.Kind == "opposed" {
			rho = -rho
		}
		if rho >= leastCorrelated && (to < from || !c.Falls) {
			p.verdict = Holds
		}
		return p
	})
}
