package chart

import (
	"math"
	"slices"

	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	fix "golang.org/x/image/math/fixed"
	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// outlined draws text as shapes, so that a figure does not need its font. In a PDF the shapes take
// a tenth of the space of the font, which could only be embedded as a whole. They also allow every
// character of the font instead of one code page.
type outlined struct{ rounding }

// FillString implements vg.Canvas.
func (c outlined) FillString(f plotfont.Face, at vg.Point, s string) {
	var buf sfnt.Buffer
	units := f.Face.UnitsPerEm()
	ppem := fix.I(int(units))
	unit := float64(f.Font.Size) / float64(units)
	x := float64(at.X)
	length := func(v fix.Int26_6) float64 { return float64(float64(v) / 64 * unit) }
	var last sfnt.GlyphIndex
	for i, r := range s {
		g, err := f.Face.GlyphIndex(&buf, r)
		if err != nil {
			continue
		}
		if i > 0 {
			if k, err := f.Face.Kern(&buf, last, g, ppem, font.HintingNone); err == nil {
				x += length(k)
			}
		}
		last = g
		segments, err := f.Face.LoadGlyph(&buf, g, ppem, nil)
		if err != nil {
			continue
		}
		to := func(p fix.Point26_6) vg.Point {
			return vg.Point{X: vg.Length(x + length(p.X)), Y: at.Y - vg.Length(length(p.Y))}
		}
		var path vg.Path
		for _, seg := range segments {
			switch seg.Op {
			case sfnt.SegmentOpMoveTo:
				if len(path) > 0 {
					path.Close()
				}
				path.Move(to(seg.Args[0]))
			case sfnt.SegmentOpLineTo:
				path.Line(to(seg.Args[0]))
			case sfnt.SegmentOpQuadTo:
				path.QuadTo(to(seg.Args[0]), to(seg.Args[1]))
			case sfnt.SegmentOpCubeTo:
				path.CubeTo(to(seg.Args[0]), to(seg.Args[1]), to(seg.Args[2]))
			}
		}
		if len(path) > 0 {
			path.Close()
			c.Fill(path)
		}
		if a, err := f.Face.GlyphAdvance(&buf, g, ppem, font.HintingNone); err == nil {
			x += length(a)
		}
	}
}

// rounding rounds coordinates, because their last bits depend on the processor.
type rounding struct{ vg.CanvasSizer }

// Fill implements vg.Canvas.
func (c rounding) Fill(p vg.Path) { c.CanvasSizer.Fill(rounded(p)) }

// Stroke implements vg.Canvas.
func (c rounding) Stroke(p vg.Path) { c.CanvasSizer.Stroke(rounded(p)) }

func rounded(p vg.Path) vg.Path {
	p = slices.Clone(p)
	for i := range p {
		p[i].Pos = near(p[i].Pos)
		p[i].Control = slices.Clone(p[i].Control)
		for k, q := range p[i].Control {
			p[i].Control[k] = near(q)
		}
	}
	return p
}

func near(p vg.Point) vg.Point {
	const parts = 128 // of a point
	return vg.Point{X: vg.Length(math.Round(float64(p.X*parts)) / parts), Y: vg.Length(math.Round(float64(p.Y*parts)) / parts)}
}
