package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"dgkip/harness/experiment"
	"dgkip/harness/method"
	"dgkip/harness/report/sheet"
)

// tableBuilder builds the main table of an experiment.
type tableBuilder struct {
	tableLayout
	lines    []metric // a row has a line for each of them
	families columnFamilies
	ranked   []method.Family // families with ranked columns
	out      sheet.Sheet

	most     int          // seeds in the fullest cell
	usual    int          // seeds in most of the cells that have a spread
	single   bool         // a cell of one seed has no spread, unlike others
	idle     int          // rows left out because nothing has run
	excluded map[int]bool // exclusions in use, whose reasons become notes
	ahead    bool         // a best or second was chosen in a row that is incomplete
}

// table returns the experiment's table.
func (r *Results) table() *sheet.Sheet {
	b := &tableBuilder{tableLayout: r.layout, families: columnFamilies{}, excluded: map[int]bool{}}
	b.lines = []metric{about(b.t.Value)}
	for _, time := range b.times() {
		b.lines = append(b.lines, about(time))
	}
	b.out = sheet.Sheet{Title: r.Spec.Title, Heads: axisTitles(b.rowAxes), Merge: len(b.rowAxes), Groups: b.groups()}
	if len(b.lines) > 1 {
		b.out.Heads = append(b.out.Heads, "Metric")
	}
	cells := map[int]int{} // by their number of seeds
	for _, c := range b.columns {
		b.out.Columns = append(b.out.Columns, b.heading(c))
		for _, x := range c.cells {
			name := b.in(b.lines[0], c).name
			values, _ := x.values(name)
			b.most = max(b.most, len(values))
			cells[len(values)]++
			family := x.family(name)
			b.families.add(b.heading(c), family)
			if family != "" && !b.unmarked(c) {
				b.ranked = with(b.ranked, family)
			}
		}
	}
	b.usual = b.most
	for n := b.most; n > 1; n-- { // in a tie the larger number counts
		if cells[n] > cells[b.usual] {
			b.usual = n
		}
	}
	begun := slices.ContainsFunc(b.rows, b.begun)
	for _, row := range b.rows {
		if begun && !b.begun(row) {
			b.idle++ // rows of dashes would hide the results
			continue
		}
		for i := range b.lines {
			b.out.Rows = append(b.out.Rows, b.row(row, i))
		}
	}
	b.explain()
	return &b.out
}

// times returns the metrics of time that have a line of their own in each row.
func (b *tableBuilder) times() (names []string) {
	if b.t.Time && b.t.Value != secondsPerIteration {
		names = append(names, secondsPerIteration)
	}
	if b.t.Making && b.t.Value != makingSeconds {
		names = append(names, makingSeconds)
	}
	return names
}

// begun reports whether some run of a row has been tried.
func (b *tableBuilder) begun(row group) bool {
	return slices.ContainsFunc(b.columns, func(column group) bool {
		c := row.meet(column)
		return c != nil && c.state() != sheet.NotRun
	})
}

// row returns one line of the table.
func (b *tableBuilder) row(at group, line int) sheet.Row {
	q := b.lines[line]
	out := sheet.Row{Heads: b.r.headsOf(at)}
	if len(b.lines) > 1 {
		out.Heads = append(out.Heads, shortMetric(q.name))
	}
	means, leagues := make([]float64, len(b.columns)), make([]string, len(b.columns))
	missing := map[string]bool{}
	for i, column := range b.columns {
		e, x := b.entry(at, column, line)
		out.Cells, means[i] = append(out.Cells, e), math.NaN()
		if b.unmarked(column) {
			continue
		}
		leagues[i] = b.league(at, column, b.in(q, column))
		if x.N > 0 && x.Mark != timeMark {
			means[i] = x.value()
		}
		if e.State == sheet.NotRun || e.State == sheet.Damaged {
			missing[leagues[i]] = true
		}
	}
	for i, place := range places(means, leagues, q) {
		if place == 1 && slices.Contains(b.t.Mark, "best") || place == 2 && slices.Contains(b.t.Mark, "second") {
			out.Cells[i].Place = place
			b.ahead = b.ahead || missing[leagues[i]]
		}
	}
	return out
}

// timeNoise is the relative difference below which two times count as equal. It is the
// median difference between MNIST and Fashion-MNIST, which take the same work, and between any two
// of five timings of CIFAR-10.
const timeNoise = 0.07

// places ranks values within their leagues: 1 for the best, 2 for the second, 0 for the rest.
// Values are compared with all digits, but times up to their noise. If two are best, none is
// second. There are no places for a value alone in its league, nor for a metric without a
// direction. A value that is NaN is missing.
func places(means []float64, leagues []string, of metric) []int {
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
		if math.IsNaN(m) {
			continue
		}
		rivals, before := 0, 0
		for j, o := range means {
			if math.IsNaN(o) || i == j || leagues[i] != leagues[j] {
				continue
			}
			rivals++
			if of.better.ahead(o, m) && math.Abs(o-m) > noise*min(o, m) {
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

// entry returns one entry of a line, and the cell that it shows.
func (b *tableBuilder) entry(row, column group, line int) (sheet.Entry, Cell) {
	c := row.meet(column)
	if c == nil {
		for i, x := range b.r.Spec.Excluded {
			if x.Where.Matches(b.coordinates(row, column)) {
				b.excluded[i] = true
				return sheet.Entry{State: sheet.Excluded}, Cell{}
			}
		}
		return sheet.Entry{}, Cell{}
	}
	q := b.in(b.lines[line], column)
	x := b.r.cell(c, q.name)
	if x.N == 0 && line > 0 {
		return sheet.Entry{}, x // the line above says what happened
	}
	spread := b.t.Spread
	if line > 0 {
		spread = "none"
	}
	e := x.entry(&b.out, b.t.Digits, spread)
	if x.N == 0 {
		return e, x
	}
	if c.state() != sheet.NotRun { // other cells are not on the page
		e.Link = "#" + b.r.anchor(c)
	}
	switch {
	case isTime(q.name):
	case x.N == 1 && b.most > 1 && spread != "none":
		b.single = true // a note explains why it has no spread
	case x.N != b.usual:
		e.N = x.N
	}
	if b.cutShort(c) && !isTime(q.name) {
		b.out.Refer(&e, cutMark)
	}
	b.families.mark(&e, b.heading(column), c.family(q.name))
	return e, x
}

// cutMark marks values of cells with a schedule that is cut short.
var cutMark = sheet.Mark{Sign: "¶", Text: "cut short: fewer iterations than the authors of the method use."}

// cutShort reports whether a cell has fewer iterations, or updates, than the authors of
// its method use.
func (b *tableBuilder) cutShort(c *CellRuns) bool {
	settings := c.Cell.Identity(experiment.DatasetIdentity{}, 0).Method.Settings
	number, ok := settings["iterations"]
	if !ok {
		number = settings["updates"]
	}
	n, err := strconv.Atoi(fmt.Sprint(number))
	return err == nil && n < b.t.Usual[c.Cell.Column]
}

// coordinates returns the value of every axis at a place in the table.
func (b *tableBuilder) coordinates(row, column group) func(string) (string, bool) {
	return func(axis string) (string, bool) {
		for _, g := range []group{row, column} {
			if i := slices.Index(g.axes, axis); i >= 0 {
				return g.values[i], true
			}
		}
		return b.r.Cells[0].Cell.At(axis) // on all other axes, cells do not differ
	}
}
