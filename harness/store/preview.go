package store

import (
	"image"
	"image/color"
	"image/draw"
	"math"

	"dgkip/harness/deflate"
	"dgkip/harness/method"
)

// Layout places the images in preview.png. Classes are below each other, in rows of at most ten
// images, with a gap of two pixels around each image.
type Layout struct {
	counts []int       // images of each class
	cell   image.Point // size of an image with the gap
}

const previewAcross, previewGap = 10, 2

// LayoutOf returns the layout of a picture, given the number of images of each class. It reports
// false if the size of the picture does not fit.
func LayoutOf(counts []int, picture image.Point) (Layout, bool) {
	l := Layout{counts, image.Pt(1, 1)}
	n := l.Size().Sub(image.Pt(previewGap, previewGap)) // size in cells
	inner := picture.Sub(image.Pt(previewGap, previewGap))
	if n.X < 1 || n.Y < 1 || inner.X%n.X != 0 || inner.Y%n.Y != 0 {
		return Layout{}, false
	}
	l.cell = image.Pt(inner.X/n.X, inner.Y/n.Y)
	return l, l.cell.X > previewGap && l.cell.Y > previewGap
}

// Size returns the size of the picture.
func (l Layout) Size() image.Point {
	across, down := 0, 0
	for _, n := range l.counts {
		across, down = max(across, min(n, previewAcross)), down+lines(n)
	}
	return image.Pt(across*l.cell.X+previewGap, down*l.cell.Y+previewGap)
}

func lines(images int) int { return (images + previewAcross - 1) / previewAcross }

// Rect returns the place of image i of a class, without the gap.
func (l Layout) Rect(class, i int) image.Rectangle {
	line := i / previewAcross
	for _, n := range l.counts[:class] {
		line += lines(n)
	}
	from := image.Pt(previewGap+i%previewAcross*l.cell.X, previewGap+line*l.cell.Y)
	return image.Rectangle{from, from.Add(l.cell).Sub(image.Pt(previewGap, previewGap))}
}

// preview draws a distilled set. It reports false if the images have neither 1 nor 3 channels.
func preview(d *method.Distilled) ([]byte, bool) {
	if d.C != 1 && d.C != 3 {
		return nil, false
	}
	counts := make([]int, len(d.Classes))
	for _, class := range d.Of {
		counts[class]++
	}
	scale := max(1, 56/max(d.H, d.W))
	layout := Layout{counts, image.Pt(d.W*scale+previewGap, d.H*scale+previewGap)}
	img := image.NewRGBA(image.Rectangle{Max: layout.Size()})
	draw.Draw(img, img.Bounds(), image.White, image.Point{}, draw.Src)
	pixels := d.Prep.Pixels(d.Images)
	drawn := make([]int, len(d.Classes))
	for i, class := range d.Of {
		at := layout.Rect(class, drawn[class])
		drawn[class]++
		for y := range at.Dy() {
			for x := range at.Dx() {
				p := i*d.Size() + (y/scale*d.W+x/scale)*d.C
				var c [3]uint8
				for k := range c {
					c[k] = uint8(math.Round(255 * min(max(float64(pixels[p+k%d.C]), 0), 1)))
				}
				img.SetRGBA(at.Min.X+x, at.Min.Y+y, color.RGBA{c[0], c[1], c[2], 255})
			}
		}
	}
	return deflate.PNG(img), true
}
