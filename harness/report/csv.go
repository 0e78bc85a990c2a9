package report

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strconv"
	"strings"
)

// tableCSV has a line for every cell and metric of the table, in the metric's own
// unit and with all digits.
func (r *Results) tableCSV(metrics []string) []byte {
	axes := r.axes()
	lines := [][]string{append(append([]string{}, axes...), "metric", "status", "seeds", "mean", "population_sd", "t95_half", "failed", "planned", "built_in", "shared_machine")}
	for _, c := range r.Cells {
		for _, m := range metrics {
			l := pointOf(c.Cell, axes)
			x, seeds := c.values(m)
			mean, sd, half := "", "", ""
			if s, ok := c.summary(m); ok {
				mean = shortest(s.Mean)
				if s.HasSpread() {
					sd, half = shortest(s.SD), significant(s.Half, 10)
				}
			}
			var names []string
			for _, s := range seeds {
				names = append(names, strconv.FormatUint(s, 10))
			}
			shared := false
			for _, run := range c.done() {
				shared = shared || run.Record.Provenance.Timing.Shared
			}
			lines = append(lines, append(l, m, c.status(len(x)), strings.Join(names, " "), mean, sd, half,
				strconv.Itoa(c.failed()), strconv.Itoa(len(c.Runs)), strconv.FormatBool(r.dataset(c.Cell.Dataset).BuiltIn), strconv.FormatBool(shared)))
		}
	}
	return csvBytes(lines)
}

// status says how far a cell is, of which n seeds have the number in question.
func (c *CellRuns) status(n int) string {
	switch done := len(c.done()); {
	case done == len(c.Runs) && n == 0:
		return "no-such-number"
	case done == len(c.Runs):
		return "done"
	case done > 0:
		return "partial"
	case c.failed() > 0:
		return "failed"
	}
	return "not-run"
}

// runsCSV has a line for every run and all its metrics.
func (r *Results) runsCSV() []byte {
	axes := r.axes()
	var names []string
	seen := map[string]bool{}
	for _, c := range r.Cells {
		for _, run := range c.done() {
			for _, m := range metricNames(run.Record.Result) {
				if !seen[m] {
					seen[m] = true
					names = append(names, m)
				}
			}
		}
	}
	slices.Sort(names)
	lines := [][]string{append(append(append([]string{}, axes...), "seed", "status", "key", "updates", secondsPerUpdate, "shared_machine", "wall_seconds"), names...)}
	for _, c := range r.Cells {
		for _, run := range c.Runs {
			l := append(pointOf(c.Cell, axes), strconv.FormatUint(run.Seed, 10))
			if run.Record == nil {
				status := "not-run"
				if run.Failure != nil {
					status = "failed"
				}
				lines = append(lines, append(append(l, status), make([]string, 5+len(names))...))
				continue
			}
			p := run.Record.Provenance
			l = append(l, "done", run.Record.Result.Key, strconv.Itoa(run.Record.Result.Updates), shortest(p.Timing.Median), strconv.FormatBool(p.Timing.Shared), shortest(p.Wall))
			for _, m := range names {
				text := ""
				if v, ok := run.Record.Result.Metrics[m]; ok {
					text = shortest(v)
				}
				l = append(l, text)
			}
			lines = append(lines, l)
		}
	}
	return csvBytes(lines)
}

// axes lists the axes of all cells.
func (r *Results) axes() []string {
	point := map[string]string{}
	for _, c := range r.Cells {
		for a := range c.Cell.Point {
			point[a] = ""
		}
	}
	return sortedAxes(point)
}

// csv writes a sheet of texts.
func (s *sheet) csv() []byte {
	lines := [][]string{append(append([]string{}, s.heads...), s.columns...)}
	for _, r := range s.rows {
		var l []string
		for _, h := range r.heads {
			l = append(l, h.text)
		}
		for _, e := range r.cells {
			l = append(l, e.plain())
		}
		lines = append(lines, l)
	}
	return csvBytes(lines)
}

func csvBytes(lines [][]string) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	for _, l := range lines {
		if err := w.Write(l); err != nil {
			panic("report: a buffer refused a line of CSV")
		}
	}
	w.Flush()
	return b.Bytes()
}
