package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"dgkip/harness/experiment"
	"dgkip/harness/report/sheet"
)

// table returns the experiment's table.
func (r *Results) table() *sheet.Sheet {
	b := &tableBuilder{tableLayout: r.layout(), machines: machinesOf(r.Cells), families: columnFamilies{}, excluded: map[int]bool{}}
	b.lines = []quantity{b.quantity(b.t.Value)}
	for _, name := range b.times() {
		time := b.quantity(name)
		time.spread = "none"
		b.lines = append(b.lines, time)
	}
	b.out = sheet.Sheet{Name: r.stem(), Title: r.Spec.Title, Heads: axisTitles(b.rowAxes), Merge: len(b.rowAxes), Groups: b.groups()}
	if len(b.lines) > 1 {
		b.out.Heads = append(b.out.Heads, "Metric")
	}
	cells := map[int]int{} // with so many seeds
	for _, c := range b.columns {
		b.out.Columns = append(b.out.Columns, b.heading(c))
		for _, x := range c.cells {
			values, _ := x.values(b.in(b.lines[0], c).name)
			b.most = max(b.most, len(values))
			cells[len(values)]++
			family := x.family(b.in(b.lines[0], c).name)
			b.families.add(b.heading(c), family)
			if family != "" && !b.unmarked(c) { // a time has none
				b.ranked = with(b.ranked, family)
			}
		}
	}
	b.usual = b.most
	for n := b.most; n > 1; n-- { // of equals the larger
		if cells[n] > cells[b.usual] {
			b.usual = n
		}
	}
	begun := slices.ContainsFunc(b.rows, b.begun)
	for _, row := range b.rows {
		if begun && !b.begun(row) {
			b.idle++ // a page of dashes hides what there is
			continue
		}
		for _, q := range b.lines {
			b.out.Rows = append(b.out.Rows, b.row(row, q))
		}
	}
	b.explain()
	return &b.out
}

// times are those that have a line of their own under each row.
func (b *tableBuilder) times() (names []string) {
	if b.t.Time && b.t.Value != secondsPerIteration {
		names = append(names, secondsPerIteration)
	}
	if b.t.Making {
		names = append(names, makingSeconds)
	}
	return names
}

// begun reports whether some run of a row has been made.
func (b *tableBuilder) begun(row group) bool {
	return slices.ContainsFunc(b.columns, func(column group) bool {
		c := b.at(row, column)
		return c != nil && c.state() != sheet.NotRun
	})
}

// row makes one line of the table.
func (b *tableBuilder) row(at group, q quantity) sheet.Row {
	out := sheet.Row{Heads: b.r.headsOf(b.rowAxes, at)}
	if len(b.lines) > 1 {
		out.Heads = append(out.Heads, shortMetric(q.name))
	}
	means, leagues := make([]*float64, len(b.columns)), make([]string, len(b.columns))
	missing := map[string]bool{}
	var ran []string // what the row's times were taken on
	for i, column := range b.columns {
		e, mean := b.entry(at, column, b.in(q, column))
		out.Cells = append(out.Cells, e)
		if b.unmarked(column) {
			continue
		}
		leagues[i] = b.league(at, column, b.in(q, column))
		if !strings.ContainsAny(e.Marks, timeMarks) {
			means[i] = mean
		}
		if c := b.at(at, column); c != nil && means[i] != nil && clocked(q.name) {
			ran = with(ran, b.machines.of(c))
		}
		if e.State == sheet.NotRun || e.State == sheet.Damaged {
			missing[leagues[i]] = true
		}
	}
	if len(ran) > 1 {
		return out
	}
	for i, place := range places(means, leagues, q.metric) {
		if place == 1 && slices.Contains(b.t.Mark, "best") || place == 2 && slices.Contains(b.t.Mark, "second") {
			out.Cells[i].Place = place
			b.ahead = b.ahead || missing[leagues[i]]
		}
	}
	return out
}

// timeNoise is how far apart two times must be to be told apart: so much do those of MNIST and
// of Fashion-MNIST, whose work is the same, differ in the median.
const timeNoise = 0.07

// places ranks values, each in its league: 1 for the best, 2 for the second, with ties
// by the values themselves and not by their rounded text, and by the noise of times. Two
// best leave no second. A value alone is not the best of anything, and nothing is where no
// direction is known.
func places(means []*float64, leagues []string, of metric) []int {
	out := make([]int, len(means))
	if of.better == unranked {
		return out
	}
	noise := 0.0
	if isTime(of.name) {
		noise = timeNoise
	}
	best := map[string]int{} // how many, by league
	for i, m := range means {
		if m == nil {
			continue
		}
		rivals, before := 0, 0
		for j, o := range means {
			if o == nil || i == j || leagues[i] != leagues[j] {
				continue
			}
			rivals++
			if of.better.ahead(*o, *m) && math.Abs(*o-*m) > noise*min(*o, *m) {
				before++
			}
		}
		if rivals > 0 && before < 2 {
			out[i] = before + 1
		}
		if out[i] == 1 {
			best[leagues[i]]++
		}
	}
	for i, place := range out {
		if place == 2 && best[leagues[i]] > 1 {
			out[i] = 0
		}
	}
	return out
}

// entry makes one entry, and returns its mean for ranking.
func (b *tableBuilder) entry(row, column group, q quantity) (sheet.Entry, *float64) {
	c := b.at(row, column)
	if c == nil {
		for i, x := range b.r.Spec.Excluded {
			if x.Where.Matches(b.coordinates(row, column)) {
				b.excluded[i] = true
				return sheet.Entry{State: sheet.Excluded}, nil
			}
		}
		return sheet.Entry{}, nil
	}
	sum, ok := c.summary(q.name)
	if !ok {
		if clocked(q.name) && len(b.lines) > 1 {
			return sheet.Entry{}, nil // the line above says what happened
		}
		return sheet.Entry{State: c.state()}, nil
	}
	mean := sum.Mean * q.scale
	e := sheet.Text(q.format(mean))
	e.Link = "#" + b.r.anchor(c)
	if sum.HasSpread() {
		switch q.spread {
		case "sd":
			e.Spread = q.format(sum.SD * q.scale)
		case "t95":
			e.Spread = q.format(sum.Half * q.scale)
		}
	}
	if isTime(q.name) {
		e.Marks = b.machines.of(c)
		return e, &mean
	}
	switch {
	case sum.N == 1 && b.most > 1 && q.spread != "none":
		b.single = true // it has no spread, which says so
	case sum.N != b.usual:
		e.N = sum.N
	}
	if c.lost() > 0 {
		e.Marks = lostMark
	}
	if b.cut(c) {
		e.Marks += cutMark
	}
	b.families.mark(&e, b.heading(column), c.family(q.name))
	return e, &mean
}

// cut reports whether a cell has fewer iterations, or updates, than the authors of its method make.
func (b *tableBuilder) cut(c *CellRuns) bool {
	settings := c.Cell.Identity(experiment.DatasetIdentity{}, 0).Method.Settings
	made, ok := settings["iterations"]
	if !ok {
		made = settings["updates"]
	}
	n, err := strconv.Atoi(fmt.Sprint(made))
	return err == nil && n < b.t.Usual[c.Cell.Column]
}

func (b *tableBuilder) coordinates(row, column group) func(string) (string, bool) {
	return func(axis string) (string, bool) {
		if i := slices.Index(b.rowAxes, axis); i >= 0 {
			return row.values[i], true
		}
		if i := slices.Index(b.t.Columns, axis); i >= 0 {
			return column.values[i], true
		}
		if v := b.r.axisValues(axis); len(v) == 1 {
			return v[0], true
		}
		return "", false
	}
}
