package report

import (
	"cmp"
	"slices"
	"strings"

	"dgkip/harness/experiment"
	"dgkip/harness/report/sheet"
)

// tableLayout arranges the cells of an experiment in rows and columns.
type tableLayout struct {
	r       *Results
	t       experiment.Table
	rowAxes []string
	rows    []group
	columns []group
}

// newLayout finds rows and columns, and the defaults of the table's settings. An axis that the
// spec does not place, but on which cells differ, becomes a further heading of rows, so that
// nothing is left out silently.
func newLayout(r *Results) tableLayout {
	g := tableLayout{r: r, t: experiment.Table{Rows: []string{"dataset", "ipc"}, Columns: []string{"method"}, Digits: 2}}
	if r.Spec.Table != nil {
		g.t = *r.Spec.Table
	}
	g.t.Value, g.t.Spread = metricOr(g.t.Value), cmp.Or(g.t.Spread, "sd")
	if g.t.Mark == nil && len(g.t.Values) == 0 {
		g.t.Mark = []string{"best", "second"}
	}
	g.t.Columns, g.rowAxes = r.present(g.t.Columns), r.present(g.t.Rows)
	for _, a := range r.Spec.Axes {
		if !slices.Contains(g.rowAxes, a.Name) && !slices.Contains(g.t.Columns, a.Name) && len(r.axisValues(a.Name)) > 1 {
			g.rowAxes = append(g.rowAxes, a.Name)
		}
	}
	g.rows, g.columns = r.groups(r.Cells, g.rowAxes), r.groups(r.Cells, g.t.Columns)
	return g
}

// unmarked reports whether a column is not ranked.
func (g tableLayout) unmarked(column group) bool {
	return slices.ContainsFunc(column.values, func(v string) bool { return slices.Contains(g.t.Unmarked, v) })
}

// league returns an identifier that numbers of a row share if they may be ranked with each other: they
// have the same protocol family, and the same values on all column axes except those of methods and
// their settings.
func (g tableLayout) league(row, column group, q metric) string {
	c := row.meet(column)
	if c == nil {
		return ""
	}
	shared := []string{string(c.family(q.name))}
	for i, axis := range g.t.Columns {
		if !ofMethods(axis) {
			shared = append(shared, column.values[i])
		}
	}
	return strings.Join(shared, "\x00")
}

// ofMethods reports whether the values of an axis are methods, or settings of them.
func ofMethods(axis string) bool { return axis == "method" || strings.HasPrefix(axis, "method.") }

// heading returns the title of a column below the headings of groups.
func (g tableLayout) heading(column group) string {
	titles := g.r.headsOf(column)
	if titles == nil {
		return ""
	}
	return titles[len(titles)-1]
}

// groups returns the group of each column: from the spec or, if it has none, by the outer axes. It
// returns nil if no group has a title.
func (g tableLayout) groups() []sheet.Group {
	var out []sheet.Group
	titled := false
	for _, c := range g.columns {
		var next sheet.Group
		for _, s := range g.t.Groups {
			if slices.ContainsFunc(c.values, func(v string) bool { return slices.Contains(s.Columns, v) }) {
				next = sheet.Group{Title: s.Title, Below: s.Below}
				break
			}
		}
		if len(g.t.Groups) == 0 {
			next.Title = g.r.titleOf(group{axes: c.axes[:max(0, len(c.axes)-1)], values: c.values})
		}
		titled = titled || next.Title != ""
		out = append(out, next)
	}
	if !titled {
		return nil
	}
	return out
}

// in returns the metric that line q shows in a column.
func (g tableLayout) in(q metric, column group) metric {
	if q.name != g.t.Value {
		return q
	}
	return about(metricIn(g.t, column.values))
}

// metricIn returns the metric that a table shows in a column with some values on the column axes. The
// spec may give some columns a metric of their own.
func metricIn(t experiment.Table, values []string) string {
	for _, v := range values {
		if name := t.Values[v]; name != "" {
			return name
		}
	}
	return t.Value
}
