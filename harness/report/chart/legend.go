package chart

import (
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// legend holds lines of entries above the panels. gonum/plot only offers a single column inside a
// panel.
type legend [][]entry

type entry struct {
	name   string
	thumbs []plot.Thumbnailer
}

const (
	legendLine   = 12
	sample       = 18 // width of the sample of an entry
	betweenNames = 12
)

func (e entry) width() vg.Length {
	return sample + 4 + letters(regular(labelSize)).Width(e.name) + betweenNames
}

func (l legend) height() vg.Length {
	if len(l) == 0 {
		return 0
	}
	return legendLine*vg.Length(len(l)) + 5
}

// legend collects the names of series in as few lines as fit the width, and makes them similarly
// long.
func (c *Chart) legend(width vg.Length) legend {
	var all []entry
	for _, row := range c.Rows {
		for _, p := range row {
			for _, s := range p.Series {
				name := clean(s.Name)
				if name != "" && !slices.ContainsFunc(all, func(e entry) bool { return e.name == name }) {
					all = append(all, entry{name, s.thumbs()})
				}
			}
		}
	}
	best := flow(all, width-2*margin)
	for w := width - 2*margin - 10; w > width/4; w -= 10 {
		narrow := flow(all, w)
		if len(narrow) > len(best) {
			break
		}
		best = narrow
	}
	return best
}

// flow breaks entries into lines of at most the given width.
func flow(all []entry, width vg.Length) legend {
	var lines legend
	used := width
	for _, e := range all {
		if used+e.width() > width+betweenNames || lines == nil {
			lines, used = append(lines, nil), 0
		}
		lines[len(lines)-1] = append(lines[len(lines)-1], e)
		used += e.width()
	}
	return lines
}

func (l legend) draw(dc draw.Canvas) {
	y := dc.Max.Y - margin - legendLine/2
	style := letters(regular(labelSize))
	style.XAlign, style.YAlign = draw.XLeft, draw.YCenter
	for _, line := range l {
		w := vg.Length(-betweenNames)
		for _, e := range line {
			w += e.width()
		}
		x := dc.Center().X - w/2
		for _, e := range line {
			box := draw.Canvas{Canvas: dc.Canvas, Rectangle: vg.Rectangle{Min: vg.Point{X: x, Y: y - 3.5}, Max: vg.Point{X: x + sample, Y: y + 3.5}}}
			for _, t := range e.thumbs {
				t.Thumbnail(&box)
			}
			dc.FillText(style, vg.Point{X: x + sample + 4, Y: y + 0.8}, e.name)
			x += e.width()
		}
		y -= legendLine
	}
}
