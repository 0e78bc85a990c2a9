package report

import (
	"cmp"
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

// Number is a number of a report, ready to print. Without a text it stands for all numbers whose
// names begin with its name and that have no entry of their own.
type Number struct {
	Name string
	Text string      // "90.45 ± 0.10 %"
	None sheet.State // why there is no number; Blank if there is a number
}

// numberNamed returns the number of a name, or the one that stands for it.
func numberNamed(all map[string]Number, name string) (Number, bool) {
	for at := len(name); at > 0; at = strings.LastIndexByte(name[:at-1], '/') + 1 {
		if n, ok := all[name[:at]]; ok && (at == len(name) || n.None != sheet.Blank) {
			return n, true
		}
	}
	return Number{}, false
}

// notRunLatex replaces a number whose runs have not been computed.
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

	// mathPattern finds formulas. \ensuremath also allows them inside a formula.
	mathPattern = regexp.MustCompile(`(^|[^\\])\$([^$]*)\$`)
)

// Numbers returns all numbers of the experiment by name:
//
//	runs, planned, seeds, profile
//	published/count, /within, /higher, /lower, /unstable, /not-run, /failed, /damaged,
//	              /of-another-family, /not-judged, /unexplained
//	published/METHOD/count and so on; METHOD "own" stands for all of the source's own methods
//	largest/1 to largest/5, each with /where, /ours, /published, /difference
//	pair/ROW/METHOD/CONTROL with /from, /to, /seeds
//	DATASET/IPC/best-published
//	DATASET/IPC/METHOD/QUANTITY
//
// METHOD is followed by the values on every further axis that has several. The counts under
// published are of accuracies. Under largest are the accuracies farthest from the published ones. A
// pair is a row of the table of pairs; CONTROL/METHOD is its reverse.
//
// A QUANTITY is one of
//
//	acc           the mean test accuracy and its spread, in percent; mean is the mean alone
//	seeds         the number of records
//	updates, time, making   updates, seconds of an iteration, seconds of all iterations
//	to-85, to-90  with /updates and /seconds: the first line of a trace with that
//	              accuracy, as a range over seeds
//	METRIC        any metric of the records, or the last value of it in a trace
//	method.KEY, model.KEY   a setting
//	published, difference   the published accuracy, and ours minus it; followed by .METRIC
//	              for another metric
func (r *Results) Numbers() []Number {
	var out numberList
	n, all := r.progress()
	out.add("runs", strconv.Itoa(n[sheet.Blank]))
	out.add("planned", strconv.Itoa(all))
	out.add("seeds", strconv.Itoa(r.Spec.Seeds))
	out.add("profile", r.Spec.Profile)
	if len(r.Published) > 0 {
		out.tally("published/", tallyOf(r.Published, Comparison.accuracy))
		out.add("published/unexplained", strconv.Itoa(tallyOf(r.Published, func(x Comparison) bool { return x.accuracy() && x.Reason.Unexplained }).all()))
	}
	for _, m := range tallies([]*Results{r}) {
		out.tally("published/"+m.name+"/", m.tally)
	}
	r.largest(&out)
	r.pairNumbers(&out)
	axes := with([]string{"dataset", "ipc", "method"}, r.rowAxes()...)
	for _, row := range r.groups(r.Cells, axes[:2]) {
		r.bestPublished(&out, row)
	}
	recorded := r.recorded()
	for _, c := range r.Cells {
		out.prefix = strings.Join(pointOf(c.Cell, axes), "/") + "/"
		r.cellNumbers(&out, c, recorded)
		r.reached(&out, c)
		out.settings(c)
		for _, x := range r.Published {
			if x.Runs == c {
				out.published(x)
			}
		}
	}
	return out.list
}

// numberList collects numbers whose names begin with the prefix.
type numberList struct {
	prefix string
	list   []Number
}

func (l *numberList) add(name, text string) {
	l.list = append(l.list, Number{Name: l.prefix + name, Text: text})
}

// none adds the reason why all numbers whose names begin with a name are missing.
func (l *numberList) none(name string, why sheet.State) {
	l.list = append(l.list, Number{Name: l.prefix + name, None: why})
}

// tally adds counts of published numbers.
func (l *numberList) tally(prefix string, t tally) {
	l.add(prefix+"count", strconv.Itoa(t.all()))
	l.add(prefix+"within", strconv.Itoa(t[Within]))
	for _, o := range outcomes[1:] {
		l.add(prefix+strings.ReplaceAll(string(o), " ", "-"), strconv.Itoa(t[o]))
	}
}

// cellNumbers adds the numbers of a cell's records.
func (r *Results) cellNumbers(l *numberList, c *CellRuns, recorded []string) {
	l.add("seeds", strconv.Itoa(len(c.done())))
	if state := c.state(); state != sheet.Blank {
		l.none("", state)
		return
	}
	add := func(name, metric string, text func(Cell) string) {
		if x := r.cell(c, metric); x.N > 0 {
			l.add(name, text(x))
		} else if isTime(metric) {
			l.add(name, "none") // a method without updates
		}
	}
	withSpread := func(x Cell) string { return percent(x.value(), x.spread(), x.HasSpread()) }
	add("acc", "test_acc", withSpread)
	add("mean", "test_acc", func(x Cell) string { return percent(x.value(), 0, false) })
	add("updates", "updates", func(x Cell) string { return amount(x.Mean) })
	add("time", secondsPerIteration, func(x Cell) string { return seconds(x.value()) + " s" })
	add("making", makingSeconds, func(x Cell) string { return significant(x.value(), 2) + " s" })
	for _, metric := range recorded {
		text := func(x Cell) string { return significant(x.Mean, 3) }
		if inPercent(metric) {
			text = withSpread
		}
		add(metric, metric, text)
		if end, ok := strings.CutPrefix(metric, "last."); ok && !slices.Contains(recorded, end) {
			add(end, metric, text)
		}
	}
}

// settings adds the settings of a cell's method and networks.
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

// published adds a published number and the difference of ours.
func (l *numberList) published(x Comparison) {
	end := ""
	if x.Metric != "test_acc" {
		end = "." + x.Metric
	}
	text := x.Ours.format(x.Published.Mean, 2)
	switch {
	case inPercent(x.Metric):
		text = percent(x.Published.Mean, x.Published.Spread, x.Published.HasSpread)
	case isTime(x.Metric):
		text += " s"
	}
	l.add("published"+end, text)
	if x.Ours.N > 0 {
		l.add("difference"+end, x.differenceText())
	}
}

// bestPublished adds the highest published accuracy of a row.
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

// mostLargest is the number of largest differences that get a name.
const mostLargest = 5

// largest adds the accuracies farthest from the published ones, in descending order.
func (r *Results) largest(out *numberList) {
	var far []Comparison
	accuracies := 0
	for _, x := range r.Published {
		if !x.accuracy() || x.Outcome == OtherFamily || x.BuiltIn {
			continue
		}
		accuracies++
		if x.Ours.N > 0 {
			far = append(far, x)
		}
	}
	slices.SortStableFunc(far, func(a, b Comparison) int { return cmp.Compare(math.Abs(b.difference()), math.Abs(a.difference())) })
	for i, x := range far[:min(len(far), mostLargest)] {
		place := "largest/" + strconv.Itoa(i+1) + "/"
		out.add(place+"where", r.placeName(x.Runs.Cell))
		out.add(place+"ours", x.Ours.format(x.Ours.value(), 2))
		out.add(place+"published", x.Ours.format(x.Published.Mean, 2))
		out.add(place+"difference", x.differenceText())
	}
	if len(far) < min(accuracies, mostLargest) {
		out.none("largest/", sheet.NotRun)
	}
}

// levels are the accuracies, in percent, whose first update and time get names.
var levels = []float64{85, 90}

// reached adds the update and the time at which the traces of a cell first reach each level.
func (r *Results) reached(out *numberList, c *CellRuns) {
	if r.cell(c, "test_acc").N == 0 {
		return
	}
	for _, level := range levels {
		place := "to-" + shortest(level) + "/"
		updates := r.firstAt(c.done(), level/100)
		timed := c.ownTimes() // as in tables, a number never mixes the times of several machines
		times := r.firstAt(timed, level/100)
		if updates == nil || times == nil {
			continue
		}
		for i := range times {
			times[i] *= perUpdate(timed[i].Record)
		}
		out.add(place+"updates", fromTo(updates, amount))
		// Two digits suffice for short times: one line of the trace changes a time by a tenth or more.
		out.add(place+"seconds", fromTo(times, func(x float64) string { return significant(x, 2) }))
	}
}

// firstAt returns for each run the first update at which its trace reaches an accuracy, or infinity
// if it never does. It returns nil if a trace has an accuracy only at its end.
func (r *Results) firstAt(runs []Run, accuracy float64) []float64 {
	var out []float64
	for _, run := range runs {
		us, _, ys := r.line(run.Record, "update", "test_acc")
		if len(ys) < 2 {
			return nil
		}
		at := math.Inf(1)
		if i := slices.IndexFunc(ys, func(y float64) bool { return y >= accuracy-1e-9 }); i >= 0 {
			at = us[i]
		}
		out = append(out, at)
	}
	return out
}

// fromTo writes the range of numbers, or one number if both ends read the same.
func fromTo(all []float64, text func(float64) string) string {
	write := func(x float64) string {
		if math.IsInf(x, 1) {
			return "never"
		}
		return text(x)
	}
	low, high := write(slices.Min(all)), write(slices.Max(all))
	if low == high {
		return low
	}
	return low + " to " + high
}
