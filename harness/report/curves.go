package report

import (
	"math"
	"strconv"
	"strings"

	"dgkip/harness/stats"
	"dgkip/harness/store"
)

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
