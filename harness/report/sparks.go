package report

import (
	"fmt"
	"html/template"
	"slices"

	"dgkip/harness/exhibit"
	"dgkip/harness/report/chart"
	"dgkip/harness/report/sheet"
)

// mostSparks bounds the panels of a cell, mostSparkPoints the points of a line.
const mostSparks, mostSparkPoints = 6, 120

// sparks draws the columns of a cell's traces that change, accuracies first: a panel a
// column.
func (r *Results) sparks(c *CellRuns) template.HTML {
	var accuracies, others []string
	for _, run := range c.done() {
		t := r.trace(run.Record)
		if t == nil {
			continue
		}
		for _, name := range t.Columns {
			switch {
			case name == "update" || slices.Contains(accuracies, name) || slices.Contains(others, name):
			case isAccuracy(name):
				accuracies = append(accuracies, name)
			default:
				others = append(others, name)
			}
		}
	}
	b := &figureBuilder{r: r, f: exhibit.Figure{Kind: "curves"}}
	x := &chart.Axis{}
	var panels []chart.Panel
	for _, name := range append(accuracies, others...) {
		points := thin(b.trace(c, "update", name), mostSparkPoints)
		if slices.ContainsFunc(points, func(p chart.Point) bool { return p.Y != points[0].Y }) {
			panels = append(panels, chart.Panel{Title: sheet.Plain(axisLabel(name)), X: x, Y: &chart.Axis{}, Series: []chart.Series{{Points: points}}})
		}
	}
	if panels == nil {
		return ""
	}
	svg, err := chart.Inline(&chart.Chart{Rows: slices.Collect(slices.Chunk(panels[:min(len(panels), mostSparks)], 3))})
	if err != nil {
		r.problem("%v", err)
		return ""
	}
	return template.HTML(fmt.Sprintf("<figure class=\"traces\">%s<figcaption>Along updates: means over the seeds, with the spread; trace.csv has all columns.</figcaption></figure>\n", svg))
}
