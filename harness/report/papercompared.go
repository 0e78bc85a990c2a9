package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"dgkip/harness/report/sheet"
)

// mostLargest is how many of the largest differences have names.
const mostLargest = 5

// largest are the accuracies that lie farthest from the published ones, the farthest
// first. Those that were scored otherwise take no part.
func (r *Results) largest(out *numberList) {
	var far []Beside
	for _, b := range r.Published {
		if b.Seeds > 0 && isAccuracy(b.Metric) && !b.Mixed() && !b.BuiltIn {
			far = append(far, b)
		}
	}
	slices.SortStableFunc(far, func(a, b Beside) int { return cmp.Compare(math.Abs(b.Difference()), math.Abs(a.Difference())) })
	made := slices.ContainsFunc(r.Published, func(b Beside) bool { return isAccuracy(b.Metric) })
	for i := range mostLargest {
		place := "largest/" + strconv.Itoa(i+1) + "/"
		switch {
		case i < len(far):
			b := far[i]
			out.add(place+"where", r.placeName(b.Cell))
			out.add(place+"ours", b.format(b.Ours))
			out.add(place+"published", b.format(b.Published.Mean))
			out.add(place+"difference", b.difference())
		case made:
			for _, name := range []string{"where", "ours", "published", "difference"} {
				out.none(place+name, sheet.NotRun)
			}
		}
	}
}

// pairNumbers are the differences between columns that compare, seed by seed, in both
// directions. Those of runs to come are there and say so.
func (r *Results) pairNumbers(out *numberList) {
	if r.Spec.Seeds < 2 {
		return
	}
	g := r.layout()
	q := g.quantity(g.t.Value)
	for _, row := range g.rows {
		for _, x := range g.columns {
			for _, y := range g.columns {
				if g.compare(row, x, y, q) {
					place := "pair/" + strings.Join(slices.Concat(row.values, x.values, y.values), "/")
					g.pairNumber(out, place, g.at(row, x), g.at(row, y), q)
				}
			}
		}
	}
}

// compare reports whether two columns of a row are rivals, or one is the other's control.
func (g tableLayout) compare(row, x, y group, q quantity) bool {
	if slices.Equal(x.values, y.values) || g.at(row, x) == nil || g.at(row, y) == nil || len(g.t.Values) > 0 {
		return false
	}
	if g.t.Against != nil {
		return g.controls(x, y) || g.controls(y, x)
	}
	return !g.unmarked(x) && !g.unmarked(y) && g.league(row, x, q) == g.league(row, y, q)
}

func (g tableLayout) pairNumber(out *numberList, place string, x, y *CellRuns, q quantity) {
	difference, ok := differ(x, y, q)
	if !ok {
		for _, end := range []string{"", "/from", "/to", "/seeds"} {
			out.none(place+end, sheet.NotRun)
		}
		return
	}
	out.add(place, signed(difference.Mean, g.t.Digits))
	out.add(place+"/from", signed(difference.Mean-difference.Half, g.t.Digits))
	out.add(place+"/to", signed(difference.Mean+difference.Half, g.t.Digits))
	out.add(place+"/seeds", strconv.Itoa(difference.N))
}

// levels are the accuracies, in percent, that methods are timed to.
var levels = []float64{85, 90}

// reached says after how many updates, and seconds of them, the traces have an accuracy
// for the first time: from the first seed that has it to the last, or never.
func (r *Results) reached(out *numberList, c *CellRuns) {
	_, made := c.summary("test_acc")
	for _, level := range levels {
		place := "to-" + shortest(level) + "/"
		if !made {
			out.none(place+"updates", c.state())
			out.none(place+"seconds", c.state())
			continue
		}
		updates := r.firstAt(c.done(), level/100, func(Run) float64 { return 1 })
		// As in tables, seconds of several machines have no part in one number.
		times := r.firstAt(c.ownTimes(), level/100, func(x Run) float64 { return perUpdate(x.Record) })
		if updates != nil && times != nil {
			out.add(place+"updates", fromTo(updates, amount))
			// A line of the trace sooner or later is a tenth or more of a time.
			out.add(place+"seconds", fromTo(times, func(x float64) string { return significant(x, 2) }))
		}
	}
}

// firstAt lists the update at which the trace of each run has an accuracy for the first
// time, infinite where it never has, times what an update counts; nil if a trace has no
// accuracies but at its end.
func (r *Results) firstAt(runs []Run, accuracy float64, unit func(Run) float64) []float64 {
	var out []float64
	for _, run := range runs {
		us, _, ys := r.line(run.Record, "update", "test_acc")
		if len(ys) < 2 {
			return nil
		}
		at := math.Inf(1)
		if i := slices.IndexFunc(ys, func(y float64) bool { return y >= accuracy-1e-9 }); i >= 0 {
			at = us[i] * unit(run)
		}
		out = append(out, at)
	}
	return out
}

// fromTo shows the lowest and the highest of numbers, or the one that they all are.
func fromTo(all []float64, text func(float64) string) string {
	show := func(x float64) string {
		if math.IsInf(x, 1) {
			return "never"
		}
		return text(x)
	}
	low, high := show(slices.Min(all)), show(slices.Max(all))
	if low == high {
		return low
	}
	return low + " to " + high
}
