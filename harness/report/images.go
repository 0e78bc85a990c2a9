package report

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"os"
	"slices"

	"dgkip/harness/store"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
)

// Layout of the pictures that records hold: lines of at most previewAcross images
// of one class, with previewGap pixels around each.
const (
	previewAcross = 10
	previewGap    = 2
)

// previewOf cuts the first images of every class out of a record's picture, a line
// a class. It returns nil if there is no picture, or it is not laid out as known;
// otherwise the distance of two images as well.
func previewOf(rec *store.Record, most int) (img image.Image, cell int) {
	b, err := os.ReadFile(rec.Preview())
	if err != nil {
		return nil, 0
	}
	if img, err = png.Decode(bytes.NewReader(b)); err != nil {
		return nil, 0
	}
	classes := len(rec.Result.Identity.Dataset.Classes)
	return cut(img, classes, rec.Result.Images, most)
}

func cut(img image.Image, classes, images, most int) (image.Image, int) {
	if classes < 1 || images < classes || images%classes != 0 {
		return nil, 0
	}
	each := images / classes
	across := min(each, previewAcross)
	lines := classes * ((each + across - 1) / across)
	size := img.Bounds().Size()
	w, h := size.X-previewGap, size.Y-previewGap
	if w <= 0 || h <= 0 || w%across != 0 || h%lines != 0 {
		return nil, 0
	}
	if most < 1 {
		most = previewAcross
	}
	n := min(most, across)
	cell := image.Pt(w/across, h/lines)
	out := image.NewRGBA(image.Rect(0, 0, n*cell.X+previewGap, classes*cell.Y+previewGap))
	draw.Draw(out, out.Bounds(), image.White, image.Point{}, draw.Src)
	for k := range classes {
		from := image.Pt(0, k*(lines/classes)*cell.Y).Add(img.Bounds().Min)
		draw.Draw(out, image.Rect(0, k*cell.Y, n*cell.X+previewGap, (k+1)*cell.Y+previewGap), img, from, draw.Src)
	}
	return out, cell.X
}

// enlarge repeats pixels, so that viewers that smooth pictures leave them sharp.
func enlarge(img image.Image, by int) image.Image {
	if by <= 1 {
		return img
	}
	s := img.Bounds()
	out := image.NewRGBA(image.Rect(0, 0, s.Dx()*by, s.Dy()*by))
	for y := range s.Dy() {
		for x := range s.Dx() {
			c := color.RGBAModel.Convert(img.At(s.Min.X+x, s.Min.Y+y)).(color.RGBA)
			for dy := range by {
				for dx := range by {
					out.SetRGBA(x*by+dx, y*by+dy, c)
				}
			}
		}
	}
	return out
}

// images lays distilled images out: a line for every series, a column for every
// panel, from one seed.
func (b *figureBuilder) images() bool {
	if b.f.Seed >= len(b.r.Spec.Seeds) {
		b.r.problem("figure %s: there is no seed number %d", b.f.Name, b.f.Seed)
		return false
	}
	seed := b.r.Spec.Seeds[b.f.Seed]
	b.c.tiles = true
	columns := b.split(b.cells, b.panelAxes)
	b.c.columns = len(columns)
	any, widest := false, 0
	for _, sg := range b.split(b.cells, b.seriesAxes) {
		var line []panel
		drawn := false
		for i, pg := range columns {
			p := panel{title: pg.title}
			if i == 0 {
				p.rowName = sg.title
			}
			for _, c := range pg.cells {
				if !slices.Contains(sg.cells, c) {
					continue
				}
				p.missing = "not run"
				for _, run := range c.Runs {
					if run.Seed != seed {
						continue
					}
					switch {
					case run.Record == nil && run.Failure != nil:
						p.missing = "failed"
					case run.Record != nil:
						p.missing = "no images"
						if img, cell := previewOf(run.Record, b.f.Images); img != nil {
							p.picture, p.missing, drawn = img, "", true
							p.cell = cell
							widest = max(widest, cell)
						}
					}
				}
			}
			line = append(line, p)
		}
		// Methods that make no images take no line.
		if drawn || slices.ContainsFunc(line, func(p panel) bool { return p.missing != "" && p.missing != "no images" }) {
			b.c.panels = append(b.c.panels, line...)
		}
		any = any || drawn
	}
	for i := range b.c.panels {
		// Images of all sizes are shown at about the same.
		if p := &b.c.panels[i]; p.picture != nil {
			p.picture = enlarge(p.picture, (widest+p.cell/2)/p.cell)
		}
	}
	if any {
		b.note("Each line of a picture holds images of one class; pixels outside of the range are clipped")
	}
	return any
}

// grid is where the pictures of a chart go.
type grid struct {
	columns       int
	widths        []vg.Length // of columns
	heights       []vg.Length // of lines
	side, top     vg.Length   // room for names
	width, height vg.Length
	unit          vg.Length // of a pixel
}

func (c *chart) grid() grid {
	g := grid{columns: max(1, c.columns)}
	lines := (len(c.panels) + g.columns - 1) / g.columns
	g.widths, g.heights = make([]vg.Length, g.columns), make([]vg.Length, lines)
	name, title := letters(labelSize), bold(letters(titleSize))
	pixels := 0
	across := make([]int, g.columns)
	for i, p := range c.panels {
		if p.picture != nil {
			across[i%g.columns] = max(across[i%g.columns], p.picture.Bounds().Dx())
		}
		if p.title != "" {
			g.top = title.Height("X") + 8
		}
		if p.rowName != "" {
			g.side = max(g.side, name.Width(figureText(p.rowName))+8)
		}
	}
	for _, w := range across {
		pixels += w
	}
	// As large as fits a page's width, but no larger than is useful.
	g.unit = min(0.9, (500-g.side)/vg.Length(max(1, pixels)))
	for i, p := range c.panels {
		w, h := vg.Length(40), vg.Length(20)
		if p.picture != nil {
			w, h = vg.Length(p.picture.Bounds().Dx())*g.unit, vg.Length(p.picture.Bounds().Dy())*g.unit
		}
		w = max(w, title.Width(figureText(p.title)))
		col, line := i%g.columns, i/g.columns
		g.widths[col], g.heights[line] = max(g.widths[col], w), max(g.heights[line], h)
	}
	g.width, g.height = g.side+2*margin-gutter, g.top+2*margin-tileGap
	for _, w := range g.widths {
		g.width += w + gutter
	}
	for _, h := range g.heights {
		g.height += h + tileGap
	}
	return g
}

const tileGap = 7

func (c *chart) drawTiles(dc vgdraw.Canvas, g grid) {
	dc.SetColor(color.White)
	dc.Fill(dc.Rectangle.Path())
	// All pictures become a single one, for a PDF with several holds them in the
	// order of a map. Its pixels are those of the pictures.
	left, top := dc.Min.X+margin+g.side, dc.Max.Y-margin-g.top
	pixel := func(v vg.Length) int { return int(math.Round(float64(v / g.unit))) }
	whole := image.NewRGBA(image.Rect(0, 0, pixel(dc.Max.X-margin-left)+1, pixel(top-dc.Min.Y-margin)+1))
	draw.Draw(whole, whole.Bounds(), image.White, image.Point{}, draw.Src)
	g.each(c, left, top, func(p panel, line int, x, y, w, h vg.Length) {
		if p.picture != nil {
			b := p.picture.Bounds()
			at := image.Pt(pixel(x-left+w/2)-b.Dx()/2, pixel(top-y+h/2)-b.Dy()/2)
			draw.Draw(whole, b.Sub(b.Min).Add(at), p.picture, b.Min, draw.Src)
		}
	})
	size := vg.Point{X: vg.Length(whole.Bounds().Dx()) * g.unit, Y: vg.Length(whole.Bounds().Dy()) * g.unit}
	dc.DrawImage(vg.Rectangle{Min: vg.Point{X: left, Y: top - size.Y}, Max: vg.Point{X: left + size.X, Y: top}}, enlarge(whole, 3))

	g.each(c, left, top, func(p panel, line int, x, y, w, h vg.Length) {
		if line == 0 {
			s := bold(letters(titleSize))
			s.YAlign = vgdraw.YBottom
			put(dc, s, vg.Point{X: x + w/2, Y: y + 4}, p.title)
		}
		if p.rowName != "" {
			s := letters(labelSize)
			s.XAlign = text.XAlignment(vgdraw.XRight)
			put(dc, s, vg.Point{X: x - 6, Y: y - h/2}, p.rowName)
		}
		if p.missing != "" {
			s := letters(tickSize)
			s.Color = frame
			put(dc, s, vg.Point{X: x + w/2, Y: y - h/2}, p.missing)
		}
	})
}

// each visits the places of pictures: their top left corner and their size.
func (g grid) each(c *chart, left, top vg.Length, visit func(p panel, line int, x, y, w, h vg.Length)) {
	y := top
	for line, h := range g.heights {
		x := left
		for col, w := range g.widths {
			if i := line*g.columns + col; i < len(c.panels) {
				visit(c.panels[i], line, x, y, w, h)
			}
			x += w + gutter
		}
		y -= h + tileGap
	}
}
