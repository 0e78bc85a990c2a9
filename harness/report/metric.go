package report

import (
	"maps"
	"slices"
	"strings"

	"dgkip/harness/stats"
	"dgkip/harness/store"
)

// secondsPerUpdate is the name by which tables, figures and claims ask for the
// median time of an update, which provenance holds.
const secondsPerUpdate = "seconds_per_update"

// metricOf returns a metric of a run.
func metricOf(rec *store.Record, name string) (float64, bool) {
	p := rec.Provenance
	switch name {
	case secondsPerUpdate:
		return p.Timing.Median, p.Timing.Median > 0
	case "wall_seconds":
		return p.Wall, true
	case "cpu_seconds":
		return p.CPU, true
	case "peak_memory_bytes":
		return float64(p.Memory), true
	case "updates":
		return float64(rec.Result.Updates), true
	case "images":
		return float64(rec.Result.Images), true
	}
	if v, ok := rec.Result.Metrics[name]; ok {
		return v, true
	}
	if counts := rec.Result.Counts[name]; len(counts) > 0 {
		x := make([]float64, len(counts))
		for i, n := range counts {
			x[i] = float64(n)
		}
		return stats.Mean(x), true
	}
	return 0, false
}

// metricNames lists the metrics of a result in a fixed order.
func metricNames(r store.Result) []string { return slices.Sorted(maps.Keys(r.Metrics)) }

// isAccuracy tells whether a metric is a fraction that people read in percent.
func isAccuracy(metric string) bool {
	return metric == "acc" || strings.HasSuffix(metric, "_acc") || strings.HasSuffix(metric, ".acc") || strings.HasSuffix(metric, "accuracy")
}

// isTime tells whether a metric is a time, which depends on the machine.
func isTime(metric string) bool { return strings.Contains(metric, "seconds") }

// scaleOf is the factor by which a metric is shown.
func scaleOf(metric string, given float64) float64 {
	switch {
	case given != 0:
		return given
	case isAccuracy(metric):
		return 100
	}
	return 1
}

// lowerIsBetter tells in which direction a metric improves.
func lowerIsBetter(metric string) bool {
	for _, part := range []string{"seconds", "bytes", "error", "loss", "gap", "bound", "deviation", "residual", "flops"} {
		if strings.Contains(metric, part) {
			return true
		}
	}
	return strings.HasPrefix(metric, "interval") && !strings.HasSuffix(metric, ".decided") // of the test error
}

var metricTitles = map[string]string{
	"test_acc":         "test accuracy",
	"train_acc":        "training accuracy",
	secondsPerUpdate:   "seconds per update",
	"wall_seconds":     "wall seconds",
	"cpu_seconds":      "CPU seconds",
	"test_errors":      "test errors",
	"update":           "update",
	"seconds":          "seconds of updates",
	"ipc":              "images per class",
	"relative_bound":   "relative bound",
	"relative_gap":     "relative gap",
	"deviation":        "deviation",
	"bound":            "bound",
	"updates":          "updates",
	"flops_per_update": "operations per update",

	// Of the ball around Theta_O, and of its part that the set leaves open.
	"interval.low":          "error at least",
	"interval.high":         "error at most",
	"interval.decided":      "share decided",
	"interval_perp.low":     "error at least, sharper",
	"interval_perp.high":    "error at most, sharper",
	"interval_perp.decided": "share decided, sharper",
}

// metricTitle names a metric in running text.
func metricTitle(metric string) string {
	if t, ok := metricTitles[metric]; ok {
		return t
	}
	if loss, ok := strings.CutPrefix(metric, "transfer."); ok {
		if loss, ok := strings.CutSuffix(loss, ".test_acc"); ok {
			return "test accuracy after training with the " + loss + " loss"
		}
	}
	return strings.NewReplacer("_", " ", ".", " ", "-", " ").Replace(metric)
}

// axisLabel names a metric on an axis or in a heading, with its unit.
func axisLabel(metric string) string {
	t := capital(metricTitle(metric))
	if isAccuracy(metric) {
		t += " (%)"
	}
	return t
}

func capital(s string) string {
	for i, r := range s {
		if i == 0 {
			return strings.ToUpper(string(r)) + s[len(string(r)):]
		}
	}
	return s
}
