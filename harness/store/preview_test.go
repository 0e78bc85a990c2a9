package store

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"dgkip/harness/method"
	"dgkip/harness/sets"
)

func TestLayout(t *testing.T) {
	l := NewLayout([]int{3, 12, 0, 1}, image.Pt(5, 7))
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

// TestCommittedPreviews draws the sets of committed records again.
func TestCommittedPreviews(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join("..", "..", "results", "runs", "*", "*", "distilled.npz"))
	if len(files) == 0 {
		t.Skip("SKIPPED: no records here")
	}
	for _, file := range files[:min(len(files), 30)] {
		want, err := os.ReadFile(filepath.Join(filepath.Dir(file), "preview.png"))
		if err != nil {
			continue
		}
		z, err := sets.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { z.Close() })
		images, err := z.Read("images", 1<<24)
		if err != nil {
			t.Fatal(err)
		}
		names, _ := z.Read("classes", 1000)
		mean, _ := z.Read("mean", 3)
		std, _ := z.Read("std", 3)
		prep, _ := z.Read("preprocess", 1000)
		d := &method.Distilled{H: images.Shape[1], W: images.Shape[2], C: images.Shape[3]}
		d.Images, _ = images.Float32s()
		d.Prep.Mean, _ = mean.Float32s()
		d.Prep.Std, _ = std.Float32s()
		text, _ := names.Texts()
		for _, b := range text[0] + "\n" {
			if b == '\n' {
				d.Classes = append(d.Classes, "")
			}
		}
		of, _ := z.Read("of", 1<<16)
		classes, _ := of.Float32s()
		for _, class := range classes {
			d.Of = append(d.Of, int(class))
		}
		// Mean and deviation do not restore whitened images, but the file holds their pixels,
		// rounded to float16.
		alike := bytes.Equal
		if kind, _ := prep.Texts(); kind[0] != "standard" {
			pixels, err := z.Read("pixels", 1<<24)
			if err != nil {
				t.Fatal(err)
			}
			d.Prep.Restore = func([]float32) []float32 { x, _ := pixels.Float32s(); return x }
			alike = func(a, b []byte) bool { return apart(t, a, b) <= 1 }
		}
		if got, ok := preview(d); !ok || !alike(got, want) {
			t.Errorf("%s: the picture differs", file)
		}
		picture, err := png.DecodeConfig(bytes.NewReader(want))
		if err != nil {
			t.Fatal(err)
		}
		counts := make([]int, len(d.Classes))
		for _, class := range d.Of {
			counts[class]++
		}
		if l, ok := LayoutOf(counts, image.Pt(picture.Width, picture.Height)); !ok || l.Rect(0, 0).Dx() != d.W*max(1, 56/max(d.H, d.W)) {
			t.Errorf("%s: layout %+v, %v", file, l, ok)
		}
	}
}

// apart returns the largest difference of two pictures in shades, or 256 if their sizes differ.
func apart(t *testing.T, a, b []byte) int {
	t.Helper()
	p, err := png.Decode(bytes.NewReader(a))
	if err != nil {
		t.Fatal(err)
	}
	q, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if p.Bounds() != q.Bounds() {
		return 256
	}
	most := 0
	for y := range p.Bounds().Dy() {
		for x := range p.Bounds().Dx() {
			c, d := color.RGBAModel.Convert(p.At(x, y)).(color.RGBA), color.RGBAModel.Convert(q.At(x, y)).(color.RGBA)
			for _, pair := range [][2]uint8{{c.R, d.R}, {c.G, d.G}, {c.B, d.B}} {
				most = max(most, int(pair[0])-int(pair[1]), int(pair[1])-int(pair[0]))
			}
		}
	}
	return most
}
