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

// pairTable returns the table of differences, seed by seed, or nil without pairs.
func (r *Results) pairTable() *sheet.Sheet {
	if r.pairs == nil {
		return nil
	}
	g := r.layout
	q := about(g.t.Value)
	s := &sheet.Sheet{Title: r.Spec.Title + ": pairs", Heads: axisTitles(g.rowAxes), Merge: len(g.rowAxes),
		Columns: []string{"Column", "Against", "Seeds", "Difference", "95 % from", "to"}}
	apart, ranked, families := 0, false, columnFamilies{}
	title := func(column group) string { return strings.Join(r.headsOf(column), ", ") }
	for _, d := range r.pairs {
		if math.Abs(d.Mean) > d.Half {
			apart++
		}
		ranked = ranked || d.ranked
		for _, column := range []group{d.x, d.y} {
			families.add(title(column), d.row.meet(column).family(q.name))
		}
		text := func(x float64) sheet.Entry { return sheet.Text(signed(x, g.t.Digits)) }
		s.Rows = append(s.Rows, sheet.Row{Heads: r.headsOf(d.row), Cells: []sheet.Entry{
			sheet.Text(title(d.x)), sheet.Text(title(d.y)), sheet.Text(strconv.Itoa(d.N)),
			text(d.Mean), text(d.Mean - d.Half), text(d.Mean + d.Half)}})
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
	if ranked {
		s.Caption += " Best and second of a row were chosen by these numbers, so their difference looks larger than it is."
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

// difference is one column of a row minus another, over the seeds that both have, in the unit that
// readers see.
type difference struct {
	row group
	pair
	stats.Summary
}

// paired reports whether columns can be compared seed by seed: all show the same metric, which
// does not depend on the machine.
func (g tableLayout) paired() bool { return len(g.t.Values) == 0 && !isTime(g.t.Value) }

// differences compares columns over the seeds that both have, which are at least two. Every row
// compares columns with their controls if the spec names controls. Otherwise it compares, in every
// league, the best with the second, or the only ranked column with the unranked ones.
func (g tableLayout) differences() []difference {
	if !g.paired() {
		return nil
	}
	var out []difference
	q := about(g.t.Value)
	for _, row := range g.rows {
		for _, p := range g.opponents(row, q) {
			x, seeds := row.meet(p.x).values(q.name)
			y, others := row.meet(p.y).values(q.name)
			var apart []float64
			for i, seed := range seeds {
				if j := slices.Index(others, seed); j >= 0 {
					apart = append(apart, float64(x[i]*q.scale)-float64(y[j]*q.scale))
				}
			}
			if len(apart) > 1 {
				out = append(out, difference{row, p, stats.Summarise(apart)})
			}
		}
	}
	return out
}

// pair is two columns to be compared.
type pair struct {
	x, y   group
	ranked bool // they are best and second
}

// opponents returns the pairs of columns to compare in a row.
func (g tableLayout) opponents(row group, q metric) []pair {
	if g.t.Against != nil {
		return g.declared(row)
	}
	var leagues []string
	ranked, controls := map[string][]group{}, map[string][]group{}
	for _, column := range g.columns {
		c := row.meet(column)
		if c == nil {
			continue
		}
		if x, _ := c.values(q.name); x == nil {
			continue
		}
		league := g.league(row, column, q)
		leagues = with(leagues, league)
		if g.unmarked(column) {
			controls[league] = append(controls[league], column)
		} else {
			ranked[league] = append(ranked[league], column)
		}
	}
	var out []pair
	for _, league := range leagues {
		first := ranked[league]
		switch {
		case len(first) == 1:
			for _, c := range controls[league] {
				out = append(out, pair{first[0], c, false})
			}
		case len(first) > 1 && q.better != unranked:
			slices.SortStableFunc(first, func(x, y group) int {
				return q.better.compare(g.mean(row, x, q), g.mean(row, y, q))
			})
			out = append(out, pair{first[0], first[1], true})
		}
	}
	return out
}

func (g tableLayout) mean(row, column group, q metric) float64 {
	x, _ := row.meet(column).values(q.name)
	return stats.Mean(x)
}

// declared returns the pairs that the spec names.
func (g tableLayout) declared(row group) []pair {
	var out []pair
	for _, x := range g.columns {
		for _, y := range g.columns {
			if g.controls(x, y) && row.meet(x) != nil && row.meet(y) != nil {
				out = append(out, pair{x, y, false})
			}
		}
	}
	return out
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

// pairNumbers adds the differences of the table of pairs, in both directions. While runs are
// missing, any other pair counts as not run.
func (r *Results) pairNumbers(out *numberList) {
	digits := r.layout.t.Digits
	for _, d := range r.pairs {
		for _, one := range []difference{d, d.reversed()} {
			place := "pair/" + strings.Join(slices.Concat(one.row.values, one.x.values, one.y.values), "/")
			out.add(place, signed(one.Mean, digits))
			out.add(place+"/from", signed(one.Mean-one.Half, digits))
			out.add(place+"/to", signed(one.Mean+one.Half, digits))
			out.add(place+"/seeds", strconv.Itoa(one.N))
		}
	}
	if n, all := r.progress(); r.layout.paired() && r.Spec.Seeds > 1 && n[sheet.Blank] < all {
		out.none("pair/", sheet.NotRun)
	}
}

func (d difference) reversed() difference {
	d.x, d.y, d.Mean = d.y, d.x, -d.Mean
	return d
}
