package chart

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"math"
	"regexp"

	xdraw "golang.org/x/image/draw"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"dgkip/harness/deflate"
)

// Formats lists the formats that Render writes.
var Formats = []string{"pdf", "svg", "png"}

// dpi is the resolution of PNG files.
const dpi = 200

// Picture is anything that can be drawn on a canvas of its own size.
type Picture interface {
	Size() (w, h vg.Length)
	Paint(draw.Canvas)
}

// embedded matches an image in an SVG file.
var embedded = regexp.MustCompile(`data:image/jpg;base64,[^"]*`)

// Render draws a picture in one of the formats.
func Render(p Picture, format string) []byte {
	if format == "png" {
		return Raster(p, dpi)
	}
	w, h := p.Size()
	w, h = vg.Length(math.Ceil(float64(w))), vg.Length(math.Ceil(float64(h)))
	if format == "pdf" {
		c := newPDF(w, h)
		p.Paint(draw.New(outlined{rounding{c}}))
		return c.file()
	}
	c := vgsvg.New(w, h)
	p.Paint(draw.New(outlined{rounding{c}}))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		panic("chart: writing to a buffer failed: " + err.Error())
	}
	return embedded.ReplaceAllFunc(b.Bytes(), anew)
}

// anew compresses an image in an SVG file again, because vgsvg uses the standard library, whose
// output changes with Go, and labels the image as a JPEG.
func anew(url []byte) []byte {
	_, text, _ := bytes.Cut(url, []byte(","))
	img, err := png.Decode(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(text)))
	if err != nil {
		panic("chart: vgsvg writes no PNG: " + err.Error())
	}
	return base64.StdEncoding.AppendEncode([]byte("data:image/png;base64,"), deflate.PNG(img))
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
