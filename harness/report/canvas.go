package report

import (
	"bytes"
	"fmt"
	"image"
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

// reproducible makes PDF files free of the clock and of the order of maps.
var reproducible = sync.OnceFunc(func() {
	day := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	fpdf.SetDefaultCreationDate(day)
	fpdf.SetDefaultModificationDate(day)
	fpdf.SetDefaultCatalogSort(true)
})

// Formats of figures.
var figureFormats = []string{"pdf", "svg", "png"}

// dpi is the resolution of PNG figures.
const dpi = 200

// picture is something that can be drawn on a canvas of its own size.
type picture interface {
	size() (w, h vg.Length)
	paint(draw.Canvas)
}

func (c *chart) size() (w, h vg.Length) {
	if c.tiles {
		g := c.grid()
		return g.width, g.height
	}
	l := c.layout()
	return l.width, l.height
}

func (c *chart) paint(dc draw.Canvas) {
	if c.tiles {
		c.drawTiles(dc, c.grid())
		return
	}
	c.draw(dc, c.layout())
}

// render draws in a format.
func render(p picture, format string) ([]byte, error) {
	reproducible()
	w, h := p.size()
	w, h = vg.Length(math.Ceil(float64(w))), vg.Length(math.Ceil(float64(h)))
	var b bytes.Buffer
	switch format {
	case "pdf":
		c := vgpdf.New(w, h)
		p.paint(draw.New(outlined{upright{c}}))
		if _, err := c.WriteTo(&b); err != nil {
			return nil, err
		}
	case "svg":
		c := vgsvg.New(w, h)
		p.paint(draw.New(outlined{c}))
		if _, err := c.WriteTo(&b); err != nil {
			return nil, err
		}
	case "png":
		return raster(p, dpi)
	default:
		return nil, fmt.Errorf("unknown format %q", format)
	}
	return b.Bytes(), nil
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

// raster draws as a PNG.
func raster(p picture, dpi int) ([]byte, error) {
	w, h := p.size()
	c := vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(dpi))
	p.paint(draw.New(outlined{c}))
	var b bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestCompression}
	if err := enc.Encode(&b, c.Image()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
