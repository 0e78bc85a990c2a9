package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"dgkip/harness/experiment"
	"dgkip/harness/method"
	"dgkip/harness/report/chart"
	"dgkip/harness/report/sheet"
)

// figure draws what a description asks for, and its caption; nil if there is nothing
// to show, with a problem noted unless nothing of it was selected.
func (r *Results) figure(f experiment.Figure) (chart.Picture, string) {
	b := &figureBuilder{r: r, f: f, cells: r.only(f.Only)}
	if !r.options.Only.Empty() && len(b.cells) == 0 {
		return nil, "" // the selection is of cells that the figure is not about
	}
	b.arrange()
	draw := map[string]func() chart.Picture{"curves": b.curves, "bars": b.bars, "scatter": b.scatter, "images": b.images}
	p := draw[f.Kind]()
	if p == nil {
		r.problem("figure %s of %s: no record has what it shows%s", f.Name, r.Spec.Name, b.recorded())
		return nil, ""
	}
	return p, b.caption()
}

// recorded says what the figure could show of its records.
func (b *figureBuilder) recorded() string {
	var names []string
	for _, c := range b.cells {
		for _, run := range c.done() {
			if t := b.r.trace(run.Record); t != nil && b.f.Kind == "curves" {
				names = with(names, t.Columns...)
			} else if b.f.Kind != "curves" {
				names = with(names, slices.Sorted(maps.Keys(run.Record.Result.Metrics))...)
			}
		}
	}
	if len(names) == 0 || b.f.Kind == "images" {
		return ""
	}
	return "; they have " + strings.Join(names, ", ")
}

// plainCaption says what a figure shows, and not from which records.
func plainCaption(f experiment.Figure) string {
	return strings.TrimSpace(sentence(f.Title) + " " + sentence(f.Caption))
}

// figureBuilder makes a picture of records.
type figureBuilder struct {
	r          *Results
	f          experiment.Figure
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
	b.panelAxes, b.seriesAxes = b.r.present(b.f.Panels), b.r.present(b.f.Series)
	free := func(a string) bool { return !slices.Contains(b.panelAxes, a) && !slices.Contains(b.seriesAxes, a) }
	axes := b.r.axes()
	if slices.Contains(axes, b.f.X) {
		b.xAxis = b.f.X
	}
	if b.f.Kind == "bars" && b.f.X == "" {
		for _, a := range []string{"dataset", "ipc"} {
			if free(a) && len(b.points(a)) > 0 {
				b.xAxis = a
			}
		}
	}
	for _, a := range axes {
		if a != b.xAxis && free(a) && len(b.points(a)) > 1 {
			b.seriesAxes = append(b.seriesAxes, a)
		}
	}
}

// points lists the values of an axis among the figure's cells, in the grid's order.
func (b *figureBuilder) points(axis string) []string { return b.r.valuesOf(b.cells, axis) }

// titleOf names a panel or a series.
func (b *figureBuilder) titleOf(g group, axes []string) string {
	var words []string
	for i, a := range axes {
		words = append(words, b.r.shortTitle(a, g.values[i]))
	}
	return strings.Join(words, ", ")
}

// look gives a series its colour and a number that tells it from others of that colour.
// A method has the same colour in all figures, whatever else they show. The first of
// several of its columns is number 0, and so is the first value on every other axis.
func (b *figureBuilder) look(values []string) (color, variant int) {
	by := slices.Index(b.seriesAxes, "method")
	color = b.onlyMethod()
	if by < 0 && color < 0 {
		by = 0
	}
	if len(values) == 0 {
		return max(0, color), 0
	}
	if by >= 0 {
		axis := b.seriesAxes[by]
		color = b.colorOf(axis, values[by])
		for _, v := range b.r.axisValues(axis) {
			if v == values[by] {
				break
			}
			if b.colorOf(axis, v) == color {
				variant++
			}
		}
	}
	for i, a := range b.seriesAxes {
		if i != by {
			p := b.points(a)
			variant = variant*len(p) + max(0, slices.Index(p, values[i]))
		}
	}
	return color, variant
}

// mark is the mark of a method, the same in all figures in which marks tell methods
// apart and nothing else: neither another axis nor several columns of one method.
func (b *figureBuilder) mark(color int) int {
	if !slices.Equal(b.seriesAxes, []string{"method"}) {
		return 0
	}
	for _, v := range b.points("method") {
		if _, variant := b.look([]string{v}); variant > 0 {
			return 0
		}
	}
	return color
}

// onlyMethod is the colour of the method of all cells, -1 if they are of several.
func (b *figureBuilder) onlyMethod() int {
	color := -1
	for i, c := range b.cells {
		next := methodColor(c.Cell.Method().Info().Name)
		if i > 0 && next != color {
			return -1
		}
		color = next
	}
	return color
}

func (b *figureBuilder) colorOf(axis, value string) int {
	if axis == "method" {
		for _, c := range b.r.Cells {
			if v, _ := c.Cell.At(axis); v == value {
				return methodColor(c.Cell.Method().Info().Name)
			}
		}
	}
	return slices.Index(b.r.axisValues(axis), value)
}

// coloured are the methods in the order of their colours and marks, which stay what
// they are when there are more. Others follow by name.
var coloured = []string{"dc", "dd", "dgkip-lr", "dgkip-ls", "dgkip-softmax", "dgkip-svm", "dsa", "herding", "kip", "kmeans", "random", "whole", "file"}

// methodColor is the number of a method's colour.
func methodColor(name string) int { return slices.Index(with(coloured, method.Names()...), name) }

// panels makes a panel of every point of the panels' axes, with the series of its cells.
func (b *figureBuilder) panels(x, y *chart.Axis, series func(g group, title string) []chart.Series) []chart.Panel {
	var out []chart.Panel
	for _, pg := range b.r.groups(b.cells, b.panelAxes) {
		p := chart.Panel{Title: b.titleOf(pg, b.panelAxes), X: x, Y: y}
		for _, g := range b.r.groups(pg.cells, b.seriesAxes) {
			p.Series = append(p.Series, series(g, sheet.Plain(b.titleOf(g, b.seriesAxes)))...)
		}
		out = append(out, p)
	}
	return out
}

func empty(panels []chart.Panel) bool {
	return !slices.ContainsFunc(panels, func(p chart.Panel) bool { return p.Series != nil })
}

func (b *figureBuilder) yAxis() *chart.Axis {
	return &chart.Axis{Label: cmp.Or(b.f.YLabel, joint(b.f.Y)), Log: b.f.LogY}
}

// layOut puts panels in lines of three at most.
func layOut(panels []chart.Panel) *chart.Chart {
	columns := 3
	if len(panels) == 4 {
		columns = 2
	}
	return &chart.Chart{Rows: slices.Collect(slices.Chunk(panels, columns))}
}

// named sees to it that a series is named even if it is the only one with records.
func (b *figureBuilder) named(c *chart.Chart) *chart.Chart {
	if !slices.ContainsFunc(b.seriesAxes, func(a string) bool { return len(b.points(a)) > 1 }) {
		return c
	}
	for _, row := range c.Rows {
		for _, p := range row {
			c.Keys = append(c.Keys, p.Series...)
		}
	}
	return c
}

// caption is the text below the figure.
func (b *figureBuilder) caption() string {
	var s []string
	for _, t := range append([]string{b.f.Title, b.f.Caption}, b.notes...) {
		if t != "" {
			s = append(s, sentence(t))
		}
	}
	if shown := b.constants(); shown != "" {
		s = append(s, "Shown: "+shown+".")
	}
	seeds := strconv.Itoa(b.seeds)
	if b.fewest < b.seeds {
		seeds = fmt.Sprintf("%d to %d", b.fewest, b.seeds)
	}
	switch {
	case b.f.Kind == "images":
	case b.seeds == 1:
		s = append(s, "One seed, so that no spread can be shown.")
	case b.seeds > 1 && b.f.Kind == "curves" && b.xAxis == "":
		s = append(s, "Lines are means over "+seeds+" seeds, bands ± population standard deviation.")
	case b.seeds > 1:
		s = append(s, "Means over "+seeds+" seeds with ± population standard deviation.")
	}
	s = append(s, b.families()...)
	return strings.Join(append(s, b.r.ending(b.cells)...), " ")
}

// families say by what families of protocols the scores in the figure were made.
func (b *figureBuilder) families() []string {
	f := columnFamilies{}
	title := func(c *experiment.Cell) string { return b.r.valueTitle("method", c.Column) }
	if len(b.points("method")) == 1 && len(b.seriesAxes) > 0 { // then other axes tell series apart
		title = func(c *experiment.Cell) string {
			return b.titleOf(group{values: pointOf(c, b.seriesAxes)}, b.seriesAxes)
		}
	}
	for _, m := range slices.Concat(b.f.Y, b.f.Y2) {
		for _, c := range b.cells {
			what := title(c.Cell)
			if m != "test_acc" {
				what += " (" + metricTitle(m) + ")"
			}
			f.add(what, c.family(m))
		}
	}
	return f.notes()
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

// over notes a mean over n seeds.
func (b *figureBuilder) over(n int) {
	if n > 0 && (b.fewest == 0 || n < b.fewest) {
		b.fewest = n
	}
	b.seeds = max(b.seeds, n)
}

// note adds sentences to the caption, once.
func (b *figureBuilder) note(s ...string) { b.notes = with(b.notes, s...) }

// joint labels an axis with its quantities: one, or several accuracies.
func joint(metrics []string) string {
	if len(metrics) == 1 {
		return axisLabel(metrics[0])
	}
	if len(metrics) == 0 || slices.ContainsFunc(metrics, func(m string) bool { return !isAccuracy(m) }) {
		return ""
	}
	return "Accuracy (%)"
}
