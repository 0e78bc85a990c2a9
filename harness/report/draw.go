package report

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes in points.
const (
	panelWide, panelHigh = 198, 150
	singleWide           = 300
	gutter               = 14
	margin               = 6
)

// rangeOf is what a panel shows of an axis.
type rangeOf struct {
	min, max float64
	log      bool
	ticks    []plot.Tick
}

// at maps a value to [0, 1].
func (r rangeOf) at(x float64) float64 {
	a, b := r.min, r.max
	if r.log {
		a, b, x = math.Log10(a), math.Log10(b), math.Log10(x)
	}
	return (x - a) / (b - a)
}

// layout is where a chart's parts go.
type layout struct {
	columns, rows          int
	width, height          vg.Length
	panelW, panelH         vg.Length
	left, right, top, foot vg.Length // around the axes of a panel, labels apart
	label, label2          vg.Length // room for the labels of the left and right axis
	legend                 vg.Length // height
	lines                  [][]key
}

func (c *chart) layout() layout {
	var l layout
	n := max(1, len(c.panels))
	l.columns = c.columns
	if l.columns == 0 {
		l.columns = min(3, n)
		if n == 4 {
			l.columns = 2
		}
	}
	l.columns = min(l.columns, n)
	l.rows = (n + l.columns - 1) / l.columns
	l.panelW, l.panelH = panelWide, panelHigh
	if l.columns == 1 {
		l.panelW, l.panelH = singleWide, 185
	}
	tick, label := letters(tickSize), letters(labelSize)
	var widest, widest2 vg.Length
	for i := range c.panels {
		p := &c.panels[i]
		for _, t := range c.range1(p).ticks {
			widest = max(widest, tick.Width(t.Label))
		}
		if r, ok := c.range2(p); ok {
			for _, t := range r.ticks {
				widest2 = max(widest2, tick.Width(t.Label))
			}
		}
	}
	l.left = widest + 7
	if c.y.label != "" {
		l.label = label.Height("X") + 5
	}
	l.right = 8
	if widest2 > 0 {
		l.right = widest2 + 7
		if c.y2.label != "" {
			l.label2 = label.Height("X") + 5
		}
	}
	l.foot = tick.Height("0") + 6
	if c.x.label != "" {
		l.foot += label.Height("X") + 5
	}
	l.top = 6
	for _, p := range c.panels {
		if p.title != "" {
			l.top = bold(letters(titleSize)).Height("X") + 8
		}
	}
	l.width = vg.Length(l.columns)*(l.left+l.panelW+l.right) + vg.Length(l.columns-1)*gutter + l.label + l.label2 + 2*margin
	l.lines = balanced(c.keys, l.width-2*margin)
	if len(l.lines) > 0 {
		l.legend = vg.Length(len(l.lines))*legendLine + 4
	}
	l.height = vg.Length(l.rows)*(l.top+l.panelH+l.foot) + vg.Length(l.rows-1)*6 + l.legend + 2*margin
	return l
}

const legendLine = 13

// keyWidth is the room an entry of the legend takes.
func keyWidth(k key) vg.Length {
	return k.swatch() + 4 + letters(labelSize).Width(figureText(k.text)) + 14
}

// swatch is the width of a key's sample.
func (k key) swatch() vg.Length {
	if k.block || k.bare {
		return 9
	}
	return 20
}

// balanced breaks the legend into as few lines as fit, of about the same length.
func balanced(keys []key, width vg.Length) [][]key {
	lines := flow(keys, width)
	for w := width - 10; w > width/4; w -= 10 {
		narrow := flow(keys, w)
		if len(narrow) > len(lines) {
			break
		}
		lines = narrow
	}
	return lines
}

// flow breaks the legend into lines.
func flow(keys []key, width vg.Length) [][]key {
	var lines [][]key
	var line []key
	var used vg.Length
	for _, k := range keys {
		w := keyWidth(k)
		if line != nil && used+w > width {
			lines, line, used = append(lines, line), nil, 0
		}
		line = append(line, k)
		used += w
	}
	if line != nil {
		lines = append(lines, line)
	}
	return lines
}

// draw draws the chart on a canvas of the layout's size.
func (c *chart) draw(dc draw.Canvas, l layout) {
	dc.SetColor(color.White)
	dc.Fill(dc.Rectangle.Path())
	y := dc.Max.Y - margin
	for _, line := range l.lines {
		var w vg.Length
		for _, k := range line {
			w += keyWidth(k)
		}
		x := dc.Center().X - (w-14)/2
		for _, k := range line {
			drawKey(dc, k, x, y-legendLine/2)
			x += keyWidth(k)
		}
		y -= legendLine
	}
	top := dc.Max.Y - margin - l.legend
	for i := range c.panels {
		col, rowI := i%l.columns, i/l.columns
		x0 := dc.Min.X + margin + l.label + vg.Length(col)*(l.left+l.panelW+l.right+gutter)
		y1 := top - vg.Length(rowI)*(l.top+l.panelH+l.foot+6)
		area := vg.Rectangle{
			Min: vg.Point{X: x0 + l.left, Y: y1 - l.top - l.panelH},
			Max: vg.Point{X: x0 + l.left + l.panelW, Y: y1 - l.top},
		}
		below := i+l.columns >= len(c.panels)
		c.panel(dc, &c.panels[i], area, l, col == 0, col == l.columns-1 || i == len(c.panels)-1, below)
	}
}

func drawKey(dc draw.Canvas, k key, x, y vg.Length) {
	col := color.NRGBA(hue(k.color))
	if k.grey {
		col = frame
	}
	switch {
	case k.block:
		dc.FillPolygon(col, []vg.Point{{X: x, Y: y - 4}, {X: x + 9, Y: y - 4}, {X: x + 9, Y: y + 4}, {X: x, Y: y + 4}})
	case !k.bare:
		dc.StrokeLine2(draw.LineStyle{Color: col, Width: 1.4, Dashes: dash(k.dash)}, x, y, x+k.swatch(), y)
	}
	if k.glyph > 0 {
		dc.DrawGlyphNoClip(draw.GlyphStyle{Color: col, Radius: 3, Shape: glyph(k.glyph - 1)}, vg.Point{X: x + k.swatch()/2, Y: y})
	}
	s := letters(labelSize)
	s.XAlign = draw.XLeft
	put(dc, s, vg.Point{X: x + k.swatch() + 4, Y: y}, k.text)
}

// put writes text at a point.
func put(dc draw.Canvas, s text.Style, at vg.Point, t string) {
	if t = figureText(t); t == "" {
		return
	}
	if s.YAlign == draw.YCenter {
		// The middle of small letters and digits lies above the middle of the line.
		up := s.Font.Size * 0.09
		if s.Rotation != 0 {
			at.X -= up
		} else {
			at.Y += up
		}
	}
	dc.FillText(s, at, t)
}

func (c *chart) panel(dc draw.Canvas, p *panel, area vg.Rectangle, l layout, first, last, below bool) {
	rx, ry := c.rangeX(p), c.range1(p)
	r2, two := c.range2(p)
	w, h := area.Max.X-area.Min.X, area.Max.Y-area.Min.Y
	X := func(x float64) vg.Length { return area.Min.X + vg.Length(float64(w)*rx.at(x)) }
	Y := func(y float64, right bool) vg.Length {
		r := ry
		if right {
			r = r2
		}
		return area.Min.Y + vg.Length(float64(h)*r.at(y))
	}
	inner := draw.Canvas{Canvas: dc.Canvas, Rectangle: area}

	// The grid, light, below everything.
	grid := draw.LineStyle{Color: faint, Width: 0.5}
	for _, t := range ry.ticks {
		if t.Label != "" {
			dc.StrokeLine2(grid, area.Min.X, Y(t.Value, false), area.Max.X, Y(t.Value, false))
		}
	}
	if c.x.categories == nil {
		for _, t := range rx.ticks {
			if t.Label != "" {
				dc.StrokeLine2(grid, X(t.Value), area.Min.Y, X(t.Value), area.Max.Y)
			}
		}
	}

	for _, b := range p.bars {
		c.bar(inner, b, X, func(y float64) vg.Length { return Y(y, false) }, ry)
	}
	for _, v := range p.levels {
		dc.StrokeLine2(draw.LineStyle{Color: hue(v.color), Width: 1.1, Dashes: dash(v.dash)}, area.Min.X, Y(v.y, v.right), area.Max.X, Y(v.y, v.right))
	}
	for _, v := range p.curves {
		v.band(inner, X, Y)
	}
	for _, v := range p.curves {
		v.draw(inner, X, Y)
	}
	c.frame(dc, p, area, l, rx, ry, r2, two, first, last, below)
}

// frame draws axes, ticks and labels.
func (c *chart) frame(dc draw.Canvas, p *panel, area vg.Rectangle, l layout, rx, ry, r2 rangeOf, two, first, last, below bool) {
	w, h := area.Max.X-area.Min.X, area.Max.Y-area.Min.Y
	axis := draw.LineStyle{Color: frame, Width: 0.6}
	dc.StrokeLine2(axis, area.Min.X, area.Min.Y, area.Max.X, area.Min.Y)
	dc.StrokeLine2(axis, area.Min.X, area.Min.Y, area.Min.X, area.Max.Y)
	tick := letters(tickSize)
	tick.YAlign = draw.YTop
	for _, t := range rx.ticks {
		x := area.Min.X + vg.Length(float64(w)*rx.at(t.Value))
		if x < area.Min.X-0.1 || x > area.Max.X+0.1 {
			continue
		}
		if c.x.categories == nil {
			dc.StrokeLine2(axis, x, area.Min.Y, x, area.Min.Y-tickLength(t))
		}
		put(dc, tick, vg.Point{X: x, Y: area.Min.Y - 5}, t.Label)
	}
	side := func(r rangeOf, at vg.Length, out vg.Length, align text.XAlignment) {
		s := letters(tickSize)
		s.XAlign = align
		for _, t := range r.ticks {
			y := area.Min.Y + vg.Length(float64(h)*r.at(t.Value))
			if y < area.Min.Y-0.1 || y > area.Max.Y+0.1 {
				continue
			}
			dc.StrokeLine2(axis, at, y, at+out*tickLength(t), y)
			put(dc, s, vg.Point{X: at + out*5, Y: y}, t.Label)
		}
	}
	side(ry, area.Min.X, -1, draw.XRight)
	label := letters(labelSize)
	if two {
		dc.StrokeLine2(axis, area.Max.X, area.Min.Y, area.Max.X, area.Max.Y)
		side(r2, area.Max.X, 1, draw.XLeft)
		if last {
			s := label
			s.Rotation = math.Pi / 2
			s.YAlign = draw.YBottom
			put(dc, s, vg.Point{X: area.Max.X + l.right + l.label2, Y: area.Min.Y + h/2}, c.y2.label)
		}
	}
	if first {
		s := label
		s.Rotation = math.Pi / 2
		s.YAlign = draw.YTop
		put(dc, s, vg.Point{X: area.Min.X - l.left - l.label, Y: area.Min.Y + h/2}, c.y.label)
	}
	if below {
		s := label
		s.YAlign = draw.YBottom
		put(dc, s, vg.Point{X: area.Min.X + w/2, Y: area.Min.Y - l.foot + 1}, c.x.label)
	}
	if p.title != "" {
		s := bold(letters(titleSize))
		s.YAlign = draw.YBottom
		put(dc, s, vg.Point{X: area.Min.X + w/2, Y: area.Max.Y + 5}, p.title)
	}
	if c.broken(ry) {
		// Bars that do not begin at 0 say so where they begin.
		y := area.Min.Y + 5
		for _, dy := range []vg.Length{0, 2.5} {
			dc.StrokeLine2(draw.LineStyle{Color: color.White, Width: 1.6}, area.Min.X-3, y+dy-1.3, area.Min.X+3, y+dy+1.3)
			dc.StrokeLine2(axis, area.Min.X-3, y+dy-1.3, area.Min.X+3, y+dy+1.3)
		}
	}
}

func tickLength(t plot.Tick) vg.Length {
	if t.Label == "" {
		return 1.5
	}
	return 3
}

// broken tells whether bars begin above 0.
func (c *chart) broken(r rangeOf) bool {
	return c.x.categories != nil && len(c.panels) > 0 && len(c.panels[0].bars) > 0 && !c.y.log && r.min > 0
}

func (c *chart) bar(dc draw.Canvas, b bar, X func(float64) vg.Length, Y func(float64) vg.Length, r rangeOf) {
	x0, x1 := X(b.category+b.shift-b.width/2), X(b.category+b.shift+b.width/2)
	y0, y1 := Y(math.Max(r.min, math.Min(0, r.max))), Y(b.y)
	if r.log {
		y0 = Y(r.min)
	}
	dc.FillPolygon(hue(b.color), []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}})
	if !math.IsNaN(b.low) {
		whisker(dc, (x0+x1)/2, Y(math.Max(b.low, r.min)), Y(math.Min(b.high, r.max)), ink)
	}
}

func whisker(dc draw.Canvas, x, low, high vg.Length, c color.Color) {
	s := draw.LineStyle{Color: c, Width: 0.8}
	dc.StrokeLine2(s, x, low, x, high)
	dc.StrokeLine2(s, x-2.5, low, x+2.5, low)
	dc.StrokeLine2(s, x-2.5, high, x+2.5, high)
}

// band shades the spread around a line.
func (v curve) band(dc draw.Canvas, X func(float64) vg.Length, Y func(float64, bool) vg.Length) {
	if v.bare {
		return
	}
	var low, high []vg.Point
	for _, p := range v.points {
		if math.IsNaN(p.low) || math.IsNaN(p.high) {
			return
		}
		low = append(low, vg.Point{X: X(p.x), Y: Y(p.low, v.right)})
		high = append(high, vg.Point{X: X(p.x), Y: Y(p.high, v.right)})
	}
	if len(low) < 2 || v.glyph > 0 {
		return
	}
	for i := len(low) - 1; i >= 0; i-- {
		high = append(high, low[i])
	}
	c := hue(v.color)
	c.A = 0x38
	dc.FillPolygon(c, dc.ClipPolygonXY(high))
}

func (v curve) draw(dc draw.Canvas, X func(float64) vg.Length, Y func(float64, bool) vg.Length) {
	var line []vg.Point
	for _, p := range v.points {
		at := vg.Point{X: X(p.x), Y: Y(p.y, v.right)}
		line = append(line, at)
		if v.glyph > 0 && !math.IsNaN(p.low) && p.high > p.low {
			whisker(dc, at.X, Y(p.low, v.right), Y(p.high, v.right), hue(v.color))
		}
	}
	if !v.bare && len(line) > 1 {
		dc.StrokeLines(draw.LineStyle{Color: hue(v.color), Width: 1.4, Dashes: dash(v.dash)}, dc.ClipLinesXY(line)...)
	}
	if v.glyph > 0 || len(line) == 1 {
		for _, at := range line {
			dc.DrawGlyphNoClip(draw.GlyphStyle{Color: hue(v.color), Radius: 3, Shape: glyph(max(0, v.glyph-1))}, at)
		}
	}
}
