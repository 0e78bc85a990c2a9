package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dgkip/harness/report/sheet"
	"dgkip/harness/store"
)

// timeMark marks times that cannot be compared with the rest of a report. They are never ranked.
var timeMark = sheet.Mark{Sign: "*", Text: "not timed on an idle machine of the kind named below, so neither comparable nor ranked."}

// timeBy takes the times of cells from another experiment, which runs them for a short
// while on an idle machine.
func (r *Results) timeBy(other *Results) {
	r.Problems = with(r.Problems, other.Problems...)
	for _, c := range r.Cells {
		at := r.Spec.TimesAt(c.Cell)
		i := slices.IndexFunc(other.Cells, func(x *CellRuns) bool { return x.Cell == at })
		if i >= 0 && other.Cells[i].ownTimes() != nil {
			c.timedBy = other.Cells[i]
		}
	}
}

// timed lists the runs that a cell's times come from.
func (c *CellRuns) timed() []Run {
	if c.timedBy != nil {
		return c.timedBy.ownTimes()
	}
	return c.ownTimes()
}

// ownTimes lists the cell's own runs with a time: those on an idle machine or, if there are none,
// the others. All ran on the same kind of machine as the first of them, because a median over
// different machines would describe no machine.
func (c *CellRuns) ownTimes() []Run {
	for _, wanted := range []bool{true, false} {
		var out []Run
		for _, r := range c.done() {
			p := r.Record.Provenance
			if p.Timing.Median > 0 && idle(p) == wanted && (out == nil || machineOf(p) == machineOf(out[0].Record.Provenance)) {
				out = append(out, r)
			}
		}
		if out != nil {
			return out
		}
	}
	return nil
}

// idle reports whether a run had a machine to itself. It did not if other runs shared the machine,
// if the run moved between machines, or if it got less than half of the processor time of its
// threads. The last rule does not apply to runs of several jobs in one process, whose processor
// time is counted together.
func idle(p store.Provenance) bool {
	var most float64
	for _, s := range p.Sessions {
		most += s.Seconds * float64(s.Threads)
	}
	return !p.Timing.Shared && p.Timing.Hosts <= 1 && (p.Shared || p.CPU >= most/2)
}

// machineOf describes the kinds of machines that a run ran on by what matters to its time:
// processor, vector unit and threads.
func machineOf(p store.Provenance) string {
	var kinds []string
	for _, s := range p.Sessions {
		k := s.Host.CPU
		if s.Kernels != "" {
			k += ", " + s.Kernels
		}
		if s.Threads > 0 {
			k += ", " + Count(s.Threads, "thread", "threads")
		}
		kinds = with(kinds, k)
	}
	return strings.Join(kinds, "; ")
}

// mainMachine returns the kind of machine that, while idle, took most of the times of some cells.
func mainMachine(cells []*CellRuns) string {
	var kinds []string // in the order of the cells
	times := map[string]int{}
	for _, c := range cells {
		for _, r := range c.timed() {
			kind := machineOf(r.Record.Provenance)
			kinds = with(kinds, kind)
			if idle(r.Record.Provenance) {
				times[kind]++
			}
		}
	}
	if kinds == nil {
		return ""
	}
	return slices.MaxFunc(kinds, func(a, b string) int { return cmp.Compare(times[a], times[b]) })
}

// comparable reports whether all times of some cells were taken on an idle machine of the main kind.
func (r *Results) comparable(cells ...*CellRuns) bool {
	for _, c := range cells {
		for _, run := range c.timed() {
			if p := run.Record.Provenance; !idle(p) || machineOf(p) != r.machine {
				return false
			}
		}
	}
	return true
}

// timeNotes returns notes on where the times of some cells come from.
func (r *Results) timeNotes(cells []*CellRuns) (notes []string) {
	source, own, most := "", false, 0
	for _, c := range cells {
		most = max(most, len(c.timed()))
		if c.timedBy != nil {
			source = c.timedBy.Cell.Exp
		} else if c.timed() != nil {
			own = true
		}
	}
	if source != "" {
		rest := ""
		if own {
			rest = ", or else from the experiment's own runs"
		}
		notes = append(notes, fmt.Sprintf("Times come from separate short runs (experiment %s)%s.", source, rest))
	}
	if source != "" || own {
		notes = append(notes, "Timed on: "+sentence(r.machine))
		if most > 1 {
			notes = append(notes, fmt.Sprintf("Times are medians of up to %d runs.", most))
		}
	}
	return notes
}
