package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dgkip/harness/stats"
)

// pair is two columns of a row, over the seeds that both have.
type pair struct {
	row, a, b slot
	against   stats.Paired
}

// pairs is the table that tells how sure differences are: in every row the columns
// against the controls that the spec names for them or, if it names none, the best
// against the second. It is nil where no two have two seeds in common.
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
	var found []pair
	var p []float64
	for _, rs := range b.rows {
		for _, two := range b.opponents(rs, l) {
			x, y := b.at(rs, two[0]).common(b.at(rs, two[1]), l.metric)
			if len(x) < 2 {
				continue
			}
			for i := range x {
				x[i], y[i] = x[i]*l.scale, y[i]*l.scale
			}
			f := pair{rs, two[0], two[1], stats.Compare(x, y)}
			found, p = append(found, f), append(p, f.against.Flip)
		}
	}
	if found == nil {
		return nil
	}
	adjusted := stats.Holm(p)
	s := &sheet{name: r.stem() + "-pairs", title: r.Spec.Title + ": the best against the second",
		columns: []string{"Best", "Second", "Seeds", "Difference", "Exact p", "Least p", "Holm p", "t-test p"}}
	if b.t.Against != nil {
		s.title = r.Spec.Title + ": against controls"
		s.columns[0], s.columns[1] = "Column", "Control"
	}
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
	merged := len(b.rowAxes) - 1
	what, rest := "The best of a row against the second", " Best and second were chosen by the same numbers, which makes the p-values too small."
	if b.t.Against != nil {
		what, rest, merged = "Columns against their controls", "", len(b.rowAxes)
	}
	s.spans(merged)
	s.caption = fmt.Sprintf("%s, seed by seed: mean ± population standard deviation of the differences in %s, and two-sided p-values of the exact sign-flip test and of the paired t-test. Least p is the smallest value that the exact test can give for so many seeds. Holm's adjustment is over the %s of this table.%s",
		what, metricTitle(l.metric), count(len(found), "row", "rows"), rest)
	s.caption, s.notes = r.selected(s.caption), warnings
	return s
}

// opponents are the columns of a row to be compared, two and two.
func (b *tableBuilder) opponents(rs slot, l line) [][2]slot {
	if b.t.Against != nil {
		var out [][2]slot
		for _, x := range b.columns {
			for _, y := range b.columns {
				if b.controls(x, y) && b.at(rs, x) != nil && b.at(rs, y) != nil {
					out = append(out, [2]slot{x, y})
				}
			}
		}
		return out
	}
	type candidate struct {
		column slot
		mean   float64
	}
	var have []candidate
	for _, cs := range b.columns {
		c := b.at(rs, cs)
		if c == nil || b.unmarked(cs) {
			continue
		}
		if s, ok := c.summary(l.metric); ok {
			have = append(have, candidate{cs, s.Mean})
		}
	}
	if len(have) < 2 {
		return nil
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
	return [][2]slot{{have[0].column, have[1].column}}
}

// controls tells whether y is the control of x: one value differs, as the spec says.
func (b *tableBuilder) controls(x, y slot) bool {
	different := 0
	for i, v := range x.values {
		if w := y.values[i]; w != v {
			if b.t.Against[v] != w {
				return false
			}
			different++
		}
	}
	return different == 1
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
