package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dgkip/harness/spec"
	"dgkip/harness/stats"
)

// Judged is a claim with the verdicts on it.
type Judged struct {
	Claim spec.Claim

	// Ours is judged on our records, Published on published numbers; Open where
	// they do not suffice. The evidence says what was looked at, in words.
	Ours, Published                 Verdict
	OursEvidence, PublishedEvidence string
}

// numbers is what a claim is judged on.
type numbers struct {
	r         *Results
	published bool
}

// of returns a metric of a cell in the metric's own unit.
func (n numbers) of(c *CellRuns, metric string) (float64, bool) {
	if n.published {
		v, p, ok := n.r.publishedOf(c.Cell, metric)
		if !ok {
			return 0, false
		}
		return v.Mean / scaleOf(metric, p.Scale), true
	}
	// Some of the planned seeds are not the mean over all of them.
	if len(c.done()) < len(c.Runs) {
		return 0, false
	}
	s, ok := c.summary(metric)
	return s.Mean, ok
}

// timed are the machines that the times were taken on which a claim is about.
func timed(c spec.Claim, cells []*CellRuns) machines {
	return machinesOf(slices.DeleteFunc(slices.Clone(cells), func(x *CellRuns) bool {
		return !slices.Contains(c.Columns, x.Cell.Column) && !slices.Contains(c.Against, x.Cell.Column)
	}))
}

// any tells whether any of the cells has the metric.
func (n numbers) any(cells []*CellRuns, metric string) bool {
	return slices.ContainsFunc(cells, func(c *CellRuns) bool { _, ok := n.of(c, metric); return ok })
}

// Claims judges the claims of the experiment in their order.
func (r *Results) Claims() []Judged {
	var out []Judged
	for _, c := range r.Spec.Claims {
		j := Judged{Claim: c}
		j.Ours, j.OursEvidence = r.judge(c, numbers{r, false})
		j.Published, j.PublishedEvidence = r.judge(c, numbers{r, true})
		out = append(out, j)
	}
	return out
}

func (r *Results) judge(c spec.Claim, n numbers) (Verdict, string) {
	cells := r.only(c.Only)
	if n.published && len(r.Spec.Published) == 0 {
		return Open, "no published numbers stand in the experiment"
	}
	if len(cells) == 0 {
		return Open, "no cell of the report is meant"
	}
	metric := metricOr(c.Metric)
	if isTime(metric) && !n.published {
		if why := timed(c, cells).incomparable(); why != "" {
			return Open, why
		}
	}
	var t tally
	switch c.Kind {
	case "rank":
		r.judgeRank(c, metric, cells, n, &t)
	case "less":
		r.judgeLess(c, metric, cells, n, &t)
	case "growth":
		r.judgeGrowth(c, metric, cells, n, &t)
	case "close":
		r.judgeClose(c, metric, cells, n, &t)
	case "above", "together", "opposed":
		if n.published {
			return Open, "curves have not been published as numbers"
		}
		r.judgeTraces(c, cells, &t)
	default:
		return Open, "this program cannot judge claims of the kind " + c.Kind
	}
	return t.verdict()
}

// tally collects the verdicts on the parts of a claim, which holds if all do.
type tally struct {
	unit               string
	holds, fails, open int
	failures, details  []string
	all                bool // details are told beside failures

	// closest is the part that holds by the smallest margin.
	closest string
	margin  float64
}

func (t *tally) add(v Verdict, where, what string) {
	switch v {
	case Holds:
		t.holds++
		if what != "" {
			t.details = append(t.details, where+": "+what)
		}
	case Fails:
		t.fails++
		t.failures = append(t.failures, where+": "+what)
	default:
		t.open++
	}
}

// near keeps the part that comes closest to failing.
func (t *tally) near(margin float64, where, what string) {
	if t.closest == "" || margin < t.margin {
		t.closest, t.margin = where+": "+what, margin
	}
}

// most bounds the parts that evidence spells out.
const most = 15

func (t *tally) verdict() (Verdict, string) {
	all := t.holds + t.fails + t.open
	if all == 0 {
		return Open, "nothing to judge it by"
	}
	unit := t.unit
	if unit == "" {
		unit = "rows"
	}
	text := fmt.Sprintf("in %d of %d %s", t.holds, all, unit)
	if t.fails > 0 {
		text += fmt.Sprintf(", not in %d", t.fails)
	}
	if t.open > 0 {
		text += fmt.Sprintf(", %d undecided for want of runs or numbers", t.open)
	}
	shown := t.failures
	if len(shown) == 0 || t.all {
		shown = slices.Concat(t.failures, t.details)
	}
	if len(shown) == 0 && t.closest != "" {
		shown = []string{"closest to failing: " + t.closest}
	}
	if len(shown) > 0 {
		rest := len(shown) - most
		text += "; " + strings.Join(shown[:min(len(shown), most)], "; ")
		if rest > 0 {
			text += fmt.Sprintf("; and %d more", rest)
		}
	}
	switch {
	case t.fails > 0:
		return Fails, text
	case t.open > 0:
		return Open, text
	}
	return Holds, text
}

// matchup is the cells that differ in their method alone.
type matchup struct {
	where string
	cells []*CellRuns
}

// matchups groups cells by all axes but one, in the grid's order.
func (r *Results) matchups(cells []*CellRuns, but ...string) []matchup {
	axes := slices.DeleteFunc(r.axes(), func(a string) bool { return slices.Contains(but, a) })
	var shown []string
	for _, a := range axes {
		if a == "dataset" || a == "ipc" || len(r.axisValues(a)) > 1 {
			shown = append(shown, a)
		}
	}
	var out []matchup
	at := map[string]int{}
	for _, c := range cells {
		key := strings.Join(pointOf(c.Cell, axes), "\x00")
		i, ok := at[key]
		if !ok {
			i, at[key] = len(out), len(out)
			var words []string
			for _, a := range shown {
				v, _ := c.Cell.At(a)
				words = append(words, r.shortTitle(a, v))
			}
			out = append(out, matchup{where: strings.Join(words, " ")})
		}
		out[i].cells = append(out[i].cells, c)
	}
	return out
}

// show formats a metric for evidence.
func show(metric string, x float64) string {
	switch {
	case isAccuracy(metric):
		return fixed(100*x, 2) + " %"
	case isTime(metric):
		return seconds(x) + " s"
	}
	return significant(x, 4)
}

func (r *Results) judgeRank(c spec.Claim, metric string, cells []*CellRuns, n numbers, t *tally) {
	lower := lowerIsBetter(metric)
	for _, m := range r.matchups(cells, "method") {
		var best *float64
		var name string
		var others []float64
		missing, missingOwn, own, rivals := false, false, false, 0
		if n.published && !n.any(m.cells, metric) {
			continue
		}
		for _, x := range m.cells {
			mine := slices.Contains(c.Columns, x.Cell.Column)
			switch {
			case mine:
				own = true
			case len(c.Against) > 0 && !slices.Contains(c.Against, x.Cell.Column):
				continue
			case len(c.Against) == 0 && r.Spec.Table != nil && slices.Contains(r.Spec.Table.Unmarked, x.Cell.Column):
				continue
			default:
				rivals++
			}
			v, ok := n.of(x, metric)
			if !ok {
				// What was never published takes no part in the published comparison.
				if n.published && !r.everPublished(x.Cell.Column, metric) {
					continue
				}
				missing = true
				missingOwn = missingOwn || mine
				continue
			}
			if mine && (best == nil || (v > *best) != lower) {
				best, name = &v, r.valueTitle("method", x.Cell.Column)
			}
			if !mine {
				others = append(others, v)
			}
		}
		if !own || rivals == 0 {
			continue
		}
		if best == nil {
			t.add(Open, m.where, "")
			continue
		}
		place := 1
		for _, o := range others {
			if !stats.Same(o, *best) && (o > *best) != lower {
				place++
			}
		}
		what := fmt.Sprintf("%s takes place %d with %s", name, place, show(metric, *best))
		switch {
		case place > c.Top && !missingOwn:
			t.add(Fails, m.where, what)
		case missing:
			t.add(Open, m.where, "")
		default:
			t.add(Holds, m.where, "")
			// What would have to be passed for the claim to fail.
			slices.Sort(others)
			if !lower {
				slices.Reverse(others)
			}
			if len(others) >= c.Top {
				next := others[c.Top-1]
				t.near(math.Abs(*best-next), m.where, what+" before "+show(metric, next))
			}
		}
	}
}

// everPublished tells whether a metric of a column was published at all.
func (r *Results) everPublished(column, metric string) bool {
	for _, p := range r.Spec.Published {
		if _, ok := p.Values[column]; ok && metricOr(p.Metric) == metric {
			return true
		}
	}
	return false
}

func (r *Results) judgeLess(c spec.Claim, metric string, cells []*CellRuns, n numbers, t *tally) {
	for _, m := range r.matchups(cells, "method") {
		missing, any := false, 0
		if n.published && !n.any(m.cells, metric) {
			continue
		}
		highest, lowest := math.Inf(-1), math.Inf(1)
		var high, low string
		for _, x := range m.cells {
			mine, theirs := slices.Contains(c.Columns, x.Cell.Column), slices.Contains(c.Against, x.Cell.Column)
			if !mine && !theirs {
				continue
			}
			any++
			v, ok := n.of(x, metric)
			switch {
			case !ok:
				missing = true
			case mine && v > highest:
				highest, high = v, r.valueTitle("method", x.Cell.Column)
			case theirs && v < lowest:
				lowest, low = v, r.valueTitle("method", x.Cell.Column)
			}
		}
		if any == 0 {
			continue
		}
		what := fmt.Sprintf("%s %s against %s %s", high, show(metric, highest), low, show(metric, lowest))
		switch {
		case high == "" || low == "":
			t.add(Open, m.where, "")
		case highest >= lowest:
			t.add(Fails, m.where, what)
		case missing:
			t.add(Open, m.where, "")
		default:
			t.add(Holds, m.where, "")
			t.near(lowest/highest, m.where, what)
		}
	}
}

func (r *Results) judgeGrowth(c spec.Claim, metric string, cells []*CellRuns, n numbers, t *tally) {
	t.unit, t.all = "series", true
	points := r.axisValues(c.Axis)
	for _, m := range r.matchups(cells, c.Axis, "method") {
		r.judgeSeries(c, metric, points, m, n, t)
	}
}

func (r *Results) judgeSeries(c spec.Claim, metric string, points []string, all matchup, n numbers, t *tally) {
	for _, m := range r.matchups(all.cells, c.Axis) {
		column := m.cells[0].Cell.Column
		mine := slices.Contains(c.Columns, column)
		if !mine && !slices.Contains(c.Against, column) {
			continue
		}
		where := all.where + " " + r.valueTitle("method", column)
		if len(points) < 2 {
			t.add(Open, where, "")
			continue
		}
		ends := map[string]float64{}
		for _, x := range m.cells {
			p, _ := x.Cell.At(c.Axis)
			if v, ok := n.of(x, metric); ok {
				ends[p] = v
			}
		}
		if n.published && len(ends) == 0 {
			continue
		}
		from, ok1 := ends[points[0]]
		to, ok2 := ends[points[len(points)-1]]
		if !ok1 || !ok2 || from <= 0 {
			t.add(Open, where, "")
			continue
		}
		factor := to / from
		what := "grows by " + significant(factor, 3)
		v := Fails
		if mine == (factor <= c.Factor) {
			v = Holds
		}
		t.add(v, where, what)
	}
}

func (r *Results) judgeClose(c spec.Claim, metric string, cells []*CellRuns, n numbers, t *tally) {
	t.unit = "cells"
	for _, x := range cells {
		if len(c.Columns) > 0 && !slices.Contains(c.Columns, x.Cell.Column) {
			continue
		}
		where := r.placeName(x.Cell)
		a, ok1 := n.of(x, metric)
		b, ok2 := n.of(x, c.Other)
		switch {
		case n.published && (!ok1 && !ok2 || !r.everPublished(x.Cell.Column, c.Other)):
		case !ok1 || !ok2:
			t.add(Open, where, "")
		default:
			t.closeTo(a, b, c.Tolerance, where, show(metric, a)+" against "+show(c.Other, b))
		}
	}
}

func (t *tally) closeTo(a, b, tolerance float64, where, what string) {
	v := closeVerdict(a, b, tolerance)
	if v == Holds {
		t.near(tolerance-math.Abs(a-b), where, what)
		what = ""
	}
	t.add(v, where, what)
}

// closeVerdict allows for the last bits, as decimal tolerances are not exact.
func closeVerdict(a, b, tolerance float64) Verdict {
	if math.Abs(a-b) <= tolerance+1e-12*math.Max(math.Abs(a), math.Abs(b)) {
		return Holds
	}
	return Fails
}

// placeName names a cell in evidence.
func (r *Results) placeName(c *spec.Cell) string {
	var words []string
	for _, a := range sortedAxes(c.Point) {
		if a == "dataset" || a == "ipc" || a == "method" || len(r.axisValues(a)) > 1 {
			words = append(words, r.shortTitle(a, c.Point[a]))
		}
	}
	return strings.Join(words, " ")
}

// Limits of claims on traces.
const (
	slack   = 1e-6 // relative, for two ways of computing one number in float32
	atLeast = 5    // lines of a trace
	bound   = 0.5  // rank correlation above which two quantities go together
)

func (r *Results) judgeTraces(c spec.Claim, cells []*CellRuns, t *tally) {
	t.unit = "runs"
	for _, x := range cells {
		if len(c.Columns) > 0 && !slices.Contains(c.Columns, x.Cell.Column) {
			continue
		}
		for _, run := range x.Runs {
			where := fmt.Sprintf("%s seed %d", r.placeName(x.Cell), run.Seed)
			if run.Record == nil {
				t.add(Open, where, "")
				continue
			}
			trace := r.trace(run.Record)
			var a, b []float64
			if trace != nil {
				a, b = both(trace.Column(c.Metric), trace.Column(c.Other))
			}
			if len(a) == 0 {
				// A method without these quantities is not what the claim is about,
				// unless the claim names it.
				if len(c.Columns) > 0 {
					t.add(Open, where, "")
				}
				continue
			}
			if c.Kind == "above" {
				t.above(a, b, c, where)
				continue
			}
			if len(a) < atLeast {
				t.add(Open, where, "")
				continue
			}
			rho := stats.Spearman(a, b)
			if math.IsNaN(rho) {
				t.add(Open, where, "")
				continue
			}
			what := "rank correlation " + fixed(rho, 2)
			fell := true
			if c.Falls {
				from, to := a[0], a[len(a)-1]
				fell = to < from
				what += fmt.Sprintf(", %s from %s to %s", metricTitle(c.Metric), significant(from, 3), significant(to, 3))
			}
			if fell && (c.Kind == "together" && rho >= bound || c.Kind == "opposed" && rho <= -bound) {
				t.near(math.Abs(rho), where, what)
				t.add(Holds, where, "")
			} else {
				t.add(Fails, where, what)
			}
		}
	}
}

func (t *tally) above(a, b []float64, c spec.Claim, where string) {
	tight := math.Inf(1)
	for i := range a {
		if a[i] < b[i]-slack*math.Max(math.Abs(a[i]), math.Abs(b[i]))-c.Tolerance {
			t.add(Fails, where, fmt.Sprintf("line %d has %s %s and %s %s", i+1, c.Metric, significant(a[i], 6), c.Other, significant(b[i], 6)))
			return
		}
		if b[i] > 0 {
			tight = math.Min(tight, a[i]/b[i])
		}
	}
	if !math.IsInf(tight, 1) {
		t.near(tight, where, "smallest ratio "+significant(tight, 4))
	}
	t.add(Holds, where, "")
}

// both drops the lines in which one of two columns has no number.
func both(a, b []float64) (x, y []float64) {
	if len(a) != len(b) {
		return nil, nil
	}
	for i := range a {
		if !math.IsNaN(a[i]) && !math.IsNaN(b[i]) {
			x, y = append(x, a[i]), append(y, b[i])
		}
	}
	return x, y
}

// claimSheet is the table of claims, nil if there are none.
func (r *Results) claimSheet() *sheet {
	all := r.Claims()
	if len(all) == 0 {
		return nil
	}
	s := &sheet{name: r.stem() + "-claims", title: r.Spec.Title + ": claims", heads: []string{"Claim"}, left: true,
		wide:    []float64{0.17, 0.07, 0.08, 0.22, 0.08, 0.22},
		columns: []string{"Place", "Our records", "Evidence", "Published numbers", "Evidence"}}
	cell := func(v Verdict) entry {
		e := entry{state: value, text: v.String()}
		switch v {
		case Holds:
			e.good = 1
		case Fails:
			e.good = -1
		}
		return e
	}
	text := func(t string) entry { return entry{state: value, text: t} }
	for _, j := range all {
		ours, published := cell(j.Ours), cell(j.Published)
		if j.Published == Open {
			published.text = "not judged"
		}
		s.rows = append(s.rows, row{heads: []head{{j.Claim.Text, 1}},
			cells: []entry{text(j.Claim.Place), ours, text(j.OursEvidence), published, text(j.PublishedEvidence)}})
	}
	s.spans(0)
	s.caption = r.selected("Claims judged on the means over seeds of our records and on the published numbers. Two quantities of a trace go together when their rank correlation is at least 0.5, and against each other when it is at most -0.5; those that are to fall must also end below where they began. Nearly the same is so in both directions." + r.circumstances())
	return s
}
