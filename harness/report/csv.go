package report

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"dgkip/harness/report/sheet"
)

// tableMetrics lists the metrics in the table's CSV file: those that the table shows, the accuracy
// and the time of an iteration. If the table shows times, the time of an update is there, too.
func (r *Results) tableMetrics() []string {
	metrics := []string{"test_acc", secondsPerIteration}
	t := r.layout.t
	if t.Time || isTime(t.Value) {
		metrics = append(metrics, secondsPerUpdate)
	}
	if t.Making {
		metrics = append(metrics, makingSeconds)
	}
	if !isTime(t.Value) {
		metrics = with([]string{t.Value}, metrics...)
	}
	for _, column := range slices.Sorted(maps.Keys(t.Values)) {
		metrics = with(metrics, t.Values[column])
	}
	return metrics
}

// tableCSV returns a line for every cell and metric of the table, in the unit of the records and
// with all digits.
func (r *Results) tableCSV() []byte {
	axes := r.axes()
	lines := [][]string{append(slices.Clone(axes), "metric", "status", "n_seeds", "seed_list", "mean", "population_sd", "t95_half", "median", "low", "high", "failed", "planned", "built_in", "shared_machine", "family")}
	for _, c := range r.Cells {
		for _, m := range r.tableMetrics() {
			x := r.cell(c, m)
			var seeds []string
			for _, s := range x.Seeds {
				seeds = append(seeds, strconv.FormatUint(s, 10))
			}
			of, shared := c, "" // the runs behind the number; shared is for times only
			timed := isTime(m) && x.N > 0
			if isTime(m) {
				of = cmp.Or(c.timedBy, c)
				shared = strconv.FormatBool(slices.ContainsFunc(c.timed(), func(run Run) bool { return run.Record.Provenance.Timing.Shared }))
			}
			lines = append(lines, append(pointOf(c.Cell, axes), m, of.status(x.N), strconv.Itoa(x.N), strings.Join(seeds, " "),
				given(x.N > 0, shortest(x.Mean)), given(x.HasSpread(), shortest(x.SD)), given(x.HasSpread(), tenDigits(x.Half)),
				given(timed, shortest(x.Median)), given(timed, shortest(x.Low)), given(timed, shortest(x.High)),
				strconv.Itoa(of.lost()), strconv.Itoa(len(of.Runs)), strconv.FormatBool(r.dataset(c.Cell.Dataset).BuiltIn), shared, string(c.family(m))))
		}
	}
	return sheet.CSV(lines)
}

// status returns the state of a cell in which n seeds have a metric.
func (c *CellRuns) status(n int) string {
	switch done := len(c.done()); {
	case done == len(c.Runs) && n == 0:
		return "no-such-number"
	case done == len(c.Runs):
		return "done"
	case done > 0:
		return "partial"
	}
	return statusText(c.state())
}

// statusText is the word for the state of a cell or run without a value: not-run, failed or damaged.
func statusText(s sheet.State) string { return strings.ReplaceAll(s.String(), " ", "-") }

// runsCSV returns a line for every run, with all its metrics.
func (r *Results) runsCSV() []byte {
	axes, names := r.axes(), r.recorded()
	lines := [][]string{append(append(slices.Clone(axes), "seed", "status", "key", "updates", secondsPerIteration, "shared_machine", "wall_seconds", "scoring_seconds", "peak_memory_bytes", "family"), names...)}
	for _, c := range r.Cells {
		for _, run := range c.Runs {
			l := append(pointOf(c.Cell, axes), strconv.FormatUint(run.Seed, 10))
			if run.Record == nil {
				lines = append(lines, append(append(l, statusText(run.state())), make([]string, 8+len(names))...))
				continue
			}
			p := run.Record.Provenance
			iteration, timed := metricOf(run.Record, secondsPerIteration)
			l = append(l, "done", run.Record.Result.Key, strconv.Itoa(run.Record.Result.Updates), given(timed, tenDigits(iteration)), strconv.FormatBool(p.Timing.Shared), shortest(p.Wall), shortest(p.Scoring), strconv.FormatInt(p.Memory, 10), string(c.family("test_acc")))
			for _, m := range names {
				v, ok := run.Record.Result.Metrics[m]
				l = append(l, given(ok, shortest(v)))
			}
			lines = append(lines, l)
		}
	}
	return sheet.CSV(lines)
}

// recorded lists the metrics of all records, sorted.
func (r *Results) recorded() []string {
	seen := map[string]bool{}
	for _, c := range r.Cells {
		for _, run := range c.done() {
			for m := range run.Record.Result.Metrics {
				seen[m] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
