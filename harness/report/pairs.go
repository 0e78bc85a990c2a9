package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dgkip/harness/stats"
)

// pairs is the table that tells how sure the first places are: in every row the
// best column against the second, over the seeds that both have. It is nil where
// no row has two seeds in common.
func (r *Results) pairs() *sheet {
	b := &tableBuilder{r: r, t: defaultTable(), excluded: map[int]bool{}}
	if r.Spec.Table != nil {
		b.t = *r.Spec.Table
	}
	if len(b.t.Values) > 0 {
		return nil // columns show different things
	}
	b.t.Value = metricOr(b.t.Value)
	b.layout()
	l := b.lines[0]
	type pair struct {
		row     slot
		a, b    slot
		against stats.Paired
	}
	var found []pair
	var p []float64
	for _, rs := range b.rows {
		type candidate struct {
			column slot
			cell   *CellRuns
			mean   float64
		}
		var have []candidate
		for _, cs := range b.columns {
			c := b.at(rs, cs)
			if c == nil || b.unmarked(cs) {
				continue
			}
			if s, ok := c.summary(l.metric); ok {
				have = append(have, candidate{cs, c, s.Mean})
			}
		}
		if len(have) < 2 {
			continue
		}
		slices.SortStableFunc(have, func(x, y candidate) int {
			switch {
			case stats.Same(x.mean, y.mean):
				return 0
			case (x.mean > y.mean) != l.lower:
				return -1
			}
			return 1
		})
		x, y := have[0].cell.common(have[1].cell, l.metric)
		if len(x) < 2 {
			continue
		}
		for i := range x {
			x[i], y[i] = x[i]*l.scale, y[i]*l.scale
		}
		found = append(found, pair{rs, have[0].column, have[1].column, stats.Compare(x, y)})
		p = append(p, found[len(found)-1].against.Flip)
	}
	if found == nil {
		return nil
	}
	adjusted := stats.Holm(p)
	s := &sheet{name: r.stem() + "-pairs", title: r.Spec.Title + ": the best against the second",
		columns: []string{"Best", "Second", "Seeds", "Difference", "Exact p", "Least p", "Holm p", "t-test p"}}
	for _, a := range b.rowAxes {
		s.heads = append(s.heads, axisTitle(a))
	}
	text := func(t string) entry { return entry{state: value, text: t} }
	prob := func(x float64) entry {
		if math.IsNaN(x) {
			return entry{}
		}
		return text(significant(x, 2))
	}
	var warnings []string
	for i, f := range found {
		var line row
		for j, a := range b.rowAxes {
			line.heads = append(line.heads, head{text: r.valueTitle(a, f.row.values[j])})
		}
		d := entry{state: value, text: signed(f.against.Diff.Mean, b.t.Digits), spread: fixed(f.against.Diff.SD, b.t.Digits)}
		line.cells = []entry{text(b.columnTitle(f.a)), text(b.columnTitle(f.b)), text(fixed(float64(f.against.N), 0)), d,
			prob(f.against.Flip), prob(f.against.Least), prob(adjusted[i]), prob(f.against.PT)}
		s.rows = append(s.rows, line)
		for _, w := range f.against.Warnings {
			if t := capital(string(w)) + "."; !slices.Contains(warnings, t) {
				warnings = append(warnings, t)
			}
		}
	}
	s.spans(len(b.rowAxes) - 1)
	s.caption = fmt.Sprintf("The best of a row against the second, seed by seed: mean ± population standard deviation of the differences in %s, and two-sided p-values of the exact sign-flip test and of the paired t-test. Least p is the smallest value that the exact test can give for so many seeds. Holm's adjustment is over the %s of this table. Best and second were chosen by the same numbers, which makes the p-values too small.",
		metricTitle(l.metric), count(len(found), "row", "rows"))
	s.caption, s.notes = r.selected(s.caption), warnings
	return s
}

func (b *tableBuilder) columnTitle(c slot) string {
	var parts []string
	for i, a := range b.t.Columns {
		parts = append(parts, b.r.valueTitle(a, c.values[i]))
	}
	return strings.Join(parts, ", ")
}

// common returns a metric of two cells over the seeds that both have.
func (c *CellRuns) common(o *CellRuns, metric string) (x, y []float64) {
	a, as := c.values(metric)
	b, bs := o.values(metric)
	for i, seed := range as {
		if j := slices.Index(bs, seed); j >= 0 {
			x, y = append(x, a[i]), append(y, b[j])
		}
	}
	return x, y
}
