package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"dgkip/harness/exhibit"
	"dgkip/harness/report/chart"
	"dgkip/harness/report/sheet"
)

// mostSparks bounds the lines of a cell, mostSparkPoints the points of one.
const mostSparks, mostSparkPoints = 3, 60

// sparkFirst are the quantities that are looked at first; others follow.
var sparkFirst = []string{"test_acc", "own.test_acc", "bound", "deviation", "loss"}

// sparks draws the columns of a cell's traces that change, each as a line in the
// colour of the cell's method. Two values are no curve.
func (r *Results) sparks(c *CellRuns) template.HTML {
	names := slices.Clone(sparkFirst)
	for _, run := range c.done() {
		if t := r.trace(run.Record); t != nil {
			names = with(names, t.Columns...)
		}
	}
	b := &figureBuilder{r: r, f: exhibit.Figure{Kind: "curves"}}
	colour := methodColor(c.Cell.Method().Info().Name)
	var out strings.Builder
	for n := 0; len(names) > 0 && n < mostSparks; names = names[1:] {
		if names[0] == "update" {
			continue
		}
		points := thin(b.trace(c, "update", names[0]), mostSparkPoints)
		if len(points) < 3 || !slices.ContainsFunc(points, func(p chart.Point) bool { return p.Y != points[0].Y }) {
			continue
		}
		n++
		first, last := points[0], points[len(points)-1]
		fmt.Fprintf(&out, "<figure class=\"spark\">%s<figcaption>%s: %s → %s</figcaption></figure>", chart.Spark(points, colour),
			template.HTMLEscapeString(sheet.Plain(axisLabel(names[0]))), significant(first.Y, 3), significant(last.Y, 3))
	}
	if out.Len() == 0 {
		return ""
	}
	return template.HTML("<div class=\"sparks\">" + out.String() + "</div>\n")
}
