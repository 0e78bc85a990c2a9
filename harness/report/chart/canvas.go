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
	xdraw "golang.org/x/image/draw"
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

// Raster draws as a PNG.
func Raster(p Picture, dpi int) ([]byte, error) {
	w, h := p.Size()
	c := vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(dpi))
	p.Paint(draw.New(outlined{rounding{sharp{c}}}))
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

// sharp draws on a PNG. Pixels of images stay rectangles of one colour, from dot to dot;
// vgimg would blur them, which makes files of three times the size. Where there are more
// pixels than dots it averages.
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

// upright draws on a PDF. Images stand the right way up: its page is mirrored, so that up is
// up for paths, and vgpdf mirrors images with it.
type upright struct{ vg.CanvasSizer }

// SetColor implements vg.Canvas. A PDF wants the colour itself beside its opacity, and
// vgpdf hands it what color.Color has: the colour times the opacity, which is darker.
func (c upright) SetColor(of color.Color) {
	if of != nil {
		of = straight{color.NRGBAModel.Convert(of).(color.NRGBA)}
	}
	c.CanvasSizer.SetColor(of)
}

// straight is a colour that is not multiplied by its opacity.
type straight struct{ color.NRGBA }

// RGBA implements color.Color.
func (c straight) RGBA() (r, g, b, a uint32) {
	return uint32(c.R) * 0x101, uint32(c.G) * 0x101, uint32(c.B) * 0x101, uint32(c.A) * 0x101
}

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
