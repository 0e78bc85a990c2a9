package deflate

import (
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/color"
	"image/png"
	"io"
	"testing"
)

// text resembles a figure: repeated lines with varying numbers.
func text() []byte {
	var out []byte
	state := uint32(1)
	for range 20000 {
		state = state*1664525 + 1013904223
		out = append(out, "0.13 l c rg\n"[state>>29:]...)
		out = append(out, byte('0'+state>>16%10))
	}
	return out
}

// picture has flat areas and noise, in a part of a larger image.
func picture(img interface {
	image.Image
	Set(x, y int, c color.Color)
	SubImage(image.Rectangle) image.Image
}) image.Image {
	state := uint32(1)
	for y := range 80 {
		for x := range 120 {
			state = state*1664525 + 1013904223
			c := color.RGBA{uint8(x / 10 * 9), 200, 50, 255}
			if y > 40 {
				c.R, c.G = uint8(state>>24), uint8(state>>28<<4)
			}
			img.Set(x, y, c)
		}
	}
	return img.SubImage(image.Rect(3, 5, 117, 78))
}

// steep has columns that differ strongly and rows that hardly differ.
func steep() image.Image {
	img := image.NewRGBA(image.Rect(0, 0, 120, 80))
	for y := range 80 {
		for x := range 120 {
			img.Set(x, y, color.RGBA{uint8(x*x*31 + y), uint8(x * x * x), 9, 255})
		}
	}
	return img
}

// The bytes are the same with every release of Go and on every processor.
func TestBytesAreFixed(t *testing.T) {
	area := image.Rect(0, 0, 120, 80)
	for name, c := range map[string]struct {
		got  []byte
		want string
	}{
		"text":   {Zlib(text()), "8f98ea939dfcb9b0"},
		"colour": {PNG(picture(image.NewRGBA(area))), "ee4ec611ab0678bc"},
		"steep":  {PNG(steep()), "91d488a397a98927"},
	} {
		sum := sha256.Sum256(c.got)
		if got := hex.EncodeToString(sum[:8]); got != c.want {
			t.Errorf("%s: %d bytes, digest %s, want %s", name, len(c.got), got, c.want)
		}
	}
}

// The standard library can read the output.
func TestReadAgain(t *testing.T) {
	r, err := zlib.NewReader(bytes.NewReader(Zlib(text())))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, text()) {
		t.Errorf("%d bytes of %d, %v", len(got), len(text()), err)
	}
	area := image.Rect(0, 0, 120, 80)
	for _, want := range []image.Image{picture(image.NewRGBA(area)), picture(image.NewNRGBA(area)), steep()} {
		got, err := png.Decode(bytes.NewReader(PNG(want)))
		if err != nil {
			t.Fatal(err)
		}
		from := want.Bounds().Min
		if got.Bounds().Size() != want.Bounds().Size() {
			t.Fatal(got.Bounds(), want.Bounds())
		}
		for y := range got.Bounds().Dy() {
			for x := range got.Bounds().Dx() {
				if p, q := color.RGBAModel.Convert(got.At(x, y)), color.RGBAModel.Convert(want.At(from.X+x, from.Y+y)); p != q {
					t.Fatalf("pixel %d, %d of %T is %v, not %v", x, y, want, p, q)
				}
			}
		}
	}
}
