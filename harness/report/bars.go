package report

import (
	"cmp"
	"slices"

	"dgkip/harness/report/chart"
	"dgkip/harness/report/sheet"
)

// bars draws a metric in groups of bars.
func (b *figureBuilder) bars() chart.Picture {
	x := &chart.Axis{Categories: []string{""}}
	if b.xAxis != "" {
		x.Categories = nil
		for _, v := range b.points(b.xAxis) {
			x.Categories = append(x.Categories, sheet.Plain(b.r.shortTitle(b.xAxis, v)))
		}
	}
	all := b.r.groups(b.cells, b.seriesAxes)
	n := float64(len(all))
	y := b.yAxis()
	panels := b.panels(x, y, func(g group, title string) []chart.Series {
		i := slices.IndexFunc(all, func(o group) bool { return slices.Equal(o.values, g.values) })
		s := chart.Series{Kind: chart.Bars, Name: title, Width: 0.7 / n}
		s.Color, s.Variant = b.look(g.values)
		s.Points = b.heights(g.cells, b.f.Y[0], (float64(i)-(n-1)/2)*0.8/n)
		if s.Points == nil {
			return nil
		}
		return []chart.Series{s}
	})
	if empty(panels) {
		return nil
	}
	c := layOut(panels)
	if c.Broken(y) {
		b.note("The axis does not start at 0")
	}
	return b.named(c)
}

// heights returns the bars of a series, shifted along the x axis.
func (b *figureBuilder) heights(cells []*CellRuns, metric string, shift float64) []chart.Point {
	var out []chart.Point
	for _, c := range cells {
		at := 0
		if b.xAxis != "" {
			v, _ := c.Cell.At(b.xAxis)
			at = slices.Index(b.points(b.xAxis), v)
		}
		if s, ok := c.summary(metric); ok && at >= 0 {
			b.over(s.N)
			out = append(out, spreadPoint(float64(at)+shift, s, metric))
		} else {
			b.note("A cell without a result has no bar")
		}
	}
	return out
}

// scatter draws one metric against another, with a point for every cell.
func (b *figureBuilder) scatter() chart.Picture {
	name := cmp.Or(b.f.X, secondsPerIteration)
	x := &chart.Axis{Label: axisLabel(name), Log: b.f.LogX || isTime(name)}
	if isTime(name) {
		b.note(b.r.timeNotes(b.cells)...)
		if !oneIdleMachine(b.cells) {
			b.note("Some times were not taken on an idle machine of that kind, and may not be comparable")
		}
	}
	panels := b.panels(x, b.yAxis(), func(g group, title string) []chart.Series {
		s := chart.Series{Kind: chart.Dots, Name: title}
		s.Color, s.Variant = b.look(g.values)
		s.Mark = b.mark(s.Color)
		for _, c := range g.cells {
			sx, ok1 := c.summary(name)
			sy, ok2 := c.summary(b.f.Y[0])
			if ok1 && ok2 && (!x.Log || sx.Mean > 0) {
				b.over(sy.N)
				s.Points = append(s.Points, spreadPoint(sx.Mean*about(name).scale, sy, b.f.Y[0]))
			}
		}
		if s.Points == nil {
			return nil
		}
		return []chart.Series{s}
	})
	if empty(panels) {
		return nil
	}
	c := layOut(panels)
	if c.Keys = b.shapeKeys(panels); c.Keys == nil {
		b.named(c)
	}
	return c
}

// shapeKeys returns a legend that explains colours and shapes separately, which needs fewer
// entries than one for every pair. It returns nil unless shapes distinguish exactly one axis.
func (b *figureBuilder) shapeKeys(panels []chart.Panel) []chart.Series {
	if len(b.seriesAxes) != 2 {
		return nil
	}
	by := max(0, slices.Index(b.seriesAxes, "method"))
	other := b.seriesAxes[1-by]
	var out []chart.Series
	used := func(match func(chart.Series) bool) bool {
		return slices.ContainsFunc(panels, func(p chart.Panel) bool { return slices.ContainsFunc(p.Series, match) })
	}
	key := func(axis, value string, s chart.Series) {
		s.Kind, s.Name = chart.Dots, sheet.Plain(b.r.shortTitle(axis, value))
		out = append(out, s)
	}
	for _, v := range b.points(b.seriesAxes[by]) {
		values := []string{v, v}
		values[1-by] = b.points(other)[0]
		color, variant := b.look(values)
		if variant > 0 {
			return nil
		}
		if used(func(s chart.Series) bool { return s.Color == color }) {
			key(b.seriesAxes[by], v, chart.Series{Color: color})
		}
	}
	for i, v := range b.points(other) {
		if used(func(s chart.Series) bool { return s.Variant == i }) {
			key(other, v, chart.Series{Color: chart.Grey, Variant: i})
		}
	}
	return out
}
