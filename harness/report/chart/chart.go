// Package chart draws values as PDF or PNG files: charts of curves and points, and grids of
// images. The same values give the same bytes.
package chart

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Chart is a grid of panels with one legend.
type Chart struct {
	Rows [][]Panel // at least one; none is longer than the first
}

// Panel is one system of axes.
type Panel struct {
	Title  string
	X, Y   *Axis
	Series []Series
}

// Axis is a scale. Panels with the same axis share its range.
type Axis struct {
	Label      string
	Log        bool
	Categories []string // labels instead of the numbers 0, 1, ...
}

// Kind is the way a series is drawn.
type Kind int

// The kinds of series.
const (
	Line  Kind = iota // with a band if there is a spread
	Dots              // with error bars if there is a spread
	Trail             // dots on a line
	Level             // a horizontal line at the last point
	Range             // the area from Low to High
)

// Series is a list of points in one colour. Series with the same name share an entry of the legend.
type Series struct {
	Name    string // "" hides it from the legend
	Kind    Kind
	Color   int
	Variant int // distinguishes series of one colour by dash, shape or shade
	Mark    int // the shape of its dots; Variant is added
	Points  []Point
}

// Point is a value and the ends of its spread, which are NaN if there is none.
type Point struct{ X, Y, Low, High float64 }

// Sizes in points. The widest chart has the width of the text of an A4 page.
const (
	gutter = 12
	margin = 4
)

// widths and rowsHigh depend on the number of panels in a row.
var widths, rowsHigh = [...]vg.Length{300, 400, 476}, [...]vg.Length{205, 155, 128}

// Size implements Picture.
func (c *Chart) Size() (w, h vg.Length) {
	i := min(len(c.Rows[0]), len(widths)) - 1
	return widths[i], c.legend(widths[i]).height() + rowsHigh[i]*vg.Length(len(c.Rows)) + 2*margin
}

// Paint implements Picture.
func (c *Chart) Paint(dc draw.Canvas) {
	blank(dc)
	legend := c.legend(dc.Max.X - dc.Min.X)
	legend.draw(dc)
	plots := make([][]*plot.Plot, len(c.Rows))
	ranges := c.ranges()
	for i, row := range c.Rows {
		plots[i] = make([]*plot.Plot, len(c.Rows[0]))
		for j := range row {
			plots[i][j] = row[j].plot(ranges)
			below := i+1 == len(c.Rows) || j >= len(c.Rows[i+1]) || c.Rows[i+1][j].X.Label != row[j].X.Label
			if below {
				plots[i][j].X.Label.Text = clean(row[j].X.Label)
			}
		}
	}
	side, top, between := c.labels()
	tiles := draw.Tiles{
		Rows: len(plots), Cols: len(c.Rows[0]), PadX: gutter, PadY: 6 + between,
		PadTop: margin + legend.height() + top, PadBottom: margin, PadLeft: margin + side, PadRight: margin + 4,
	}
	for i, row := range plot.Align(plots, tiles, dc) {
		for j, canvas := range row {
			if p := plots[i][j]; p != nil {
				p.Draw(canvas)
				c.label(p.DataCanvas(canvas), dc.Min.X, &c.Rows[i][j], j == 0)
			}
		}
	}
}

// labels returns the space for the labels of vertical axes and for titles. gonum/plot would centre
// its own labels on the canvas instead of the axes, and move the axes.
func (c *Chart) labels() (side, top, between vg.Length) {
	for i, row := range c.Rows {
		for j, p := range row {
			if p.Y.Label != "" && j == 0 {
				side = labelSize + 6
			}
			if p.Title != "" && i == 0 {
				top = titleSize + 4
			}
			if p.Title != "" && i > 0 {
				between = titleSize + 4
			}
		}
	}
	return side, top, between
}

func (c *Chart) label(axes draw.Canvas, left vg.Length, p *Panel, first bool) {
	title := letters(bold())
	title.YAlign = draw.YBottom
	axes.FillText(title, vg.Point{X: axes.Center().X, Y: axes.Max.Y + 4}, clean(p.Title))
	if first {
		up := letters(regular(labelSize))
		up.Rotation, up.YAlign = math.Pi/2, draw.YTop
		axes.FillText(up, vg.Point{X: left + margin, Y: axes.Center().Y}, clean(p.Y.Label))
	}
}

// plot returns the plot of a panel.
func (p *Panel) plot(ranges map[*Axis]*extent) *plot.Plot {
	out := plot.New()
	scale(&out.X, p.X, ranges[p.X])
	scale(&out.Y, p.Y, ranges[p.Y])
	grid := plotter.NewGrid()
	grid.Horizontal = draw.LineStyle{Color: faint, Width: 0.5}
	grid.Vertical = grid.Horizontal
	if p.X.Categories != nil {
		grid.Vertical.Color = nil
	}
	out.Add(grid)
	for _, part := range []func(Series, *plot.Plot) []plot.Plotter{Series.areas, Series.lines, Series.marks} {
		for _, s := range p.Series {
			x, y := out.X, out.Y
			out.Add(part(p.placed(s, ranges), out)...)
			out.X, out.Y = x, y // use the ranges shared by all panels
		}
	}
	return out
}

// placed returns a series with its positions on the axes. It drops values that are not finite.
func (p *Panel) placed(s Series, ranges map[*Axis]*extent) Series {
	s.Points = slices.DeleteFunc(slices.Clone(s.Points), func(q Point) bool { return math.IsNaN(q.X-q.X) || math.IsNaN(q.Y-q.Y) })
	x, y := ranges[p.X], ranges[p.Y]
	for i, q := range s.Points {
		q.X, q.Y = p.X.at(q.X, x), p.Y.at(q.Y, y)
		if !math.IsNaN(q.Low) && !math.IsNaN(q.High) {
			q.Low, q.High = p.Y.at(q.Low, y), p.Y.at(q.High, y)
		}
		s.Points[i] = q
	}
	return s
}

// scale sets the range and the ticks of an axis of a plot.
func scale(to *plot.Axis, a *Axis, e *extent) {
	to.Min, to.Max = e.min, e.max
	to.Padding, to.Tick.Length = 0, 3
	to.LineStyle.Color, to.Tick.Color = frame, frame
	to.Tick.Label.Font, to.Tick.Label.Color = regular(tickSize), ink
	to.Label.TextStyle.Font, to.Label.TextStyle.Color = regular(labelSize), ink
	to.Label.Padding = 3
	switch {
	case a.Categories != nil:
		var ticks plot.ConstantTicks
		for i, name := range a.Categories {
			ticks = append(ticks, plot.Tick{Value: float64(i), Label: clean(name)})
		}
		to.Tick.Marker = ticks
	case a.Log:
		to.Tick.Marker = plot.TickerFunc(logTicks)
	default:
		to.Tick.Marker = plot.TickerFunc(linearTicks)
	}
}

// areas returns the parts of a series that are drawn first, below all other parts.
func (s Series) areas(p *plot.Plot) []plot.Plotter {
	if s.Kind != Line && s.Kind != Range {
		return nil
	}
	var low, high plotter.XYs
	for _, q := range s.Points {
		if math.IsNaN(q.Low) || math.IsNaN(q.High) {
			return nil
		}
		low, high = append(low, plotter.XY{X: q.X, Y: q.Low}), append(high, plotter.XY{X: q.X, Y: q.High})
	}
	if len(low) < 2 {
		return nil
	}
	for i := len(low) - 1; i >= 0; i-- {
		high = append(high, low[i])
	}
	area := &plotter.Polygon{XYs: []plotter.XYs{high}, Color: soft(s.Color, shade(s.Variant))}
	if s.Kind == Range { // outline it, because ranges may overlap
		area.LineStyle = draw.LineStyle{Color: hue(s.Color), Width: 0.4, Dashes: dash(s.Variant)}
	}
	return []plot.Plotter{area}
}

// lines returns the lines of a series.
func (s Series) lines(p *plot.Plot) []plot.Plotter {
	var xys plotter.XYs
	for _, q := range s.Points {
		xys = append(xys, plotter.XY{X: q.X, Y: q.Y})
	}
	switch {
	case s.Kind == Dots || s.Kind == Range || xys == nil:
		return nil
	case s.Kind == Level:
		y := xys[len(xys)-1].Y
		xys = plotter.XYs{{X: p.X.Min, Y: y}, {X: p.X.Max, Y: y}}
	}
	return []plot.Plotter{&plotter.Line{XYs: xys, LineStyle: s.stroke()}}
}

// marks returns error bars and dots.
func (s Series) marks(p *plot.Plot) []plot.Plotter {
	if s.Kind == Range || s.Kind == Level || s.Kind == Line && len(s.Points) > 1 {
		return nil
	}
	var xys plotter.XYs
	bars := &plotter.YErrorBars{LineStyle: draw.LineStyle{Color: hue(s.Color), Width: 0.8}, CapWidth: 4}
	for _, q := range s.Points {
		xys = append(xys, plotter.XY{X: q.X, Y: q.Y})
		if q.High > q.Low {
			bars.XYs = append(bars.XYs, plotter.XY{X: q.X, Y: q.Y})
			bars.YErrors = append(bars.YErrors, struct{ Low, High float64 }{q.Y - q.Low, q.High - q.Y})
		}
	}
	return []plot.Plotter{bars, &plotter.Scatter{XYs: xys, GlyphStyle: s.glyph()}}
}

// thumbs returns the samples of a series in the legend.
func (s Series) thumbs() []plot.Thumbnailer {
	var out []plot.Thumbnailer
	switch s.Kind {
	case Range:
		out = append(out, &plotter.Polygon{Color: soft(s.Color, shade(s.Variant)+0x18)})
	case Line, Trail, Level:
		out = append(out, &plotter.Line{LineStyle: s.stroke()})
	}
	if s.Kind == Dots || s.Kind == Trail {
		out = append(out, &plotter.Scatter{GlyphStyle: s.glyph()})
	}
	return out
}

func (s Series) stroke() draw.LineStyle {
	style := draw.LineStyle{Color: hue(s.Color), Width: 1.2, Dashes: dash(s.Variant)}
	if s.Kind == Level {
		style.Dashes = dash(s.Variant + 1)
	}
	return style
}

func (s Series) glyph() draw.GlyphStyle {
	return draw.GlyphStyle{Color: hue(s.Color), Radius: 2.6, Shape: shape(s.Mark + s.Variant)}
}
