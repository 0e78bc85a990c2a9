package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dgkip/harness/report/sheet"
	"dgkip/harness/stats"
)

// pairs is the table of differences seed by seed: in every row the columns against
// the controls that the spec names for them, or the best against the second, or,
// where only one column is ranked, that one against all others. It is nil where no
// two have two seeds in common.
func (r *Results) pairs() *sheet.Sheet {
	g := r.layout()
	q := g.quantity(g.t.Value)
	if len(g.t.Values) > 0 {
		return nil // columns show different things
	}
	s := &sheet.Sheet{Name: r.stem() + "-pairs", Title: r.Spec.Title + ": pairs", Heads: g.headTitles(), Merge: len(g.rowAxes),
		Columns: []string{"Column", "Against", "Seeds", "Difference", "95 % from", "to"}}
	ranked, families := false, columnFamilies{}
	for _, row := range g.rows {
		two, best := g.opponents(row, q)
		for _, pair := range two {
			x, y := g.at(row, pair[0]).common(g.at(row, pair[1]), q.name)
			if len(x) < 2 {
				continue
			}
			for i := range x {
				x[i] = float64(x[i]*q.scale) - float64(y[i]*q.scale)
			}
			ranked = ranked || best
			for _, column := range pair {
				families.add(g.columnTitle(column), g.at(row, column).family(q.name))
			}
			sum := stats.Summarise(x)
			d := func(x float64) sheet.Entry { return sheet.Text(signed(x, g.t.Digits)) }
			s.Rows = append(s.Rows, sheet.Row{Heads: r.headsOf(g.rowAxes, row), Cells: []sheet.Entry{
				sheet.Text(g.columnTitle(pair[0])), sheet.Text(g.columnTitle(pair[1])), sheet.Text(strconv.Itoa(sum.N)),
				d(sum.Mean), d(sum.Mean - sum.Half), d(sum.Mean + sum.Half)}})
		}
	}
	if s.Rows == nil {
		return nil
	}
	unit := ""
	if q.unit == "%" {
		unit = " in percentage points"
	}
	s.Caption = fmt.Sprintf("Differences in %s%s, seed by seed: the mean and its 95 %% t-interval. At an equal seed methods share the data and the networks, but begin with other images: the pairs are paired by data and networks only.", q.title, unit)
	if len(s.Rows) > 1 {
		s.Caption += fmt.Sprintf(" The intervals are not adjusted for the %d comparisons.", len(s.Rows))
	}
	if ranked {
		s.Caption += " Best and second of a row were chosen by the same numbers, which makes their difference look larger than it is."
	}
	s.Caption, s.Notes = r.selected(s.Caption), families.notes()
	return s
}

// opponents are the columns of a row to be compared, two and two; best says that
// they were chosen as best and second.
func (g tableLayout) opponents(row group, q quantity) (two [][2]group, best bool) {
	if g.t.Against != nil {
		for _, x := range g.columns {
			for _, y := range g.columns {
				if g.controls(x, y) && g.at(row, x) != nil && g.at(row, y) != nil {
					two = append(two, [2]group{x, y})
				}
			}
		}
		return two, false
	}
	var ranked, controls []group
	for _, column := range g.columns {
		c := g.at(row, column)
		if c == nil {
			continue
		}
		_, ok := c.summary(q.name)
		switch {
		case ok && g.unmarked(column):
			controls = append(controls, column)
		case ok:
			ranked = append(ranked, column)
		}
	}
	switch {
	case len(ranked) == 1:
		for _, c := range controls {
			two = append(two, [2]group{ranked[0], c})
		}
	case len(ranked) > 1 && q.better != unranked:
		slices.SortStableFunc(ranked, func(x, y group) int {
			a, _ := g.at(row, x).summary(q.name)
			b, _ := g.at(row, y).summary(q.name)
			return q.better.compare(a.Mean, b.Mean)
		})
		return [][2]group{{ranked[0], ranked[1]}}, true
	}
	return two, false
}

// controls reports whether y is the control of x: one value differs, as the spec says.
func (g tableLayout) controls(x, y group) bool {
	different := 0
	for i, v := range x.values {
		if w := y.values[i]; w != v {
			if g.t.Against[v] != w {
				return false
			}
			different++
		}
	}
	return different == 1
}

func (g tableLayout) columnTitle(c group) string {
	return strings.Join(g.r.headsOf(g.t.Columns, c), ", ")
}
