package report

import (
	"cmp"
	"slices"
	"strings"

	"dgkip/harness/experiment"
	"dgkip/harness/method"
	"dgkip/harness/report/sheet"
)

// tableLayout is where cells stand in the table of an experiment.
type tableLayout struct {
	r       *Results
	t       experiment.Table
	rowAxes []string
	rows    []group
	columns []group
}

// layout finds rows and columns. An axis that the spec puts nowhere, but on which
// cells differ, becomes a further heading of rows: nothing is left out silently.
func (r *Results) layout() tableLayout {
	g := tableLayout{r: r, t: experiment.Table{Rows: []string{"dataset", "ipc"}, Columns: []string{"method"}, Digits: 2}}
	if r.Spec.Table != nil {
		g.t = *r.Spec.Table
	}
	g.t.Value = metricOr(g.t.Value)
	if g.t.Mark == nil && len(g.t.Values) == 0 {
		g.t.Mark = []string{"best", "second"}
	}
	g.rowAxes, g.t.Columns = r.present(g.t.Rows), r.present(g.t.Columns)
	for _, a := range r.Spec.Axes {
		if !slices.Contains(g.rowAxes, a.Name) && !slices.Contains(g.t.Columns, a.Name) && len(r.axisValues(a.Name)) > 1 {
			g.rowAxes = append(g.rowAxes, a.Name)
		}
	}
	g.rows, g.columns = r.groups(r.Cells, g.rowAxes), r.groups(r.Cells, g.t.Columns)
	return g
}

// at returns the cell in a row and a column, nil if there is none.
func (g tableLayout) at(row, column group) *CellRuns {
	for _, c := range row.cells {
		if slices.Contains(column.cells, c) {
			return c
		}
	}
	return nil
}

// unmarked reports whether a column takes no part in best and second.
func (g tableLayout) unmarked(column group) bool {
	return slices.ContainsFunc(column.values, func(v string) bool { return slices.Contains(g.t.Unmarked, v) })
}

// league is what numbers of a row have in common that may be ranked, or paired: the
// protocol family, and the columns' values on all axes but those of methods.
func (g tableLayout) league(row, column group, q quantity) string {
	c := g.at(row, column)
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

// heading is the title of a column below the groups' headings.
func (g tableLayout) heading(column group) string {
	at := len(g.t.Columns) - 1
	if at < 0 {
		return ""
	}
	return g.r.valueTitle(g.t.Columns[at], column.values[at])
}

// groups makes the headings over columns: those of the spec, or the outer axes
// where columns have several.
func (g tableLayout) groups() []sheet.Group {
	var out []sheet.Group
	titled := false
	for _, c := range g.columns {
		next := sheet.Group{N: 1}
		for _, s := range g.t.Groups {
			if slices.ContainsFunc(c.values, func(v string) bool { return slices.Contains(s.Columns, v) }) {
				next.Title, next.Below = s.Title, s.Below
				break
			}
		}
		if len(g.t.Groups) == 0 {
			var outer []string
			for j, a := range g.t.Columns[:max(0, len(g.t.Columns)-1)] {
				outer = append(outer, g.r.shortTitle(a, c.values[j]))
			}
			next.Title = strings.Join(outer, ", ")
		}
		titled = titled || next.Title != ""
		if n := len(out); n > 0 && out[n-1].Title == next.Title {
			out[n-1].N++
		} else {
			out = append(out, next)
		}
	}
	if !titled {
		return nil
	}
	return out
}

// quantity is what a line of a table shows.
type quantity struct {
	metric
	spread string // sd, t95 or none
	format func(float64) string
}

func (g tableLayout) quantity(name string) quantity {
	q := quantity{about(name), cmp.Or(g.t.Spread, "sd"), func(x float64) string { return fixed(x, g.t.Digits) }}
	if isTime(name) {
		q.format = seconds
	}
	return q
}

// in is what a line shows in a column: another metric than elsewhere, where the
// spec says so for one of the column's values.
func (g tableLayout) in(q quantity, column group) quantity {
	if q.name != g.t.Value {
		return q
	}
	for _, v := range column.values {
		if name := g.t.Values[v]; name != "" {
			return g.quantity(name)
		}
	}
	return q
}

// tableBuilder makes the main table of an experiment.
type tableBuilder struct {
	tableLayout
	lines    []quantity
	machines machines
	families columnFamilies
	ranked   []method.Family // those among which there is a best
	out      sheet.Sheet

	most     int          // seeds in the fullest cell
	usual    int          // seeds in most of the cells that have a spread
	single   bool         // a cell of one seed has no spread beside cells that have one
	idle     int          // rows of which nothing has run
	excluded map[int]bool // reasons in use
	ahead    bool         // some mark stands in a row in which others have no run
}

// lostMark is on values that lack runs which were made.
const lostMark = "†"

// cutMark is on values of fewer iterations than the authors of the method make.
const cutMark = "¶"
