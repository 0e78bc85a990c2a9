package report

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"dgkip/harness/experiment"
	"dgkip/harness/method"
	"dgkip/harness/stats"
	"dgkip/harness/store"
	"dgkip/harness/suggest"
)

// Metrics of time.
const (
	secondsPerIteration = "seconds_per_iteration" // with the training of networks
	secondsPerUpdate    = "seconds_per_update"    // without it
	makingSeconds       = "making_seconds"        // of all iterations of a set
)

// direction is the way in which a metric improves.
type direction int

const (
	lower    direction = -1
	unranked direction = 0
	higher   direction = 1
)

// ahead reports whether a is better than b, and not equal to it. Without a direction nothing
// is ahead.
func (d direction) ahead(a, b float64) bool {
	return d != unranked && !stats.Same(a, b) && (a > b) == (d == higher)
}

// compare sorts better numbers first.
func (d direction) compare(a, b float64) int {
	switch {
	case d.ahead(a, b):
		return -1
	case d.ahead(b, a):
		return 1
	}
	return 0
}

// metric describes a quantity. Readers see the recorded numbers multiplied by scale, in unit.
type metric struct {
	name, title string
	unit        string
	scale       float64
	better      direction
}

// metrics are the known quantities. Other quantities are shown under their own names, without
// a scale, and are never ranked.
var metrics = []metric{
	{"test_acc", "test accuracy", "%", 100, higher},
	{"own.test_acc", "test accuracy in the same networks", "%", 100, higher},
	{"draws_sd", "spread over new networks", "%", 100, lower},
	{"real_loss", "loss on real images", "", 1, lower},
	{"test_error", "test error", "%", 100, lower},
	{"train_acc", "training accuracy", "%", 100, higher},
	{"offset_alone", "test accuracy of the mean feature alone", "%", 100, higher},
	{"teacher_acc", "test accuracy of the reference model", "%", 100, higher},
	{secondsPerIteration, "seconds per iteration", "s", 1, lower},
	{secondsPerUpdate, "seconds per update without network training", "s", 1, lower},
	{makingSeconds, "seconds to make the set", "s", 1, lower},
	{"seconds", "seconds of updates", "s", 1, lower},
	{"update", "update", "", 1, unranked},
	{"updates", "updates", "", 1, unranked},
	{"ipc", "images per class", "", 1, unranked},
	{"loss", "loss", "", 1, lower},
	{"train_loss", "training loss", "", 1, lower},
	{"gap", "duality gap", "", 1, lower},
	{"bound", "bound", "", 1, lower},
	{"best_bound", "best bound", "", 1, lower},
	{"deviation", "deviation", "", 1, lower},
	{"residual", "residual", "", 1, lower},
	{"prediction_error", "prediction error", "", 1, lower},
	{"teacher_gap", "duality gap of the reference model", "", 1, lower},
	{"solve_gap", "duality gap of the model trained on the set", "", 1, lower},

	// Bounds from the ball around Theta_O, and sharper ones from its part orthogonal to the
	// features of the set.
	{"interval.low", "error at least", "%", 100, lower},
	{"interval.high", "error at most", "%", 100, lower},
	{"interval.decided", "share decided", "%", 100, higher},
	{"interval_perp.low", "error at least (sharper bound)", "%", 100, lower},
	{"interval_perp.high", "error at most (sharper bound)", "%", 100, lower},
	{"interval_perp.decided", "share decided (sharper bound)", "%", 100, higher},
}

// about describes a metric. Its name may begin with "last." (the end of a trace) or with
// "transfer.LOSS." (another loss).
func about(name string) metric {
	for _, m := range metrics {
		if m.name == name {
			return m
		}
	}
	if rest, ok := strings.CutPrefix(name, "last."); ok {
		m := about(rest)
		m.name, m.title = name, m.title+" at the end"
		return m
	}
	if rest, ok := strings.CutPrefix(name, "transfer."); ok {
		loss, of, several := strings.Cut(rest, ".")
		if !several {
			loss, of = "another", rest
		} else {
			loss = "the " + loss
		}
		m := about(of)
		m.name, m.title = name, m.title+" after training with "+loss+" loss"
		return m
	}
	return metric{name: name, title: strings.NewReplacer("_", " ", ".", " ", "-", " ").Replace(name), scale: 1}
}

// unrankedNames are further numbers that the program's own methods and protocols record.
var unrankedNames = strings.Fields("alpha_min alpha_max margin_min margin_mean margin_max label_min label_max norm teacher_norm " +
	"rate_mean rate_max image_gradient clipped test_images interval.right interval.wrong interval_perp.right interval_perp.wrong")

// Mistyped returns a note on each metric in the figures, tables and claims of an experiment that neither
// the program nor any record knows. Such a metric is not an error, because a method of one's own may still record it.
func Mistyped(s *experiment.Spec, st *store.Store) (notes []string) {
	known := slices.Clone(unrankedNames)
	for _, m := range metrics {
		known = append(known, m.name)
	}
	recorded := sync.OnceValue(func() []string { return recordedNames(st) })
	look := func(where, name string) {
		prefix := metricPrefix.FindString(name)
		rest := strings.TrimPrefix(name, prefix)
		if name == "" || slices.Contains(known, rest) || slices.Contains(recorded(), name) || slices.Contains(recorded(), "last."+name) {
			return
		}
		note := fmt.Sprintf("%s of %s shows %q, but neither the program nor any record has such a metric", where, s.Name, name)
		if meant := suggest.Name(rest, known); meant != "" {
			note += fmt.Sprintf("; did you mean %q?", prefix+meant)
		}
		notes = append(notes, note)
	}
	for _, f := range s.Figures {
		for _, name := range slices.Concat(f.Y, f.Y2) {
			look("figure "+f.Name, name)
		}
		if !slices.ContainsFunc(s.Axes, func(a experiment.Axis) bool { return a.Name == f.X }) {
			look("figure "+f.Name, f.X)
		}
	}
	for _, c := range s.Claims {
		look("claim "+c.ID, c.Metric)
		look("claim "+c.ID, c.Other)
	}
	if s.Table != nil {
		for _, name := range append(slices.Sorted(maps.Values(s.Table.Values)), s.Table.Value) {
			look("the table", name)
		}
	}
	return notes
}

// recordedNames lists the metrics in the records of a store.
func recordedNames(st *store.Store) (names []string) {
	keys, _ := st.Keys() // planning reports a folder that cannot be read
	for _, key := range keys {
		if r, err := st.Get(key); err == nil {
			names = with(names, slices.Collect(maps.Keys(r.Result.Metrics))...)
		}
	}
	return names
}

// metricPrefix matches the possible beginnings of a metric.
var metricPrefix = regexp.MustCompile(`^(last\.|transfer\.([a-z]+\.)?)`)

// metricOf returns a metric of a run.
func metricOf(rec *store.Record, name string) (float64, bool) {
	p := rec.Provenance
	switch name {
	case secondsPerIteration:
		x := perIteration(rec)
		return x, x > 0
	case secondsPerUpdate:
		return p.Timing.Median, p.Timing.Median > 0
	case "updates":
		return float64(rec.Result.Updates), true
	}
	v, ok := rec.Result.Metrics[name]
	return v, ok
}

// iterations returns the number of iterations of a run, as the authors of its method count them. If
// it differs from the updates and iterations were not timed, the number is a setting of the method.
func iterations(rec *store.Record) float64 {
	updates := float64(rec.Result.Updates)
	if n := rec.Provenance.Timing.PerIteration; n > 0 {
		return updates / float64(n)
	}
	if n, err := strconv.ParseFloat(fmt.Sprint(rec.Result.Identity.Method.Settings["iterations"]), 64); err == nil && n > 0 {
		return min(n, updates)
	}
	return updates
}

// perIteration returns the time of an iteration. Where an iteration has several updates and was not
// timed, it is the time of the run without scoring, divided by the iterations. This includes the
// start of the run, which takes about a second.
func perIteration(rec *store.Record) float64 {
	p := rec.Provenance
	switch n := iterations(rec); {
	case p.Timing.Iteration > 0:
		return p.Timing.Iteration
	case p.Timing.Median > 0 && n < float64(rec.Result.Updates):
		return (p.Wall - p.Scoring) / n
	}
	return p.Timing.Median
}

// perUpdate returns the time of an iteration divided by its updates.
func perUpdate(rec *store.Record) float64 {
	return perIteration(rec) * iterations(rec) / float64(max(1, rec.Result.Updates))
}

// metricOr returns the name of a metric, by default the test accuracy.
func metricOr(name string) string { return cmp.Or(name, "test_acc") }

// inPercent reports whether a metric is a fraction that is shown in percent.
func inPercent(metric string) bool { return about(metric).unit == "%" }

// isAccuracy reports whether a metric is a test accuracy.
func isAccuracy(metric string) bool { return inPercent(metric) && method.IsScore(metric) }

// isTime reports whether a metric is a time, which depends on the machine and comes from the timed
// runs of a cell.
func isTime(metric string) bool { return about(metric).unit == "s" }

// metricTitle names a metric in running text.
func metricTitle(metric string) string { return about(metric).title }

// axisLabel names a metric on an axis or in a heading, with its unit.
func axisLabel(metric string) string {
	m := about(metric)
	if m.unit == "" || m.unit == "s" { // titles of times name their unit
		return capital(m.title)
	}
	return capital(m.title) + " (" + m.unit + ")"
}

// shortMetric names a metric in the narrow column of a table, with its unit.
func shortMetric(metric string) string {
	switch {
	case isAccuracy(metric):
		return "Acc. (%)"
	case metric == secondsPerIteration:
		return "Iteration (s)"
	case metric == makingSeconds:
		return "To make (s)"
	}
	return axisLabel(metric)
}

// show formats a value of a metric for running text.
func show(metric string, x float64) string {
	switch m := about(metric); m.unit {
	case "%":
		return fixed(m.scale*x, 2) + " %"
	case "s":
		return seconds(x) + " s"
	}
	return significant(x, 4)
}
