// Package deflate writes zlib streams and PNG files whose bytes depend only on their content. The
// output of the standard library depends on the release of Go, which would change records and
// figures.
package deflate

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/draw"
	"slices"

	"github.com/klauspost/compress/zlib"
)

// level compresses pictures better than the best level of the standard library.
const level = 7

// Zlib returns b, compressed as a zlib stream.
func Zlib(b []byte) []byte {
	var out bytes.Buffer
	w, _ := zlib.NewWriterLevel(&out, level) // fails only for invalid levels
	w.Write(b)                               // writing to a buffer cannot fail
	w.Close()
	return out.Bytes()
}

// PNG encodes an opaque image as a PNG file.
func PNG(img image.Image) []byte {
	size := img.Bounds().Size()
	header := binary.BigEndian.AppendUint32(nil, uint32(size.X))
	header = binary.BigEndian.AppendUint32(header, uint32(size.Y))
	header = append(header, 8, 2, 0, 0, 0) // bits, kind of colour, no interlacing
	out := []byte("\x89PNG\r\n\x1a\n")
	for _, c := range []struct {
		name string
		data []byte
	}{{"IHDR", header}, {"IDAT", Pixels(img)}, {"IEND", nil}} {
		out = binary.BigEndian.AppendUint32(out, uint32(len(c.data)))
		from := len(out)
		out = append(append(out, c.name...), c.data...)
		out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[from:]))
	}
	return out
}

// Pixels returns the compressed pixels of an opaque image in three channels, as in PNG and PDF files.
// It compresses the rows, and also their differences from the row above, and returns the smaller
// result. Plain rows suit figures, and differences suit photographs.
func Pixels(img image.Image) []byte {
	rows := rows(img)
	stride := 1 + 3*img.Bounds().Dx()
	up := slices.Clone(rows)
	for i := range up {
		switch {
		case i%stride == 0:
			up[i] = 2 // PNG's filter type "up"
		case i > stride:
			up[i] -= rows[i-stride]
		}
	}
	a, b := Zlib(rows), Zlib(up)
	if len(b) < len(a) {
		a = b
	}
	return a
}

// rows returns the pixels of an image. Each row begins with a zero, which is PNG's filter type
// "none".
func rows(img image.Image) []byte {
	size := img.Bounds().Size()
	rgba := image.NewRGBA(image.Rectangle{Max: size})
	draw.Draw(rgba, rgba.Rect, img, img.Bounds().Min, draw.Src)
	out := make([]byte, 0, size.Y*(1+3*size.X))
	for y := range size.Y {
		out = append(out, 0)
		for x := range size.X {
			out = append(out, rgba.Pix[y*rgba.Stride+4*x:][:3]...)
		}
	}
	return out
}
