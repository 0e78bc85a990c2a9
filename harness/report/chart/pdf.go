package chart

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"

	"dgkip/harness/deflate"
)

// pdf is a canvas whose file depends only on the drawing. Files of vgpdf also depend on the order
// of a map and on the compression in the release of Go.
type pdf struct {
	w, h   vg.Length
	page   bytes.Buffer
	width  []vg.Length // line width, one for every open Push
	alphas []string    // opacities in use; graphics state Gi sets the i-th
	images []image.Image
}

func newPDF(w, h vg.Length) *pdf {
	c := &pdf{w: w, h: h, width: []vg.Length{0}}
	vg.Initialize(c)
	return c
}

// Size implements vg.CanvasSizer.
func (c *pdf) Size() (w, h vg.Length) { return c.w, c.h }

// op writes operands, rounded to a number of decimals, and then their operator.
func (c *pdf) op(name string, decimals int, operands ...float64) {
	scale := math.Pow10(decimals)
	for _, v := range operands {
		c.page.WriteString(strconv.FormatFloat(math.Round(v*scale)/scale, 'f', -1, 64) + " ")
	}
	c.page.WriteString(name + "\n")
}

// SetLineWidth implements vg.Canvas.
func (c *pdf) SetLineWidth(w vg.Length) {
	c.width[len(c.width)-1] = w
	c.op("w", 3, float64(w))
}

// SetLineDash implements vg.Canvas.
func (c *pdf) SetLineDash(pattern []vg.Length, offset vg.Length) {
	c.page.WriteString("[ ")
	for _, p := range pattern {
		c.op("", 3, float64(p))
	}
	c.page.WriteString("] ")
	c.op("d", 3, float64(offset))
}

// SetColor implements vg.Canvas.
func (c *pdf) SetColor(of color.Color) {
	if of == nil {
		of = color.Black
	}
	v := color.NRGBAModel.Convert(of).(color.NRGBA)
	r, g, b := float64(v.R)/255, float64(v.G)/255, float64(v.B)/255
	c.op("rg", 3, r, g, b)
	c.op("RG", 3, r, g, b)
	alpha := fmt.Sprintf("%.3f", float64(v.A)/255)
	i := slices.Index(c.alphas, alpha)
	if i < 0 {
		i = len(c.alphas)
		c.alphas = append(c.alphas, alpha)
	}
	fmt.Fprintf(&c.page, "/G%d gs\n", i)
}

// Rotate implements vg.Canvas.
func (c *pdf) Rotate(angle float64) {
	sin, cos := math.Sincos(angle)
	c.op("cm", 6, cos, sin, -sin, cos, 0, 0)
}

// Translate implements vg.Canvas.
func (c *pdf) Translate(to vg.Point) { c.op("cm", 6, 1, 0, 0, 1, float64(to.X), float64(to.Y)) }

// Scale implements vg.Canvas.
func (c *pdf) Scale(x, y float64) { c.op("cm", 6, x, 0, 0, y, 0, 0) }

// Push implements vg.Canvas.
func (c *pdf) Push() {
	c.width = append(c.width, c.width[len(c.width)-1])
	c.op("q", 0)
}

// Pop implements vg.Canvas.
func (c *pdf) Pop() {
	c.width = c.width[:len(c.width)-1]
	c.op("Q", 0)
}

// Stroke implements vg.Canvas. It draws nothing for width 0, which in a PDF means the thinnest
// line.
func (c *pdf) Stroke(p vg.Path) {
	if c.width[len(c.width)-1] > 0 {
		c.path(p)
		c.op("S", 0)
	}
}

// Fill implements vg.Canvas.
func (c *pdf) Fill(p vg.Path) {
	c.path(p)
	c.op("f", 0)
}

// path writes a path. Arcs and quadratic curves become cubic curves, the only curves of a PDF.
func (c *pdf) path(path vg.Path) {
	const decimals = 2
	var x, y float64 // the current point
	for i, p := range path {
		px, py := float64(p.Pos.X), float64(p.Pos.Y)
		switch {
		case p.Type == vg.MoveComp:
			c.op("m", decimals, px, py)
		case p.Type == vg.LineComp:
			c.op("l", decimals, px, py)
		case p.Type == vg.CloseComp:
			c.op("h", 0)
		case p.Type == vg.CurveComp && len(p.Control) == 1:
			qx, qy := float64(p.Control[0].X), float64(p.Control[0].Y)
			c.op("c", decimals, (x+2*qx)/3, (y+2*qy)/3, (px+2*qx)/3, (py+2*qy)/3, px, py)
		case p.Type == vg.CurveComp:
			c.op("c", decimals, float64(p.Control[0].X), float64(p.Control[0].Y), float64(p.Control[1].X), float64(p.Control[1].Y), px, py)
		case p.Type == vg.ArcComp:
			parts := max(1, math.Ceil(math.Abs(p.Angle)/(math.Pi/2)))
			step := p.Angle / parts
			k := 4. / 3 * math.Tan(step/4)
			// on returns the point of the circle at an angle, shifted along the tangent.
			on := func(angle, along float64) (x, y float64) {
				sin, cos := math.Sincos(angle)
				return px + float64(p.Radius)*(cos-along*sin), py + float64(p.Radius)*(sin+along*cos)
			}
			x, y = on(p.Start, 0)
			c.op(map[bool]string{true: "m", false: "l"}[i == 0], decimals, x, y)
			for part := range int(parts) {
				from := p.Start + float64(part)*step
				ax, ay := on(from, k)
				bx, by := on(from+step, -k)
				x, y = on(from+step, 0)
				c.op("c", decimals, ax, ay, bx, by, x, y)
			}
			continue
		}
		x, y = px, py
	}
}

// FillString implements vg.Canvas. It panics, because outlined turns all text into paths.
func (c *pdf) FillString(plotfont.Face, vg.Point, string) { panic("chart: text is not outlined") }

// DrawImage implements vg.Canvas.
func (c *pdf) DrawImage(r vg.Rectangle, m image.Image) {
	size := r.Size()
	c.op("q", 0)
	c.op("cm", 6, float64(size.X), 0, 0, float64(size.Y), float64(r.Min.X), float64(r.Min.Y))
	fmt.Fprintf(&c.page, "/I%d Do Q\n", len(c.images))
	c.images = append(c.images, m)
}

// file returns the PDF file.
func (c *pdf) file() []byte {
	b := bytes.NewBufferString("%PDF-1.4\n")
	var at []int
	object := func(dict string, compressed []byte) {
		at = append(at, b.Len())
		fmt.Fprintf(b, "%d 0 obj\n<<%s", len(at), dict)
		if compressed != nil {
			fmt.Fprintf(b, "/Filter/FlateDecode/Length %d>>\nstream\n%s\nendstream\nendobj\n", len(compressed), compressed)
		} else {
			b.WriteString(">>\nendobj\n")
		}
	}
	const page, first = 3, 5 // object numbers of the page and of the first image
	var states, images strings.Builder
	for i, a := range c.alphas {
		fmt.Fprintf(&states, "/G%d<</ca %s/CA %s>>", i, a, a)
	}
	for i := range c.images {
		fmt.Fprintf(&images, "/I%d %d 0 R", i, first+i)
	}
	object("/Type/Catalog/Pages 2 0 R", nil)
	object(fmt.Sprintf("/Type/Pages/Kids[%d 0 R]/Count 1", page), nil)
	object(fmt.Sprintf("/Type/Page/Parent 2 0 R/MediaBox[0 0 %v %v]/Group<</S/Transparency/CS/DeviceRGB>>/Contents %d 0 R/Resources<</ExtGState<<%s>>/XObject<<%s>>>>",
		float64(c.w), float64(c.h), page+1, &states, &images), nil)
	object("", deflate.Zlib(c.page.Bytes()))
	for _, m := range c.images {
		size := m.Bounds().Size()
		object(fmt.Sprintf("/Type/XObject/Subtype/Image/Width %d/Height %d/ColorSpace/DeviceRGB/BitsPerComponent 8/DecodeParms<</Predictor 15/Colors 3/Columns %d>>",
			size.X, size.Y, size.X), deflate.Pixels(m))
	}
	table := b.Len()
	fmt.Fprintf(b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, offset := range at {
		fmt.Fprintf(b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(b, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, table)
	return b.Bytes()
}
