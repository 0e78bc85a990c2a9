package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"dgkip/harness/exhibit"
)

// figure makes a chart of a figure's description; nil if there is nothing to show,
// with a problem noted unless nothing of it was selected.
func (r *Results) figure(f exhibit.Figure) picture {
	b := &figureBuilder{r: r, f: f, cells: r.only(f.Only)}
	b.c = &chart{name: r.stem() + "-" + f.Name, title: f.Title, caption: f.Caption}
	if !r.options.Only.Empty() && len(b.cells) == 0 && f.Kind != "diagram" {
		return nil // the selection is of cells that the figure is not about
	}
	b.arrange()
	ok := false
	switch f.Kind {
	case "curves":
		ok = b.curves()
	case "bars":
		ok = b.bars()
	case "scatter":
		ok = b.scatter()
	case "images":
		ok = b.images()
	case "diagram":
		if d, known := diagrams[f.Diagram]; known {
			return d
		}
		r.problem("figure %s: there is no diagram %q; there are: %s", f.Name, f.Diagram, strings.Join(slices.Sorted(maps.Keys(diagrams)), ", "))
		return nil
	}
	if !ok {
		r.problem("figure %s of %s: no record has what it shows", f.Name, r.Spec.Name)
		return nil
	}
	b.finish()
	return b.c
}

// figureBuilder makes a chart of records.
type figureBuilder struct {
	r          *Results
	f          exhibit.Figure
	c          *chart
	cells      []*CellRuns
	panelAxes  []string
	seriesAxes []string
	xAxis      string // an axis of the grid along x, "" if there is none
	seeds      int    // in the fullest cell
	fewest     int    // in the emptiest one that has any
	notes      []string
}

// arrange decides what stands apart. Cells that differ on an axis which the spec
// does not mention become series of their own; nothing is merged silently.
func (b *figureBuilder) arrange() {
	b.panelAxes, b.seriesAxes = slices.Clone(b.f.Panels), slices.Clone(b.f.Series)
	for _, a := range b.r.axes() {
		if a == b.f.X {
			b.xAxis = a
		}
	}
	if b.f.Kind == "bars" && b.xAxis == "" {
		for _, a := range []string{"ipc", "dataset"} {
			if b.f.X == "" && !slices.Contains(b.panelAxes, a) && !slices.Contains(b.seriesAxes, a) && len(b.points(a)) > 0 {
				b.xAxis = a
				break
			}
		}
	}
	for _, a := range b.r.axes() {
		if a != b.xAxis && !slices.Contains(b.panelAxes, a) && !slices.Contains(b.seriesAxes, a) && len(b.points(a)) > 1 {
			b.seriesAxes = append(b.seriesAxes, a)
		}
	}
}

// points lists the values of an axis among the figure's cells, in the grid's order.
func (b *figureBuilder) points(axis string) []string {
	have := map[string]bool{}
	for _, c := range b.cells {
		if v, ok := c.Cell.At(axis); ok {
			have[v] = true
		}
	}
	return slices.DeleteFunc(b.r.axisValues(axis), func(v string) bool { return !have[v] })
}

// group is the cells of a panel or a series.
type cellGroup struct {
	values []string
	title  string
	cells  []*CellRuns
}

// split groups cells by axes, in the order of the axes' points.
func (b *figureBuilder) split(cells []*CellRuns, axes []string) []cellGroup {
	var out []cellGroup
	for _, s := range b.r.slots(axes) {
		g := cellGroup{values: s.values}
		var words []string
		for i, a := range axes {
			words = append(words, b.r.shortTitle(a, s.values[i]))
		}
		g.title = strings.Join(words, ", ")
		for _, c := range cells {
			if slices.Equal(pointOf(c.Cell, axes), s.values) {
				g.cells = append(g.cells, c)
			}
		}
		if len(g.cells) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// color is the colour of a series: that of its value on the first axis, so that a
// method has one colour in all panels and figures of an experiment.
func (b *figureBuilder) color(values []string) int {
	if len(values) == 0 {
		return 0
	}
	return max(0, slices.Index(b.r.axisValues(b.seriesAxes[0]), values[0]))
}

// second tells series of one colour apart.
func (b *figureBuilder) second(values []string) int {
	at := 0
	for i, a := range b.seriesAxes {
		if i > 0 {
			p := b.points(a)
			at = at*len(p) + max(0, slices.Index(p, values[i]))
		}
	}
	return at
}

func (b *figureBuilder) key(k key) {
	if !slices.Contains(b.c.keys, k) {
		b.c.keys = append(b.c.keys, k)
	}
}

// finish completes labels and caption.
func (b *figureBuilder) finish() {
	set := func(given string, label *string) {
		if given != "" {
			*label = given
		}
	}
	set(b.f.XLabel, &b.c.x.label)
	set(b.f.YLabel, &b.c.y.label)
	set(b.f.Y2Label, &b.c.y2.label)
	if len(b.c.keys) == 1 && b.f.Kind != "images" && !b.several() {
		b.c.keys = nil // the axis says it
	}
	var s []string
	for _, t := range append([]string{b.f.Title, b.f.Caption}, b.notes...) {
		if t != "" {
			s = append(s, sentence(t))
		}
	}
	if shown := b.constants(); shown != "" {
		s = append(s, "Shown: "+shown+".")
	}
	switch {
	case b.f.Kind == "images":
	case b.seeds == 1:
		s = append(s, "One seed, so that no spread can be shown.")
	case b.seeds > 1 && b.f.Kind == "curves" && b.xAxis == "":
		s = append(s, fmt.Sprintf("Lines are means over %s seeds, bands ± population standard deviation.", b.seedsText()))
	case b.seeds > 1:
		s = append(s, fmt.Sprintf("Means over %s seeds with ± population standard deviation.", b.seedsText()))
	}
	b.c.caption = strings.Join(append(s, b.r.ending(b.r.anyBuiltIn(b.cells))...), " ")
}

// several tells whether there is more than one series, with records or without.
func (b *figureBuilder) several() bool {
	return slices.ContainsFunc(b.seriesAxes, func(a string) bool { return len(b.points(a)) > 1 })
}

// constants names what all cells of the figure have in common.
func (b *figureBuilder) constants() string {
	var words []string
	for _, a := range b.r.axes() {
		if p := b.points(a); len(p) == 1 && len(b.cells) > 0 {
			words = append(words, b.r.shortTitle(a, p[0]))
		}
	}
	return strings.Join(words, ", ")
}

// seedsText is how many seeds the means are over.
func (b *figureBuilder) seedsText() string {
	if b.fewest < b.seeds {
		return fmt.Sprintf("%d to %d", b.fewest, b.seeds)
	}
	return strconv.Itoa(b.seeds)
}

// over notes a mean over n seeds.
func (b *figureBuilder) over(n int) {
	if n > 0 && (b.fewest == 0 || n < b.fewest) {
		b.fewest = n
	}
	b.seeds = max(b.seeds, n)
}

// note adds a sentence to the caption, once.
func (b *figureBuilder) note(s string) {
	if !slices.Contains(b.notes, s) {
		b.notes = append(b.notes, s)
	}
}

// metrics lists what is shown, left and right.
func (b *figureBuilder) metrics() (names []string, right []bool) {
	for _, y := range b.f.Y {
		names, right = append(names, y), append(right, false)
	}
	for _, y := range b.f.Y2 {
		names, right = append(names, y), append(right, true)
	}
	return names, right
}

func (b *figureBuilder) axes() {
	b.c.y, b.c.y2 = scale{label: joint(b.f.Y), log: b.f.LogY}, scale{label: joint(b.f.Y2)}
}

// joint labels an axis with its quantities, if they are few.
func joint(metrics []string) string {
	switch len(metrics) {
	case 0:
		return ""
	case 1:
		return axisLabel(metrics[0])
	}
	for _, m := range metrics {
		if !isAccuracy(m) {
			return ""
		}
	}
	return "Accuracy (%)"
}

// mostPoints bounds the points of a line in a figure.
const mostPoints = 600
