// Package sheet writes tables: for LaTeX, Markdown, CSV, HTML and the terminal.
//
// A Sheet holds plain text and is independent of records. Each output format escapes the text in
// its own way.
package sheet

import (
	"slices"
	"strconv"
	"strings"
)

// Sheet is a table that can be written in any format.
type Sheet struct {
	Name    string // base name of its files
	Title   string
	Caption string
	Rules   []string // what a reader has to know about the best and second of a row
	Heads   []string // titles of the leading columns, which name the rows
	Columns []string // titles of the value columns
	Groups  []Group  // the group of each value column; nil without groups
	Rows    []Row
	Notes   []string // shown under the table

	// Footnotes explain the marks of entries. They precede the notes.
	Footnotes []Mark

	// Merge is the number of leading columns in which equal neighbours are shown only once.
	Merge int

	// Wide is the share of the line width of every column if value columns hold text instead of
	// numbers.
	Wide []float64

	numbers int // of footnotes that have a number
}

// caption returns the caption with a sentence on the best and second of a row. The arguments
// describe how a format shows these.
func (s *Sheet) caption(best, second string) string {
	has := func(place int) bool { return s.Has(func(e Entry) bool { return e.Place == place }) }
	text := ""
	switch {
	case has(1) && has(2):
		text = "The best of a row is " + best + ", the second " + second
	case has(1):
		text = "The best of a row is " + best
	case has(2):
		text = "The second of a row is " + second
	default:
		return s.Caption
	}
	return s.Caption + " " + strings.Join(append([]string{text}, s.Rules...), "; ") + "."
}

// Group is a heading over neighbouring columns.
type Group struct {
	Title string // may be empty
	Below bool   // a new block begins with the group
}

// Span is a heading over N columns.
type Span struct {
	Title string
	N     int
}

// Spans returns the headings over the columns.
func (s *Sheet) Spans() []Span {
	var out []Span
	for i, g := range s.Groups {
		if s.begins(i) {
			out = append(out, Span{Title: g.Title})
		}
		out[len(out)-1].N++
	}
	return out
}

// begins reports whether a group begins at a column.
func (s *Sheet) begins(column int) bool {
	return column == 0 || s.Groups[column] != s.Groups[column-1]
}

// Row is a line of a table.
type Row struct {
	Heads []string
	Cells []Entry
}

// State is the state of an entry.
type State int

// The states of entries.
const (
	Blank    State = iota // there is nothing to show
	Value                 // text
	NotRun                // there is no run
	Failed                // at least one run has failed, and none has a record
	Damaged               // the record cannot be read
	Excluded              // the experiment leaves the cell out
)

// String returns the state in words.
func (s State) String() string {
	return [...]string{Blank: "", Value: "", NotRun: "not run", Failed: "failed", Damaged: "damaged", Excluded: "left out"}[s]
}

// short returns the text of an entry in this state, "" if it has a value.
func (s State) short() string {
	switch s {
	case NotRun:
		return "–"
	case Excluded:
		return "n/a"
	}
	return s.String()
}

// Entry is the content of a cell.
type Entry struct {
	State  State
	Text   string // the value
	Spread string // shown after the value; "" for none
	N      int    // seeds, shown if above 0
	Place  int    // 1 best, 2 second, 0 neither
	Marks  string // references to notes and footnotes
	Good   int    // 1 for a good verdict, -1 for a bad one, 0 for none
	Link   string // link on a page; "" for none
}

// Text returns an entry with only a text.
func Text(t string) Entry { return Entry{State: Value, Text: t} }

// Plain returns the entry's text without its rank and marks.
func (e Entry) Plain() string {
	if e.State != Value {
		return e.State.short()
	}
	s := e.Text
	if e.Spread != "" {
		s += " ± " + e.Spread
	}
	if e.N > 0 {
		s += " (" + strconv.Itoa(e.N) + ")"
	}
	return s
}

// Mark is a sign behind an entry, explained by a text under the table.
type Mark struct{ Sign, Text string }

// Refer marks an entry and puts the text of the mark under the table. A mark without a sign gets
// the next number. Marks with the same text share a sign.
func (s *Sheet) Refer(e *Entry, m Mark) {
	i := slices.IndexFunc(s.Footnotes, func(n Mark) bool { return n.Text == m.Text })
	if i < 0 {
		i = len(s.Footnotes)
		if m.Sign == "" {
			s.numbers++
			m.Sign = strconv.Itoa(s.numbers)
		}
		s.Footnotes = append(s.Footnotes, m)
	}
	e.Marks += s.Footnotes[i].Sign
}

// Has reports whether f holds for any entry.
func (s *Sheet) Has(f func(Entry) bool) bool {
	for _, r := range s.Rows {
		if slices.ContainsFunc(r.Cells, f) {
			return true
		}
	}
	return false
}

// StateNotes returns notes that explain entries without a value.
func (s *Sheet) StateNotes() []string {
	var notes []string
	for _, n := range []struct {
		state State
		text  string
	}{
		{NotRun, NotRun.short() + ": not run."},
		{Failed, "failed: at least one run of this cell failed, and none has a record."},
		{Damaged, "damaged: the record exists, but cannot be read."},
	} {
		if s.Has(func(e Entry) bool { return e.State == n.state }) {
			notes = append(notes, n.text)
		}
	}
	return notes
}

// slice returns the table with only the value columns [from, to).
func (s *Sheet) slice(from, to int) *Sheet {
	part := *s
	part.Columns, part.Rows = s.Columns[from:to], nil
	if s.Groups != nil {
		part.Groups = s.Groups[from:to]
	}
	for _, r := range s.Rows {
		r.Cells = r.Cells[from:to]
		part.Rows = append(part.Rows, r)
	}
	return &part
}

// Blocks returns the parts of the table that are shown below each other, each with the headings of
// its rows. A block omits rows without entries.
func (s *Sheet) Blocks() []*Sheet {
	var out []*Sheet
	from := 0
	for i, g := range s.Groups {
		if g.Below && s.begins(i) && i > from {
			out, from = append(out, s.slice(from, i).filled()), i
		}
	}
	if from == 0 {
		return []*Sheet{s}
	}
	return append(out, s.slice(from, len(s.Columns)).filled())
}

// filled returns the table without blank rows.
func (s *Sheet) filled() *Sheet {
	s.Rows = slices.DeleteFunc(s.Rows, func(r Row) bool {
		return !slices.ContainsFunc(r.Cells, func(e Entry) bool { return e.State != Blank })
	})
	return s
}

// Line is a row with the spans of its headings, in rows. A span is 0 if the heading continues from
// above. Level is the outermost heading that begins in the row. Rule is the rule above the row: 2
// for one over all columns, 1 for one to the right of headings that continue, 0 for none.
type Line struct {
	Row
	Spans       []int
	Level, Rule int
}

// Lines returns the rows with the spans of their headings.
func (s *Sheet) Lines() []Line {
	out := make([]Line, len(s.Rows))
	began := make([]int, len(s.Heads)) // the row in which the current heading began
	for i, r := range s.Rows {
		l := Line{Row: r, Spans: make([]int, len(r.Heads)), Level: len(s.Heads)}
		fresh := i == 0
		for j, text := range r.Heads {
			if j < s.Merge && !fresh && s.Rows[began[j]].Heads[j] == text {
				out[began[j]].Spans[j]++
				continue
			}
			fresh = fresh || j < s.Merge
			l.Spans[j], began[j], l.Level = 1, i, min(l.Level, j)
		}
		switch {
		case i > 0 && l.Level == 0 && len(s.Heads) > 1:
			l.Rule = 2
		case i > 0 && l.Level < len(s.Heads)-1:
			l.Rule = 1
		}
		out[i] = l
	}
	return out
}

// fullTitles returns the titles of columns for formats without headings over several columns.
// Titles that are not unique begin with their group.
func (s *Sheet) fullTitles() []string {
	out := append([]string{}, s.Columns...)
	if different := slices.Compact(slices.Sorted(slices.Values(out))); len(different) == len(out) {
		return out
	}
	for i, g := range s.Groups {
		if g.Title != "" {
			out[i] = g.Title + ": " + out[i]
		}
	}
	return out
}
