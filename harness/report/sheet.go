package report

// sheet is a table, ready to be written in any form. Its texts are plain and not
// yet escaped.
type sheet struct {
	name    string // of its files
	title   string
	caption string
	ranking string   // the part of the caption about bold and underlined entries
	heads   []string // titles of the leading columns, which name the rows
	columns []string // titles of the value columns
	groups  []group  // over the value columns; nil if there are none
	rows    []row
	notes   []string // under the table
	left    bool     // value columns hold text, not numbers

	// wide is the share of a line's width of every column of long text, or nil.
	wide []float64
}

// group is a heading over the next n value columns, "" for none.
type group struct {
	title string
	n     int
	below bool // a further block begins here
}

// row is a line of a table.
type row struct {
	heads []head
	cells []entry
	level int // of the outermost heading that begins here; 0 for the first column
}

// head is a heading of a row. One that continues from above has span 0.
type head struct {
	text string
	span int // lines
}

// state says what an entry is.
type state int

const (
	blank    state = iota // there is nothing to show
	value                 // text
	notRun                // no run has been made
	failed                // all runs made have failed
	excluded              // the experiment leaves the cell out
)

// entry is what stands in a cell of a table.
type entry struct {
	state  state
	text   string // the value
	spread string // behind the value; "" for none
	n      int    // seeds, shown if above 0
	place  int    // 1 best, 2 second, 0 neither
	marks  string // references to notes, one rune each
	good   int    // 1 a verdict that holds, -1 one that fails
}

// states explains the entries that are no values.
func (s *sheet) states() []string {
	var notes []string
	if s.has(func(e entry) bool { return e.state == notRun }) {
		notes = append(notes, notRunText+" not run.")
	}
	if s.has(func(e entry) bool { return e.state == failed }) {
		notes = append(notes, failedText+": every run that was made ended without a result.")
	}
	return notes
}

// Texts of entries that are no values.
const (
	notRunText   = "–"
	failedText   = "failed"
	excludedText = "n/a"
)

// plain is the entry's text without its rank.
func (e entry) plain() string {
	var s string
	switch e.state {
	case blank:
		return ""
	case notRun:
		s = notRunText
	case failed:
		s = failedText
	case excluded:
		return excludedText
	default:
		s = e.text
		if e.spread != "" {
			s += " ± " + e.spread
		}
		if e.n > 0 {
			s += " (" + fixed(float64(e.n), 0) + ")"
		}
	}
	return s
}

// slice is the table with the value columns in [from, to) alone.
func (s *sheet) slice(from, to int) *sheet {
	part := *s
	part.columns, part.groups, part.rows = s.columns[from:to], nil, nil
	at := 0
	for _, g := range s.groups {
		if n := min(at+g.n, to) - max(at, from); n > 0 {
			part.groups = append(part.groups, group{g.title, n, g.below})
		}
		at += g.n
	}
	for _, r := range s.rows {
		r.cells = r.cells[from:to]
		part.rows = append(part.rows, r)
	}
	return &part
}

// blocks are the parts that stand one under the other, each with the rows' headings.
func (s *sheet) blocks() []*sheet {
	var out []*sheet
	from, at := 0, 0
	for _, g := range s.groups {
		if g.below && at > from {
			out, from = append(out, s.slice(from, at)), at
		}
		at += g.n
	}
	if from == 0 {
		return []*sheet{s}
	}
	return append(out, s.slice(from, len(s.columns)))
}

// has tells whether any entry fulfils a condition.
func (s *sheet) has(f func(entry) bool) bool {
	for _, r := range s.rows {
		for _, e := range r.cells {
			if f(e) {
				return true
			}
		}
	}
	return false
}

// spans sets the spans and levels of rows from the texts of their headings, of
// which the first merged columns are merged.
func (s *sheet) spans(merged int) {
	open := make([]*head, len(s.heads))
	for i := range s.rows {
		r := &s.rows[i]
		r.level = len(s.heads)
		fresh := i == 0
		for j := range r.heads {
			h := &r.heads[j]
			if j >= merged || fresh || open[j].text != h.text {
				fresh = fresh || j < merged
				h.span = 1
				open[j] = h
				r.level = min(r.level, j)
				continue
			}
			h.span = 0
			open[j].span++
		}
	}
}
