package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dgkip/harness/exhibit"
	"dgkip/harness/spec"
	"dgkip/harness/stats"
	"dgkip/harness/store"
)

// Results are the records of an experiment, cell by cell.
type Results struct {
	Spec  *exhibit.Spec
	Cells []*CellRuns // the selected ones, in the grid's order

	// Problems are what stood in the way of a complete report, in words.
	Problems []string

	options Options
	data    map[string]store.Dataset // by name
	traces  map[string]*store.Trace  // by key
}

// CellRuns are the runs of a cell.
type CellRuns struct {
	Cell *spec.Cell
	Runs []Run // one for every selected seed
}

// Run is a run that was made, failed, or is missing.
type Run struct {
	Seed    uint64
	Record  *store.Record  // nil if there is none
	Failure *store.Failure // of a run without a record; nil if there is none

	id string // the same for all cells that share the run
}

// Load finds the records of an experiment.
func Load(s *exhibit.Spec, st *store.Store, o Options) (*Results, error) {
	x, err := newIndex(st)
	if err != nil {
		return nil, err
	}
	return x.load(s, o), nil
}

func (x *index) load(s *exhibit.Spec, o Options) *Results {
	r := &Results{Spec: s, options: o, data: map[string]store.Dataset{}, traces: map[string]*store.Trace{}}
	r.Problems = slices.Clone(x.problems)
	for _, c := range s.Cells {
		runs := &CellRuns{Cell: c}
		for _, seed := range s.Seeds {
			if !o.Only.Matches(coordinates(c, seed)) {
				continue
			}
			run, problem := x.find(c, seed, o)
			if problem != "" {
				r.problem("%s", problem)
			}
			if run.Record != nil {
				if _, known := r.data[c.Dataset]; !known {
					r.data[c.Dataset] = run.Record.Provenance.Dataset
				}
			}
			runs.Runs = append(runs.Runs, run)
		}
		if len(runs.Runs) > 0 {
			r.Cells = append(r.Cells, runs)
		}
	}
	return r
}

// coordinates are those of a cell's run, for filters.
func coordinates(c *spec.Cell, seed uint64) func(axis string) (string, bool) {
	return func(axis string) (string, bool) {
		if axis == "seed" {
			return strconv.FormatUint(seed, 10), true
		}
		return c.At(axis)
	}
}

// only returns the cells and runs that a figure or a claim is about.
func (r *Results) only(f exhibit.Only) []*CellRuns {
	if f.Empty() {
		return r.Cells
	}
	var out []*CellRuns
	for _, c := range r.Cells {
		some := &CellRuns{Cell: c.Cell}
		for _, run := range c.Runs {
			if f.Matches(coordinates(c.Cell, run.Seed)) {
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
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(r.Problems, text) {
		r.Problems = append(r.Problems, text)
	}
}

// cellName names a cell for people.
func cellName(c *spec.Cell) string {
	return fmt.Sprintf("%s: %s", c.Exp, filterFor(c))
}

// filterFor is the filter that selects a cell and no other one.
func filterFor(c *spec.Cell) string {
	var parts []string
	for _, axis := range sortedAxes(c.Point) {
		parts = append(parts, axis+":"+c.Point[axis])
	}
	return strings.Join(parts, " ")
}

// sortedAxes lists axes with those first that every grid has.
func sortedAxes(point map[string]string) []string {
	first := []string{"dataset", "ipc", "method", "model"}
	var axes, rest []string
	for _, a := range first {
		if _, ok := point[a]; ok {
			axes = append(axes, a)
		}
	}
	for a := range point {
		if !slices.Contains(first, a) {
			rest = append(rest, a)
		}
	}
	slices.Sort(rest)
	return append(axes, rest...)
}

// dataset describes the data of a name.
func (r *Results) dataset(name string) store.Dataset {
	if d, ok := r.data[name]; ok {
		return d
	}
	own := r.Spec.Data[name]
	d, known := r.options.Datasets[name]
	if !known {
		d = r.options.Datasets[own.Use]
	}
	if own.Title != "" {
		d.Title = own.Title
	}
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

// nothing says why there is no value at all.
func (r *Results) nothing() string {
	made := 0
	for _, c := range r.Cells {
		if len(c.done()) > 0 {
			return "no run has this number"
		}
		made += c.failed()
	}
	if made > 0 {
		return "every run that was made has failed"
	}
	return "no run has been made"
}

// done lists the runs with a record.
func (c *CellRuns) done() []Run {
	return slices.DeleteFunc(slices.Clone(c.Runs), func(r Run) bool { return r.Record == nil })
}

// failed counts the runs that ended without a result.
func (c *CellRuns) failed() int {
	n := 0
	for _, r := range c.Runs {
		if r.Record == nil && r.Failure != nil {
			n++
		}
	}
	return n
}

// values returns a metric over the seeds that have it, with their seeds.
func (c *CellRuns) values(metric string) (x []float64, seeds []uint64) {
	for _, r := range c.Runs {
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
