package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"dgkip/harness/spec"
	"dgkip/harness/stats"
	"dgkip/harness/store"
)

// figure makes a chart of a figure's description; nil if there is nothing to show,
// with a problem noted unless nothing of it was selected.
func (r *Results) figure(f spec.Figure) picture {
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
		r.problem("figure %s: no record has what it shows", f.Name)
		return nil
	}
	b.finish()
	return b.c
}

// figureBuilder makes a chart of records.
type figureBuilder struct {
	r          *Results
	f          spec.Figure
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
	if len(b.c.keys) == 1 && b.f.Kind != "images" {
		b.c.keys = nil // the axis says it
	}
	var s []string
	for _, t := range append([]string{b.f.Title, b.f.Caption}, b.notes...) {
		if t != "" {
			s = append(s, sentence(t))
		}
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
	builtIn := slices.ContainsFunc(b.cells, func(c *CellRuns) bool { return len(c.done()) > 0 && b.r.dataset(c.Cell.Dataset).BuiltIn })
	b.c.caption = strings.Join(append(s, b.r.ending(builtIn)...), " ")
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

// curves draws traces along updates, or metrics along an axis of the grid.
func (b *figureBuilder) curves() bool {
	b.axes()
	x := b.f.X
	if x == "" {
		x = "update"
	}
	b.c.x = scale{label: axisLabel(x), log: b.f.LogX, own: b.xAxis == ""}
	if b.xAxis != "" {
		b.c.x.label = axisLabel(b.xAxis)
		if b.xAxis != "ipc" {
			b.c.x.label = axisTitle(b.xAxis)
		}
		if !numeric(b.points(b.xAxis)) {
			for _, v := range b.points(b.xAxis) {
				b.c.x.categories = append(b.c.x.categories, b.r.valueTitle(b.xAxis, v))
			}
		}
	}
	if x == "seconds" {
		b.note("Seconds are updates times the median seconds per update, of the first seed")
	}
	names, right := b.metrics()
	any := false
	for _, pg := range b.split(b.cells, b.panelAxes) {
		p := panel{title: pg.title}
		for _, sg := range b.split(pg.cells, b.seriesAxes) {
			for i, name := range names {
				v := curve{color: b.color(sg.values), dash: i, right: right[i]}
				if len(sg.values) == 0 {
					v.color = i
				} else if n := len(names); n == 1 {
					v.dash = b.second(sg.values)
				}
				v.dash += v.color / len(palette)
				k := key{text: sg.title, color: v.color, dash: v.dash}
				if len(names) > 1 {
					k.text = strings.TrimPrefix(sg.title+", "+metricTitle(name), ", ")
				}
				if right[i] {
					k.text += " (right)"
				}
				if b.xAxis != "" {
					v.points = b.along(sg.cells, name)
					v.glyph = 1 + v.dash
					k.glyph = v.glyph
				} else {
					v.points = b.trace(sg.cells[0], x, name)
				}
				level := b.xAxis == "" && len(v.points) > 0 && still(sg.cells[0])
				switch {
				case level:
					p.levels = append(p.levels, levelOf(v))
					k.dash = 1 + v.dash
				case len(v.points) > 0:
					p.curves = append(p.curves, v)
				default:
					continue
				}
				b.key(k)
				any = true
			}
		}
		b.c.panels = append(b.c.panels, p)
	}
	return any
}

func levelOf(v curve) level {
	return level{y: v.points[len(v.points)-1].y, color: v.color, dash: 1 + v.dash, right: v.right}
}

// still tells whether a cell's runs make no updates.
func still(c *CellRuns) bool {
	for _, r := range c.done() {
		if r.Record.Result.Updates > 0 {
			return false
		}
	}
	return true
}

func numeric(values []string) bool {
	for _, v := range values {
		if _, err := strconv.ParseFloat(v, 64); err != nil {
			return false
		}
	}
	return true
}

// along returns a metric of cells along the x axis.
func (b *figureBuilder) along(cells []*CellRuns, metric string) []point {
	var out []point
	values := b.points(b.xAxis)
	number := numeric(values)
	for i, v := range values {
		for _, c := range cells {
			if at, _ := c.Cell.At(b.xAxis); at != v {
				continue
			}
			s, ok := c.summary(metric)
			if !ok {
				continue
			}
			p := spreadPoint(float64(i), s, scaleOf(metric, 0))
			if number {
				p.x, _ = strconv.ParseFloat(v, 64)
			}
			b.over(s.N)
			out = append(out, p)
		}
	}
	return out
}

func spreadPoint(x float64, s stats.Summary, scale float64) point {
	p := point{x: x, y: s.Mean * scale, low: math.NaN(), high: math.NaN()}
	if s.HasSpread() {
		p.low, p.high = (s.Mean-s.SD)*scale, (s.Mean+s.SD)*scale
	}
	return p
}

// trace returns a quantity along the runs of a cell: its mean over the seeds, at
// the updates for which all of them have it.
func (b *figureBuilder) trace(c *CellRuns, x, metric string) []point {
	type column struct {
		at map[float64]float64
		xs []float64
	}
	var runs []column
	var updates []float64
	for _, run := range c.done() {
		t := b.r.trace(run.Record)
		if t == nil {
			continue
		}
		col := column{at: map[float64]float64{}}
		ys := t.Column(metric)
		xs := b.abscissa(run.Record, t, x)
		us := t.Column("update")
		if ys == nil || xs == nil || us == nil {
			// A control without a trace still has its number.
			if v, ok := metricOf(run.Record, metric); ok && run.Record.Result.Updates == 0 {
				ys, xs, us = []float64{v}, []float64{0}, []float64{0}
			}
		}
		for i := range ys {
			if !math.IsNaN(ys[i]) && !math.IsNaN(xs[i]) && !math.IsInf(ys[i], 0) {
				col.at[us[i]] = ys[i]
				if len(runs) == 0 {
					updates = append(updates, us[i])
				}
				col.xs = append(col.xs, xs[i])
			}
		}
		if len(col.at) > 0 {
			runs = append(runs, col)
		}
	}
	if len(runs) == 0 {
		return nil
	}
	b.over(len(runs))
	var out []point
	scale := scaleOf(metric, 0)
	for i, u := range updates {
		var ys []float64
		for _, run := range runs {
			if y, ok := run.at[u]; ok {
				ys = append(ys, y)
			}
		}
		px := runs[0].xs[i]
		if len(ys) < len(runs) || b.f.LogX && px <= 0 && !still(c) || b.f.LogY && stats.Mean(ys) <= 0 {
			continue
		}
		p := spreadPoint(px, stats.Summarise(ys), scale)
		if b.f.LogY && p.low <= 0 {
			p.low = p.y
		}
		out = append(out, p)
	}
	return thin(out)
}

// mostPoints bounds the points of a line in a figure.
const mostPoints = 600

// thin leaves out points of very long lines, evenly, but not the last one.
func thin(p []point) []point {
	if len(p) <= mostPoints {
		return p
	}
	out := make([]point, 0, mostPoints)
	for i := range mostPoints {
		out = append(out, p[i*(len(p)-1)/(mostPoints-1)])
	}
	return out
}

// abscissa is what a trace is drawn along.
func (b *figureBuilder) abscissa(rec *store.Record, t *store.Trace, x string) []float64 {
	if x != "seconds" || t.Column(x) != nil {
		return t.Column(x)
	}
	u := t.Column("update")
	out := make([]float64, len(u))
	for i := range u {
		out[i] = u[i] * rec.Provenance.Timing.Median
	}
	return out
}

// bars draws a metric in groups of bars.
func (b *figureBuilder) bars() bool {
	b.axes()
	b.c.y2 = scale{}
	categories := []string{""}
	if b.xAxis != "" {
		categories = b.points(b.xAxis)
	}
	for _, v := range categories {
		title := v
		if b.xAxis != "" {
			title = b.r.shortTitle(b.xAxis, v)
		}
		b.c.x.categories = append(b.c.x.categories, title)
	}
	if len(b.c.x.categories) == 0 {
		return false
	}
	names := b.f.Y
	series := b.split(b.cells, b.seriesAxes)
	n := float64(len(series) * len(names))
	width := 0.8 / n
	any := false
	for _, pg := range b.split(b.cells, b.panelAxes) {
		p := panel{title: pg.title}
		for si, sg := range series {
			for mi, name := range names {
				at := float64(si*len(names) + mi)
				col := b.color(sg.values)
				if len(sg.values) == 0 || len(names) > 1 {
					col = si*len(names) + mi
				} else if len(b.seriesAxes) > 1 {
					col = si
				}
				for i, v := range categories {
					for _, c := range pg.cells {
						if x, _ := c.Cell.At(b.xAxis); b.xAxis != "" && x != v || !slices.Equal(pointOf(c.Cell, b.seriesAxes), sg.values) {
							continue
						}
						s, ok := c.summary(name)
						if !ok {
							b.note("Where a bar is missing, there is no result")
							continue
						}
						q := spreadPoint(0, s, scaleOf(name, 0))
						b.over(s.N)
						any = true
						p.bars = append(p.bars, bar{category: float64(i), shift: (at - (n-1)/2) * width, width: width * 0.88, y: q.y, low: q.low, high: q.high, color: col})
						b.key(key{text: strings.TrimPrefix(sg.title+suffix(len(names) > 1, metricTitle(name)), ", "), color: col, block: true})
					}
				}
			}
		}
		b.c.panels = append(b.c.panels, p)
	}
	if any && b.c.broken(b.c.rangeY(false)) {
		b.note("The axis does not begin at 0")
	}
	return any
}

func suffix(more bool, s string) string {
	if more {
		return ", " + s
	}
	return ""
}

// scatter draws one metric against another, a point a cell.
func (b *figureBuilder) scatter() bool {
	b.axes()
	x := b.f.X
	if x == "" {
		x = secondsPerUpdate
	}
	b.c.x = scale{label: axisLabel(x), log: b.f.LogX || isTime(x)}
	if isTime(x) {
		for _, n := range machinesOf(b.cells).notes() {
			b.note(n)
		}
	}
	y := b.f.Y[0]
	any := false
	shapes := len(b.seriesAxes) > 1
	for _, pg := range b.split(b.cells, b.panelAxes) {
		p := panel{title: pg.title}
		for _, sg := range b.split(pg.cells, b.seriesAxes) {
			v := curve{bare: true, color: b.color(sg.values), glyph: 1 + b.second(sg.values)}
			for _, c := range sg.cells {
				sx, ok1 := c.summary(x)
				sy, ok2 := c.summary(y)
				if !ok1 || !ok2 || b.c.x.log && sx.Mean <= 0 {
					continue
				}
				b.over(sy.N)
				v.points = append(v.points, spreadPoint(sx.Mean*scaleOf(x, 0), sy, scaleOf(y, 0)))
			}
			if len(v.points) == 0 {
				continue
			}
			p.curves = append(p.curves, v)
			any = true
			if !shapes {
				b.key(key{text: sg.title, color: v.color, glyph: v.glyph, bare: true})
			}
		}
		b.c.panels = append(b.c.panels, p)
	}
	if any && shapes {
		b.shapeKeys()
	}
	return any
}

// shapeKeys explains colours and shapes apart: a key for each would be their
// product.
func (b *figureBuilder) shapeKeys() {
	used, shapes := map[int]bool{}, map[int]bool{}
	for _, p := range b.c.panels {
		for _, v := range p.curves {
			used[v.color], shapes[v.glyph] = true, true
		}
	}
	first := b.seriesAxes[0]
	for i, v := range b.r.axisValues(first) {
		if used[i] {
			b.key(key{text: b.r.shortTitle(first, v), color: i, glyph: 1, bare: true})
		}
	}
	for _, s := range b.split(b.cells, b.seriesAxes[1:]) {
		at := 1 + b.second(append([]string{""}, s.values...))
		if shapes[at] {
			b.key(key{text: s.title, glyph: at, bare: true, grey: true})
		}
	}
}
