package store

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"

	"dgkip/harness/method"
)

// preview draws a distilled set: a row of images a class, ten at most in a line.
// It reports false where there is nothing to draw.
func preview(d *method.Distilled) ([]byte, bool) {
	if d.C != 1 && d.C != 3 {
		return nil, false
	}
	const across, gap = 10, 2
	scale := max(1, 56/max(d.H, d.W))
	pixels := d.Prep.Pixels(d.Images)
	var lines [][]int
	for class := range d.Classes {
		var line []int
		for i, y := range d.Of {
			if y != class {
				continue
			}
			if len(line) == across {
				lines, line = append(lines, line), nil
			}
			line = append(line, i)
		}
		if line != nil {
			lines = append(lines, line)
		}
	}
	width := 0
	for _, l := range lines {
		width = max(width, len(l))
	}
	cellW, cellH := d.W*scale+gap, d.H*scale+gap
	img := image.NewRGBA(image.Rect(0, 0, width*cellW+gap, len(lines)*cellH+gap))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	for row, l := range lines {
		for col, i := range l {
			x0, y0 := gap+col*cellW, gap+row*cellH
			for y := range d.H * scale {
				for x := range d.W * scale {
					at := i*d.Size() + (y/scale*d.W+x/scale)*d.C
					var c [3]uint8
					for k := range c {
						c[k] = shade(pixels[at+k%d.C])
					}
					img.SetRGBA(x0+x, y0+y, color.RGBA{c[0], c[1], c[2], 255})
				}
			}
		}
	}
	var b bytes.Buffer
	if png.Encode(&b, img) != nil {
		return nil, false
	}
	return b.Bytes(), true
}

// shade clips to what a screen can show.
func shade(v float32) uint8 {
	return uint8(math.Round(255 * min(max(float64(v), 0), 1)))
}
