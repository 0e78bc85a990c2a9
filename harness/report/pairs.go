package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"dgkip/harness/report/sheet"
	"dgkip/harness/stats"
)

// pairTable returns the table of differences, seed by seed, or nil without any.
func (r *Results) pairTable() *sheet.Sheet {
	g := r.layout
	q := about(g.t.Value)
	s := &sheet.Sheet{Title: r.Spec.Title + ": pairs", Heads: axisTitles(g.rowAxes), Merge: len(g.rowAxes),
		Columns: []string{"Column", "Against", "Seeds", "Difference", "95 % from", "to"}}
	apart, families := 0, columnFamilies{}
	title := func(column group) string { return strings.Join(r.headsOf(column), ", ") }
	for _, d := range r.pairs {
		if d.N == 0 {
			continue
		}
		if math.Abs(d.Mean) > d.Half {
			apart++
		}
		for _, column := range []group{d.x, d.y} {
			families.add(title(column), d.row.meet(column).family(q.name))
		}
		text := func(x float64) sheet.Entry { return sheet.Text(signed(x, g.t.Digits)) }
		s.Rows = append(s.Rows, sheet.Row{Heads: r.headsOf(d.row), Cells: []sheet.Entry{
			sheet.Text(title(d.x)), sheet.Text(title(d.y)), sheet.Text(strconv.Itoa(d.N)),
			text(d.Mean), text(d.Mean - d.Half), text(d.Mean + d.Half)}})
	}
	if s.Rows == nil {
		return nil
	}
	unit := ""
	if q.unit == "%" {
		unit = " in percentage points"
	}
	s.Caption = fmt.Sprintf("In %d of %s of two methods, seed by seed, the 95 %% t-interval of the mean difference excludes zero. The difference is in %s%s. Runs of the same seed share the data and the networks, but not the initial images.",
		apart, Count(len(s.Rows), "comparison", "comparisons"), q.title, unit)
	if len(s.Rows) > 1 {
		s.Caption += fmt.Sprintf(" The intervals are not adjusted for making %d comparisons.", len(s.Rows))
	}
	s.Notes = families.notes()
	return s
}

// pairsCSV returns the numbers of the table of pairs with all digits, in the same unit.
func (r *Results) pairsCSV() []byte {
	g := r.layout
	lines := [][]string{slices.Clone(g.rowAxes)}
	for _, end := range []string{"", "_against"} {
		for _, a := range g.t.Columns {
			lines[0] = append(lines[0], a+end)
		}
	}
	lines[0] = append(lines[0], "metric", "n_seeds", "mean_difference", "t95_low", "t95_high")
	for _, d := range r.pairs {
		lines = append(lines, slices.Concat(d.row.values, d.x.values, d.y.values, []string{g.t.Value, strconv.Itoa(d.N),
			tenDigits(d.Mean), tenDigits(d.Mean - d.Half), tenDigits(d.Mean + d.Half)}))
	}
	return sheet.CSV(lines)
}

// difference is a column of a row minus its control, in the unit that readers see.
type difference struct {
	row, x, y     group
	stats.Summary // zero if they have fewer than two seeds in common
}

// differences compares every column with its control, row by row, over the seeds that both have. All
// columns must show the same metric, which must not depend on the machine.
func (g tableLayout) differences() []difference {
	if len(g.t.Against) == 0 || len(g.t.Values) > 0 || isTime(g.t.Value) {
		return nil
	}
	var out []difference
	q := about(g.t.Value)
	for _, row := range g.rows {
		for _, x := range g.columns {
			for _, y := range g.columns {
				mine, theirs := row.meet(x), row.meet(y)
				if g.controls(x, y) && mine != nil && theirs != nil && len(mine.Runs) > 1 && len(theirs.Runs) > 1 {
					out = append(out, difference{row, x, y, seedBySeed(mine, theirs, q)})
				}
			}
		}
	}
	return out
}

// seedBySeed summarises a metric of one cell minus the metric of another.
func seedBySeed(mine, theirs *CellRuns, q metric) stats.Summary {
	var out []float64
	x, seeds := mine.values(q.name)
	y, others := theirs.values(q.name)
	for i, seed := range seeds {
		if j := slices.Index(others, seed); j >= 0 {
			out = append(out, float64(x[i]*q.scale)-float64(y[j]*q.scale))
		}
	}
	if len(out) < 2 {
		return stats.Summary{}
	}
	return stats.Summarise(out)
}

// controls reports whether y is the control of x: they differ in one value, which the spec names.
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

// pairNumbers adds the differences between columns and their controls, in both directions.
func (r *Results) pairNumbers(out *numberList) {
	digits := r.layout.t.Digits
	n, all := r.progress()
	for _, d := range r.pairs {
		for _, one := range []difference{d, d.reversed()} {
			place := "pair/" + strings.Join(slices.Concat(one.row.values, one.x.values, one.y.values), "/")
			if one.N == 0 {
				if n[sheet.Blank] < all {
					out.none(place, sheet.NotRun)
					out.none(place+"/", sheet.NotRun)
				}
				continue
			}
			out.add(place, signed(one.Mean, digits))
			out.add(place+"/from", signed(one.Mean-one.Half, digits))
			out.add(place+"/to", signed(one.Mean+one.Half, digits))
			out.add(place+"/seeds", strconv.Itoa(one.N))
		}
	}
}

func (d difference) reversed() difference {
	d.x, d.y, d.Mean = d.y, d.x, -d.Mean
	return d
}
