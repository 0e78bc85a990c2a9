package report

import (
	"slices"

	"dgkip/harness/report/sheet"
	"dgkip/harness/stats"
)

// Cell is a metric of a cell's runs, with everything that a reader needs to know about it. The
// tables, the CSV files, the page and the numbers for LaTeX only write it in their own forms.
type Cell struct {
	Metric        metric
	stats.Summary              // over the seeds, in the unit of the records; zero if no run has the metric
	Seeds         []uint64     // the seeds that have the metric
	State         sheet.State  // Value, or what there is in place of the number
	Marks         []sheet.Mark // warnings
}

// lostMark is on values of cells that have lost runs.
var lostMark = sheet.Mark{Sign: "†", Text: "some runs failed or have damaged records; the value is the mean of the rest."}

// cell summarises a metric of a cell's runs.
func (r *Results) cell(c *CellRuns, metric string) Cell {
	x := Cell{Metric: about(metric), State: c.state()}
	values, seeds := c.values(metric)
	if len(values) == 0 {
		return x
	}
	x.Summary, x.Seeds, x.State = stats.Summarise(values), seeds, sheet.Value
	switch {
	case isTime(metric):
		if slices.ContainsFunc(c.timed(), func(run Run) bool { return !r.comparableTime(run.Record.Provenance) }) {
			x.Marks = []sheet.Mark{timeMark}
		}
	case c.lost() > 0:
		x.Marks = []sheet.Mark{lostMark}
	}
	return x
}

// mean and spread are in the unit that readers see, of an accuracy percent.
func (x Cell) mean() float64   { return x.Mean * x.Metric.scale }
func (x Cell) spread() float64 { return x.SD * x.Metric.scale }

// format writes a number of the cell's metric, with the given decimals unless it is a time.
func (x Cell) format(number float64, decimals int) string {
	if x.Metric.unit == "s" {
		return seconds(number)
	}
	return fixed(number, decimals)
}

// entry writes the cell for a table, with the spread that is asked for: "sd", "t95" or "none".
func (x Cell) entry(s *sheet.Sheet, decimals int, spread string) sheet.Entry {
	if x.State != sheet.Value {
		return sheet.Entry{State: x.State}
	}
	e := sheet.Text(x.format(x.mean(), decimals))
	switch {
	case !x.HasSpread():
	case spread == "sd":
		e.Spread = x.format(x.spread(), decimals)
	case spread == "t95":
		e.Spread = x.format(x.Half*x.Metric.scale, decimals)
	}
	for _, m := range x.Marks {
		s.Refer(&e, m)
	}
	return e
}
