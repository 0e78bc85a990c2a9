package chart

import (
	"image"
	"image/color"
	"math"

	xdraw "golang.org/x/image/draw"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"dgkip/harness/deflate"
)

// Formats lists the formats that Render writes.
var Formats = []string{"pdf", "png"}

// dpi is the resolution of PNG files.
const dpi = 200

// Picture is anything that can be drawn on a canvas of its own size.
type Picture interface {
	Size() (w, h vg.Length)
	Paint(draw.Canvas)
}

// Render draws a picture in one of the formats.
func Render(p Picture, format string) []byte {
	if format == "png" {
		return Raster(p, dpi)
	}
	w, h := p.Size()
	w, h = vg.Length(math.Ceil(float64(w))), vg.Length(math.Ceil(float64(h)))
	c := newPDF(w, h)
	p.Paint(draw.New(outlined{rounding{c}}))
	return c.file()
}

// Raster draws a picture as a PNG.
func Raster(p Picture, dpi int) []byte {
	w, h := p.Size()
	c := vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(dpi))
	p.Paint(draw.New(outlined{rounding{sharp{c}}}))
	return deflate.PNG(c.Image())
}

// blank fills a canvas with white.
func blank(dc draw.Canvas) {
	dc.SetColor(color.White)
	dc.Fill(dc.Rectangle.Path())
}

// sharp draws images in a PNG with sharp pixels, each a rectangle of one colour. vgimg would blur
// them, which triples the size of files. If an image has several pixels for each dot, sharp
// averages them.
type sharp struct{ *vgimg.Canvas }

// DrawImage implements vg.Canvas.
func (c sharp) DrawImage(r vg.Rectangle, m image.Image) {
	dot := func(x vg.Length) int { return int(math.Round(x.Dots(c.DPI()))) }
	high := c.Image().Bounds().Dy()
	to := image.Rect(dot(r.Min.X), high-dot(r.Max.Y), dot(r.Max.X), high-dot(r.Min.Y))
	how := xdraw.Interpolator(xdraw.NearestNeighbor)
	if to.Dx()*block < m.Bounds().Dx() {
		how = xdraw.BiLinear
	}
	how.Scale(c.Image(), to, m, m.Bounds(), xdraw.Src, nil)
}
