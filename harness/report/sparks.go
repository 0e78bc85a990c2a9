package report

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"dgkip/harness/report/chart"
	"dgkip/harness/report/sheet"
)

// mostSparks bounds the panels of a cell, mostSparkPoints the points of a line.
const mostSparks, mostSparkPoints = 6, 120

// sparks draws the columns of a cell's traces that change, accuracies first: a panel a
// column, a line a seed.
func (r *Results) sparks(b *bytes.Buffer, runs []Run) {
	var names []string
	for _, run := range runs {
		if t := r.trace(run.Record); t != nil && len(t.Rows) > 1 {
			for _, c := range t.Columns {
				if c != "update" && !slices.Contains(names, c) {
					names = append(names, c)
				}
			}
		}
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return map[bool]int{true: -1}[isAccuracy(a)] - map[bool]int{true: -1}[isAccuracy(b)]
	})
	x := &chart.Axis{}
	var panels []chart.Panel
	for _, name := range names {
		p := chart.Panel{Title: sheet.Plain(axisLabel(name)), X: x, Y: &chart.Axis{}}
		changes := false
		for i, run := range runs {
			points := changing(r, run, name)
			changes = changes || slices.ContainsFunc(points, func(q chart.Point) bool { return q.Y != points[0].Y })
			p.Series = append(p.Series, chart.Series{Points: points, Color: i})
		}
		if changes {
			panels = append(panels, p)
		}
	}
	if len(panels) == 0 {
		return
	}
	c := &chart.Chart{Keys: []chart.Series{}}
	for row := range slices.Chunk(panels[:min(len(panels), mostSparks)], 3) {
		c.Rows = append(c.Rows, row)
	}
	svg, err := chart.Inline(c)
	if err != nil {
		r.problem("%v", err)
		return
	}
	fmt.Fprintf(b, "<figure class=\"traces\">%s<figcaption>Along updates, a line a seed; trace.csv has all columns.</figcaption></figure>\n", svg)
}

// changing is a quantity of a run along its updates.
func changing(r *Results, run Run, name string) []chart.Point {
	t := r.trace(run.Record)
	if t == nil {
		return nil
	}
	us, ys := t.Column("update"), t.Column(name)
	var out []chart.Point
	for i, y := range ys {
		if len(us) == len(ys) && !math.IsNaN(y) && !math.IsInf(y, 0) {
			out = append(out, chart.Point{X: us[i], Y: y * scaleOf(name, 0), Low: math.NaN(), High: math.NaN()})
		}
	}
	return thin(out, mostSparkPoints)
}
