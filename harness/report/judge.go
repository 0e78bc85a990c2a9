package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dgkip/harness/exhibit"
	"dgkip/harness/spec"
	"dgkip/harness/stats"
)

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

func (r *Results) judgeRank(c exhibit.Claim, metric string, cells []*CellRuns, n numbers, t *tally) {
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

func (r *Results) judgeLess(c exhibit.Claim, metric string, cells []*CellRuns, n numbers, t *tally) {
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

func (r *Results) judgeGrowth(c exhibit.Claim, metric string, cells []*CellRuns, n numbers, t *tally) {
	t.unit, t.all = "series", true
	points := r.axisValues(c.Axis)
	for _, m := range r.matchups(cells, c.Axis, "method") {
		r.judgeSeries(c, metric, points, m, n, t)
	}
}

func (r *Results) judgeSeries(c exhibit.Claim, metric string, points []string, all matchup, n numbers, t *tally) {
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

func (r *Results) judgeClose(c exhibit.Claim, metric string, cells []*CellRuns, n numbers, t *tally) {
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
