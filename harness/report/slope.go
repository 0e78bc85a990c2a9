package report

import (
	"cmp"
	"fmt"
	"strings"

	"dgkip/harness/report/chart"
	"dgkip/harness/stats"
)

// slope says in the caption what the lines gained at their end: the rise of the
// straight line of least squares over the last stretch of the x axis, in units of y.
func (b *figureBuilder) slope(panels []chart.Panel) {
	var rises []string
	for _, p := range panels {
		var here []string
		for _, s := range p.Series {
			if y, ok := rise(s.Points, b.f.Slope); ok && s.Kind == chart.Line {
				here = append(here, s.Name+" "+strings.Replace(signed(y, 1), "-", "−", 1))
			}
		}
		if here != nil {
			rises = append(rises, strings.TrimPrefix(p.Title+": "+list(here), ": "))
		}
	}
	if rises != nil {
		along := cmp.Or(b.f.X, "update")
		if along == "update" {
			along = "updates"
		}
		b.note(fmt.Sprintf("Gained over the last %s %s, by least squares: %s", shortest(b.f.Slope), along, strings.Join(rises, "; ")))
	}
}

// rise is that of the line of least squares through the points over the last stretch,
// false if there are fewer than three or the points do not go that far back.
func rise(points []chart.Point, stretch float64) (float64, bool) {
	var x, y []float64
	for _, p := range points {
		if p.X >= points[len(points)-1].X-stretch {
			x, y = append(x, p.X), append(y, p.Y)
		}
	}
	if len(x) < 3 || stretch == 0 || x[len(x)-1]-points[0].X < stretch {
		return 0, false
	}
	return stretch * stats.Slope(x, y), true
}
