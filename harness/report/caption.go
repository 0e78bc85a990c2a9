package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dgkip/harness/experiment"
	"dgkip/harness/report/sheet"
)

// explain writes the caption and the notes of the main table.
func (b *tableBuilder) explain() {
	q := b.lines[0]
	what := capital(q.title)
	if q.unit == "%" {
		what += " in percent"
	}
	sentences := []string{sentence(cmp.Or(b.t.Title, b.r.Spec.Title))}
	if len(b.families) > 1 {
		sentences = append(sentences, "Methods are scored by different protocols (see the notes); compare scores only within a protocol family.")
	}
	sentences = append(sentences, sentence(b.t.Caption), what+b.spreadText()+".")
	sentences = append(sentences, b.otherMetrics()...)
	if len(b.times()) > 0 || q.name == secondsPerIteration {
		iteration := "Iterations are counted as by the authors of each method, usually one for each update."
		if slices.ContainsFunc(b.r.Cells, func(c *CellRuns) bool { return slices.Contains([]string{"dc", "dsa"}, c.Cell.Method().Info().Name) }) {
			iteration += " An iteration of DC or DSA has as many updates as there are images per class."
		}
		sentences = append(sentences, iteration, fmt.Sprintf("The time of an iteration includes the training of networks, but not scoring. Times within %g %% count as equal.", 100*timeNoise))
	}
	if b.t.Making {
		sentences = append(sentences, "The time to make a set covers all its iterations. It excludes the features and the reference model of the real images, which are computed once for all sets.")
	}
	sentences = append(sentences, b.r.ending(b.r.Cells)...)
	b.out.Caption = strings.Join(slices.DeleteFunc(sentences, func(s string) bool { return s == "" }), " ")
	b.out.Rules, b.out.Notes = b.ranking(q), b.notes(q)
	if len(b.lines) > 1 || slices.ContainsFunc(b.columns, func(c group) bool { return isTime(b.in(q, c).name) }) {
		b.out.Notes = append(b.out.Notes, b.r.timeNotes(b.r.Cells)...)
	}
}

// otherMetrics returns a sentence for every metric that only some columns show.
func (b *tableBuilder) otherMetrics() (sentences []string) {
	headings := map[string][]string{}
	var titles []string // in the order of columns
	for _, c := range b.columns {
		if other := b.in(b.lines[0], c); other.name != b.lines[0].name {
			titles = with(titles, other.title)
			headings[other.title] = append(headings[other.title], b.heading(c))
		}
	}
	for _, title := range titles {
		sentences = append(sentences, sentence(strings.Join(headings[title], "; ")+": "+title))
	}
	return sentences
}

// ranking returns the rules by which entries of a row are marked best and second.
func (b *tableBuilder) ranking(q metric) (rules []string) {
	if q.better == lower {
		rules = append(rules, "lower is better")
	}
	if len(b.ranked) > 1 {
		rules = append(rules, "scores are ranked only within a protocol family")
	}
	var apart, unmarked []string
	for _, axis := range b.t.Columns {
		if !ofMethods(axis) && len(b.r.axisValues(axis)) > 1 {
			apart = append(apart, axisTitle(axis))
		}
	}
	if len(apart) > 0 {
		rules = append(rules, "only columns of the same "+list(apart)+" are ranked with each other")
	}
	for _, c := range b.columns {
		if b.unmarked(c) {
			unmarked = append(unmarked, b.heading(c))
		}
	}
	if len(unmarked) > 0 {
		rules = append(rules, "not ranked: "+list(unmarked))
	}
	return rules
}

func (b *tableBuilder) notes(q metric) []string {
	notes := append(b.out.StateNotes(), b.families.notes()...)
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if b.ahead {
		note("Some rows are incomplete: best and second are among the methods that have run.")
	}
	if q.better == unranked && len(b.t.Mark) > 0 && b.most > 0 {
		note("Nothing is marked best: the program does not know whether a high or a low %s is better.", q.title)
	}
	if b.idle > 0 {
		note("%d of %d rows are left out, because none of their runs has been computed.", b.idle, len(b.rows))
	}
	if b.single {
		note("Values without ± come from one seed.")
	}
	if b.out.Has(func(e sheet.Entry) bool { return e.N > 0 }) {
		note("A number in brackets is the number of seeds, if it is not %d.", b.usual)
	}
	for i, x := range b.r.Spec.Excluded {
		if b.excluded[i] {
			notes = with(notes, "n/a: left out: "+sentence(x.Reason))
		}
	}
	return notes
}

// spreadText describes the mean, the spread and the number of seeds.
func (b *tableBuilder) spreadText() string {
	of := ""
	if planned := b.r.Spec.Seeds; planned > b.most {
		upTo := ""
		if slices.ContainsFunc(b.r.Spec.Cells, func(c *experiment.Cell) bool { return c.Seeds < planned }) {
			upTo = "up to "
		}
		of = fmt.Sprintf(" (%s%d planned)", upTo, planned)
	}
	switch b.most {
	case 0:
		return ": " + b.r.nothing()
	case 1:
		return ", one seed" + of
	}
	if isTime(b.lines[0].name) {
		brackets := ""
		if b.t.Spread == "sd" {
			brackets = ", with the range in brackets"
		}
		return fmt.Sprintf(": the median over up to %d seeds%s%s", b.most, brackets, of)
	}
	spread := ""
	if b.t.Spread == "sd" {
		spread = " ± population standard deviation"
	}
	return fmt.Sprintf(": mean%s over %d seeds%s", spread, b.usual, of)
}
