package chart

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"sync"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Formats are what Render writes.
var Formats = []string{"pdf", "svg", "png"}

// dpi is the resolution of PNG files.
const dpi = 200

// Picture is something that can be drawn on a canvas of its own size.
type Picture interface {
	Size() (w, h vg.Length)
	Paint(draw.Canvas)
}

// reproducible makes PDF files free of the clock and of the order of maps.
var reproducible = sync.OnceFunc(func() {
	day := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	fpdf.SetDefaultCreationDate(day)
	fpdf.SetDefaultModificationDate(day)
	fpdf.SetDefaultCatalogSort(true)
})

// Render draws in one of the formats.
func Render(p Picture, format string) ([]byte, error) {
	reproducible()
	w, h := p.Size()
	w, h = vg.Length(math.Ceil(float64(w))), vg.Length(math.Ceil(float64(h)))
	var b bytes.Buffer
	switch format {
	case "pdf":
		c := vgpdf.New(w, h)
		p.Paint(draw.New(outlined{rounding{upright{c}}}))
		if _, err := c.WriteTo(&b); err != nil {
			return nil, err
		}
	case "svg":
		c := vgsvg.New(w, h)
		p.Paint(draw.New(outlined{rounding{c}}))
		if _, err := c.WriteTo(&b); err != nil {
			return nil, err
		}
	case "png":
		return Raster(p, dpi)
	default:
		return nil, fmt.Errorf("unknown format %q", format)
	}
	return b.Bytes(), nil
}

// Inline draws as an SVG element of a page: small, with the page's letters.
func Inline(p Picture) ([]byte, error) {
	c := vgsvg.New(p.Size())
	p.Paint(draw.New(rounding{c}))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, err
	}
	svg := b.Bytes()
	svg = svg[bytes.Index(svg, []byte("<svg")):]
	for _, unneeded := range []string{
		`xmlns="http://www.w3.org/2000/svg"`, `xmlns:xlink="http://www.w3.org/1999/xlink"`,
		"font-family:Liberation Sans;font-variant:normal;font-weight:normal;font-style:normal;",
	} {
		svg = bytes.ReplaceAll(svg, []byte(unneeded), nil)
	}
	return svg, nil
}

// Raster draws as a PNG.
func Raster(p Picture, dpi int) ([]byte, error) {
	w, h := p.Size()
	c := vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(dpi))
	p.Paint(draw.New(outlined{rounding{c}}))
	var b bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestCompression}
	if err := enc.Encode(&b, c.Image()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// blank makes a canvas white.
func blank(dc draw.Canvas) {
	dc.SetColor(color.White)
	dc.Fill(dc.Rectangle.Path())
}

// upright draws images on a PDF the right way up: its page is mirrored, so that up is
// up for paths, and vgpdf mirrors images with it.
type upright struct{ vg.CanvasSizer }

// DrawImage implements vg.Canvas.
func (c upright) DrawImage(r vg.Rectangle, m image.Image) {
	b := m.Bounds()
	mirrored := image.NewRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	for y := range b.Dy() {
		for x := range b.Dx() {
			mirrored.Set(x, b.Dy()-1-y, m.At(b.Min.X+x, b.Min.Y+y))
		}
	}
	c.CanvasSizer.DrawImage(r, mirrored)
}
