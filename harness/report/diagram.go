package report

import (
	"image/color"
	"math"
	"strings"
	"unicode/utf8"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// diagram is a drawing that needs no records.
type diagram struct {
	width, height vg.Length
	sketch        func(pen)
}

func (d diagram) size() (w, h vg.Length) { return d.width, d.height }

func (d diagram) paint(dc draw.Canvas) {
	dc.SetColor(color.White)
	dc.Fill(dc.Rectangle.Path())
	d.sketch(pen{dc})
}

// pen draws the parts of diagrams. Its y axis points up.
type pen struct{ dc draw.Canvas }

// Colours of boxes: soft fills and lines of the palette's hues.
type paint struct{ fill, line color.NRGBA }

var (
	learned = paint{color.NRGBA{0xE3, 0xEF, 0xF8, 0xFF}, palette[0]}       // what is optimised
	worked  = paint{color.NRGBA{0xFB, 0xEA, 0xDF, 0xFF}, palette[1]}       // a model trained again and again
	solved  = paint{color.NRGBA{0xE1, 0xF2, 0xEC, 0xFF}, palette[2]}       // a formula
	given   = paint{color.NRGBA{0xF2, 0xF2, 0xF2, 0xFF}, frame}            // data
	goal    = paint{color.NRGBA{0xFF, 0xFF, 0xFF, 0xFF}, color.NRGBA(ink)} // what is minimised
	once    = paint{color.NRGBA{0xF6, 0xED, 0xF3, 0xFF}, palette[3]}       // made in advance
	pale    = color.NRGBA{0x8A, 0x8A, 0x8A, 0xFF}                          // of asides
	swift   = draw.LineStyle{Color: ink, Width: 1}                         // forward
	back    = draw.LineStyle{Color: palette[0], Width: 1.3}                // the gradient's way
)

const boxRound = 3.5

// box draws a box about a centre with lines of text in it.
func (p pen) box(x, y, w, h vg.Length, c paint, lines ...string) {
	x0, x1, y0, y1 := x-w/2, x+w/2, y-h/2, y+h/2
	const r = boxRound
	var path vg.Path
	// Corners by curves: arcs begin new paths in a PDF.
	const k = r * 0.4477 // from the corner to the control point of a quarter circle
	corner := func(x, y, ax, ay, bx, by vg.Length) {
		path.Line(vg.Point{X: x + ax*r, Y: y + ay*r})
		path.CubeTo(vg.Point{X: x + ax*k, Y: y + ay*k}, vg.Point{X: x + bx*k, Y: y + by*k}, vg.Point{X: x + bx*r, Y: y + by*r})
	}
	path.Move(vg.Point{X: x, Y: y0})
	corner(x1, y0, -1, 0, 0, 1)
	corner(x1, y1, 0, -1, -1, 0)
	corner(x0, y1, 1, 0, 0, -1)
	corner(x0, y0, 0, 1, 1, 0)
	path.Close()
	p.dc.SetColor(c.fill)
	p.dc.Fill(path)
	p.dc.SetLineStyle(draw.LineStyle{Color: c.line, Width: 0.9})
	p.dc.Stroke(path)
	const lead = 11.5
	top := y + lead*vg.Length(len(lines)-1)/2
	for i, l := range lines {
		p.words(x, top-lead*vg.Length(i), labelSize, ink, l)
	}
}

// arrow draws a line through points with a head at its end.
func (p pen) arrow(s draw.LineStyle, points ...vg.Point) {
	n := len(points)
	a, b := points[n-2], points[n-1]
	dx, dy := float64(b.X-a.X), float64(b.Y-a.Y)
	l := math.Hypot(dx, dy)
	ux, uy := vg.Length(dx/l), vg.Length(dy/l)
	const long, wide = 5.5, 2.3
	foot := vg.Point{X: b.X - ux*long, Y: b.Y - uy*long}
	line := append(append([]vg.Point{}, points[:n-1]...), vg.Point{X: foot.X + ux*0.5, Y: foot.Y + uy*0.5})
	p.dc.StrokeLines(s, line)
	p.dc.FillPolygon(s.Color, []vg.Point{b, {X: foot.X - uy*wide, Y: foot.Y + ux*wide}, {X: foot.X + uy*wide, Y: foot.Y - ux*wide}})
}

// run is a piece of a line of text in one style.
type run struct {
	text   string
	italic bool
	shift  int // 1 above the line, -1 below
}

// runs reads a text in which *x* is italic, _x below the line and ^x above it. What
// is below or above is one sign, or several in braces; the line behind the braces
// is upright again.
func runs(s string) []run {
	var out []run
	italic := false
	add := func(t string, shift int) {
		if t == "" {
			return
		}
		if n := len(out); n > 0 && out[n-1].italic == italic && out[n-1].shift == shift {
			out[n-1].text += t
			return
		}
		out = append(out, run{t, italic, shift})
	}
	for s != "" {
		switch s[0] {
		case '*':
			italic = !italic
			s = s[1:]
		case '_', '^':
			shift := 1
			if s[0] == '_' {
				shift = -1
			}
			s = s[1:]
			if inner, ok := strings.CutPrefix(s, "{"); ok {
				t, rest, _ := strings.Cut(inner, "}")
				s = rest
				for i, part := range strings.Split(t, "*") {
					italic = i%2 == 1
					add(part, shift)
				}
				italic = false
				continue
			}
			_, n := utf8.DecodeRuneInString(s)
			add(s[:n], shift)
			s = s[n:]
		default:
			n := strings.IndexAny(s, "*_^")
			if n < 0 {
				n = len(s)
			}
			add(s[:n], 0)
			s = s[n:]
		}
	}
	return out
}

func (r run) style(size vg.Length, c color.Color) text.Style {
	s := letters(size)
	if r.shift != 0 {
		s.Font.Size = size * 0.72
	}
	if r.italic {
		s.Font.Style = xfont.StyleItalic
	}
	s.Color, s.XAlign = c, draw.XLeft
	s.YAlign = draw.YBottom
	return s
}

// width is the room that a text takes.
func width(size vg.Length, t string) vg.Length {
	var w vg.Length
	for _, r := range runs(t) {
		w += r.style(size, ink).Width(figureText(r.text))
	}
	return w
}

// words writes a text centred about a point.
func (p pen) words(x, y, size vg.Length, c color.Color, t string) {
	x -= width(size, t) / 2
	base := y - size*0.32
	for _, r := range runs(t) {
		s := r.style(size, c)
		up := map[int]vg.Length{1: size * 0.36, -1: -size * 0.17}[r.shift]
		word := figureText(r.text)
		// FillString takes the base line, which does not depend on the letters.
		p.dc.SetColor(c)
		p.dc.FillString(s.Handler.Cache().Lookup(s.Font, s.Font.Size), vg.Point{X: x, Y: base + up}, word)
		x += s.Width(word)
	}
}

// upright writes a text that runs upwards, its middle at a point.
func (p pen) upright(x, y, size vg.Length, c color.Color, t string) {
	p.dc.Push()
	p.dc.Translate(vg.Point{X: x, Y: y})
	p.dc.Rotate(math.Pi / 2)
	p.words(0, 0, size, c, t)
	p.dc.Pop()
}

// heading writes a panel's title and a line below it.
func (p pen) heading(x, y vg.Length, title, line string) {
	s := bold(letters(titleSize))
	put(p.dc, s, vg.Point{X: x, Y: y}, title)
	p.words(x, y-13, labelSize-0.5, pale, line)
}

// paradigms sets three ways of distilling side by side: what is computed for one
// update of the synthetic set, and how far its gradient has to go.
func paradigms(p pen) {
	const (
		wide, between = 164, 8 // a panel, and the room to the next
		boxW, boxH    = 122, 36
		top           = 224 // middle of the headings
		y1            = top - 48
		step          = 53
	)
	for i := range 3 {
		left := vg.Length(6 + i*(wide+between))
		x := left + boxW/2
		y := func(row int) vg.Length { return y1 - vg.Length(row*step) }
		at := func(dx, dy vg.Length, row int) vg.Point { return vg.Point{X: x + dx, Y: y(row) + dy} }
		// down joins a box with the one below it.
		down := func(row int) { p.arrow(swift, at(0, -boxH/2, row), at(0, boxH/2, row+1)) }
		// gradient leads from what is minimised back to the synthetic set.
		gradient := func(note string) {
			const out = boxW/2 + 14
			p.arrow(back, at(boxW/2, 0, 2), at(out, 0, 2), at(out, 0, 0), at(boxW/2, 0, 0))
			p.upright(x+out+9, y(1), labelSize-0.5, back.Color, note)
		}
		p.box(x, y(0), boxW, boxH, learned, "synthetic set *S*", "images and labels")
		down(0)
		switch i {
		case 0:
			p.heading(x+10, top, "(a) Bi-level", "two loops, one in the other")
			for d := 2; d > 0; d-- {
				p.box(x+vg.Length(d)*2.5, y(1)-vg.Length(d)*2.5, boxW, boxH, worked)
			}
			p.box(x, y(1), boxW, boxH, worked, "train on *S*, again and again", "*θ*_0 → *θ*_1 → … → *θ*_{*T*} = *θ*_{*S*}")
			p.arrow(swift, at(0, -boxH/2-5, 1), at(0, boxH/2, 2))
			p.box(x, y(2), boxW, boxH, goal, "minimise", "the loss of *θ*_{*S*} on *O*")
			gradient("gradient, back through *T* steps")
		case 1:
			p.heading(x+10, top, "(b) KIP", "one loop, squared loss only")
			p.box(x, y(1), boxW, boxH, solved, "kernel ridge, in closed form", "*c* = (*K*_{*SS*} + *λI*)^{−1} *y*_{*S*}")
			down(1)
			p.box(x, y(2), boxW, boxH, goal, "minimise", "||*y*_{*O*} − *K*_{*OS*} *c*||^2")
			gradient("gradient, through the solve")
		case 2:
			p.heading(x+10, top, "(c) DGKIP", "one loop, any convex loss")
			p.box(x, y(1), boxW, boxH, solved, "a dual point, in closed form", "*α* = −∂ℓ(*y*_{*S*}, *f*(*S*; *θ*_{*O*}))")
			down(1)
			p.box(x, y(2), boxW, boxH, goal, "minimise the duality gap", "*P*_{*S*}(*θ*_{*O*}) − *D*_{*S*}(*α*)")
			gradient("gradient, one pass")
		}
		const small = 24
		low := y(2) - boxH/2 - 17 - small/2
		if i < 2 {
			p.box(x, low, boxW, small, given, "real set *O*")
		} else {
			p.box(x, low, boxW, small, once, "*θ*_{*O*}, trained once on *O*")
		}
		p.arrow(swift, vg.Point{X: x, Y: low + small/2}, at(0, -boxH/2, 2))
	}
}

// diagrams are drawings that need no records, by name.
var diagrams = map[string]picture{
	"paradigms": diagram{width: 508, height: 238, sketch: paradigms},
}
