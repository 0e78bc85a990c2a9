package chart

import (
	"image"
	"image/draw"
	"math"

	xdraw "golang.org/x/image/draw"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
)

// Images is a table of small pictures of equal size.
type Images struct {
	Columns []string
	Rows    []ImageRow
}

// ImageRow is a row of the table.
type ImageRow struct {
	Name  string
	Tiles []Tile
}

// Tile is a cell of the table: rows of images, or the reason why there are none.
type Tile struct {
	Lines   [][]image.Image
	Missing string
}

// Sizes in points, but of images in pixels. The side of an image, 224, is a multiple of 28 and of
// 32. A block is one pixel of a 32x32 image.
const (
	block               = 7
	pixelSide, pixelGap = 32 * block, 2 * block
	pitch               = pixelSide + pixelGap
	rowGap              = 6
	titleRoom           = 14
)

// room is the space in points for names, columns and rows, and the size of a pixel.
type room struct {
	side, pixel   vg.Length
	columns, rows []vg.Length
}

// of returns the space for a number of images side by side.
func (r room) of(images int) vg.Length {
	return r.pixel * vg.Length(max(0, images*pitch-pixelGap))
}

func (m *Images) measure() room {
	r := room{columns: make([]vg.Length, len(m.Columns)), rows: make([]vg.Length, len(m.Rows))}
	across := make([]int, len(m.Columns))
	for _, row := range m.Rows {
		r.side = max(r.side, letters(regular(labelSize)).Width(clean(row.Name))+8)
		for i, t := range row.Tiles {
			for _, l := range t.Lines {
				across[i] = max(across[i], len(l))
			}
		}
	}
	all := 0
	for _, n := range across {
		all += max(1, n)
	}
	// The picture is as wide as the text, unless its images would get too large.
	r.pixel = min(40, (widths[2]-r.side-2*margin-gutter*vg.Length(len(across)-1))/vg.Length(all)) / pitch
	// A block covers whole dots, so that all pixels of a 32x32 image look alike.
	if dots := math.Floor(r.pixel.Dots(dpi) * block); dots > 0 {
		r.pixel = vg.Length(dots/block) * vg.Inch / dpi
	}
	for i, name := range m.Columns {
		r.columns[i] = max(r.of(across[i]), letters(bold()).Width(clean(name)))
	}
	for j, row := range m.Rows {
		r.rows[j] = 20
		for i, t := range row.Tiles {
			r.columns[i] = max(r.columns[i], letters(regular(tickSize)).Width(t.Missing))
			r.rows[j] = max(r.rows[j], r.of(len(t.Lines)))
		}
	}
	return r
}

// Size implements Picture.
func (m *Images) Size() (w, h vg.Length) {
	r := m.measure()
	w, h = r.side+2*margin-gutter, titleRoom+2*margin-rowGap
	for _, c := range r.columns {
		w += c + gutter
	}
	for _, high := range r.rows {
		h += high + rowGap
	}
	return w, h
}

// Paint implements Picture. It draws all images as one, whose pixels share a grid. Each image is
// scaled to fit a square.
func (m *Images) Paint(dc vgdraw.Canvas) {
	blank(dc)
	r := m.measure()
	left, top := dc.Min.X+margin+r.side, dc.Max.Y-margin-titleRoom
	pixel := r.pixel
	whole := image.NewRGBA(image.Rect(0, 0, int((dc.Max.X-margin-left)/pixel), int((top-dc.Min.Y-margin)/pixel)))
	draw.Draw(whole, whole.Bounds(), image.White, image.Point{}, draw.Src)
	m.each(r, func(t Tile, x, y, w, h vg.Length) {
		wide := 0
		for _, line := range t.Lines {
			wide = max(wide, len(line))
		}
		corner := image.Pt(int((x+w/2)/pixel)-(wide*pitch-pixelGap)/2, int(y/pixel)).Div(block).Mul(block)
		for j, line := range t.Lines {
			for i, img := range line {
				at, size := corner.Add(image.Pt(i, j).Mul(pitch)), img.Bounds().Size()
				to := image.Rectangle{Min: at, Max: at.Add(size.Mul(pixelSide).Div(max(size.X, size.Y)))}
				// Copies whole pixels, so that the image stays sharp.
				xdraw.NearestNeighbor.Scale(whole, to, img, img.Bounds(), draw.Src, nil)
			}
		}
	})
	size := vg.Point{X: vg.Length(whole.Bounds().Dx()) * pixel, Y: vg.Length(whole.Bounds().Dy()) * pixel}
	dc.DrawImage(vg.Rectangle{Min: vg.Point{X: left, Y: top - size.Y}, Max: vg.Point{X: left + size.X, Y: top}}, whole)

	missing := letters(regular(tickSize))
	missing.Color = frame
	m.each(r, func(t Tile, x, y, w, h vg.Length) {
		dc.FillText(missing, vg.Point{X: left + x + w/2, Y: top - y - h/2}, t.Missing)
	})
	name, title := letters(regular(labelSize)), letters(bold())
	name.XAlign, title.YAlign = text.XAlignment(vgdraw.XRight), vgdraw.YBottom
	y := top
	for j, h := range r.rows {
		dc.FillText(name, vg.Point{X: left - 8, Y: y - h/2}, clean(m.Rows[j].Name))
		y -= h + rowGap
	}
	x := left
	for i, w := range r.columns {
		dc.FillText(title, vg.Point{X: x + w/2, Y: top + 4}, clean(m.Columns[i]))
		x += w + gutter
	}
}

// each visits the tiles with their position, measured from the first tile, and their size.
func (m *Images) each(r room, visit func(t Tile, x, y, w, h vg.Length)) {
	var y vg.Length
	for j, h := range r.rows {
		var x vg.Length
		for i, w := range r.columns {
			if i < len(m.Rows[j].Tiles) {
				visit(m.Rows[j].Tiles[i], x, y, w, h)
			}
			x += w + gutter
		}
		y += h + rowGap
	}
}
