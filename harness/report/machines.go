package report

import (
	"fmt"
	"slices"
	"strings"

	"dgkip/harness/store"
)

// machines are those that the times of a table were taken on. Times from several,
// or from one that other runs had a part of, do not compare, and are marked.
type machines struct {
	kinds  []string // in the order of the cells
	hosts  []string
	shared bool
	mixed  bool // some run went from one host to another
	partly bool // some run had less than half of the processor
}

func machinesOf(cells []*CellRuns) machines {
	var m machines
	for _, c := range cells {
		for _, r := range c.done() {
			p := r.Record.Provenance
			if p.Timing.Median <= 0 {
				continue
			}
			m.shared = m.shared || p.Timing.Shared
			m.mixed = m.mixed || p.Timing.Hosts > 1
			m.partly = m.partly || partOf(p)
			for _, s := range p.Sessions {
				if k := kindOf(s); !slices.Contains(m.kinds, k) {
					m.kinds = append(m.kinds, k)
				}
				if !slices.Contains(m.hosts, s.Host.Name) {
					m.hosts = append(m.hosts, s.Host.Name)
				}
			}
		}
	}
	return m
}

// kindOf describes what a session ran on, as far as it matters to its time.
func kindOf(s store.Session) string {
	k := s.Host.CPU
	if s.Kernels != "" {
		k += ", " + s.Kernels
	}
	if s.Threads > 0 {
		k += ", " + count(s.Threads, "thread", "threads")
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
	if p.Shared || p.Timing.Shared {
		return false
	}
	var most float64
	for _, s := range p.Sessions {
		most += s.Seconds * float64(s.Threads)
	}
	return most > 0 && p.CPU < most/2
}

// marks flags the time of a cell.
func (m machines) marks(c *CellRuns) string {
	marks := ""
	add := func(more string) {
		for _, s := range strings.Split(more, "") {
			if !strings.Contains(marks, s) {
				marks += s
			}
		}
	}
	for _, r := range c.done() {
		p := r.Record.Provenance
		if p.Timing.Median <= 0 {
			continue
		}
		for _, s := range p.Sessions {
			if len(m.kinds) > 1 {
				add(letter(slices.Index(m.kinds, kindOf(s))))
			}
		}
		add(timeMarksOf(p))
	}
	return marks
}

// incomparable says why the times do not compare with each other, "" if they do.
func (m machines) incomparable() string {
	switch {
	case len(m.kinds) > 1 || m.mixed:
		return "the times come from different machines or settings"
	case m.shared:
		return "some of the times were taken while other runs had a part of the machine (-jobs above 1)"
	}
	return ""
}

func letter(i int) string { return string(rune('a' + i%26)) }

// notes explains the marks.
func (m machines) notes() []string {
	var notes []string
	switch {
	case len(m.kinds) == 1:
		notes = append(notes, "Times taken on: "+sentence(m.kinds[0]))
	case len(m.kinds) > 1:
		var each []string
		for i, k := range m.kinds {
			each = append(each, letter(i)+" "+k)
		}
		notes = append(notes, "Times come from different machines or settings and do not compare across them: "+sentence(strings.Join(each, "; ")))
	}
	if len(m.kinds) == 1 && len(m.hosts) > 1 {
		notes = append(notes, fmt.Sprintf("Times come from %d hosts of this kind.", len(m.hosts)))
	}
	if m.shared {
		notes = append(notes, sharedMark+" timed while other runs had a part of the machine (-jobs above 1).")
	}
	if m.mixed {
		notes = append(notes, mixedMark+" timed on more than one host.")
	}
	if m.partly {
		notes = append(notes, partlyMark+" the run had less than half of the processor's time: others may have had the rest, and its time may not compare.")
	}
	return notes
}
