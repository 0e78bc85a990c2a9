package report

import (
	"fmt"
	"math"
	"slices"

	"dgkip/harness/exhibit"
	"dgkip/harness/spec"
	"dgkip/harness/stats"
)

// Verdict is the outcome of a check or a claim.
type Verdict int

const (
	Open  Verdict = iota // not enough runs, or nothing to judge by
	Holds                // it is so
	Fails                // it is not so
)

func (v Verdict) String() string { return [...]string{"not enough runs", "holds", "fails"}[v] }

// Beside is a published number with ours beside it. Both are in published units.
type Beside struct {
	Cell      *spec.Cell
	Source    string
	Metric    string
	Published exhibit.Number
	Ours      float64
	Spread    float64 // population standard deviation over our seeds
	Seeds     int     // ours; 0 if there is no number
	Failed    bool    // there is none because every run failed

	// Allowed is how far from the published mean ours may lie: the tolerance of the
	// spec, or twice the combined spread. NaN if neither is known. What the
	// published number lost by rounding is added to it.
	Allowed  float64
	Declared bool // Allowed is the spec's own
	Verdict  Verdict

	runs *CellRuns
}

// Difference is ours less the published one.
func (b Beside) Difference() float64 { return b.Ours - b.Published.Mean }

// Judged tells whether there is anything to judge by.
func (b Beside) Judged() bool { return !math.IsNaN(b.Allowed) }

// format shows a number in its unit.
func (b Beside) format(x float64) string {
	if isTime(b.Metric) {
		return seconds(x)
	}
	return fixed(x, 2)
}

// publishedOf returns what was published of a metric of a cell.
func (r *Results) publishedOf(c *spec.Cell, metric string) (exhibit.Number, *exhibit.Published, bool) {
	for i := range r.Spec.Published {
		p := &r.Spec.Published[i]
		if metricOr(p.Metric) != metric || !p.When.Matches(c.At) {
			continue
		}
		if n, ok := p.Values[c.Column]; ok {
			return n, p, true
		}
	}
	return exhibit.Number{}, nil, false
}

// metricOr is a metric's name, or the one that is meant where none is given.
func metricOr(name string) string {
	if name == "" {
		return "test_acc"
	}
	return name
}

// Compare sets every published number beside ours, in the order of the cells.
func (r *Results) Compare() []Beside {
	var metrics []string
	for _, p := range r.Spec.Published {
		if m := metricOr(p.Metric); !p.OnlyClaims && !slices.Contains(metrics, m) {
			metrics = append(metrics, m)
		}
	}
	var out []Beside
	for _, m := range metrics {
		for _, c := range r.Cells {
			n, p, ok := r.publishedOf(c.Cell, m)
			if !ok || p.OnlyClaims {
				continue
			}
			b := Beside{Cell: c.Cell, Source: p.Source, Metric: m, Published: n, Allowed: math.NaN(), runs: c}
			scale := scaleOf(m, p.Scale)
			sum, have := c.summary(m)
			b.Failed = !have && len(c.done()) == 0 && c.failed() > 0
			if have {
				b.Ours, b.Spread, b.Seeds = sum.Mean*scale, sum.SD*scale, sum.N
			}
			digit := r.rounding(p, m)
			spread := b.Spread
			if n.HasSpread { // 0.00 stands for half its last digit at most
				spread = stats.Combined(max(n.Spread, digit), b.Spread)
			}
			switch {
			case p.Tolerance > 0:
				b.Allowed, b.Declared = p.Tolerance, true
			case !isTime(m) && have && spread > 0:
				b.Allowed = 2 * spread
			}
			if have && b.Judged() {
				b.Verdict = Fails
				if math.Abs(b.Difference()) <= (b.Allowed+digit)*(1+1e-12) {
					b.Verdict = Holds
				}
			}
			out = append(out, b)
		}
	}
	return out
}

// rounding is half a unit of the last decimal in which a source gives a metric. Its
// other numbers tell, where one of them ends in zeros.
func (r *Results) rounding(of *exhibit.Published, metric string) float64 {
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

// comparison is the table of published numbers with ours beside them, nil if there
// are none.
func (r *Results) comparison() *sheet {
	all := r.Compare()
	if len(all) == 0 {
		return nil
	}
	axes := slices.DeleteFunc(r.axes(), func(a string) bool {
		return a != "dataset" && a != "ipc" && a != "method" && len(r.axisValues(a)) < 2
	})
	s := &sheet{
		name: r.stem() + "-comparison", title: r.Spec.Title + ": published numbers and ours",
		columns: []string{"Ours", "Seeds", "Published", "Difference", "Allowed", "Within"},
	}
	for _, a := range axes {
		s.heads = append(s.heads, axisTitle(a))
	}
	s.heads = append(s.heads, "Metric")
	on := r.machinesOf(all)
	for _, b := range all {
		var line row
		for _, a := range axes {
			v, _ := b.Cell.At(a)
			line.heads = append(line.heads, head{text: r.valueTitle(a, v)})
		}
		line.heads = append(line.heads, head{text: kindOf(b.Metric)})
		text := func(t string) entry { return entry{state: value, text: t} }
		published := entry{state: value, text: b.format(b.Published.Mean)}
		if b.Published.HasSpread {
			published.spread = b.format(b.Published.Spread)
		}
		switch {
		case b.Seeds == 0:
			line.cells = []entry{b.absent(), {}, published, {}, {}, {}}
		default:
			ours := entry{state: value, text: b.format(b.Ours)}
			if isTime(b.Metric) {
				ours.marks = on.marks(b.runs)
			} else if b.Seeds > 1 {
				ours.spread = b.format(b.Spread)
			}
			difference := text(signed(b.Difference(), 2))
			if isTime(b.Metric) {
				difference = text("× " + significant(b.Ours/b.Published.Mean, 3))
			}
			allowed, verdict := entry{}, text("not judged")
			if b.Judged() {
				allowed = text(b.format(b.Allowed))
				verdict = entry{state: value, text: "no", good: -1}
				if b.Verdict == Holds {
					verdict = entry{state: value, text: "yes", good: 1}
				}
			}
			line.cells = []entry{ours, text(fixed(float64(b.Seeds), 0)), published, difference, allowed, verdict}
		}
		s.rows = append(s.rows, line)
	}
	s.spans(max(0, len(axes)-1))
	s.caption = r.selected(fmt.Sprintf("Published numbers (%s) and ours, accuracies in percent and times in seconds per update. Of %s.", list(sourcesOf(all)), tallyBesides(all, nil)) + allowedText + r.circumstances())
	s.notes = append(s.states(), r.besideNotes(all)...)
	return s
}

const allowedText = " Allowed is twice the root of the summed squares of both standard deviations, unless the experiment declares a tolerance; a published number stands for all that round to it."

func sourcesOf(all []Beside) []string {
	var out []string
	for _, b := range all {
		if !slices.Contains(out, b.Source) {
			out = append(out, b.Source)
		}
	}
	return out
}

// besideTally counts published numbers by what became of them.
type besideTally struct{ all, within, beyond, failed, missing, unjudged int }

// tallyBesides counts those of the metrics meant; nil means all.
func tallyBesides(all []Beside, meant func(metric string) bool) besideTally {
	var t besideTally
	for _, b := range all {
		if meant != nil && !meant(b.Metric) {
			continue
		}
		t.all++
		switch {
		case b.Failed:
			t.failed++
		case len(b.runs.done()) == 0:
			t.missing++
		case b.Seeds == 0 || !b.Judged():
			t.unjudged++
		case b.Verdict == Holds:
			t.within++
		default:
			t.beyond++
		}
	}
	return t
}

func (t besideTally) String() string {
	s := fmt.Sprintf("%s: %d within what is allowed, %d beyond, %d not run", count(t.all, "number", "numbers"), t.within, t.beyond, t.missing)
	if t.failed > 0 {
		s += fmt.Sprintf(", %d failed", t.failed)
	}
	if t.unjudged > 0 {
		s += fmt.Sprintf(", %d not judged", t.unjudged)
	}
	return s
}

// machinesOf are those that the times among published numbers are set against.
func (r *Results) machinesOf(all []Beside) machines {
	var cells []*CellRuns
	for _, b := range all {
		if isTime(b.Metric) {
			cells = append(cells, b.runs)
		}
	}
	return machinesOf(cells)
}

// besideNotes says what is to be kept in mind about a comparison.
func (r *Results) besideNotes(all []Beside) []string {
	var notes []string
	if slices.ContainsFunc(all, func(b Beside) bool { return isTime(b.Metric) }) {
		notes = append(notes, "Times depend on the machine; the factor is ours over the published one, and it is judged only where a tolerance is declared.")
		notes = append(notes, r.machinesOf(all).notes()...)
	}
	if slices.ContainsFunc(all, func(b Beside) bool { return b.Seeds == 1 && !b.Declared }) {
		notes = append(notes, "With one seed of ours the published spread alone is known.")
	}
	if slices.ContainsFunc(all, func(b Beside) bool { return r.dataset(b.Cell.Dataset).BuiltIn }) {
		notes = append(notes, "Data marked built-in is drawn by the program: its numbers cannot reproduce published ones.")
	}
	return append(notes, r.misprints()...)
}
