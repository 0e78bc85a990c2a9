package report

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// Size of a small curve on the page, in its own units.
const sparkWide, sparkHigh = 220, 90

// mostSparkPoints bounds the points of a small curve.
const mostSparkPoints = 120

// sparks draws every column of the traces of a cell as a small curve, with a line
// for each seed.
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
	if len(names) == 0 {
		return
	}
	b.WriteString("<div class=\"traces\">\n")
	for _, name := range names {
		r.spark(b, runs, name)
	}
	b.WriteString("</div>\n")
}

func (r *Results) spark(b *bytes.Buffer, runs []Run, name string) {
	var lines [][]point
	ex, ey := newExtent(), newExtent()
	for _, run := range runs {
		t := r.trace(run.Record)
		if t == nil {
			continue
		}
		us, ys := t.Column("update"), t.Column(name)
		var l []point
		for i := range ys {
			if len(us) == len(ys) && !math.IsNaN(ys[i]) && !math.IsInf(ys[i], 0) {
				l = append(l, point{x: us[i], y: ys[i]})
				ex.add(us[i])
				ey.add(ys[i])
			}
		}
		if len(l) > 1 {
			lines = append(lines, l)
		}
	}
	if lines == nil || ex.min == ex.max {
		return
	}
	show := func(v float64) string {
		if isAccuracy(name) {
			return fixed(100*v, 1) + " %"
		}
		return significant(v, 3)
	}
	fmt.Fprintf(b, "<svg viewBox=\"0 0 %d %d\" role=\"img\"><title>%s along updates</title><text class=\"name\" x=\"0\" y=\"10\">%s</text>", sparkWide, sparkHigh, html.EscapeString(name), html.EscapeString(metricTitle(name)))
	const left, top, bottom = 44, 18, 14
	w, h := float64(sparkWide-left-4), float64(sparkHigh-top-bottom)
	fmt.Fprintf(b, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/><line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>", left, top, left, sparkHigh-bottom, left, sparkHigh-bottom, sparkWide-4, sparkHigh-bottom)
	fmt.Fprintf(b, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>", left-3, top+7, html.EscapeString(show(ey.max)), left-3, sparkHigh-bottom, html.EscapeString(show(ey.min)))
	fmt.Fprintf(b, "<text x=\"%d\" y=\"%d\">%s</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s updates</text>", left, sparkHigh-3, significant(ex.min, 6), sparkWide-4, sparkHigh-3, html.EscapeString(fixed(ex.max, 0)))
	span := ey.max - ey.min
	for _, l := range lines {
		step := max(1, len(l)/mostSparkPoints)
		var pts []string
		for i := 0; i < len(l); i += step {
			if i+step >= len(l) {
				i = len(l) - 1
			}
			y := 0.5
			if span > 0 {
				y = (l[i].y - ey.min) / span
			}
			pts = append(pts, fixed(left+float64(w*((l[i].x-ex.min)/(ex.max-ex.min))), 1)+","+fixed(top+float64(h*(1-y)), 1))
		}
		fmt.Fprintf(b, "<polyline points=\"%s\"/>", strings.Join(pts, " "))
	}
	b.WriteString("</svg>\n")
}
