package report

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dgkip/harness/experiment"
	"dgkip/harness/report/sheet"
)

// Number is a number of a report, ready for print.
type Number struct {
	Name string
	Text string      // "90.45 ± 0.10 %"
	None sheet.State // why there is none, Blank if there is one
}

// notRunLatex stands for a number that no run has been made of.
const notRunLatex = "\\dgkipnotrun{}"

func (n Number) latex() string {
	switch n.None {
	case sheet.Blank:
	case sheet.NotRun:
		return notRunLatex
	default:
		return "\\textit{[" + n.None.String() + "]}"
	}
	if m := powerPattern.FindStringSubmatch(n.Text); m != nil {
		exponent, err := strconv.Atoi(m[2])
		if err == nil {
			return fmt.Sprintf("\\ensuremath{%s10^{%d}}", strings.TrimPrefix(m[1]+`\times`, `1\times`), exponent)
		}
	}
	t := strings.ReplaceAll(sheet.LatexNumber(n.Text), ` \%`, `\,\%`)
	t = strings.ReplaceAll(t, ` $\pm$ `, `\,$\pm$\,`)
	return mathPattern.ReplaceAllString(t, `$1\ensuremath{$2}`)
}

var (
	powerPattern = regexp.MustCompile(`^(-?[0-9.]+)e([+-]?[0-9]+)$`)

	// mathPattern finds mathematics, which may itself stand in a formula.
	mathPattern = regexp.MustCompile(`(^|[^\\])\$([^$]*)\$`)
)

// Numbers are all numbers of the experiment by name:
//
//	runs, planned, seeds, profile
//	published/count, /within, /higher, /lower, /unstable, /not-run, /not-judged
//	published/METHOD/count and so on, published/own/count and so on
//	largest/1, /2, ... each with /where, /ours, /published, /difference
//	pair/ROW/METHOD/METHOD with /from, /to, /seeds
//	DATASET/IPC/best-published
//	DATASET/IPC/METHOD/QUANTITY
//
// with the values of all further axes that have several behind METHOD. Those under
// published count accuracies, own are the source's own methods. The largest are
// differences from published accuracies, and a pair is of two methods in a row of the
// table, seed by seed. to-85 and the like have /updates and /seconds: the first line of
// a trace with that accuracy, from the first seed to the last. The QUANTITY is acc (mean
// and spread in percent), mean, seeds, updates, time (of an iteration), making (of all), any metric of the records (for
// which the last one of a trace stands in), or a declared setting: method.KEY, model.KEY.
// Against what was published there are published and difference, of the accuracy or,
// with a dot and a metric behind, of that.
func (r *Results) Numbers() []Number {
	var out numberList
	n, all := r.progress()
	out.add("runs", strconv.Itoa(n[sheet.Blank]))
	out.add("planned", strconv.Itoa(all))
	out.add("seeds", strconv.Itoa(r.Spec.Seeds))
	out.add("profile", r.Spec.Profile)
	if len(r.Published) > 0 {
		out.tally("published/", tallyOf(r.Published, Beside.accuracy))
		out.add("published/unexplained", strconv.Itoa(tallyOf(r.Published, func(b Beside) bool { return b.accuracy() && b.Reason.Unexplained })["all"]))
	}
	for _, c := range verdictsOf([]*Results{r}) {
		out.tally("published/"+c.name+"/", c.tally)
	}
	r.largest(&out)
	r.pairNumbers(&out)
	axes := []string{"dataset", "ipc", "method"}
	for _, a := range r.axes() {
		if !slices.Contains(axes, a) && len(r.axisValues(a)) > 1 {
			axes = append(axes, a)
		}
	}
	for _, row := range r.groups(r.Cells, axes[:2]) {
		r.bestPublished(&out, row)
	}
	metrics := r.recorded()
	for _, c := range r.Cells {
		out.prefix = strings.Join(pointOf(c.Cell, axes), "/") + "/"
		out.results(c, metrics)
		r.reached(&out, c)
		out.settings(c)
		for _, b := range r.Published {
			if b.Cell == c.Cell {
				out.published(b)
			}
		}
	}
	return out.list
}

// numberList collects numbers whose names begin alike.
type numberList struct {
	prefix string
	list   []Number
}

func (l *numberList) add(name, text string) {
	l.list = append(l.list, Number{Name: l.prefix + name, Text: text})
}

// tally adds counts of published numbers.
func (l *numberList) tally(prefix string, t tally) {
	l.add(prefix+"count", strconv.Itoa(t["all"]))
	l.add(prefix+"within", strconv.Itoa(t["within tolerance"]))
	for _, o := range outcomes[1:] {
		l.add(prefix+strings.ReplaceAll(o, " ", "-"), strconv.Itoa(t[o]))
	}
}

// none adds a number that is not there, and why.
func (l *numberList) none(name string, why sheet.State) {
	l.list = append(l.list, Number{Name: l.prefix + name, None: why})
}

// results are the numbers of a cell's records. Where there is no record they are
// those that there will be.
func (l *numberList) results(c *CellRuns, recorded []string) {
	l.add("seeds", strconv.Itoa(len(c.done())))
	if state := c.state(); state != sheet.Blank {
		for _, name := range append(expected(recorded), "acc", "mean", "updates", "time", "making") {
			l.none(name, state)
		}
		return
	}
	if s, ok := c.summary("test_acc"); ok {
		l.add("acc", percent(100*s.Mean, 100*s.SD, s.HasSpread()))
		l.add("mean", percent(100*s.Mean, 0, false))
	}
	if s, ok := c.summary("updates"); ok {
		l.add("updates", amount(s.Mean))
	}
	time := "none" // no update, no time
	if s, ok := c.summary(secondsPerIteration); ok {
		time = seconds(s.Mean) + " s"
	}
	l.add("time", time)
	if s, ok := c.summary(makingSeconds); ok {
		l.add("making", significant(s.Mean, 2)+" s")
	} else {
		l.add("making", "none")
	}
	for _, metric := range recorded {
		s, ok := c.summary(metric)
		if !ok {
			continue
		}
		text := significant(s.Mean, 3)
		if isAccuracy(metric) {
			text = percent(100*s.Mean, 100*s.SD, s.HasSpread())
		}
		l.add(metric, text)
		if end, ok := strings.CutPrefix(metric, "last."); ok && !slices.Contains(recorded, end) {
			l.add(end, text)
		}
	}
}

// expected are the metrics that runs to come may have: those that any record has,
// and all that are known while there is none.
func expected(recorded []string) []string {
	if len(recorded) == 0 {
		for _, m := range metrics {
			recorded = append(recorded, m.name)
		}
		for _, loss := range []string{"hinge", "logistic", "squared"} {
			recorded = append(recorded, "transfer."+loss+".test_acc")
		}
	}
	names := map[string]bool{}
	for _, m := range recorded {
		names[m], names[strings.TrimPrefix(m, "last.")] = true, true
	}
	delete(names, "updates") // which has a line of its own
	delete(names, "update")
	return slices.Sorted(maps.Keys(names))
}

// settings are what a cell's runs are told.
func (l *numberList) settings(c *CellRuns) {
	id := c.Cell.Identity(experiment.DatasetIdentity{}, 0)
	for _, part := range []struct {
		name     string
		settings map[string]any
	}{{"method", id.Method.Settings}, {"model", id.Model}} {
		for _, key := range slices.Sorted(maps.Keys(part.settings)) {
			l.add(part.name+"."+key, setting(part.settings[key]))
		}
	}
}

// published is a cell beside what was published of it.
func (l *numberList) published(b Beside) {
	end := ""
	if b.Metric != "test_acc" {
		end = "." + b.Metric
	}
	text := b.format(b.Published.Mean)
	switch {
	case isAccuracy(b.Metric):
		text = percent(b.Published.Mean, b.Published.Spread, b.Published.HasSpread)
	case isTime(b.Metric):
		text += " s"
	}
	l.add("published"+end, text)
	if b.Seeds == 0 {
		l.none("difference"+end, b.runs.state())
	} else {
		l.add("difference"+end, b.difference())
	}
}

// bestPublished is the highest accuracy that was published for a row.
func (r *Results) bestPublished(out *numberList, row group) {
	best := experiment.Number{Mean: math.Inf(-1)}
	for _, c := range row.cells {
		if n, _, ok := r.publishedOf(c.Cell, "test_acc"); ok && n.Mean > best.Mean {
			best = n
		}
	}
	if !math.IsInf(best.Mean, -1) {
		out.add(strings.Join(row.values, "/")+"/best-published", percent(best.Mean, best.Spread, best.HasSpread))
	}
}
