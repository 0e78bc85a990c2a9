package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"dgkip/harness/report/chart"
	"dgkip/harness/report/sheet"
	"dgkip/harness/stats"
	"dgkip/harness/store"
)

// curves draws traces along updates, or metrics along an axis of the grid. The metrics y2 have
// panels of their own, below the panels of y.
func (b *figureBuilder) curves() chart.Picture {
	x := cmp.Or(b.f.X, "update")
	if x == "seconds" {
		b.note("Seconds are updates multiplied by the time per update of the first seed, which includes the training of networks")
		b.noteTimes()
	}
	along := b.alongAxis(x)
	lines := func(names []string, from int) func(group, string) []chart.Series {
		return func(g group, title string) []chart.Series { return b.quantities(g, title, names, from, x) }
	}
	upper := b.panels(along, b.yAxis(), lines(b.f.Y, 0))
	lower := b.panels(along, &chart.Axis{Label: joint(b.f.Y2)}, lines(b.f.Y2, len(b.f.Y)))
	if empty(upper) && empty(lower) {
		return nil
	}
	for i := range upper {
		if b.xAxis == "" { // traces have different lengths
			own := *along
			upper[i].X, lower[i].X = &own, &own
		}
		lower[i].Title = ""
	}
	c := layOut(upper)
	if len(b.f.Y2) > 0 {
		for i, row := range layOut(lower).Rows {
			c.Rows = slices.Insert(c.Rows, 2*i+1, row)
		}
	}
	return c
}

// alongAxis is the horizontal axis of curves.
func (b *figureBuilder) alongAxis(x string) *chart.Axis {
	a := &chart.Axis{Label: axisLabel(x), Log: b.f.LogX}
	if b.xAxis != "" && b.xAxis != "ipc" {
		a.Label = axisTitle(b.xAxis)
	}
	if values := b.points(b.xAxis); b.xAxis != "" && !numeric(values) {
		for _, v := range values {
			a.Categories = append(a.Categories, sheet.Plain(b.r.valueTitle(b.xAxis, v)))
		}
	}
	return a
}

// quantities returns a series for each metric of a group of cells. The two ends of an interval
// share one series. From is the index of the first metric among all metrics of the figure.
func (b *figureBuilder) quantities(g group, of string, names []string, from int, x string) []chart.Series {
	var out []chart.Series
	several := max(len(b.f.Y), len(b.f.Y2)) > 1 // otherwise the axis names the metric
	for i, name := range names {
		look := b.looks[g.key()]
		s := chart.Series{Name: of, Color: look.color, Variant: look.variant}
		title := metricTitle(name)
		switch { // where both are shown, the axis names the metric
		case slices.Contains(names, "own."+name):
			title = "new networks"
		case strings.HasPrefix(name, "own.") && slices.Contains(names, strings.TrimPrefix(name, "own.")):
			title = "same networks"
		}
		interval, isLow := strings.CutSuffix(name, ".low")
		switch {
		case isLow && slices.Contains(names, interval+".high"):
			s.Kind, title, b.ranges = chart.Range, "proved range", true
		case strings.HasSuffix(name, ".high") && slices.Contains(names, strings.TrimSuffix(name, ".high")+".low"):
			continue
		case len(g.values) == 0 && i > 0:
			s.Color, s.Variant = chart.Ink, 1 // dashes, through which the first series shows
		case several && len(g.values) > 0:
			s.Variant = s.Variant*(len(b.f.Y)+len(b.f.Y2)) + from + i
		}
		switch { // the axis names a single metric
		case of == "" && len(names) > 1:
			s.Name = title
		case of != "" && several:
			s.Name = of + ", " + title
		}
		if b.xAxis != "" {
			s.Points = b.along(g.cells, name)
			if s.Kind == chart.Range {
				s.Points = between(s.Points, b.along(g.cells, interval+".high"))
			} else {
				s.Kind, s.Mark = chart.Trail, look.mark
			}
		} else {
			s.Points = b.trace(g.cells[0], x, name)
			switch {
			case s.Kind == chart.Range:
				s.Points = between(s.Points, b.trace(g.cells[0], x, interval+".high"))
			case withoutUpdates(g.cells[0]):
				s.Kind = chart.Level
			}
		}
		if len(s.Points) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// between joins the two ends of an interval.
func between(low, high []chart.Point) []chart.Point {
	var out []chart.Point
	for _, p := range low { // either curve may lack points, such as zeros on a logarithmic axis
		if i := slices.IndexFunc(high, func(q chart.Point) bool { return q.X == p.X }); i >= 0 {
			p.Low, p.High = p.Y, high[i].Y
			out = append(out, p)
		}
	}
	return out
}

// withoutUpdates reports whether the runs of a cell have no updates.
func withoutUpdates(c *CellRuns) bool {
	return !slices.ContainsFunc(c.done(), func(r Run) bool { return r.Record.Result.Updates > 0 })
}

func numeric(values []string) bool {
	return !slices.ContainsFunc(values, func(v string) bool { return math.IsNaN(numberOf(v)) })
}

// numberOf reads a value as a number. It returns NaN if the value is not one.
func numberOf(v string) float64 {
	x, err := strconv.ParseFloat(v, 64)
	if err != nil {
		return math.NaN()
	}
	return x
}

// along returns a metric of cells along an axis of the grid. Values that are no numbers count from 0.
func (b *figureBuilder) along(cells []*CellRuns, metric string) []chart.Point {
	var out []chart.Point
	values := b.points(b.xAxis)
	for _, g := range b.r.groups(cells, []string{b.xAxis}) {
		y := b.r.cell(g.cells[0], metric)
		if y.N == 0 {
			continue
		}
		x := float64(slices.Index(values, g.values[0]))
		if numeric(values) {
			x = numberOf(g.values[0])
		}
		b.over(y.N)
		out = append(out, y.point(x))
	}
	return out
}

// point returns the point of a cell at x, with its spread.
func (c Cell) point(x float64) chart.Point {
	p := chart.Point{X: x, Y: c.value(), Low: math.NaN(), High: math.NaN()}
	switch {
	case !c.HasSpread():
	case isTime(c.Metric.name):
		p.Low, p.High = c.Low, c.High
	default:
		p.Low, p.High = (c.Mean-c.SD)*c.Metric.scale, (c.Mean+c.SD)*c.Metric.scale
	}
	return p
}

// trace returns the mean of a metric along the traces of a cell, at the updates that all its
// runs have. The places along x come from the first run.
func (b *figureBuilder) trace(c *CellRuns, x, metric string) []chart.Point {
	var runs []map[float64]float64 // by update
	var updates, places []float64
	for _, run := range c.done() {
		us, xs, ys := b.r.line(run.Record, x, metric)
		at := map[float64]float64{}
		for i, y := range ys {
			if math.IsNaN(y-y) || math.IsNaN(xs[i]) {
				continue
			}
			at[us[i]] = y
			if len(runs) == 0 {
				updates, places = append(updates, us[i]), append(places, xs[i])
			}
		}
		if len(at) > 0 {
			runs = append(runs, at)
		}
	}
	b.over(len(runs))
	var out []chart.Point
	for i, u := range updates {
		var ys []float64
		for _, run := range runs {
			if y, ok := run[u]; ok {
				ys = append(ys, y)
			}
		}
		if len(ys) < len(runs) || b.f.LogX && places[i] <= 0 && !withoutUpdates(c) || b.f.LogY && stats.Mean(ys) <= 0 {
			continue
		}
		p := Cell{Metric: about(metric), Summary: stats.Summarise(ys)}.point(places[i])
		if b.f.LogY && p.Low <= 0 {
			p.Low = p.Y
		}
		out = append(out, p)
	}
	return thin(out, mostPoints)
}

// line returns the updates of a run, their places along x, and a metric at each. The test
// error is one minus the accuracy. Where the sharper bound is missing, the plain one takes its
// place. A run without updates has a single point.
func (r *Results) line(rec *store.Record, x, metric string) (us, xs, ys []float64) {
	t := r.trace(rec)
	if t == nil {
		return nil, nil, nil
	}
	us, xs, ys = t.Column("update"), t.Column(x), t.Column(metric)
	if x == "seconds" && xs == nil {
		for _, u := range us {
			xs = append(xs, u*perUpdate(rec))
		}
	}
	if of, sharper := strings.CutPrefix(metric, "interval_perp."); sharper && ys != nil {
		ys = slices.Clone(ys)
		for i, plain := range t.Column("interval." + of) {
			if math.IsNaN(ys[i]) {
				ys[i] = plain
			}
		}
	}
	if metric == "test_error" && ys == nil {
		for _, v := range t.Column("test_acc") {
			ys = append(ys, 1-v)
		}
	}
	if us != nil && xs != nil && ys != nil {
		return us, xs, ys
	}
	if v, ok := metricOf(rec, metric); ok && rec.Result.Updates == 0 {
		return []float64{0}, []float64{0}, []float64{v}
	}
	return nil, nil, nil
}

// mostPoints is the largest number of points of a line in a figure.
const mostPoints = 600

// thin keeps at most the given number of points, evenly spaced and with the last one.
func thin(p []chart.Point, most int) []chart.Point {
	if len(p) <= most {
		return p
	}
	out := make([]chart.Point, 0, most)
	for i := range most {
		out = append(out, p[i*(len(p)-1)/(most-1)])
	}
	return out
}
