// Package sheet writes tables: for LaTeX, Markdown, CSV, HTML and the terminal.
//
// A Sheet holds plain texts and knows nothing of records. Every form escapes them
// in its own way.
package sheet

import (
	"slices"
	"strconv"
)

// Sheet is a table, ready to be written in any form.
type Sheet struct {
	Name    string // of its files
	Title   string
	Caption string
	Ranking string   // the part of the caption about bold and underlined entries
	Heads   []string // titles of the leading columns, which name the rows
	Columns []string // titles of the value columns
	Groups  []Group  // over the value columns; nil if there are none
	Rows    []Row
	Notes   []string // under the table

	// Footnotes stand before the notes.
	Footnotes []Footnote

	// Merge is how many of the leading columns show a text once for all the rows
	// below that repeat it.
	Merge int

	// Prose says that value columns hold text, not numbers. Wide is then the share
	// of a line's width of every column, or nil where none is long.
	Prose bool
	Wide  []float64
}

// Group is a heading over the next N value columns, "" for none.
type Group struct {
	Title string
	N     int
	Below bool // a further block begins here
}

// Row is a line of a table.
type Row struct {
	Heads []string
	Cells []Entry
}

// State says what an entry is.
type State int

// States of entries.
const (
	Blank    State = iota // there is nothing to show
	Value                 // text
	NotRun                // no run has been made
	Failed                // all runs made have failed
	Damaged               // what stands in the place of the record cannot be read
	Excluded              // the experiment leaves the cell out
)

// stateTexts are what entries show that are no values.
var stateTexts = map[State]string{NotRun: "–", Failed: "failed", Damaged: "damaged", Excluded: "n/a"}

func (s State) String() string { return stateTexts[s] }

// Entry is what stands in a cell of a table.
type Entry struct {
	State  State
	Text   string // the value
	Spread string // behind the value; "" for none
	N      int    // seeds, shown if above 0
	Place  int    // 1 best, 2 second, 0 neither
	Marks  string // references to notes and footnotes
	Good   int    // 1 a verdict that holds, -1 one that fails
	Link   string // where it leads on a page; "" for nowhere
}

// Text is an entry that is a text and nothing else.
func Text(t string) Entry { return Entry{State: Value, Text: t} }

// Plain is the entry's text without its rank and marks.
func (e Entry) Plain() string {
	if e.State != Value {
		return e.State.String()
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

// Footnote is a text under the table to which marks of entries refer.
type Footnote struct{ Mark, Text string }

// Refer adds the number of a footnote to the marks of an entry. Entries with the same
// text share one.
func (s *Sheet) Refer(e *Entry, text string) {
	i := slices.IndexFunc(s.Footnotes, func(n Footnote) bool { return n.Text == text })
	if i < 0 {
		i = len(s.Footnotes)
		s.Footnotes = append(s.Footnotes, Footnote{strconv.Itoa(i + 1), text})
	}
	e.Marks += s.Footnotes[i].Mark
}

// Has reports whether any entry fulfils a condition.
func (s *Sheet) Has(f func(Entry) bool) bool {
	for _, r := range s.Rows {
		if slices.ContainsFunc(r.Cells, f) {
			return true
		}
	}
	return false
}

// StateNotes explains the entries that are no values.
func (s *Sheet) StateNotes() []string {
	var notes []string
	for _, n := range []struct {
		state State
		text  string
	}{
		{NotRun, NotRun.String() + " not run."},
		{Failed, "failed: all runs of this cell failed."},
		{Damaged, "damaged: a record is there but cannot be read."},
	} {
		if s.Has(func(e Entry) bool { return e.State == n.state }) {
			notes = append(notes, n.text)
		}
	}
	return notes
}

// slice is the table with the value columns in [from, to) alone.
func (s *Sheet) slice(from, to int) *Sheet {
	part := *s
	part.Columns, part.Groups, part.Rows = s.Columns[from:to], nil, nil
	at := 0
	for _, g := range s.Groups {
		if n := min(at+g.N, to) - max(at, from); n > 0 {
			part.Groups = append(part.Groups, Group{g.Title, n, g.Below})
		}
		at += g.N
	}
	for _, r := range s.Rows {
		r.Cells = r.Cells[from:to]
		part.Rows = append(part.Rows, r)
	}
	return &part
}

// Blocks are the parts that stand one under the other, each with the rows' headings. A
// block leaves out rows that it has nothing in.
func (s *Sheet) Blocks() []*Sheet {
	var out []*Sheet
	from, at := 0, 0
	for _, g := range s.Groups {
		if g.Below && at > from {
			out, from = append(out, s.slice(from, at).filled()), at
		}
		at += g.N
	}
	if from == 0 {
		return []*Sheet{s}
	}
	return append(out, s.slice(from, len(s.Columns)).filled())
}

// filled is the table without the rows that are blank.
func (s *Sheet) filled() *Sheet {
	s.Rows = slices.DeleteFunc(s.Rows, func(r Row) bool {
		return !slices.ContainsFunc(r.Cells, func(e Entry) bool { return e.State != Blank })
	})
	return s
}

// line is a row with the rows that its headings span: 0 where one continues from
// above. Level is the outermost heading that begins in it.
type line struct {
	Row
	Spans []int
	Level int
}

// lines finds out which headings rows share.
func (s *Sheet) lines() []line {
	out := make([]line, len(s.Rows))
	began := make([]int, len(s.Heads)) // the row in which the current heading began
	for i, r := range s.Rows {
		l := line{Row: r, Spans: make([]int, len(r.Heads)), Level: len(s.Heads)}
		fresh := i == 0
		for j, text := range r.Heads {
			if j < s.Merge && !fresh && s.Rows[began[j]].Heads[j] == text {
				out[began[j]].Spans[j]++
				continue
			}
			fresh = fresh || j < s.Merge
			l.Spans[j], began[j], l.Level = 1, i, min(l.Level, j)
		}
		out[i] = l
	}
	return out
}

// rule says what separates a row from the one above: 2 a rule over all columns, 1
// one behind the headings that go on, 0 none.
func (s *Sheet) rule(i int, l line) int {
	switch {
	case i > 0 && l.Level == 0 && len(s.Heads) > 1:
		return 2
	case i > 0 && l.Level < len(s.Heads)-1:
		return 1
	}
	return 0
}

// fullTitles are the columns' titles with their groups, for forms that have no
// headings over several columns, where the titles alone would not be unique.
func (s *Sheet) fullTitles() []string {
	out := append([]string{}, s.Columns...)
	if different := slices.Compact(slices.Sorted(slices.Values(out))); len(different) == len(out) {
		return out
	}
	at := 0
	for _, g := range s.Groups {
		for range g.N {
			if g.Title != "" {
				out[at] = g.Title + ": " + out[at]
			}
			at++
		}
	}
	return out
}
