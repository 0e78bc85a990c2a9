package report

import (
	"fmt"
	"slices"
	"strings"

	"dgkip/harness/exhibit"
	"dgkip/harness/spec"
	"dgkip/harness/stats"
)

// slot is a place in a table: the values of its axes.
type slot struct {
	values []string
	title  string
}

// line is what a row of a table shows: a metric.
type line struct {
	metric string
	scale  float64
	lower  bool
	format func(float64) string
	spread string // sd, t95 or none
}

// tableBuilder makes the main table of an experiment.
type tableBuilder struct {
	r        *Results
	t        exhibit.Table
	rowAxes  []string
	rows     []slot
	columns  []slot
	lines    []line
	machines machines
	out      sheet

	most     int          // seeds in the fullest cell
	uneven   bool         // some value has fewer
	partial  bool         // some value lacks seeds that failed
	excluded map[int]bool // reasons in use
	builtIn  bool
	ahead    bool // some mark stands in a row in which others have no run
}

// defaultTable is the table of an experiment that does not describe one.
func defaultTable() exhibit.Table {
	return exhibit.Table{Rows: []string{"dataset", "ipc"}, Columns: []string{"method"}, Digits: 2}
}

// table returns the experiment's table.
func (r *Results) table() *sheet {
	b := &tableBuilder{r: r, t: defaultTable(), excluded: map[int]bool{}}
	if r.Spec.Table != nil {
		b.t = *r.Spec.Table
	}
	if b.t.Value == "" {
		b.t.Value = "test_acc"
	}
	if b.t.Mark == nil && len(b.t.Values) == 0 {
		b.t.Mark = []string{"best", "second"}
	}
	b.layout()
	b.fill()
	b.explain()
	return &b.out
}

// layout finds rows and columns. An axis that the spec puts nowhere, but on which
// cells differ, becomes a further heading of rows: nothing is left out silently.
func (b *tableBuilder) layout() {
	b.rowAxes = slices.Clone(b.t.Rows)
	for _, a := range b.r.Spec.Axes {
		if !slices.Contains(b.rowAxes, a.Name) && !slices.Contains(b.t.Columns, a.Name) && len(b.r.axisValues(a.Name)) > 1 {
			b.rowAxes = append(b.rowAxes, a.Name)
		}
	}
	b.rows = b.r.slots(b.rowAxes)
	b.columns = b.r.slots(b.t.Columns)
	first := b.unit(b.t.Value)
	first.scale = scaleOf(b.t.Value, b.t.Scale)
	first.lower = b.t.Lower || first.lower
	b.lines = []line{first}
	if b.t.Time && b.t.Value != secondsPerUpdate {
		second := b.unit(secondsPerUpdate)
		second.spread = "none"
		b.lines = append(b.lines, second)
	}
	s := &b.out
	s.name, s.title = b.r.stem(), b.r.Spec.Title
	for _, a := range b.rowAxes {
		s.heads = append(s.heads, axisTitle(a))
	}
	if len(b.lines) > 1 {
		s.heads = append(s.heads, "Metric")
	}
	for _, c := range b.columns {
		s.columns = append(s.columns, c.title)
	}
	s.groups = b.groups()
}

// unit is the line that shows a metric.
func (b *tableBuilder) unit(metric string) line {
	l := line{metric: metric, scale: scaleOf(metric, 0), lower: lowerIsBetter(metric), spread: b.t.Spread}
	l.format = func(x float64) string { return fixed(x, b.t.Digits) }
	if isTime(metric) {
		l.format = seconds
	}
	return l
}

// in is what a line shows in a column: another metric than elsewhere, where the
// spec says so for one of the column's values.
func (b *tableBuilder) in(l line, column slot) line {
	if l.metric != b.t.Value {
		return l
	}
	for _, v := range column.values {
		if metric := b.t.Values[v]; metric != "" {
			other := b.unit(metric)
			other.lower = l.lower
			return other
		}
	}
	return l
}

// slots lists the combinations of axes that cells have, in the grid's order.
func (r *Results) slots(axes []string) []slot {
	lists := make([][]string, len(axes))
	for i, a := range axes {
		lists[i] = r.axisValues(a)
	}
	present := map[string]bool{}
	for _, c := range r.Cells {
		present[strings.Join(pointOf(c.Cell, axes), "\x00")] = true
	}
	var out []slot
	var walk func(values []string)
	walk = func(values []string) {
		if len(values) == len(axes) {
			if present[strings.Join(values, "\x00")] {
				title := ""
				if len(axes) > 0 {
					title = r.valueTitle(axes[len(axes)-1], values[len(values)-1])
				}
				out = append(out, slot{slices.Clone(values), title})
			}
			return
		}
		for _, v := range lists[len(values)] {
			walk(append(values, v))
		}
	}
	walk(nil)
	return out
}

func pointOf(c *spec.Cell, axes []string) []string {
	values := make([]string, len(axes))
	for i, a := range axes {
		values[i], _ = c.At(a)
	}
	return values
}

// groups makes the headings over columns: those of the spec, or the outer axes
// where columns have several.
func (b *tableBuilder) groups() []group {
	titles, below := make([]string, len(b.columns)), make([]bool, len(b.columns))
	any := false
	for i, c := range b.columns {
		for _, g := range b.t.Groups {
			if slices.ContainsFunc(c.values, func(v string) bool { return slices.Contains(g.Columns, v) }) {
				titles[i], below[i] = g.Title, g.Below
				break
			}
		}
		if len(b.t.Groups) == 0 {
			var outer []string
			for j, a := range b.t.Columns[:max(0, len(b.t.Columns)-1)] {
				outer = append(outer, b.r.shortTitle(a, c.values[j]))
			}
			titles[i] = strings.Join(outer, ", ")
		}
		any = any || titles[i] != ""
	}
	if !any {
		return nil
	}
	var out []group
	for i, t := range titles {
		if n := len(out); n > 0 && out[n-1].title == t {
			out[n-1].n++
		} else {
			out = append(out, group{t, 1, below[i]})
		}
	}
	return out
}

// at returns the cell in a row and a column, nil if there is none.
func (b *tableBuilder) at(row, column slot) *CellRuns {
	for _, c := range b.r.Cells {
		if slices.Equal(pointOf(c.Cell, b.rowAxes), row.values) && slices.Equal(pointOf(c.Cell, b.t.Columns), column.values) {
			return c
		}
	}
	return nil
}

func (b *tableBuilder) fill() {
	b.machines = machinesOf(b.r.Cells)
	for _, c := range b.r.Cells {
		column := slot{values: pointOf(c.Cell, b.t.Columns)}
		if x, _ := c.values(b.in(b.lines[0], column).metric); len(x) > b.most {
			b.most = len(x)
		}
		b.builtIn = b.builtIn || b.r.dataset(c.Cell.Dataset).BuiltIn
	}
	for _, rs := range b.rows {
		for _, l := range b.lines {
			var r row
			for i, a := range b.rowAxes {
				r.heads = append(r.heads, head{text: b.r.valueTitle(a, rs.values[i])})
			}
			if len(b.lines) > 1 {
				r.heads = append(r.heads, head{text: kindOf(l.metric)})
			}
			means, missing := make([]*float64, len(b.columns)), false
			for i, cs := range b.columns {
				e, mean := b.entry(b.at(rs, cs), rs, cs, b.in(l, cs))
				r.cells = append(r.cells, e)
				if !b.unmarked(cs) {
					if !strings.ContainsAny(e.marks, timeMarks) {
						means[i] = mean
					}
					missing = missing || e.state == notRun
				}
			}
			for i, place := range places(means, l.lower) {
				if place == 1 && slices.Contains(b.t.Mark, "best") || place == 2 && slices.Contains(b.t.Mark, "second") {
					r.cells[i].place = place
					b.ahead = b.ahead || missing
				}
			}
			b.out.rows = append(b.out.rows, r)
		}
	}
	b.out.spans(len(b.rowAxes))
}

func shortMetric(metric string) string {
	if isAccuracy(metric) {
		return "Acc."
	}
	return capital(metricTitle(metric))
}

func (b *tableBuilder) unmarked(column slot) bool {
	return slices.ContainsFunc(column.values, func(v string) bool { return slices.Contains(b.t.Unmarked, v) })
}

// places ranks values: 1 for the best, 2 for the second, with ties by the values
// themselves and not by their rounded text. Two best leave no second. A value
// alone is not the best of anything.
func places(means []*float64, lower bool) []int {
	out := make([]int, len(means))
	n := 0
	for _, m := range means {
		if m != nil {
			n++
		}
	}
	if n < 2 {
		return out
	}
	for i, m := range means {
		if m == nil {
			continue
		}
		better := 0
		for _, o := range means {
			if o != nil && !stats.Same(*o, *m) && (*o > *m) != lower {
				better++
			}
		}
		if better < 2 {
			out[i] = better + 1
		}
	}
	return out
}

// entry makes one entry, and returns its mean for ranking.
func (b *tableBuilder) entry(c *CellRuns, rs, cs slot, l line) (entry, *float64) {
	if c == nil {
		for i, x := range b.r.Spec.Excluded {
			if x.Where.Matches(b.coordinates(rs, cs)) {
				b.excluded[i] = true
				return entry{state: excluded}, nil
			}
		}
		return entry{}, nil
	}
	sum, ok := c.summary(l.metric)
	if !ok {
		switch {
		case len(c.done()) > 0:
			return entry{}, nil // the run has no such number: no update, no time
		case l.metric == secondsPerUpdate && len(b.lines) > 1:
			return entry{}, nil // the line above says what happened
		case c.failed() > 0:
			return entry{state: failed}, nil
		}
		return entry{state: notRun}, nil
	}
	mean := sum.Mean * l.scale
	e := entry{state: value, text: l.format(mean)}
	if sum.HasSpread() {
		switch l.spread {
		case "", "sd":
			e.spread = l.format(sum.SD * l.scale)
		case "t95":
			e.spread = l.format(sum.Half * l.scale)
		}
	}
	if isTime(l.metric) {
		e.marks = b.machines.marks(c)
	} else {
		if sum.N < b.most {
			e.n, b.uneven = sum.N, true
		}
		if c.failed() > 0 {
			e.marks, b.partial = "†", true
		}
	}
	return e, &mean
}

func (b *tableBuilder) coordinates(rs, cs slot) func(string) (string, bool) {
	return func(axis string) (string, bool) {
		if i := slices.Index(b.rowAxes, axis); i >= 0 {
			return rs.values[i], true
		}
		if i := slices.Index(b.t.Columns, axis); i >= 0 {
			return cs.values[i], true
		}
		v := b.r.axisValues(axis)
		if len(v) == 1 {
			return v[0], true
		}
		return "", false
	}
}

// ending is how captions end: what data and what profile numbers come from.
func (r *Results) ending(builtIn bool) []string {
	var s []string
	if builtIn {
		s = append(s, "Data marked built-in is drawn by the program and is not the real set.")
	}
	if p := r.Spec.Profile; p != "" {
		s = append(s, "Profile: "+p+".")
	}
	return s
}

// circumstances are what has to be said wherever numbers of the table are judged: how
// the experiment was cut short, and on what data and in what profile it ran.
func (r *Results) circumstances() string {
	var s []string
	if r.Spec.Table != nil && r.Spec.Table.Caption != "" {
		s = append(s, sentence(r.Spec.Table.Caption))
	}
	return " " + strings.Join(append(s, r.ending(r.anyBuiltIn(r.Cells))...), " ")
}

// anyBuiltIn tells whether some of the records are of built-in data.
func (r *Results) anyBuiltIn(cells []*CellRuns) bool {
	return slices.ContainsFunc(cells, func(c *CellRuns) bool { return len(c.done()) > 0 && r.dataset(c.Cell.Dataset).BuiltIn })
}

// scoring says which columns are scored how, if not all are alike.
func (b *tableBuilder) scoring() string {
	var protocols []string
	columns := map[string][]string{}
	for _, cs := range b.columns {
		for _, c := range b.r.Cells {
			if !slices.Equal(pointOf(c.Cell, b.t.Columns), cs.values) {
				continue
			}
			about := c.Cell.Protocol.Info().About
			if !slices.Contains(protocols, about) {
				protocols = append(protocols, about)
			}
			if !slices.Contains(columns[about], cs.title) {
				columns[about] = append(columns[about], cs.title)
			}
		}
	}
	if len(protocols) < 2 {
		return ""
	}
	var parts []string
	for _, p := range protocols {
		parts = append(parts, list(columns[p])+" by "+p)
	}
	return "Scored are " + strings.Join(parts, "; ") + "."
}

// explain writes the caption and the notes.
func (b *tableBuilder) explain() {
	l := b.lines[0]
	what := metricTitle(l.metric)
	if isAccuracy(l.metric) && l.scale == 100 {
		what += " in percent"
	}
	sentences := []string{sentence(b.r.Spec.Title), sentence(b.t.Caption), capital(what) + b.spreadText(l) + "."}
	for _, c := range b.columns {
		if m := b.in(l, c).metric; m != l.metric {
			sentences = append(sentences, sentence(c.title+": "+metricTitle(m)))
		}
	}
	var unmarked []string
	for _, c := range b.columns {
		if b.unmarked(c) {
			unmarked = append(unmarked, c.title)
		}
	}
	if b.out.has(func(e entry) bool { return e.place > 0 }) {
		s := "The best of a row is bold"
		if slices.Contains(b.t.Mark, "second") {
			s += ", the second underlined"
			if !slices.Contains(b.t.Mark, "best") {
				s = "The second of a row is underlined"
			}
		}
		if l.lower {
			s += "; lower is better"
		}
		if len(unmarked) > 0 {
			s += "; " + list(unmarked) + " take no part"
		}
		b.out.ranking = s + "."
		sentences = append(sentences, b.out.ranking)
	}
	sentences = append(sentences, b.scoring())
	if len(b.lines) > 1 || isTime(l.metric) {
		sentences = append(sentences, "Times are median seconds per update of the distilled set, without scoring.")
	}
	sentences = append(sentences, b.r.ending(b.builtIn)...)
	b.out.caption = b.r.selected(strings.Join(slices.DeleteFunc(sentences, func(s string) bool { return s == "" }), " "))

	note := func(format string, args ...any) { b.out.notes = append(b.out.notes, fmt.Sprintf(format, args...)) }
	b.out.notes = append(b.out.notes, b.out.states()...)
	if b.ahead {
		note("Marks are among what has been run: some of their rows lack others.")
	}
	if b.partial {
		note("† some runs failed; the value is over the others.")
	}
	if b.uneven {
		note("A number in brackets says over how many seeds a value is, where there are fewer than %d.", b.most)
	}
	for i, x := range b.r.Spec.Excluded {
		if b.excluded[i] {
			note("%s: left out: %s", excludedText, sentence(x.Reason))
		}
	}
	if len(b.lines) > 1 || isTime(l.metric) {
		b.out.notes = append(b.out.notes, b.machines.notes()...)
	}
}

// spreadText says what a spread is over, and over how many seeds.
func (b *tableBuilder) spreadText(l line) string {
	planned := len(b.r.Spec.Seeds)
	of := ""
	if planned > b.most {
		of = fmt.Sprintf(" of %d planned", planned)
	}
	switch {
	case b.most == 0:
		return ": " + b.r.nothing()
	case b.most == 1:
		return " of one seed" + of + ", so that no spread can be given"
	}
	seeds := fmt.Sprintf("%d seeds%s", b.most, of)
	if b.uneven {
		seeds = "up to " + seeds
	}
	switch l.spread {
	case "none":
		return ": mean over " + seeds
	case "t95":
		return ": mean ± half the width of the 95 % t-interval over " + seeds
	}
	return ": mean ± population standard deviation over " + seeds
}

// sentence ends a text with a full stop.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") {
		return s
	}
	return s + "."
}

// list joins words.
func list(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}
