package store

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"slices"
	"testing"

	"dgkip/harness/method"
)

func TestLayout(t *testing.T) {
	l := Layout{[]int{3, 12, 0, 1}, image.Pt(7, 9)}
	if l.Size() != image.Pt(2+10*7, 2+4*9) {
		t.Errorf("size %v", l.Size())
	}
	for _, c := range []struct{ class, i, x, y int }{{0, 0, 2, 2}, {0, 2, 16, 2}, {1, 0, 2, 11}, {1, 10, 2, 20}, {3, 0, 2, 29}} {
		if got := l.Rect(c.class, c.i); got != image.Rect(c.x, c.y, c.x+5, c.y+7) {
			t.Errorf("class %d, image %d: %v", c.class, c.i, got)
		}
	}
	if got, ok := LayoutOf([]int{3, 12, 0, 1}, l.Size()); !ok || got.Rect(1, 11) != l.Rect(1, 11) {
		t.Errorf("%+v %v", got, ok)
	}
	for _, size := range []image.Point{{73, 38}, {0, 0}, {2 + 10*2, 2 + 4*2}} {
		if _, ok := LayoutOf([]int{3, 12, 0, 1}, size); ok {
			t.Errorf("a picture of size %v fits", size)
		}
	}
	if _, ok := LayoutOf(nil, image.Pt(2, 2)); ok {
		t.Error("a picture without classes fits")
	}
}

// A picture shows every pixel of a set as a square, in the place of the layout.
func TestPreview(t *testing.T) {
	for _, channels := range []int{1, 3} {
		d := &method.Distilled{H: 2, W: 3, C: channels, Classes: []string{"a", "b"}, Of: []int{1, 0, 1}}
		d.Prep = method.Preprocessing{Name: "standard", Mean: slices.Repeat([]float32{0.25}, channels), Std: slices.Repeat([]float32{0.5}, channels)}
		for i := range 3 * d.Size() {
			d.Images = append(d.Images, float32(i)/7-0.8) // also beyond black and white
		}
		b, ok := preview(d)
		img, err := png.Decode(bytes.NewReader(b))
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		layout, ok := LayoutOf([]int{1, 2}, img.Bounds().Size())
		if !ok {
			t.Fatalf("no layout of size %v", img.Bounds())
		}
		pixels := d.Prep.Pixels(d.Images)
		for i, at := range []image.Rectangle{layout.Rect(1, 0), layout.Rect(0, 0), layout.Rect(1, 1)} {
			if at.Size() != image.Pt(3*18, 2*18) {
				t.Fatalf("image %d is shown in %v", i, at)
			}
			for y := range at.Dy() {
				for x := range at.Dx() {
					var want [3]uint8
					for k := range want {
						v := pixels[i*d.Size()+(y/18*d.W+x/18)*channels+k%channels]
						want[k] = uint8(math.Round(255 * min(max(float64(v), 0), 1)))
					}
					if got := img.At(at.Min.X+x, at.Min.Y+y); got != (color.RGBA{want[0], want[1], want[2], 255}) {
						t.Fatalf("%d channels, image %d at %d, %d: %v, want %v", channels, i, x, y, got, want)
					}
				}
			}
		}
	}
	if _, ok := preview(&method.Distilled{C: 2}); ok {
		t.Error("two channels have a picture")
	}
}
