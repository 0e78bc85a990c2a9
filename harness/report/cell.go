package report

import (
	"dgkip/harness/report/sheet"
	"dgkip/harness/stats"
)

// Cell is one metric summarised over the runs of a cell of the grid. Tables, CSV files, the page
// and the numbers for LaTeX all write it in their own format.
type Cell struct {
	Metric        metric
	stats.Summary             // over the seeds, in the unit of the records; zero if no run has the metric
	Seeds         []uint64    // the seeds that have the metric
	State         sheet.State // Value, or why there is no number
	Mark          sheet.Mark  // a warning, or zero
}

// lostMark marks values of cells in which some runs are lost.
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
		if !r.comparable(c) {
			x.Mark = timeMark
		}
	case c.lost() > 0:
		x.Mark = lostMark
	}
	return x
}

// middle is the number to show, in the unit of the records: the mean or, for times, the median.
func (x Cell) middle() float64 {
	if isTime(x.Metric.name) {
		return x.Median
	}
	return x.Mean
}

// value and spread are in the unit that readers see, which for accuracies is percent. The conversions keep
// compilers from fusing the products with sums.
func (x Cell) value() float64  { return float64(x.middle() * x.Metric.scale) }
func (x Cell) spread() float64 { return float64(x.SD * x.Metric.scale) }

// format writes a number of the cell's metric. Times ignore the number of decimals.
func (x Cell) format(number float64, decimals int) string {
	if x.Metric.unit == "s" {
		return seconds(number)
	}
	return fixed(number, decimals)
}

// entry returns the table entry of the cell. Spread is "sd" or "none". The spread of times is their range.
func (x Cell) entry(s *sheet.Sheet, decimals int, spread string) sheet.Entry {
	if x.State != sheet.Value {
		return sheet.Entry{State: x.State}
	}
	e := sheet.Text(x.format(x.value(), decimals))
	switch {
	case !x.HasSpread() || spread != "sd":
	case isTime(x.Metric.name):
		e.Text += " (" + seconds(x.Low) + " to " + seconds(x.High) + ")"
	default:
		e.Spread = x.format(x.spread(), decimals)
	}
	if x.Mark != (sheet.Mark{}) {
		s.Refer(&e, x.Mark)
	}
	return e
}
