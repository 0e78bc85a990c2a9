package report

import (
	"fmt"
	"slices"
	"strings"

	"dgkip/harness/experiment"
	"dgkip/harness/report/sheet"
)

// explain writes the caption and the notes of the main table.
func (b *tableBuilder) explain() {
	q := b.lines[0]
	timed := len(b.lines) > 1 || slices.ContainsFunc(b.columns, func(c group) bool { return isTime(b.in(q, c).name) })
	what := q.title
	if q.unit == "%" {
		what += " in percent"
	}
	sentences := []string{sentence(b.r.Spec.Title)}
	if len(b.families) > 1 {
		sentences = append(sentences, "Scoring is mixed, each method by the protocol that is named below: only scores of one protocol family compare.")
	}
	sentences = append(sentences, sentence(b.t.Caption), capital(what)+b.spreadText(q)+".")
	sentences = append(sentences, b.otherQuantities(q)...)
	if b.out.Ranking = b.ranking(q); b.out.Ranking != "" {
		sentences = append(sentences, b.out.Ranking)
	}
	if len(b.times()) > 0 || q.name == secondsPerIteration {
		sentences = append(sentences, b.timesText())
	}
	sentences = append(sentences, b.r.ending(b.r.Cells)...)
	b.out.Caption = b.r.selected(strings.Join(slices.DeleteFunc(sentences, func(s string) bool { return s == "" }), " "))
	b.out.Notes = b.notes(q)
	if timed {
		b.out.Notes = append(b.out.Notes, b.machines.notes()...)
	}
}

// timesText says what times are.
func (b *tableBuilder) timesText() string {
	s := fmt.Sprintf("An iteration is what a method's authors call one, with the training of networks in it and without scoring: one update, or in DC and DSA as many as their setting outer says, which is the number of images a class; times within %g %% are not told apart.", 100*timeNoise)
	if b.t.Making {
		s += " To make a set takes all of its iterations; the features and the model of the real images, which are made once, are not in it."
	}
	return s
}

// otherQuantities says which columns show another quantity than q.
func (b *tableBuilder) otherQuantities(q quantity) (sentences []string) {
	headings := map[string][]string{}
	var titles []string // in the order of columns
	for _, c := range b.columns {
		other := b.in(q, c)
		if other.name == q.name {
			continue
		}
		if headings[other.title] == nil {
			titles = append(titles, other.title)
		}
		headings[other.title] = append(headings[other.title], b.heading(c))
	}
	for _, title := range titles {
		sentences = append(sentences, sentence(strings.Join(headings[title], "; ")+": "+title))
	}
	return sentences
}

// ranking says what is bold and underlined.
func (b *tableBuilder) ranking(q quantity) string {
	if !b.out.Has(func(e sheet.Entry) bool { return e.Place > 0 }) {
		return ""
	}
	s := map[string]string{"best": "The best of a row is bold", "second": "The second of a row is underlined"}[b.t.Mark[0]]
	if len(b.t.Mark) > 1 && b.out.Has(func(e sheet.Entry) bool { return e.Place == 2 }) {
		s = "The best of a row is bold, the second underlined"
	}
	if q.better == lower {
		s += "; lower is better"
	}
	if len(b.ranked) > 1 {
		s += "; scores are ranked only within a protocol family"
	}
	var apart []string
	for _, axis := range b.t.Columns {
		if !ofMethods(axis) && len(b.r.axisValues(axis)) > 1 {
			apart = append(apart, axisTitle(axis))
		}
	}
	if len(apart) > 0 {
		s += "; only columns of the same " + list(apart) + " are ranked with each other"
	}
	var unmarked []string
	for _, c := range b.columns {
		if b.unmarked(c) {
			unmarked = append(unmarked, b.heading(c))
		}
	}
	if len(unmarked) > 0 {
		s += "; not ranked: " + list(unmarked)
	}
	return s + "."
}

func (b *tableBuilder) notes(q quantity) []string {
	notes := append(b.out.StateNotes(), b.families.notes()...)
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if b.ahead {
		note("Best and second are among the methods that have run. Some rows are incomplete.")
	}
	if q.better == unranked && len(b.t.Mark) > 0 && b.most > 0 {
		note("Nothing is marked best: it is not known whether a high or a low %s is better.", q.title)
	}
	if b.out.Has(func(e sheet.Entry) bool { return strings.Contains(e.Marks, lostMark) }) {
		note("%s some runs failed or their records are damaged; the value is over the others.", lostMark)
	}
	if b.out.Has(func(e sheet.Entry) bool { return strings.Contains(e.Marks, cutMark) }) {
		note("%s fewer iterations than the authors of the method make: the schedule is cut short.", cutMark)
	}
	if b.idle > 0 {
		note("Rows left out, as none of their runs has been made: %d of %d.", b.idle, len(b.rows))
	}
	if b.single {
		note("Where others of its kind have ±, a value without it is of one seed.")
	}
	if b.out.Has(func(e sheet.Entry) bool { return e.N > 0 }) {
		note("A number in brackets is the number of seeds behind a value, where it is not %d.", b.usual)
	}
	for i, x := range b.r.Spec.Excluded {
		if b.excluded[i] {
			notes = with(notes, fmt.Sprintf("%s: left out: %s", sheet.Excluded, sentence(x.Reason)))
		}
	}
	return notes
}

// spreadText says what a spread is over, and over how many seeds.
func (b *tableBuilder) spreadText(q quantity) string {
	of := ""
	if planned := b.r.Spec.Seeds; planned > b.most {
		upTo := ""
		if slices.ContainsFunc(b.r.Spec.Cells, func(c *experiment.Cell) bool { return c.Seeds < planned }) {
			upTo = "up to "
		}
		of = fmt.Sprintf(" of %s%d planned", upTo, planned)
	}
	switch b.most {
	case 0:
		return ": " + b.r.nothing()
	case 1:
		return " of one seed" + of + ", so that no spread can be given"
	}
	seeds := fmt.Sprintf("%d seeds%s", b.usual, of)
	if b.single || b.out.Has(func(e sheet.Entry) bool { return e.N > 0 }) {
		seeds += ", with exceptions that are noted"
	}
	switch q.spread {
	case "none":
		return ": mean over " + seeds
	case "t95":
		return ": mean ± half the width of the 95 % t-interval over " + seeds
	}
	return ": mean ± population standard deviation over " + seeds
}
