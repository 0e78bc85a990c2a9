package report

import (
	"bytes"
	"cmp"
	"image"
	"image/png"
	"slices"
	"strings"

	"dgkip/harness/report/chart"
	"dgkip/harness/report/sheet"
	"dgkip/harness/store"
)

// previewOf returns the first images of every class from a record's picture, or nil if there is no
// picture. Records keep the picture even without distilled.npz.
func previewOf(rec *store.Record, most int) [][]image.Image {
	b, err := rec.Picture()
	if err != nil {
		return nil
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		return nil
	}
	return cut(img, len(rec.Result.Identity.Dataset.Classes), rec.Result.Images, most)
}

func cut(img image.Image, classes, images, most int) [][]image.Image {
	parts, ok := img.(interface {
		SubImage(image.Rectangle) image.Image
	})
	if !ok || classes < 1 || images%classes != 0 {
		return nil
	}
	each := images / classes
	counts := slices.Repeat([]int{each}, classes)
	layout, ok := store.LayoutOf(counts, img.Bounds().Size())
	if !ok || each < 1 {
		return nil
	}
	var out [][]image.Image
	for class := range classes {
		var line []image.Image
		for i := range min(each, most) {
			line = append(line, parts.SubImage(layout.Rect(class, i).Add(img.Bounds().Min)))
		}
		out = append(out, line)
	}
	return out
}

// images shows distilled images of the first seed, with a row for every series and a column for
// every panel.
func (b *figureBuilder) images() chart.Picture {
	out := &chart.Images{}
	columns := b.r.groups(b.cells, b.panelAxes)
	for _, c := range columns {
		out.Columns = append(out.Columns, sheet.Plain(b.r.titleOf(c)))
	}
	some := false
	for _, sg := range b.r.groups(b.cells, b.seriesAxes) {
		row := chart.ImageRow{Name: sheet.Plain(b.r.titleOf(sg))}
		for _, pg := range columns {
			var t chart.Tile
			if c := sg.meet(pg); c != nil {
				t = b.tile(c)
			}
			some = some || t.Lines != nil
			row.Tiles = append(row.Tiles, t)
		}
		out.Rows = append(out.Rows, row)
	}
	if !some {
		return nil
	}
	b.note("Classes from top to bottom: " + b.classes() + ". Pixel values that cannot be shown are clipped")
	return out
}

// classes names the classes of the datasets in the figure.
func (b *figureBuilder) classes() string {
	names := map[string][]string{} // by dataset
	var order []string
	for _, c := range b.cells {
		if done := c.done(); len(done) > 0 {
			order = with(order, c.Cell.Dataset)
			names[c.Cell.Dataset] = done[0].Record.Result.Identity.Dataset.Classes
		}
	}
	var parts []string
	for _, d := range order {
		part := strings.Join(names[d], ", ")
		if len(order) > 1 {
			part += " (" + sheet.Plain(b.r.valueTitle("dataset", d)) + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}

// tile shows the images of a cell, or why there are none.
func (b *figureBuilder) tile(c *CellRuns) chart.Tile {
	run := c.Runs[0]
	if run.Record == nil {
		return chart.Tile{Missing: run.state().String()}
	}
	if lines := previewOf(run.Record, cmp.Or(b.f.Images, 10)); lines != nil {
		return chart.Tile{Lines: lines}
	}
	return chart.Tile{Missing: "no images"}
}
