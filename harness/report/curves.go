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

// curves draws traces along updates, or metrics along an axis of the grid.
func (b *figureBuilder) curves() chart.Picture {
	x := cmp.Or(b.f.X, "update")
	if x == "seconds" {
		b.note("Seconds are updates times the median seconds per update, of the first seed")
	}
	along := b.alongAxis(x)
	y := &chart.Axis{Label: cmp.Or(b.f.YLabel, joint(b.f.Y)), Log: b.f.LogY}
	y2 := &chart.Axis{Label: cmp.Or(b.f.Y2Label, joint(b.f.Y2))}
	var upper, lower []chart.Panel
	any := false
	for _, pg := range b.split(b.cells, b.panelAxes) {
		if b.xAxis == "" {
			own := *along // processes end where they end
			along = &own
		}
		p, q := chart.Panel{Title: pg.title, X: along, Y: y}, chart.Panel{X: along, Y: y2}
		for _, sg := range b.split(pg.cells, b.seriesAxes) {
			p.Series = append(p.Series, b.quantities(sg, b.f.Y, 0, x)...)
			q.Series = append(q.Series, b.quantities(sg, b.f.Y2, len(b.f.Y), x)...)
		}
		any = any || len(p.Series)+len(q.Series) > 0
		upper, lower = append(upper, p), append(lower, q)
	}
	if !any {
		return nil
	}
	c := b.layOut(upper)
	if len(b.f.Y2) > 0 {
		// What has another unit stands below.
		c2 := b.layOut(lower)
		for i := range c.Rows {
			c.Rows = slices.Insert(c.Rows, 2*i+1, c2.Rows[i])
		}
	}
	return b.named(c)
}

// alongAxis is the horizontal axis of curves.
func (b *figureBuilder) alongAxis(x string) *chart.Axis {
	a := &chart.Axis{Label: axisLabel(x), Log: b.f.LogX}
	if b.xAxis != "" && b.xAxis != "ipc" {
		a.Label = axisTitle(b.xAxis)
	}
	a.Label = cmp.Or(b.f.XLabel, a.Label)
	if values := b.points(b.xAxis); b.xAxis != "" && !numeric(values) {
		for _, v := range values {
			a.Categories = append(a.Categories, sheet.Plain(b.r.valueTitle(b.xAxis, v)))
		}
	}
	return a
}

// quantities makes a series of each quantity of a group of cells; the two ends of an
// interval make one. The quantities are those of the figure from a number on.
func (b *figureBuilder) quantities(g cellGroup, names []string, from int, x string) []chart.Series {
	var out []chart.Series
	several := len(b.f.Y)+len(b.f.Y2) > 1
	for i, name := range names {
		s := chart.Series{Name: g.title}
		s.Color, s.Variant = b.look(g.values)
		title := metricTitle(name)
		interval, isLow := strings.CutSuffix(name, ".low")
		switch {
		case isLow && slices.Contains(names, interval+".high"):
			s.Kind, title = chart.Range, "proved range"
		case strings.HasSuffix(name, ".high") && slices.Contains(names, strings.TrimSuffix(name, ".high")+".low"):
			continue
		case len(g.values) == 0:
			s.Color = from + i
			s.Wide = i == 0 && len(names) > 1
		case several:
			s.Variant = from + i
		}
		if several {
			s.Name = strings.TrimPrefix(g.title+", "+title, ", ")
		}
		s.Name = sheet.Plain(s.Name)
		if b.xAxis != "" {
			s.Kind, s.Points = chart.Trail, b.along(g.cells, name)
		} else {
			s.Points = b.trace(g.cells[0], x, name)
			switch {
			case s.Kind == chart.Range:
				s.Points = between(s.Points, b.trace(g.cells[0], x, interval+".high"))
			case still(g.cells[0]):
				s.Kind = chart.Level
			}
		}
		if len(s.Points) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// between joins the means of two ends.
func between(low, high []chart.Point) []chart.Point {
	for i := range min(len(low), len(high)) {
		low[i].Low, low[i].High = low[i].Y, high[i].Y
	}
	return low[:min(len(low), len(high))]
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
func (b *figureBuilder) along(cells []*CellRuns, metric string) []chart.Point {
	var out []chart.Point
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
				p.X, _ = strconv.ParseFloat(v, 64)
			}
			b.over(s.N)
			out = append(out, p)
		}
	}
	return out
}

func spreadPoint(x float64, s stats.Summary, scale float64) chart.Point {
	p := chart.Point{X: x, Y: s.Mean * scale, Low: math.NaN(), High: math.NaN()}
	if s.HasSpread() {
		p.Low, p.High = (s.Mean-s.SD)*scale, (s.Mean+s.SD)*scale
	}
	return p
}

// trace returns a quantity along the runs of a cell: its mean over the seeds, at
// the updates for which all of them have it.
func (b *figureBuilder) trace(c *CellRuns, x, metric string) []chart.Point {
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
		ys := traceColumn(t, metric)
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
	var out []chart.Point
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
		if b.f.LogY && p.Low <= 0 {
			p.Low = p.Y
		}
		out = append(out, p)
	}
	return thin(out, mostPoints)
}

// traceColumn is a column of a trace. The test error is what the accuracy leaves.
func traceColumn(t *store.Trace, name string) []float64 {
	ys := t.Column(name)
	if name == "test_error" && ys == nil {
		for _, v := range t.Column("test_acc") {
			ys = append(ys, 1-v)
		}
	}
	return ys
}

// thin leaves out points of very long lines, evenly, but not the last one.
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
