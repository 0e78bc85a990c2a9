package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"dgkip/harness/report/sheet"
)

// tally counts published numbers by their outcome.
type tally map[string]int

// outcomes are what may become of published numbers, in the order of a sentence.
var outcomes = []string{"within tolerance", "higher", "lower", "unstable", "not run", "failed", "damaged", otherFamily, "not judged"}

// otherFamily is the outcome where ours and the published number do not compare.
const otherFamily = "of another family"

func (b Beside) outcome() string {
	state := b.runs.state()
	switch {
	case b.Match == Within:
		return "within tolerance"
	case state == sheet.NotRun:
		return "not run"
	case state != sheet.Blank:
		return state.String()
	case b.Mixed():
		return otherFamily
	}
	return b.Match.String()
}

// tallyOf counts those that are meant.
func tallyOf(all []Beside, meant func(Beside) bool) tally {
	t := tally{}
	for _, b := range all {
		if meant(b) {
			t[b.outcome()]++
			t["all"]++
		}
	}
	return t
}

func (t tally) String() string {
	var parts []string
	for i, o := range outcomes {
		if i < 3 || t[o] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", t[o], o))
		}
	}
	return Count(t["all"], "number", "numbers") + ": " + strings.Join(parts, ", ")
}

// Those of published numbers that are counted.
func (b Beside) accuracy() bool    { return isAccuracy(b.Metric) }
func (b Beside) ownAccuracy() bool { return b.OfSource && isAccuracy(b.Metric) }

// counted is a row of the table of verdicts.
type counted struct {
	name, title string // the method's, or that of all of a source's own
	tally
}

// ownMethods is the name of the row of all methods that are a source's own.
const ownMethods = "own"

// verdictsOf counts published accuracies by method, and those of their sources' own
// methods together, if any is declared to be one.
func verdictsOf(all []*Results) []counted {
	var out []counted
	var besides []Beside
	var own []string
	for _, r := range all {
		for _, b := range r.Published {
			if !b.accuracy() {
				continue
			}
			name := b.Cell.Column
			if !slices.ContainsFunc(out, func(c counted) bool { return c.name == name }) {
				out = append(out, counted{name: name, title: methodTitle(r, name)})
			}
			if b.OfSource {
				own = with(own, methodTitle(r, name))
			}
		}
		besides = append(besides, r.Published...)
	}
	for i := range out {
		out[i].tally = tallyOf(besides, func(b Beside) bool { return b.accuracy() && b.Cell.Column == out[i].name })
	}
	if len(own) > 0 {
		out = append(out, counted{ownMethods, "The source's own: " + list(own), tallyOf(besides, Beside.ownAccuracy)})
	}
	return out
}

// methodTitle names a method by itself, where an experiment may title its columns by
// what it does with it.
func methodTitle(r *Results, column string) string {
	for _, c := range r.Cells {
		if c.Cell.Column == column && c.Cell.Method().Info().Name == column {
			return c.Cell.Method().Info().Title
		}
	}
	return r.valueTitle("method", column)
}

// verdictSheet is the table of how many published accuracies are reproduced, by method.
func verdictSheet(name, title string, rows []counted) *sheet.Sheet {
	s := &sheet.Sheet{Name: name, Title: title, Heads: []string{"Method"}}
	var columns []string
	for i, o := range outcomes {
		if i < 3 || o == "not run" || slices.ContainsFunc(rows, func(c counted) bool { return c.tally[o] > 0 }) {
			columns, s.Columns = append(columns, o), append(s.Columns, capital(o))
		}
	}
	s.Columns = append(s.Columns, "All")
	for _, c := range rows {
		row := sheet.Row{Heads: []string{c.title}}
		for _, o := range append(columns, "all") {
			row.Cells = append(row.Cells, sheet.Text(strconv.Itoa(c.tally[o])))
		}
		s.Rows = append(s.Rows, row)
	}
	s.Caption = "Our accuracies against the published ones: how many are within the tolerance, higher, lower, or unstable: within it only because our seeds scatter."
	return s
}

// verdicts is that table of one experiment, nil if it has no published numbers.
func (r *Results) verdicts() *sheet.Sheet {
	rows := verdictsOf([]*Results{r})
	if rows == nil {
		return nil
	}
	s := verdictSheet(r.stem()+"-verdicts", r.Spec.Title+": published numbers by method", rows)
	s.Caption = r.selected(s.Caption + " " + toleranceText)
	return s
}

// verdictsCSV has the numbers of that table, the methods by name.
func (r *Results) verdictsCSV() []byte {
	names := append(slices.Clone(outcomes), "all")
	line := []string{"method"}
	for _, o := range names {
		line = append(line, strings.ReplaceAll(o, " ", "_"))
	}
	lines := [][]string{line}
	for _, c := range verdictsOf([]*Results{r}) {
		line := []string{c.name}
		for _, o := range names {
			line = append(line, strconv.Itoa(c.tally[o]))
		}
		lines = append(lines, line)
	}
	return sheet.CSV(lines)
}

// TerminalVerdicts writes, for people to read at once, how many published accuracies of
// several experiments together are reproduced. It writes nothing if there are none.
func TerminalVerdicts(w io.Writer, all []*Results, screen Screen) error {
	rows := verdictsOf(all)
	if rows == nil {
		return nil
	}
	return verdictSheet("", "Published accuracies by method", rows).Terminal(w, screen.Width)
}
