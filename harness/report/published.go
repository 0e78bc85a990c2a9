package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"dgkip/harness/report/sheet"
)

// toleranceText explains the tolerance of judge.
const toleranceText = "The tolerance is twice the combined error of the two numbers: their standard deviations over seeds, and the sampling error of the test images. It is at least one test image, and half a unit of the last published digit is added. An experiment may declare another tolerance."

// reproduced returns the table of published numbers, with ours and the difference below each. It
// returns nil if there are no published numbers.
func (r *Results) reproduced() *sheet.Sheet {
	if len(r.Published) == 0 {
		return nil
	}
	rowAxes := r.rowAxes()
	s := &sheet.Sheet{Title: r.Spec.Title + ": published and ours", Heads: append(axisTitles(rowAxes), "Metric", ""), Merge: len(rowAxes) + 1}
	var columns, kinds []string
	for _, v := range r.axisValues("method") {
		if slices.ContainsFunc(r.Published, func(x Comparison) bool { return x.Runs.Cell.Column == v }) {
			columns, s.Columns = append(columns, v), append(s.Columns, r.valueTitle("method", v))
		}
	}
	families := columnFamilies{}
	for _, x := range r.Published {
		kinds = with(kinds, shortMetric(x.Metric)) // columns may show different metrics of one kind on a line
		column := r.valueTitle("method", x.Runs.Cell.Column)
		families.add(column, x.family())
		if x.Ours.N > 0 {
			families.add(column, x.own())
		}
	}
	for _, point := range r.groups(r.Cells, rowAxes) {
		for _, kind := range kinds {
			lines := [3][]sheet.Entry{make([]sheet.Entry, len(columns)), make([]sheet.Entry, len(columns)), make([]sheet.Entry, len(columns))}
			some, differ := false, false
			for _, x := range r.Published {
				if shortMetric(x.Metric) != kind || !slices.Contains(point.cells, x.Runs) {
					continue
				}
				i := slices.Index(columns, x.Runs.Cell.Column)
				theirs, ours, difference := &lines[0][i], &lines[1][i], &lines[2][i]
				spread := "sd"
				if isTime(x.Metric) {
					spread = "none"
				}
				*theirs, *ours, some = x.theirs(), x.Ours.entry(s, 2, spread), true
				families.mark(theirs, s.Columns[i], x.family())
				families.mark(ours, s.Columns[i], x.own())
				judged := difference
				switch {
				case isTime(x.Metric): // the verdict on a time is on the line of the time
					judged = ours
					if v := x.verdict(); x.Ours.N > 0 {
						ours.Text, ours.Good = ours.Text+", "+v.Text, v.Good
					}
				case x.Ours.N > 0:
					*difference, differ = x.verdict(), true
				}
				if x.Reason != (Reason{}) {
					s.Refer(judged, x.Reason.mark())
				}
			}
			heads := append(r.headsOf(point), kind)
			for i, name := range []string{"published", "ours", "difference"} {
				if some && (i < 2 || differ) {
					s.Rows = append(s.Rows, sheet.Row{Heads: append(slices.Clone(heads), name), Cells: lines[i]})
				}
			}
		}
	}
	s.Caption = fmt.Sprintf("Our accuracies against the published ones (%s): %s. Accuracies are in percent with the population standard deviation over seeds, differences in percentage points. A difference is unstable if only our own spread brings it within the tolerance. A ? marks differences without a known spread. %s%s",
		list(r.sources()), tallyOf(r.Published, Comparison.accuracy), toleranceText, r.circumstances())
	s.Notes = slices.Concat(s.StateNotes(), families.notes(), r.publishedNotes())
	return s
}

// theirs returns the published number as an entry.
func (x Comparison) theirs() sheet.Entry {
	e := sheet.Text(x.Ours.format(x.Published.Mean, 2))
	if x.Published.HasSpread {
		e.Spread = x.Ours.format(x.Published.Spread, 2)
	}
	return e
}

// verdict returns the difference and its verdict as an entry.
func (x Comparison) verdict() sheet.Entry {
	e := sheet.Text(x.differenceText())
	switch {
	case x.Outcome.judged():
		e.Text += " " + x.Outcome.verdict()
		if x.Worse {
			e.Good = -1
		} else if x.Outcome != Unstable {
			e.Good = 1
		}
	case x.Outcome == OtherFamily:
		e.Text = "≠" // the difference means nothing
	case isTime(x.Metric):
	case x.BuiltIn:
		e.Text = string(NotJudged)
	default:
		e.Text += " ?"
	}
	return e
}

func (r *Results) sources() []string {
	var out []string
	for _, x := range r.Published {
		out = with(out, x.Source.Source)
	}
	return out
}

// publishedNotes returns notes on how to read a comparison.
func (r *Results) publishedNotes() []string {
	var notes, unchecked []string
	var times []*CellRuns
	mixed, builtIn := false, false
	for _, x := range r.Published {
		if isTime(x.Metric) {
			times = append(times, x.Runs)
		}
		if x.Source.Unchecked {
			unchecked = with(unchecked, x.Source.Source)
		}
		mixed = mixed || x.Ours.N > 0 && x.Outcome == OtherFamily
		builtIn = builtIn || x.BuiltIn
	}
	if times != nil {
		notes = append(notes, "Times depend on the machine. Their factor is our time divided by the published one; it is judged only if a tolerance is declared.")
		notes = append(notes, r.timeNotes(times)...)
	}
	if mixed {
		notes = append(notes, "≠: different protocol families, so the numbers are not comparable.")
	}
	if unchecked != nil {
		notes = append(notes, "Not checked against the publication: numbers of "+strings.Join(unchecked, "; ")+".")
	}
	if builtIn {
		notes = append(notes, "Data marked built-in is drawn by the program, so its numbers cannot reproduce published ones and are not judged.")
	}
	return notes
}

// comparisonCSV returns a line for every published number, in published units.
func (r *Results) comparisonCSV() []byte {
	axes := r.axes()
	lines := [][]string{append(slices.Clone(axes), "metric", "source", "published", "published_sd", "ours", "ours_population_sd", "n_seeds", "test_images", "difference", "tolerance", "match", "reason", "published_family", "family", "checked")}
	for _, x := range r.Published {
		n, images := x.Ours.N, x.Runs.testImages()
		lines = append(lines, append(pointOf(x.Runs.Cell, axes), x.Metric, x.Source.Source, shortest(x.Published.Mean), given(x.Published.HasSpread, shortest(x.Published.Spread)),
			given(n > 0, shortest(x.Ours.value())), given(n > 1 && !isTime(x.Metric), shortest(x.Ours.spread())), strconv.Itoa(n), given(n > 0 && images > 0, strconv.FormatInt(images, 10)),
			given(n > 0, tenDigits(x.difference())), given(!math.IsNaN(x.Tolerance), tenDigits(x.Tolerance)),
			x.Outcome.verdict(), x.Reason.String(), string(x.family()), string(x.own()), strconv.FormatBool(!x.Source.Unchecked)))
	}
	return sheet.CSV(lines)
}

// methodTally counts the outcomes for the published accuracies of one method, or of all methods
// that the sources call their own.
type methodTally struct {
	name, title string
	tally
}

// ownMethods is the name of the row of the sources' own methods.
const ownMethods = "own"

// tallies counts published accuracies by method. If any source has methods of its own, a
// last tally counts all of those together.
func tallies(all []*Results) []methodTally {
	var out []methodTally
	var titles []string // of the source's own methods
	own := tally{}
	for _, r := range all {
		for _, x := range r.Published {
			if !x.accuracy() {
				continue
			}
			name := x.Runs.Cell.Column
			i := slices.IndexFunc(out, func(m methodTally) bool { return m.name == name })
			if i < 0 {
				i, out = len(out), append(out, methodTally{name, methodTitle(r, name), tally{}})
			}
			out[i].tally[x.Outcome]++
			if x.ownAccuracy() {
				own[x.Outcome]++
				titles = with(titles, methodTitle(r, name))
			}
		}
	}
	if titles != nil {
		out = append(out, methodTally{ownMethods, "The source's own: " + list(titles), own})
	}
	return out
}

// methodTitle returns the method's own title if the column has its name, or else the column's
// title.
func methodTitle(r *Results, column string) string {
	for _, c := range r.Cells {
		if info := c.Cell.Method().Info(); c.Cell.Column == column && info.Name == column {
			return info.Title
		}
	}
	return r.valueTitle("method", column)
}

// TerminalVerdicts writes a table of how many published accuracies are reproduced, by method. It
// writes nothing if the experiments have no published accuracies.
func TerminalVerdicts(w io.Writer, all []*Results, width int) error {
	rows := tallies(all)
	if rows == nil {
		return nil
	}
	s := &sheet.Sheet{Title: "Published accuracies by method", Heads: []string{"Method"}, Caption: "How many of our accuracies are within the tolerance of the published ones, higher, lower, or unstable (within it only because of our own spread)."}
	var columns []Outcome
	for i, o := range outcomes {
		if i < 3 || o == "not run" || slices.ContainsFunc(rows, func(m methodTally) bool { return m.tally[o] > 0 }) {
			columns, s.Columns = append(columns, o), append(s.Columns, capital(string(o)))
		}
	}
	s.Columns = append(s.Columns, "All")
	for _, m := range rows {
		row := sheet.Row{Heads: []string{m.title}}
		for _, o := range columns {
			row.Cells = append(row.Cells, sheet.Text(strconv.Itoa(m.tally[o])))
		}
		row.Cells = append(row.Cells, sheet.Text(strconv.Itoa(m.all())))
		s.Rows = append(s.Rows, row)
	}
	return s.Terminal(w, width)
}
