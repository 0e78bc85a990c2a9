package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"dgkip/harness/experiment"
	"dgkip/harness/method"
	"dgkip/harness/report/sheet"
)

// Difference is ours less the published one.
func (b Beside) Difference() float64 { return b.Ours - b.Published.Mean }

// Mixed reports whether the numbers were scored by protocols of different families.
func (b Beside) Mixed() bool { return b.Family != b.Own }

// Failed reports whether ours is worse than the tolerance allows. A metric of which it
// is not known which way is better fails on both sides.
func (b Beside) Failed() bool {
	better := about(b.Metric).better
	return b.Match == Higher && better != higher || b.Match == Lower && better != lower
}

// format shows a number in its unit.
func (b Beside) format(x float64) string {
	if isTime(b.Metric) {
		return seconds(x)
	}
	return fixed(x, 2)
}

// difference shows how ours differs: times by a factor.
func (b Beside) difference() string {
	if isTime(b.Metric) {
		return "× " + significant(b.Ours/b.Published.Mean, 2)
	}
	return signed(b.Difference(), 2)
}

// publishedOf returns what was published of a metric of a cell: a number of the cell's
// own protocol family, if there is one.
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

// compare sets every published number beside ours, metric by metric.
func (r *Results) compare() []Beside {
	var metrics []string
	for _, p := range r.Spec.Published {
		if !p.OnlyClaims {
			metrics = with(metrics, metricOr(p.Metric))
		}
	}
	var out []Beside
	for _, m := range metrics {
		for _, c := range r.Cells {
			n, p, ok := r.publishedOf(c.Cell, m)
			if !ok || p.OnlyClaims {
				continue
			}
			b := Beside{Cell: c.Cell, Source: p.Source, Metric: m, Published: n, Tolerance: math.NaN(), Declared: p.Tolerance > 0, runs: c, Unchecked: p.Unchecked,
				Family: p.FamilyOf(c.Cell.Column), Own: c.family(m), BuiltIn: r.dataset(c.Cell.Dataset).BuiltIn, OfSource: slices.Contains(p.Own, c.Cell.Column)}
			if b.Mixed() && r.comparable(c, p, m) {
				continue // ours of the same family is beside it
			}
			if s, have := c.summary(m); have {
				scale := about(m).scale
				b.Ours, b.Spread, b.Seeds = s.Mean*scale, s.SD*scale, s.N
				if !b.Mixed() && !b.BuiltIn {
					b.judge(p, r.rounding(p, m))
				}
				if b.Failed() {
					b.Reason = r.reasonOf(c.Cell)
				}
			}
			out = append(out, b)
		}
	}
	return out
}

// warnOfFractions warns of published accuracies that are hardly meant in percent.
func (r *Results) warnOfFractions() {
	for _, p := range r.Spec.Published {
		for _, column := range slices.Sorted(maps.Keys(p.Values)) {
			if x := p.Values[column].Mean; method.IsScore(p.Metric) && isAccuracy(metricOr(p.Metric)) && x > 0 && x < 1 {
				r.problem("published by %s: %s = %v is taken as %v %%: values are in percent", p.Source, column, x, x)
			}
		}
	}
}

// comparable reports whether a published number that matches a cell stands beside one
// of ours that was scored alike, with the same method, data and images a class.
func (r *Results) comparable(to *CellRuns, p *experiment.Published, metric string) bool {
	return slices.ContainsFunc(r.Cells, func(c *CellRuns) bool {
		return c.Cell.Column == to.Cell.Column && c.Cell.Dataset == to.Cell.Dataset && c.Cell.IPC == to.Cell.IPC &&
			p.When.Matches(c.Cell.At) && c.family(metric) == p.FamilyOf(c.Cell.Column)
	})
}

// rounding is half a unit of the last decimal in which a source gives a metric. Its
// other numbers tell, where one of them ends in zeros.
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

// reproduced is the published numbers in their own layout, each with ours below, and how
// far that is from it. It is nil if there are none.
func (r *Results) reproduced() *sheet.Sheet {
	if len(r.Published) == 0 {
		return nil
	}
	s := &sheet.Sheet{Name: r.stem() + "-reproduced", Title: r.Spec.Title + ": published and ours"}
	rowAxes := r.rowAxes()
	s.Heads, s.Merge = append(axisTitles(rowAxes), "Metric", ""), len(rowAxes)+1
	var columns, kinds []string
	for _, v := range r.axisValues("method") {
		if slices.ContainsFunc(r.Published, func(b Beside) bool { return b.Cell.Column == v }) {
			columns, s.Columns = append(columns, v), append(s.Columns, r.valueTitle("method", v))
		}
	}
	// Columns may show different metrics of one kind on one line.
	for _, b := range r.Published {
		kinds = with(kinds, shortMetric(b.Metric))
	}
	on, families := r.publishedMachines(), r.publishedFamilies()
	for _, point := range r.groups(r.Cells, rowAxes) {
		for _, kind := range kinds {
			theirs, ours, verdicts := make([]sheet.Entry, len(columns)), make([]sheet.Entry, len(columns)), make([]sheet.Entry, len(columns))
			some, differ := false, false
			for _, b := range r.Published {
				if shortMetric(b.Metric) == kind && slices.Contains(point.cells, b.runs) {
					i := slices.Index(columns, b.Cell.Column)
					theirs[i], ours[i], some = b.theirs(), b.ours(on), true
					families.mark(&theirs[i], s.Columns[i], b.Family)
					families.mark(&ours[i], s.Columns[i], b.Own)
					judged := &ours[i] // a time's verdict stands with it
					if !isTime(b.Metric) && b.Seeds > 0 {
						verdicts[i], judged, differ = b.verdict(), &verdicts[i], true
					}
					footnote(s, judged, b.Reason.String())
				}
			}
			if some {
				heads := r.headsOf(rowAxes, point)
				s.Rows = append(s.Rows, sheet.Row{Heads: append(slices.Clone(heads), kind, "published"), Cells: theirs},
					sheet.Row{Heads: append(slices.Clone(heads), kind, "ours"), Cells: ours})
				if differ {
					s.Rows = append(s.Rows, sheet.Row{Heads: append(heads, kind, "difference"), Cells: verdicts})
				}
			}
		}
	}
	s.Caption = r.selected(fmt.Sprintf("Published accuracies (%s), ours with the population standard deviation where there are several seeds, and by how many percentage points they differ: within tolerance, higher, lower, unstable where our spread alone brings it within, or ? where no spread is known. Of %s. %s%s",
		list(r.sources()), tallyOf(r.Published, Beside.accuracy), toleranceText, r.circumstances()))
	s.Notes = slices.Concat(s.StateNotes(), families.notes(), r.publishedNotes())
	return s
}

// toleranceText is the rule of judge in words.
const toleranceText = "The tolerance is twice the root of the summed squares of both standard deviations (of one seed there is none) and of the sampling error of the test images on either side, and no less than one test image, unless the experiment declares one; half a unit of the last published digit is added."

func (b Beside) theirs() sheet.Entry {
	e := sheet.Text(b.format(b.Published.Mean))
	if b.Published.HasSpread {
		e.Spread = b.format(b.Published.Spread)
	}
	return e
}

// ours is our mean, and of a time its verdict, too.
func (b Beside) ours(on machines) sheet.Entry {
	if b.Seeds == 0 {
		return sheet.Entry{State: b.runs.state()}
	}
	e := sheet.Text(b.format(b.Ours))
	if isTime(b.Metric) {
		v := b.verdict()
		e.Text, e.Good, e.Marks = e.Text+", "+v.Text, v.Good, on.of(b.runs)
	} else if b.Seeds > 1 {
		e.Spread = b.format(b.Spread)
	}
	return e
}

// verdict is how far ours is from the published number, and what that was judged to be.
func (b Beside) verdict() sheet.Entry {
	e := sheet.Text(b.difference())
	switch {
	case b.Match != Unjudged:
		e.Text, e.Good = e.Text+" "+b.Match.String(), 1
		if b.Failed() {
			e.Good = -1
		} else if b.Match == Unstable {
			e.Good = 0
		}
	case b.Mixed():
		e.Text = "≠" // the difference says nothing
	case b.BuiltIn && !isTime(b.Metric):
		e.Text = "not judged"
	case !isTime(b.Metric):
		e.Text += " ?"
	}
	return e
}

// publishedFamilies are those of the published numbers and of ours beside them.
func (r *Results) publishedFamilies() columnFamilies {
	f := columnFamilies{}
	for _, b := range r.Published {
		column := r.valueTitle("method", b.Cell.Column)
		f.add(column, b.Family)
		if b.Seeds > 0 {
			f.add(column, b.Own)
		}
	}
	return f
}

func (r *Results) sources() []string {
	var out []string
	for _, b := range r.Published {
		out = with(out, b.Source)
	}
	return out
}

// publishedMachines are those that the times among published numbers are set against.
func (r *Results) publishedMachines() machines {
	var cells []*CellRuns
	for _, b := range r.Published {
		if isTime(b.Metric) {
			cells = append(cells, b.runs)
		}
	}
	return machinesOf(cells)
}

// publishedNotes says what is to be kept in mind about a comparison.
func (r *Results) publishedNotes() []string {
	var notes []string
	some := func(meant func(Beside) bool) bool { return slices.ContainsFunc(r.Published, meant) }
	if some(func(b Beside) bool { return isTime(b.Metric) }) {
		notes = append(notes, "Times depend on the machine: the factor is ours over the published one. It is judged only where a tolerance is declared.")
		notes = append(notes, r.publishedMachines().notes()...)
	}
	if some(func(b Beside) bool { return b.Seeds > 0 && b.Mixed() }) {
		notes = append(notes, "≠: different protocol families; not comparable.")
	}
	notes = append(notes, r.uncheckedNote()...)
	if some(func(b Beside) bool { return b.BuiltIn }) {
		notes = append(notes, "Data marked built-in is drawn by the program: its numbers cannot reproduce published ones, and are not judged.")
	}
	return notes
}

// uncheckedNote names the sources whose numbers nobody has held against them.
func (r *Results) uncheckedNote() []string {
	var sources []string
	for _, p := range r.Spec.Published {
		if p.Unchecked && !p.OnlyClaims {
			sources = with(sources, p.Source)
		}
	}
	if sources == nil {
		return nil
	}
	return []string{"Not checked against the publication: the numbers of " + strings.Join(sources, "; ") + "."}
}

// comparisonCSV has a line for every published number, in published units.
func (r *Results) comparisonCSV() []byte {
	axes := r.axes()
	lines := [][]string{append(slices.Clone(axes), "metric", "source", "published", "published_sd", "ours", "ours_population_sd", "n_seeds", "test_images", "difference", "tolerance", "match", "reason", "published_family", "family", "checked")}
	given := func(is bool, x float64, text func(float64) string) string {
		if !is {
			return ""
		}
		return text(x)
	}
	for _, b := range r.Published {
		made, images := b.Seeds > 0, float64(b.runs.testImages())
		lines = append(lines, append(pointOf(b.Cell, axes), b.Metric, b.Source, shortest(b.Published.Mean), given(b.Published.HasSpread, b.Published.Spread, shortest),
			given(made, b.Ours, shortest), given(b.Seeds > 1, b.Spread, shortest), strconv.Itoa(b.Seeds), given(made && images > 0, images, shortest),
			given(made, b.Difference(), tenDigits), given(!math.IsNaN(b.Tolerance), b.Tolerance, tenDigits),
			b.Match.String(), b.Reason.String(), string(b.Family), string(b.Own), strconv.FormatBool(!b.Unchecked)))
	}
	return sheet.CSV(lines)
}
