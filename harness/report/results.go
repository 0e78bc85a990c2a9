package report

import (
	"cmp"
	"fmt"
	"slices"

	"dgkip/harness/experiment"
	"dgkip/harness/report/sheet"
	"dgkip/harness/stats"
	"dgkip/harness/store"
)

// Results are the records of an experiment, cell by cell, and what follows from
// them.
type Results struct {
	Spec  *experiment.Spec
	Cells []*CellRuns // the selected ones, in the grid's order

	// Problems tell, in words, what is missing from the report or looks wrong.
	Problems []string

	Published []Comparison  // by metric, then in the order of the cells
	Claims    []JudgedClaim // in the order of the experiment

	options Options
	machine string                   // the kind that most times were taken on
	data    map[string]store.Dataset // by name
	traces  map[string]*store.Trace  // by key
	sheets  []*sheet.Sheet           // the main one first; none without cells
}

// CellRuns are the runs of a cell.
type CellRuns struct {
	Cell *experiment.Cell
	Runs []Run // one for every selected seed

	clock   *CellRuns // is timed in its place; nil if there is none
	clockOf string    // the experiment that it is of
}

// Run is a run that was made, failed, cannot be read, or is missing.
type Run struct {
	Seed    uint64
	Record  *store.Record  // nil if there is none
	Failure *store.Failure // of a run without a record; nil if there is none
	Again   *store.Failure // of a record that was to be made again; nil if there is none
	Damage  error          // why what stands in the record's place cannot be read
	Spoilt  error          // why other files of the record than those with its numbers cannot be read

	id string // the same for all cells that share the run
}

// state is what a table shows of the run where it has no value.
func (r Run) state() sheet.State {
	switch {
	case r.Record != nil:
		return sheet.Blank
	case r.Damage != nil:
		return sheet.Damaged
	case r.Failure != nil:
		return sheet.Failed
	}
	return sheet.NotRun
}

// only returns the cells and runs that a figure or a claim is about.
func (r *Results) only(f experiment.Filter) []*CellRuns {
	if f.Empty() {
		return r.Cells
	}
	var out []*CellRuns
	for _, c := range r.Cells {
		some := &CellRuns{Cell: c.Cell, clock: c.clock, clockOf: c.clockOf}
		for _, run := range c.Runs {
			if f.Matches(c.Cell.Of(run.Seed)) {
				some.Runs = append(some.Runs, run)
			}
		}
		if len(some.Runs) > 0 {
			out = append(out, some)
		}
	}
	return out
}

func (r *Results) problem(format string, args ...any) {
	r.Problems = with(r.Problems, fmt.Sprintf(format, args...))
}

// dataset describes the data of a name. What was recorded counts, but for the title, if the
// experiment has one.
func (r *Results) dataset(name string) store.Dataset {
	d := r.data[name]
	d.Title = cmp.Or(r.Spec.Data[name].Title, d.Title)
	return d
}

// trace reads a run's trace once. It is nil if it cannot be read.
func (r *Results) trace(rec *store.Record) *store.Trace {
	key := rec.Result.Key
	if t, ok := r.traces[key]; ok {
		return t
	}
	t, err := rec.Trace()
	if err != nil {
		r.problem("%v", err)
		t = nil
	}
	r.traces[key] = t
	return t
}

// distinct lists the runs of all cells, those that cells share once.
func (r *Results) distinct() []Run {
	var out []Run
	seen := map[string]bool{}
	for _, c := range r.Cells {
		for _, run := range c.Runs {
			if !seen[run.id] {
				seen[run.id] = true
				out = append(out, run)
			}
		}
	}
	return out
}

// progress counts the runs, by what a table shows of them where it has no value.
func (r *Results) progress() (n map[sheet.State]int, all int) {
	n = map[sheet.State]int{}
	for _, run := range r.distinct() {
		n[run.state()]++
		all++
	}
	return n, all
}

// progressText says how much of an experiment is done.
func (r *Results) progressText() string {
	n, all := r.progress()
	if all == 0 {
		return ""
	}
	s := fmt.Sprintf("%d of %s done", n[sheet.Blank], Count(all, "run", "runs"))
	for _, state := range []sheet.State{sheet.Failed, sheet.Damaged} {
		if n[state] > 0 {
			s += fmt.Sprintf(", %d %v", n[state], state)
		}
	}
	return s
}

// nothing says why there is no value at all.
func (r *Results) nothing() string {
	switch n, _ := r.progress(); {
	case n[sheet.Blank] > 0:
		return "no run has this number"
	case n[sheet.Damaged] > 0:
		return "no record can be read"
	case n[sheet.Failed] > 0:
		return "every run has failed"
	}
	return "no run has been computed"
}

// done lists the runs with a record.
func (c *CellRuns) done() []Run {
	return slices.DeleteFunc(slices.Clone(c.Runs), func(r Run) bool { return r.Record == nil })
}

// lost counts the runs that ended without a result, or whose record is damaged.
func (c *CellRuns) lost() int {
	n := 0
	for _, r := range c.Runs {
		if r.Failure != nil || r.Damage != nil {
			n++
		}
	}
	return n
}

// state is what a table shows of the cell where it has no value: nothing where runs
// were made that have none.
func (c *CellRuns) state() sheet.State {
	worst := sheet.NotRun
	for _, r := range c.Runs {
		switch s := r.state(); {
		case s == sheet.Blank:
			return s
		case s == sheet.Damaged || s == sheet.Failed && worst == sheet.NotRun:
			worst = s
		}
	}
	return worst
}

// values returns a metric over the seeds that have it, with their seeds; a time over those
// whose times count.
func (c *CellRuns) values(metric string) (x []float64, seeds []uint64) {
	runs := c.Runs
	switch metric {
	case secondsPerIteration, secondsPerUpdate:
		runs = c.timed()
	case makingSeconds:
		each, ok := c.summary(secondsPerIteration)
		if !ok {
			return nil, nil
		}
		for _, r := range c.done() {
			x, seeds = append(x, iterations(r.Record)*each.Mean), append(seeds, r.Seed)
		}
		if len(x) > 0 && slices.Min(x) == slices.Max(x) { // one timing, and not one of each seed
			return x[:1], seeds[:1]
		}
		return x, seeds
	}
	for _, r := range runs {
		if r.Record == nil {
			continue
		}
		if v, ok := metricOf(r.Record, metric); ok {
			x, seeds = append(x, v), append(seeds, r.Seed)
		}
	}
	return x, seeds
}

// summary summarises a metric over the seeds; false if no run has it.
func (c *CellRuns) summary(metric string) (stats.Summary, bool) {
	x, _ := c.values(metric)
	if len(x) == 0 {
		return stats.Summary{}, false
	}
	return stats.Summarise(x), true
}

// common returns a metric of two cells over the seeds that both have.
func (c *CellRuns) common(o *CellRuns, metric string) (x, y []float64) {
	a, as := c.values(metric)
	b, bs := o.values(metric)
	for i, seed := range as {
		if j := slices.Index(bs, seed); j >= 0 {
			x, y = append(x, a[i]), append(y, b[j])
		}
	}
	return x, y
}
