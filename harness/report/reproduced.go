package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"dgkip/harness/exhibit"
)

// reproduced is the published numbers in their own layout, on one screen: by how
// much ours differ, and whether that is within what is allowed. It is nil if there
// are none.
func (r *Results) reproduced() *sheet {
	all := r.Compare()
	if len(all) == 0 {
		return nil
	}
	s := &sheet{name: r.stem() + "-reproduced", title: r.Spec.Title + ": what is reproduced"}
	var rowAxes []string
	for _, a := range r.axes() {
		if a == "dataset" || a == "ipc" || a != "method" && len(r.axisValues(a)) > 1 {
			rowAxes = append(rowAxes, a)
			s.heads = append(s.heads, axisTitle(a))
		}
	}
	s.heads = append(s.heads, "Metric")
	var columns []string
	for _, v := range r.axisValues("method") {
		if slices.ContainsFunc(all, func(b Beside) bool { return b.Cell.Column == v }) {
			columns, s.columns = append(columns, v), append(s.columns, r.valueTitle("method", v))
		}
	}
	// Below every accuracy stands its time. Columns may show different metrics of one
	// kind on one line.
	var kinds []string
	for _, b := range all {
		if k := kindOf(b.Metric); !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	on := r.machinesOf(all)
	for _, point := range r.slots(rowAxes) {
		for _, kind := range kinds {
			var line row
			for _, b := range all {
				if kindOf(b.Metric) != kind || !slices.Equal(pointOf(b.Cell, rowAxes), point.values) {
					continue
				}
				if line.cells == nil {
					line.cells = make([]entry, len(columns))
				}
				line.cells[slices.Index(columns, b.Cell.Column)] = b.entry(on)
			}
			if line.cells == nil {
				continue
			}
			for i, a := range rowAxes {
				line.heads = append(line.heads, head{text: r.valueTitle(a, point.values[i])})
			}
			line.heads = append(line.heads, head{text: kind})
			s.rows = append(s.rows, line)
		}
	}
	s.spans(len(rowAxes))
	s.caption = r.selected(fmt.Sprintf("Ours less the published accuracies (%s), in percentage points: yes where that is within what is allowed, no where it is beyond, ? where no spread is known. Of %s.%s",
		list(sourcesOf(all)), tallyBesides(all, isAccuracy), allowedText+r.circumstances()))
	s.notes = slices.Concat(s.states(), r.farthest(all), r.besideNotes(all))
	return s
}

func kindOf(metric string) string {
	if metric == secondsPerUpdate {
		return "Time"
	}
	return shortMetric(metric)
}

// absent is what stands where there is no number of ours.
func (b Beside) absent() entry {
	switch {
	case b.Failed:
		return entry{state: failed}
	case len(b.runs.done()) > 0:
		return entry{} // the runs have no such number
	}
	return entry{state: notRun}
}

// entry is ours against a published number, in short.
func (b Beside) entry(on machines) entry {
	if b.Seeds == 0 {
		return b.absent()
	}
	e := entry{state: value, text: signed(b.Difference(), 2)}
	if isTime(b.Metric) {
		e.text, e.marks = "× "+significant(b.Ours/b.Published.Mean, 2), on.marks(b.runs)
		if !b.Judged() {
			return e
		}
	}
	switch {
	case !b.Judged():
		e.text += " ?"
	case b.Verdict == Holds:
		e.text, e.good = e.text+" yes", 1
	default:
		e.text, e.good = e.text+" no", -1
	}
	return e
}

// mostFarthest bounds the cells that are named.
const mostFarthest = 5

// farthest names the cells that are farthest beyond what is allowed.
func (r *Results) farthest(all []Beside) []string {
	var beyond []Beside
	for _, b := range all {
		if b.Verdict == Fails {
			beyond = append(beyond, b)
		}
	}
	// In parts of the number itself, for there may be several units; not of what is
	// allowed, by which a tenth of a point would outdo forty.
	excess := func(b Beside) float64 {
		return (math.Abs(b.Difference()) - b.Allowed) / math.Abs(b.Published.Mean)
	}
	slices.SortStableFunc(beyond, func(x, y Beside) int {
		switch a, b := excess(x), excess(y); {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	})
	var words []string
	for _, b := range beyond[:min(len(beyond), mostFarthest)] {
		words = append(words, fmt.Sprintf("%s: %s against %s, which allows ± %s", r.placeName(b.Cell), b.format(b.Ours), b.format(b.Published.Mean), b.format(b.Allowed)))
	}
	if words == nil {
		return nil
	}
	text := "Farthest beyond: "
	if len(beyond) <= mostFarthest {
		text = "Beyond: "
	}
	return []string{text + sentence(strings.Join(words, "; "))}
}

// misprints says where a source marks other numbers as best and second than are
// so.
func (r *Results) misprints() []string {
	var wrong []string
	for i := range r.Spec.Published {
		p := &r.Spec.Published[i]
		if len(p.Best) == 0 || p.OnlyClaims || !slices.ContainsFunc(r.Cells, func(c *CellRuns) bool { return p.When.Matches(c.Cell.At) }) {
			continue
		}
		var columns []string
		var means []*float64
		for _, v := range slices.Sorted(maps.Keys(p.Values)) {
			mean := p.Values[v].Mean
			columns, means = append(columns, v), append(means, &mean)
		}
		for j, place := range places(means, lowerIsBetter(metricOr(p.Metric))) {
			printed := 0
			switch c := columns[j]; {
			case slices.Contains(p.Best, c):
				printed = 1
			case slices.Contains(p.Second, c):
				printed = 2
			}
			if printed != place {
				wrong = append(wrong, r.misprint(p, columns[j], printed, place))
			}
		}
	}
	if wrong == nil {
		return nil
	}
	return []string{"Marks in the source that its numbers contradict: " + sentence(strings.Join(wrong, "; "))}
}

func (r *Results) misprint(p *exhibit.Published, column string, printed, place int) string {
	rank := []string{"not marked", "marked best", "marked second"}
	is := []string{"neither best nor second", "the best", "the second"}
	var where []string
	for _, a := range []string{"dataset", "ipc"} {
		for _, v := range p.When[a] {
			where = append(where, r.shortTitle(a, v.Text))
		}
	}
	return fmt.Sprintf("%s: %s (%s) is %s and is %s", strings.Join(where, " "), r.valueTitle("method", column), shortest(p.Values[column].Mean), rank[printed], is[place])
}
