package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dgkip/harness/experiment"
	"dgkip/harness/method"
	"dgkip/harness/report/chart"
	"dgkip/harness/report/sheet"
)

// figure is a figure with its caption.
type figure struct {
	Name, Caption string
	picture       chart.Picture // nil if there is nothing to show
}

// figure draws a figure and writes its caption.
func (r *Results) figure(f experiment.Figure) figure {
	b := &figureBuilder{r: r, f: f, cells: r.only(f.Only)}
	b.arrange()
	draw := map[string]func() chart.Picture{"curves": b.curves, "scatter": b.scatter, "images": b.images}
	picture := draw[f.Kind]()
	return figure{r.stem() + "-" + f.Name, r.selected(b.caption()), picture}
}

// pdf returns LaTeX code that includes the figure at its natural size, or at the width of the text
// if that is smaller. A document may define \dgkipfigures, the folder of the PDF files.
func (v figure) pdf() string {
	return fmt.Sprintf(`\sbox0{\includegraphics{\dgkipfigures %[1]s.pdf}}%%
\ifdim\wd0>\linewidth\wd0=\linewidth\fi\ifdim\wd0>\textwidth\wd0=\textwidth\fi
\includegraphics[width=\wd0,height=0.8\textheight,keepaspectratio]{\dgkipfigures %[1]s.pdf}`, v.Name)
}

// latex returns the float of the figure. Picture is LaTeX code for the picture, or for a text in its
// place.
func (v figure) latex(source, picture string) []byte {
	return fmt.Appendf(nil, `%% Written from the records of %s; changes will be lost.
\providecommand{\dgkipfigures}{figures/}%%
\begin{figure*}[htbp]
\centering
%s
\caption{%s}
\label{fig:%s}
\end{figure*}
`, sheet.Plain(source), picture, sheet.LatexText(v.Caption), sheet.LatexLabel(v.Name))
}

// figureBuilder draws a figure.
type figureBuilder struct {
	r          *Results
	f          experiment.Figure
	cells      []*CellRuns
	panelAxes  []string
	seriesAxes []string
	xAxis      string          // the axis of the grid along x; may be ""
	looks      map[string]look // of the series, by their keys
	ranges     bool            // it shows proved ranges
	seeds      int             // the most that a mean is over
	fewest     int             // the fewest
	notes      []string
}

// arrange finds the axes of panels and series. An axis that the spec does not mention, but on
// which cells differ, becomes an axis of series, so that no cells are merged silently.
func (b *figureBuilder) arrange() {
	b.panelAxes, b.seriesAxes = b.r.present(b.f.Panels), b.r.present(b.f.Series)
	free := func(a string) bool { return !slices.Contains(b.panelAxes, a) && !slices.Contains(b.seriesAxes, a) }
	axes := b.r.axes()
	if slices.Contains(axes, b.f.X) {
		b.xAxis = b.f.X
	}
	for _, a := range axes {
		if a != b.xAxis && free(a) && len(b.points(a)) > 1 {
			b.seriesAxes = append(b.seriesAxes, a)
		}
	}
	b.choose()
}

// points lists the values on an axis of the figure's cells, in the order of the grid.
func (b *figureBuilder) points(axis string) []string { return b.r.valuesOf(b.cells, axis) }

// look is how a series is drawn. The variant distinguishes series of one colour.
type look struct{ color, variant, mark int }

// choose gives every series a look of its own. If the series do not tell several methods apart, the
// values on their first axis have the colours. Markers show methods, unless they distinguish other
// axes or several columns of one method.
func (b *figureBuilder) choose() {
	columns, shown := b.columnColors()
	by := slices.Index(b.seriesAxes, "method")
	series, before := b.r.groups(b.cells, b.seriesAxes), map[int]int{}
	b.looks = map[string]look{}
	for _, g := range series {
		base := colorOf(g.cells[0])
		switch {
		case by >= 0 || len(shown) == 1:
		case len(g.values) == 0:
			base = 0
		default:
			base = slices.Index(b.r.axisValues(g.axes[0]), g.values[0])
		}
		l := look{color: base, variant: before[base]}
		before[base]++
		if by >= 0 {
			l.color = columns[g.values[by]]
		}
		if by >= 0 && len(b.seriesAxes) == 1 && len(series) == len(shown) {
			l.mark = l.color
		}
		b.looks[g.key()] = l
	}
}

// columnColors returns the colour of every column of the experiment, and the colours of the methods
// in the figure. A method has the same colour in all figures, but of three or more curves of one
// method, only the first keeps it. The rest get colours that no method of the figure has.
func (b *figureBuilder) columnColors() (colors map[string]int, shown map[int]bool) {
	colors, shown = map[string]int{}, map[int]bool{}
	for _, c := range b.cells {
		shown[colorOf(c)] = true
	}
	columns := b.r.groups(b.r.Cells, []string{"method"})
	alike, begun, spare := map[int]int{}, map[int]bool{}, 0
	for _, c := range columns {
		alike[colorOf(c.cells[0])]++
	}
	for _, c := range columns {
		color := colorOf(c.cells[0])
		if b.f.Kind == "curves" && alike[color] > 2 && begun[color] {
			for shown[spare] {
				spare++
			}
			color, spare = spare, spare+1
		} else {
			begun[color] = true
		}
		colors[c.values[0]] = color
	}
	return colors, shown
}

// coloured lists methods in the order of their colours and markers, which never change. Other
// methods follow by name.
var coloured = []string{"dc", "dd", "dgkip-lr", "dgkip-ls", "dgkip-softmax", "dgkip-svm", "dsa", "herding", "kip", "kmeans", "random", "whole", "file", "dgkip-learned", "dgkip-tangent", "dm", "frepo"}

// colorOf is the number of the colour of a cell's method.
func colorOf(c *CellRuns) int {
	return slices.Index(with(coloured, method.Names()...), c.Cell.Method().Info().Name)
}

// panels returns a panel for every combination of values on the panel axes.
func (b *figureBuilder) panels(x, y *chart.Axis, series func(g group, title string) []chart.Series) []chart.Panel {
	var out []chart.Panel
	for _, pg := range b.r.groups(b.cells, b.panelAxes) {
		p := chart.Panel{Title: b.r.titleOf(pg), X: x, Y: y}
		for _, g := range b.r.groups(pg.cells, b.seriesAxes) {
			p.Series = append(p.Series, series(g, sheet.Plain(b.r.titleOf(g)))...)
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

// layOut puts up to three panels in a row.
func layOut(panels []chart.Panel) *chart.Chart {
	columns := 3
	if len(panels) == 4 {
		columns = 2
	}
	return &chart.Chart{Rows: slices.Collect(slices.Chunk(panels, columns))}
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
	metrics := slices.Concat(b.f.Y, b.f.Y2)
	times := slices.ContainsFunc(metrics, isTime)
	onlyTimes := !slices.ContainsFunc(metrics, func(m string) bool { return !isTime(m) })
	switch {
	case b.f.Kind == "images":
	case b.seeds == 1:
		s = append(s, "One seed.")
	case b.seeds > 1 && onlyTimes:
		s = append(s, "Medians with their range over "+seeds+" seeds.")
	case b.seeds > 1 && b.f.Kind == "curves" && b.xAxis == "":
		s = append(s, "Lines are means over "+seeds+" seeds, bands ± population standard deviation.")
	case b.seeds > 1:
		s = append(s, "Means ± population standard deviation over "+seeds+" seeds.")
	}
	if b.seeds > 1 && times && !onlyTimes {
		s = append(s, "Times are medians with their range.")
	}
	if b.seeds > 1 && b.ranges {
		s = append(s, "Proved ranges join the means of their two ends.")
	}
	s = append(s, b.families()...)
	return strings.Join(append(s, b.r.ending(b.cells)...), " ")
}

// families returns notes on the protocol families of the scores.
func (b *figureBuilder) families() []string {
	f := columnFamilies{}
	title := func(c *experiment.Cell) string { return b.r.valueTitle("method", c.Column) }
	if len(b.points("method")) == 1 && len(b.seriesAxes) > 0 { // other axes tell the series apart
		title = func(c *experiment.Cell) string {
			return b.r.titleOf(group{axes: b.seriesAxes, values: pointOf(c, b.seriesAxes)})
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

// constants names the values that all cells of the figure share.
func (b *figureBuilder) constants() string {
	var words []string
	for _, a := range b.r.axes() {
		if p := b.points(a); len(p) == 1 && len(b.cells) > 0 {
			words = append(words, b.r.shortTitle(a, p[0]))
		}
	}
	return strings.Join(words, ", ")
}

// over notes the number of seeds behind a mean, for the caption.
func (b *figureBuilder) over(n int) {
	if n > 0 && (b.fewest == 0 || n < b.fewest) {
		b.fewest = n
	}
	b.seeds = max(b.seeds, n)
}

// note adds sentences to the caption, each once.
func (b *figureBuilder) note(s ...string) { b.notes = with(b.notes, s...) }

// joint returns the label of an axis for one metric or several accuracies, "" for other mixtures.
func joint(metrics []string) string {
	if len(metrics) == 1 {
		return axisLabel(metrics[0])
	}
	if len(metrics) == 0 || slices.ContainsFunc(metrics, func(m string) bool { return !isAccuracy(m) }) {
		return ""
	}
	return "Accuracy (%)"
}
