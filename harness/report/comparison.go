package report

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"dgkip/harness/experiment"
	"dgkip/harness/method"
	"dgkip/harness/report/sheet"
	"dgkip/harness/stats"
)

// Comparison sets a published number against our own.
type Comparison struct {
	Runs      *CellRuns
	Source    *experiment.Published
	Metric    string
	Published experiment.Number
	BuiltIn   bool // our number is for data that the program draws
	Ours      Cell
	Tolerance float64 // for the difference, in published units; NaN if there is none
	Outcome   Outcome
	Worse     bool   // our number is worse by more than the tolerance
	Reason    Reason // why it is worse; zero if the experiment gives no reason
}

// Outcome is the result of a comparison.
type Outcome string

// Outcomes.
const (
	Within      Outcome = "within tolerance"
	Higher      Outcome = "higher"
	Lower       Outcome = "lower"
	Unstable    Outcome = "unstable"          // within tolerance only because our seeds scatter
	OtherFamily Outcome = "of another family" // scored by another protocol, so that the numbers do not compare
	NotJudged   Outcome = "not judged"        // on built-in data, or without a tolerance
)

// outcomes are all outcomes in the order of a sentence. The first four are verdicts.
var outcomes = []Outcome{Within, Higher, Lower, Unstable, "not run", "failed", "damaged", OtherFamily, NotJudged}

// verdict returns the outcome as a word: within, higher, lower, unstable or not judged.
func (o Outcome) verdict() string {
	switch {
	case o == Within:
		return "within"
	case o.judged():
		return string(o)
	}
	return string(NotJudged)
}

// judged reports whether the outcome is a verdict.
func (o Outcome) judged() bool { return slices.Contains(outcomes[:4], o) }

// difference is our number minus the published one.
func (x Comparison) difference() float64 { return x.Ours.value() - x.Published.Mean }

// differenceText writes the difference, or for a time the ratio of ours to the published one.
func (x Comparison) differenceText() string {
	if isTime(x.Metric) {
		return "× " + significant(x.Ours.value()/x.Published.Mean, 2)
	}
	return signed(x.difference(), 2)
}

// family is the protocol family of the published number, and own is the family of our number.
func (x Comparison) family() method.Family { return x.Source.FamilyOf(x.Runs.Cell.Column) }
func (x Comparison) own() method.Family    { return x.Runs.family(x.Metric) }

// accuracy and ownAccuracy select comparisons to count: accuracies of all methods, or only of those
// that the source calls its own.
func (x Comparison) accuracy() bool { return isAccuracy(x.Metric) }
func (x Comparison) ownAccuracy() bool {
	return x.accuracy() && slices.Contains(x.Source.Own, x.Runs.Cell.Column)
}

// publishedOf returns the published number of a cell's metric, if there is one. It prefers a
// number of the cell's own protocol family.
func (r *Results) publishedOf(c *experiment.Cell, metric string) (number experiment.Number, of *experiment.Published, ok bool) {
	own := method.FamilyOf(metric, c.Method(), c.Protocol)
	for i := range r.Spec.Published {
		p := &r.Spec.Published[i]
		if metricOr(p.Metric) != metric || !p.When.Matches(c.At) {
			continue
		}
		n, has := p.Values[c.Column]
		same := p.FamilyOf(c.Column) == own
		if has && (of == nil || same) {
			number, of = n, p
		}
		if has && same {
			break
		}
	}
	return number, of, of != nil
}

// compare judges our numbers against the published ones, metric by metric. A metric of a
// cell has one published number (publishedOf).
func (r *Results) compare() []Comparison {
	var metrics []string
	for _, p := range r.Spec.Published {
		if !p.OnlyClaims {
			metrics = with(metrics, metricOr(p.Metric))
		}
	}
	var out []Comparison
	for _, m := range metrics {
		for _, c := range r.Cells {
			n, p, ok := r.publishedOf(c.Cell, m)
			if !ok || p.OnlyClaims {
				continue
			}
			x := Comparison{Runs: c, Source: p, Metric: m, Published: n, BuiltIn: r.dataset(c.Cell.Dataset).BuiltIn, Ours: r.cell(c, m)}
			if x.family() != x.own() && r.sameFamilyElsewhere(x) {
				continue
			}
			x.judge(r.rounding(p, m))
			if x.Worse {
				x.Reason = r.reasonOf(c.Cell)
			}
			out = append(out, x)
		}
	}
	return out
}

// judge finds the outcome. The tolerance of an accuracy is
//
//	T = max(2 sqrt(s^2 + o^2 + 2 q(1-q)/n), 1/n) + d
//
// where s is the published standard deviation, o is our standard deviation over seeds (0 for one
// seed), n is the number of test images, and q is the mean of the two accuracies. q(1-q)/n is the
// sampling variance of an accuracy on n images, and enters once for each side. This is an upper
// limit: both sides are scored on the same images and share part of their error. A difference of
// one test image is always within the tolerance.
//
// d is half a unit of the last published digit, and a published spread of 0.00 counts as d. A tolerance
// that the experiment declares replaces the root. Without one, there is no tolerance if no spread is
// known, nor for times. Metrics other than accuracies have no sampling error.
//
// Let T0 be T for o = 0. A number is unstable if the difference is within T but not within T0, and
// 2 o > T0: it is within only because our own seeds scatter.
func (x *Comparison) judge(d float64) {
	x.Tolerance, x.Outcome = math.NaN(), NotJudged
	switch state := x.Runs.state(); {
	case state != sheet.Blank:
		x.Outcome = Outcome(state.String())
		return
	case x.family() != x.own():
		x.Outcome = OtherFamily
		return
	case x.Ours.N == 0 || x.BuiltIn:
		return
	}
	image, sampling := x.testImage()
	theirs := 0.0
	if x.Published.HasSpread {
		theirs = max(x.Published.Spread, d)
	}
	spread := stats.Combined(theirs, x.Ours.spread())
	declared := x.Source.Tolerance
	switch {
	case declared > 0:
		x.Tolerance = declared
	case isTime(x.Metric) || spread == 0:
		return
	default:
		x.Tolerance = 2 * stats.Combined(spread, sampling)
	}
	x.Tolerance = max(x.Tolerance, image) + d
	withoutOurs := max(2*stats.Combined(theirs, sampling), image) + d
	better := x.Ours.Metric.better
	switch distance := math.Abs(x.difference()); {
	case distance > x.Tolerance*(1+1e-12) && x.difference() > 0:
		x.Outcome, x.Worse = Higher, better != higher
	case distance > x.Tolerance*(1+1e-12):
		x.Outcome, x.Worse = Lower, better != lower
	case declared == 0 && distance > withoutOurs && 2*x.Ours.spread() > withoutOurs:
		x.Outcome = Unstable
	default:
		x.Outcome = Within
	}
}

// testImage returns the weight of one test image in an accuracy, and the sampling error of the
// difference of two accuracies. Both are in percent, and 0 for other metrics.
func (x *Comparison) testImage() (one, sampling float64) {
	n := float64(x.Runs.testImages())
	if n == 0 || !isAccuracy(x.Metric) {
		return 0, 0
	}
	q := min(max((x.Ours.value()+x.Published.Mean)/200, 0), 1)
	return 100 / n, 100 * math.Sqrt(2*q*(1-q)/n)
}

// testImages is the number of test images behind a cell's accuracies, 0 if no record has it.
func (c *CellRuns) testImages() int64 {
	for _, r := range c.done() {
		if n := r.Record.Result.Counts["test_images"]; len(n) > 0 {
			return n[0]
		}
	}
	return 0
}

// waits reports whether missing runs could still bring a verdict.
func (x Comparison) waits() bool {
	spread := !isTime(x.Metric) && (x.Published.HasSpread || x.Runs.Cell.Seeds > 1)
	return x.Ours.N == 0 && len(x.Runs.done()) < len(x.Runs.Runs) && x.family() == x.own() && !x.BuiltIn && (x.Source.Tolerance > 0 || spread)
}

// sameFamilyElsewhere reports whether the published number has the protocol family of another cell
// with the same method, dataset and number of images per class.
func (r *Results) sameFamilyElsewhere(x Comparison) bool {
	to := x.Runs.Cell
	return slices.ContainsFunc(r.Cells, func(c *CellRuns) bool {
		return c.Cell.Column == to.Column && c.Cell.Dataset == to.Dataset && c.Cell.IPC == to.IPC &&
			x.Source.When.Matches(c.Cell.At) && c.family(x.Metric) == x.family()
	})
}

// rounding returns half a unit of the last decimal that a source prints for a metric. It looks at
// all numbers of the source, because a single one may end in zeros.
func (r *Results) rounding(of *experiment.Published, metric string) float64 {
	d := 0
	for _, p := range r.Spec.Published {
		if p.Source == of.Source && metricOr(p.Metric) == metric {
			for _, v := range p.Values {
				d = max(d, decimalsOf(v.Mean))
			}
		}
	}
	return 0.5 * math.Pow10(-d)
}

// warnOfFractions warns of published accuracies that look like fractions, not percent.
func (r *Results) warnOfFractions() {
	for _, p := range r.Spec.Published {
		for _, column := range slices.Sorted(maps.Keys(p.Values)) {
			if x := p.Values[column].Mean; isAccuracy(metricOr(p.Metric)) && x > 0 && x < 1 {
				r.problem("published by %s: %s = %v is read as %v %%: give accuracies in percent", p.Source, column, x, x)
			}
		}
	}
}

// tally counts published numbers by their outcome.
type tally map[Outcome]int

// tallyOf counts the selected comparisons.
func tallyOf(all []Comparison, selected func(Comparison) bool) tally {
	t := tally{}
	for _, x := range all {
		if selected(x) {
			t[x.Outcome]++
		}
	}
	return t
}

func (t tally) all() int {
	n := 0
	for _, o := range outcomes {
		n += t[o]
	}
	return n
}

// String lists the verdicts, and the other outcomes that occur.
func (t tally) String() string {
	text := fmt.Sprintf("%d of %d %s", t[Within], t.all(), Within)
	for _, o := range outcomes[1:] {
		if t[o] > 0 || o == Higher || o == Lower {
			text += fmt.Sprintf(", %d %s", t[o], o)
		}
	}
	return text
}
