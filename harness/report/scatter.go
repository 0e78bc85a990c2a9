package report

import (
	"cmp"

	"dgkip/harness/report/chart"
)

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
	return layOut(panels)
}
