package report

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dgkip/harness/exhibit"
	"dgkip/harness/nearest"
	"dgkip/harness/spec"
)

// Number is a number of a report, ready for print.
type Number struct {
	Text    string // "90.45 ± 0.10 %"
	Pending bool   // no run has been made that it could come from
	Failed  bool   // all runs of it have failed
}

func (n Number) latex() string {
	switch {
	case n.Pending:
		return "\\textit{[not run]}"
	case n.Failed:
		return "\\textit{[failed]}"
	}
	if m := powerPattern.FindStringSubmatch(n.Text); m != nil {
		exponent, err := strconv.Atoi(m[2])
		if err == nil {
			return fmt.Sprintf("\\ensuremath{%s10^{%d}}", strings.TrimPrefix(m[1]+`\times`, `1\times`), exponent)
		}
	}
	t := strings.ReplaceAll(latexNumber(n.Text), ` \%`, `\,\%`)
	t = strings.ReplaceAll(t, ` $\pm$ `, `\,$\pm$\,`)
	return mathPattern.ReplaceAllString(t, `$1\ensuremath{$2}`)
}

var (
	powerPattern = regexp.MustCompile(`^(-?[0-9.]+)e([+-]?[0-9]+)$`)

	// mathPattern finds mathematics, which may itself stand in a formula.
	mathPattern = regexp.MustCompile(`(^|[^\\])\$([^$]*)\$`)
)

func done(text string) (Number, error) { return Number{Text: text}, nil }

// Number returns a number of the experiment by its name:
//
//	runs, planned, seeds, profile
//	published/count, /within, /beyond, /not-run, /not-judged     of the accuracies
//	claim/ID, claim/ID/evidence, claim/ID/published, claim/ID/published-evidence
//	DATASET/IPC/best-published
//	DATASET/IPC/METHOD/QUANTITY
//
// with the values of all further axes that have several behind METHOD. The
// QUANTITY is acc (mean and spread in percent), mean, sd, errors, seeds, updates,
// time, any metric of the records (for which the last one of a trace stands in), or
// a declared setting: method.KEY, model.KEY, eval.KEY. Against what was published
// there are published, difference, allowed and within, of the accuracy or, with a
// dot and a metric behind, of that. The error says what is wrong with the name.
func (r *Results) Number(name string) (Number, error) {
	parts := strings.Split(name, "/")
	switch parts[0] {
	case "runs", "planned", "seeds", "profile":
		if len(parts) == 1 {
			return r.count(parts[0])
		}
	case "published":
		if len(parts) == 2 {
			return r.publishedCount(parts[1])
		}
	case "claim":
		return r.claimNumber(parts[1:])
	}
	axes := []string{"dataset", "ipc", "method"}
	for _, a := range r.axes() {
		if !slices.Contains(axes, a) && len(r.axisValues(a)) > 1 {
			axes = append(axes, a)
		}
	}
	if len(parts) == 3 && parts[2] == "best-published" {
		return r.bestPublished(parts[:2])
	}
	if len(parts) != len(axes)+1 {
		return Number{}, fmt.Errorf("a number of a cell is named %s/%s/QUANTITY", r.Spec.Name, strings.ToUpper(strings.Join(axes, "/")))
	}
	for i, a := range axes {
		if values := r.axisValues(a); !slices.Contains(values, parts[i]) {
			return Number{}, fmt.Errorf("there is no %s %q; %s", a, parts[i], or(nearest.Hint(parts[i], values), "there are: "+strings.Join(values, ", ")))
		}
	}
	at := slices.IndexFunc(r.Cells, func(c *CellRuns) bool { return slices.Equal(pointOf(c.Cell, axes), parts[:len(axes)]) })
	if at < 0 {
		return Number{}, fmt.Errorf("the experiment leaves this cell out")
	}
	return r.quantity(r.Cells[at], parts[len(axes)])
}

func (r *Results) count(what string) (Number, error) {
	all := r.distinct()
	n := 0
	for _, run := range all {
		if run.Record != nil {
			n++
		}
	}
	switch what {
	case "planned":
		n = len(all)
	case "seeds":
		n = len(r.Spec.Seeds)
	case "profile":
		return done(r.Spec.Profile)
	}
	return done(strconv.Itoa(n))
}

func (r *Results) publishedCount(what string) (Number, error) {
	t := tallyBesides(r.Compare(), isAccuracy)
	n, ok := map[string]int{"count": t.all, "within": t.within, "beyond": t.beyond, "failed": t.failed, "not-run": t.missing, "not-judged": t.unjudged}[what]
	if !ok {
		return Number{}, fmt.Errorf("of the published accuracies there are count, within, beyond, failed, not-run and not-judged")
	}
	return done(strconv.Itoa(n))
}

func (r *Results) claimNumber(parts []string) (Number, error) {
	if len(parts) == 0 || len(parts) > 2 {
		return Number{}, fmt.Errorf("a claim's verdict is named %s/claim/ID", r.Spec.Name)
	}
	var ids []string
	for _, j := range r.Claims() {
		ids = append(ids, j.Claim.ID)
		if j.Claim.ID != parts[0] {
			continue
		}
		what := ""
		if len(parts) > 1 {
			what = parts[1]
		}
		switch what {
		case "":
			return done(j.Ours.String())
		case "evidence":
			return done(j.OursEvidence)
		case "published":
			if j.Published == Open {
				return done("not judged")
			}
			return done(j.Published.String())
		case "published-evidence":
			return done(j.PublishedEvidence)
		}
		return Number{}, fmt.Errorf("of a claim there are its verdict, evidence, published and published-evidence")
	}
	return Number{}, fmt.Errorf("there is no claim %q; %s", parts[0], or(nearest.Hint(parts[0], ids), "there are: "+strings.Join(ids, ", ")))
}

// bestPublished is the highest accuracy that was published for a row.
func (r *Results) bestPublished(row []string) (Number, error) {
	best := exhibit.Number{Mean: math.Inf(-1)}
	for _, c := range r.Cells {
		if !slices.Equal(pointOf(c.Cell, []string{"dataset", "ipc"}), row) {
			continue
		}
		if n, _, ok := r.publishedOf(c.Cell, "test_acc"); ok && n.Mean > best.Mean {
			best = n
		}
	}
	if math.IsInf(best.Mean, -1) {
		return Number{}, fmt.Errorf("nothing was published for this row")
	}
	return done(percent(best.Mean, best.Spread, best.HasSpread))
}

func percent(mean, spread float64, hasSpread bool) string {
	s := fixed(mean, 2)
	if hasSpread {
		s += " ± " + fixed(spread, 2)
	}
	return s + " %"
}

// quantity is a number of a cell.
func (r *Results) quantity(c *CellRuns, what string) (Number, error) {
	if part, key, ok := strings.Cut(what, "."); ok && slices.Contains([]string{"method", "model", "eval"}, part) {
		return r.setting(c, part, key)
	}
	for _, kind := range []string{"published", "difference", "allowed", "within"} {
		if rest, ok := strings.CutPrefix(what, kind); ok && (rest == "" || rest[0] == '.') {
			return r.against(c, kind, metricOr(strings.TrimPrefix(rest, ".")))
		}
	}
	metric, format := what, func(x float64) string { return significant(x, 3) }
	switch what {
	case "seeds":
		return done(strconv.Itoa(len(c.done())))
	case "acc", "mean", "sd":
		metric = "test_acc"
	case "errors":
		metric, format = "test_errors", func(x float64) string { return fixed(x, min(1, decimalsOf(x))) }
	case "updates":
		format = func(x float64) string { return fixed(x, min(1, decimalsOf(x))) }
	case "time":
		metric, format = secondsPerUpdate, func(x float64) string { return seconds(x) + " s" }
	}
	if last := "last." + metric; !r.hasMetric(metric) && r.hasMetric(last) {
		metric = last
	}
	sum, ok := c.summary(metric)
	switch {
	case ok:
	case len(c.done()) > 0 && what == "time":
		return done("none") // no update, no time
	case len(c.done()) > 0:
		return Number{}, r.noMetric(metric, c.done())
	case !r.mayExist(metric):
		return Number{}, r.noMetric(metric, nil)
	case c.failed() > 0:
		return Number{Failed: true}, nil
	default:
		return Number{Pending: true}, nil
	}
	switch {
	case what == "acc" || what == metric && isAccuracy(metric):
		return done(percent(100*sum.Mean, 100*sum.SD, sum.HasSpread()))
	case what == "mean":
		return done(percent(100*sum.Mean, 0, false))
	case what == "sd" && !sum.HasSpread():
		return done("none")
	case what == "sd":
		return done(percent(100*sum.SD, 0, false))
	}
	return done(format(sum.Mean))
}

// against is a cell beside what was published of it.
func (r *Results) against(c *CellRuns, what, metric string) (Number, error) {
	i := slices.IndexFunc(r.Compare(), func(b Beside) bool { return b.Cell == c.Cell && b.Metric == metric })
	if i < 0 {
		return Number{}, fmt.Errorf("nothing was published of the %s of this cell", metricTitle(metric))
	}
	b := r.Compare()[i]
	switch {
	case what == "published" && isAccuracy(metric):
		return done(percent(b.Published.Mean, b.Published.Spread, b.Published.HasSpread))
	case what == "published" && isTime(metric):
		return done(b.format(b.Published.Mean) + " s")
	case what == "published":
		return done(b.format(b.Published.Mean))
	case b.Seeds == 0:
		return Number{Pending: c.failed() == 0, Failed: c.failed() > 0}, nil
	case what == "difference" && isTime(metric):
		return done("× " + significant(b.Ours/b.Published.Mean, 2))
	case what == "difference":
		return done(signed(b.Difference(), 2))
	case !b.Judged():
		return done("not judged")
	case what == "allowed":
		return done(b.format(b.Allowed))
	case b.Verdict == Holds:
		return done("yes")
	}
	return done("no")
}

// setting is what a cell's runs are told.
func (r *Results) setting(c *CellRuns, part, key string) (Number, error) {
	id := c.Cell.Identity(spec.DatasetIdentity{}, 0)
	settings := map[string]map[string]any{"method": id.Method.Settings, "model": id.Model, "eval": id.Eval.Settings}[part]
	switch x := settings[key].(type) {
	case nil:
		names := slices.Sorted(maps.Keys(settings))
		return Number{}, fmt.Errorf("there is no setting %s.%s; %s", part, key, or(nearest.Hint(key, names), "there are: "+strings.Join(names, ", ")))
	case float64:
		return done(shortest(x))
	default:
		return done(fmt.Sprint(x))
	}
}

// hasMetric tells whether any run of the experiment has a metric.
func (r *Results) hasMetric(metric string) bool {
	for _, c := range r.Cells {
		if _, ok := c.summary(metric); ok {
			return true
		}
	}
	return false
}

// mayExist tells whether runs to come may have a metric. Where there is no run yet,
// nobody knows.
func (r *Results) mayExist(metric string) bool {
	made := slices.ContainsFunc(r.Cells, func(c *CellRuns) bool { return len(c.done()) > 0 })
	return !made || r.hasMetric(metric) || metric == "test_acc" || metric == secondsPerUpdate || metric == "test_errors"
}

func (r *Results) noMetric(metric string, runs []Run) error {
	if runs == nil {
		for _, c := range r.Cells {
			runs = append(runs, c.done()...)
		}
	}
	have := map[string]bool{}
	for _, run := range runs {
		for m := range run.Record.Result.Metrics {
			have[m] = true
		}
	}
	names := slices.Sorted(maps.Keys(have))
	return fmt.Errorf("no run has %q; %s", metric, or(nearest.Hint(metric, names), "the records have: "+strings.Join(names, ", ")))
}
