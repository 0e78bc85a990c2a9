package chart

import (
	"image/color"
	"math"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Diagram is a drawing by a pen. Its y axis points up.
type Diagram struct {
	Width, Height vg.Length
	Draw          func(Pen)
}

// Size implements Picture.
func (d *Diagram) Size() (w, h vg.Length) { return d.Width, d.Height }

// Paint implements Picture.
func (d *Diagram) Paint(dc draw.Canvas) {
	blank(dc)
	d.Draw(Pen{dc})
}

// Pen draws boxes, arrows and words.
type Pen struct{ dc draw.Canvas }

// Box draws a box about a centre, with lines of words in it.
func (p Pen) Box(x, y, w, h vg.Length, colour int, lines ...string) {
	box := []vg.Point{{X: x - w/2, Y: y - h/2}, {X: x + w/2, Y: y - h/2}, {X: x + w/2, Y: y + h/2}, {X: x - w/2, Y: y + h/2}}
	p.dc.FillPolygon(color.White, box)
	if colour != Ink {
		p.dc.FillPolygon(soft(colour, 0x1C), box)
	}
	p.dc.StrokeLines(draw.LineStyle{Color: hue(colour), Width: 0.9}, append(box, box[0], box[1]))
	const lead = 11
	for i, l := range lines {
		p.Words(x, y+lead*(vg.Length(len(lines)-1)/2-vg.Length(i)), Ink, l)
	}
}

// Arrow draws a line through points, with a head at its end.
func (p Pen) Arrow(colour int, points ...vg.Point) {
	a, b := points[len(points)-2], points[len(points)-1]
	l := vg.Length(math.Hypot(float64(b.X-a.X), float64(b.Y-a.Y)))
	along := vg.Point{X: (b.X - a.X) / l, Y: (b.Y - a.Y) / l}
	foot := b.Sub(along.Scale(5))
	across := vg.Point{X: -along.Y, Y: along.X}.Scale(2.2)
	points[len(points)-1] = foot
	p.dc.StrokeLines(draw.LineStyle{Color: hue(colour), Width: 1.1}, points)
	p.dc.FillPolygon(hue(colour), []vg.Point{b, foot.Add(across), foot.Sub(across)})
}

// Title writes a heading about a point.
func (p Pen) Title(x, y vg.Length, s string) {
	p.dc.FillText(letters(bold()), vg.Point{X: x, Y: y}, s)
}

// Upwards writes a line that runs upwards, its middle at a point.
func (p Pen) Upwards(x, y vg.Length, colour int, s string) {
	p.dc.Push()
	p.dc.Translate(vg.Point{X: x, Y: y})
	p.dc.Rotate(math.Pi / 2)
	p.Words(0, 0, colour, s)
	p.dc.Pop()
}

// Words writes a line about a point. What stands between pairs of * is italic, between
// pairs of _ below the line, and between pairs of ^ above it.
func (p Pen) Words(x, y vg.Length, colour int, s string) {
	type piece struct {
		text  string
		style text.Style
		up    vg.Length
	}
	var pieces []piece
	var width vg.Length
	italic, below, above := false, false, false
	for s != "" {
		n := strings.IndexAny(s, "*_^")
		if n < 0 {
			n = len(s)
		}
		t := piece{text: clean(s[:n]), style: letters(regular(labelSize))}
		if italic {
			t.style.Font.Style = xfont.StyleItalic
		}
		if below || above {
			t.style.Font.Size *= 0.72
			t.up = map[bool]vg.Length{true: 0.36, false: -0.17}[above] * labelSize
		}
		pieces = append(pieces, t)
		width += t.style.Width(t.text)
		if s = s[n:]; s != "" {
			italic, below, above = italic != (s[0] == '*'), below != (s[0] == '_'), above != (s[0] == '^')
			s = s[1:]
		}
	}
	at := vg.Point{X: x - width/2, Y: y - 0.32*labelSize}
	p.dc.SetColor(hue(colour))
	for _, t := range pieces {
		// FillString takes the base line, which does not depend on the letters.
		face := t.style.Handler.Cache().Lookup(t.style.Font, t.style.Font.Size)
		p.dc.FillString(face, vg.Point{X: at.X, Y: at.Y + t.up}, t.text)
		at.X += t.style.Width(t.text)
	}
}
