package chart

import (
	"fmt"
	"math"
	"strings"
)

// sparkWide and sparkHigh are the units of a Spark's drawing, which are whole numbers:
// finer ones could not be seen.
const sparkWide, sparkHigh = 240, 56

// Spark draws a line without axes as an element of a page, as wide as the page lets it
// be. Values that span more than a decade are drawn by their logarithms.
func Spark(points []Point, colour int) string {
	if len(points) < 2 {
		return ""
	}
	x, y := extent{math.Inf(1), math.Inf(-1)}, extent{math.Inf(1), math.Inf(-1)}
	for _, p := range points {
		x.add(p.X)
		y.add(p.Y)
	}
	log := y.min > 0 && y.max > 10*y.min
	if log {
		y = extent{math.Log(y.min), math.Log(y.max)}
	}
	var path strings.Builder
	var last [2]int
	for i, p := range points {
		v := p.Y
		if log {
			v = math.Log(v)
		}
		at := [2]int{whole(sparkWide * part(p.X, x)), whole(sparkHigh * (1 - part(v, y)))}
		if i == 0 || at != last {
			fmt.Fprintf(&path, " %d,%d", at[0]+2, at[1]+2)
		}
		last = at
	}
	c := hue(colour)
	return fmt.Sprintf(`<svg viewBox="0 0 %d %d"><polyline points="%s" fill="none" stroke="#%02x%02x%02x" stroke-width="2"/></svg>`,
		sparkWide+4, sparkHigh+4, path.String()[1:], c.R, c.G, c.B)
}

// part is where a value lies in a range.
func part(v float64, e extent) float64 {
	if e.max <= e.min {
		return 0.5
	}
	return (v - e.min) / (e.max - e.min)
}

func whole(v float64) int {
	if math.IsNaN(v) {
		return 0
	}
	return int(math.Round(v))
}
