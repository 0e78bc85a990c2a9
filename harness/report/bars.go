package report

import (
	"slices"
	"strings"
)

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
