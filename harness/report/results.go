package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"dgkip/harness/experiment"
	"dgkip/harness/report/sheet"
	"dgkip/harness/stats"
	"dgkip/harness/store"
)

// Results are the records of an experiment, cell by cell, with their tables and verdicts.
type Results struct {
	Spec  *experiment.Spec
	Cells []*CellRuns // the selected ones, in the grid's order

	// Problems are messages about what is missing from the report or looks wrong.
	Problems []string

	Published []Comparison  // by metric, then in the order of the cells
	Claims    []JudgedClaim // in the order of the experiment

	options Options
	layout  tableLayout              // of the main table
	pairs   []difference             // row by row; none if columns show times or different metrics
	machine string                   // the kind of machine that took most of the times
	data    map[string]store.Dataset // by name
	traces  map[string]*store.Trace  // by key
	sheets  []*sheet.Sheet           // in the order of tables; none without cells
}

// CellRuns are the runs of a cell.
type CellRuns struct {
	Cell *experiment.Cell
	Runs []Run // one for every selected seed

	timedBy *CellRuns // the cell of another experiment that gives the times; may be nil
}

// Run is a run of a cell, with its record or the reason why there is none.
type Run struct {
	Seed    uint64
	Record  *store.Record  // may be nil, like the rest
	Failure *store.Failure // of a run without a record
	Damage  error          // why the record cannot be read
	Spoilt  error          // why a file of the record, other than those with its numbers, cannot be read

	id string // equal in all cells that share the run
}

// state returns what to show in place of a number of the run, Blank if the run has a record.
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

// only returns the cells and runs that match the filter of a figure or a claim.
func (r *Results) only(f experiment.Filter) []*CellRuns {
	if f.Empty() {
		return r.Cells
	}
	var out []*CellRuns
	for _, c := range r.Cells {
		some := &CellRuns{Cell: c.Cell, timedBy: c.timedBy}
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

// dataset describes a dataset as it was recorded, under the experiment's title if it has one.
func (r *Results) dataset(name string) store.Dataset {
	d := r.data[name]
	d.Title = cmp.Or(r.Spec.Data[name].Title, d.Title)
	return d
}

// trace reads the trace of a record once. It returns nil if the trace cannot be read.
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

// distinct lists the runs of all cells, with shared runs only once.
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

// newest returns when the last of some runs finished, in UTC, and the commit that computed it. It
// returns zero values without records.
func newest(runs []Run) (finished time.Time, commit string) {
	for _, run := range runs {
		if run.Record == nil || !run.Record.Provenance.Finished.After(finished) {
			continue
		}
		p := run.Record.Provenance
		finished, commit = p.Finished.UTC(), "unknown"
		if n := len(p.Sessions); n > 0 && p.Sessions[n-1].Host.Git.Commit != "" {
			commit = short(p.Sessions[n-1].Host.Git.Commit)
		}
	}
	return finished, commit
}

// progress counts the runs by their state.
func (r *Results) progress() (n map[sheet.State]int, all int) {
	n = map[sheet.State]int{}
	for _, run := range r.distinct() {
		n[run.state()]++
		all++
	}
	return n, all
}

// progressText reports the progress in words.
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

// nothing explains why a table or figure has no value at all.
func (r *Results) nothing() string {
	if n, _ := r.progress(); n[sheet.Blank] > 0 {
		return "no run has this number"
	}
	return "no run has a readable record"
}

// done lists the runs with a record.
func (c *CellRuns) done() []Run {
	return slices.DeleteFunc(slices.Clone(c.Runs), func(r Run) bool { return r.Record == nil })
}

// lost counts the runs that failed, or whose record is damaged.
func (c *CellRuns) lost() int {
	n := 0
	for _, r := range c.Runs {
		if r.Failure != nil || r.Damage != nil {
			n++
		}
	}
	return n
}

// state returns what to show in place of a number of the cell, Blank if a run has a record.
func (c *CellRuns) state() sheet.State {
	worst := sheet.NotRun
	for _, r := range c.Runs {
		s := r.state()
		if s == sheet.Blank {
			return s
		}
		worst = max(worst, s)
	}
	return worst
}

// values returns a metric of the runs that have it, with their seeds. Times come from the
// timed runs.
func (c *CellRuns) values(metric string) (x []float64, seeds []uint64) {
	runs := c.Runs
	switch metric {
	case secondsPerIteration, secondsPerUpdate:
		runs = c.timed()
	case makingSeconds:
		all, _ := c.values(secondsPerIteration)
		if all == nil {
			return nil, nil
		}
		each := stats.Median(all)
		for _, r := range c.done() {
			x, seeds = append(x, iterations(r.Record)*each), append(seeds, r.Seed)
		}
		if len(x) > 0 && slices.Min(x) == slices.Max(x) { // all seeds share one timing
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
