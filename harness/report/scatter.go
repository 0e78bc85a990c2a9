package report

import (
	"cmp"

	"dgkip/harness/report/chart"
)

// noteTimes says where the times of a figure come from, and whether they can be compared.
func (b *figureBuilder) noteTimes() {
	b.note(b.r.timeNotes(b.cells)...)
	if !b.r.comparable(b.cells...) {
		b.note("Some times were not taken on an idle machine of that kind, and may not be comparable")
	}
}

// scatter draws one metric against another, with a point for every cell.
func (b *figureBuilder) scatter() chart.Picture {
	name := cmp.Or(b.f.X, secondsPerIteration)
	x := &chart.Axis{Label: axisLabel(name), Log: b.f.LogX || isTime(name)}
	if isTime(name) {
		b.noteTimes()
	}
	panels := b.panels(x, b.yAxis(), func(g group, title string) []chart.Series {
		look := b.looks[g.key()]
		s := chart.Series{Kind: chart.Dots, Name: title, Color: look.color, Variant: look.variant, Mark: look.mark}
		for _, c := range g.cells {
			at, y := b.r.cell(c, name), b.r.cell(c, b.f.Y[0])
			if at.N > 0 && y.N > 0 && (!x.Log || at.middle() > 0) {
				b.over(y.N)
				s.Points = append(s.Points, y.point(at.value()))
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
