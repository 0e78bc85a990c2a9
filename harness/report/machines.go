package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dgkip/harness/store"
)

// machines are those that the times of a table were taken on. Times from several,
// or from one that other runs had a part of, do not compare, and are marked.
type machines struct {
	kinds []string // in the order of the cells
	hosts []string
	marks string // all of those of single runs

	source string // the experiment whose runs were timed, "" if the table's own were
	own    bool   // some of its own were in any case
}

func machinesOf(cells []*CellRuns) machines {
	var m machines
	for _, c := range cells {
		runs := c.timed()
		m.source = cmp.Or(m.source, c.clockOf)
		m.own = m.own || c.clock == nil && runs != nil
		for _, r := range runs {
			p := r.Record.Provenance
			m.marks = unite(m.marks, timeMarksOf(p))
			for _, s := range p.Sessions {
				m.kinds, m.hosts = with(m.kinds, kindOf(s)), with(m.hosts, s.Host.Name)
			}
		}
	}
	return m
}

// timeBy takes the times of cells from those of another experiment that are timed in
// their place, and were run.
func (r *Results) timeBy(other *Results) {
	r.Problems = with(r.Problems, other.Problems...)
	for _, c := range r.Cells {
		at := r.Spec.TimesAt(c.Cell)
		i := slices.IndexFunc(other.Cells, func(x *CellRuns) bool { return x.Cell == at })
		if i >= 0 && other.Cells[i].ownTimes() != nil {
			c.clock, c.clockOf = other.Cells[i], other.Spec.Name
		}
	}
}

// timed lists the runs whose times count.
func (c *CellRuns) timed() []Run {
	if c.clock != nil {
		return c.clock.ownTimes()
	}
	return c.ownTimes()
}

// ownTimes lists those of the cell's own runs: without a mark, if there are any, and
// made on the machine of the first. A mean over machines is the time of none.
func (c *CellRuns) ownTimes() []Run {
	var out []Run
	for _, marked := range []bool{false, true} {
		for _, r := range c.done() {
			p := r.Record.Provenance
			if p.Timing.Median > 0 && (timeMarksOf(p) != "") == marked && (out == nil || slices.Equal(kindsOf(p), kindsOf(out[0].Record.Provenance))) {
				out = append(out, r)
			}
		}
		if out != nil {
			break
		}
	}
	return out
}

// kindsOf lists what the sessions of a run ran on.
func kindsOf(p store.Provenance) []string {
	var kinds []string
	for _, s := range p.Sessions {
		kinds = with(kinds, kindOf(s))
	}
	return kinds
}

// kindOf describes what a session ran on, as far as it matters to its time.
func kindOf(s store.Session) string {
	k := s.Host.CPU
	if s.Kernels != "" {
		k += ", " + s.Kernels
	}
	if s.Threads > 0 {
		k += ", " + Count(s.Threads, "thread", "threads")
	}
	return k
}

const sharedMark, mixedMark, partlyMark = "*", "‡", "§"

// timeMarks are those of times that may not compare, and are ranked nowhere.
const timeMarks = sharedMark + mixedMark + partlyMark

// timeMarksOf marks the time of a run that may not compare with others.
func timeMarksOf(p store.Provenance) string {
	marks := ""
	if p.Timing.Shared {
		marks += sharedMark
	}
	if p.Timing.Hosts > 1 {
		marks += mixedMark
	}
	if partOf(p) {
		marks += partlyMark
	}
	return marks
}

// partOf reports whether a run had less than half of the processor time that its threads
// could have had: other programs took the rest, or it found too little to do at once.
// With -jobs above 1 the processor time is not the run's own, and the time is marked
// for that.
func partOf(p store.Provenance) bool {
	var most float64
	for _, s := range p.Sessions {
		most += s.Seconds * float64(s.Threads)
	}
	return !p.Shared && !p.Timing.Shared && p.CPU < most/2
}

// unite adds the marks that are not there yet.
func unite(marks, more string) string {
	for _, m := range more {
		if !strings.ContainsRune(marks, m) {
			marks += string(m)
		}
	}
	return marks
}

// of marks the time of a cell.
func (m machines) of(c *CellRuns) string {
	marks := ""
	for _, r := range c.timed() {
		p := r.Record.Provenance
		for _, s := range p.Sessions {
			if len(m.kinds) > 1 {
				marks = unite(marks, letter(slices.Index(m.kinds, kindOf(s))))
			}
		}
		marks = unite(marks, timeMarksOf(p))
	}
	return marks
}

// has reports whether some time has a mark.
func (m machines) has(mark string) bool { return strings.Contains(m.marks, mark) }

// incomparable says why the times do not compare with each other, "" if they do.
func (m machines) incomparable() string {
	switch {
	case len(m.kinds) > 1 || m.has(mixedMark):
		return "the times come from different machines or settings"
	case m.has(sharedMark):
		return "some of the times were taken while other runs had a part of the machine (-jobs above 1, or beside other workers)"
	case m.has(partlyMark):
		return "some of the times are of runs that had less than half of the processor's time (they may need fewer -threads)"
	}
	return ""
}

func letter(i int) string { return string(rune('a' + i%26)) }

// notes explains the marks.
func (m machines) notes() []string {
	var notes []string
	switch {
	case m.source != "" && m.own:
		notes = append(notes, fmt.Sprintf("Times come from separate short runs (experiment %s), and from the table's own runs where there are none.", m.source))
	case m.source != "":
		notes = append(notes, fmt.Sprintf("Times come from separate short runs (experiment %s).", m.source))
	}
	switch {
	case len(m.kinds) == 1:
		notes = append(notes, "Times taken on: "+sentence(m.kinds[0]))
	case len(m.kinds) > 1:
		var each []string
		for i, k := range m.kinds {
			each = append(each, letter(i)+" "+k)
		}
		marked := ""
		if odd := m.oddMarks(); odd != nil {
			marked = fmt.Sprintf("those marked %s are not ranked, and ", list(odd))
		}
		notes = append(notes, fmt.Sprintf("Times come from different machines or settings and do not compare across them; %sno best is marked where the rest of a row is from several machines: %s",
			marked, sentence(strings.Join(each, "; "))))
	}
	if len(m.kinds) == 1 && len(m.hosts) > 1 {
		notes = append(notes, fmt.Sprintf("Times come from %d hosts of this kind.", len(m.hosts)))
	}
	return append(notes, markNotes(m.marks)...)
}

// oddMarks are those of times that are not ranked.
func (m machines) oddMarks() []string {
	var odd []string
	for _, mark := range timeMarks {
		if m.has(string(mark)) {
			odd = append(odd, string(mark))
		}
	}
	return odd
}

// markNotes explains the marks of times that may not compare.
func markNotes(marks string) []string {
	var notes []string
	for _, n := range []struct{ mark, text string }{
		{sharedMark, " timed while other runs had a part of the machine (-jobs above 1, or beside other workers)."},
		{mixedMark, " timed on more than one host."},
		{partlyMark, " the run had less than half of the processor's time: others may have had the rest, and its time may not compare."},
	} {
		if strings.Contains(marks, n.mark) {
			notes = append(notes, n.mark+n.text)
		}
	}
	return notes
}
