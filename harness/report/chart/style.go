package chart

import (
	"image/color"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// palette begins with the palette of Okabe and Ito, which people with any colour vision can
// distinguish. The most different colours come first. Yellow is left out, because thin yellow lines
// are invisible on white.
var palette = []color.NRGBA{
	{0x00, 0x72, 0xB2, 0xFF}, // blue
	{0xD5, 0x5E, 0x00, 0xFF}, // vermilion
	{0x00, 0x9E, 0x73, 0xFF}, // bluish green
	{0xCC, 0x79, 0xA7, 0xFF}, // reddish purple
	{0xE6, 0x9F, 0x00, 0xFF}, // orange
	{0x56, 0xB4, 0xE9, 0xFF}, // sky blue
	{0x00, 0x00, 0x00, 0xFF},
	{0x8C, 0x6D, 0x31, 0xFF}, // brown
	{0x7F, 0x7F, 0x7F, 0xFF},
	{0x33, 0x22, 0x88, 0xFF}, // indigo, and more of Tol's
	{0x88, 0x22, 0x55, 0xFF}, // wine
	{0x99, 0x99, 0x33, 0xFF}, // olive
	{0xCC, 0x66, 0x77, 0xFF}, // rose
	{0xEE, 0x33, 0x77, 0xFF}, // magenta
	{0x11, 0x77, 0x33, 0xFF}, // green
	{0x99, 0x77, 0x00, 0xFF}, // dark yellow
	{0x33, 0xBB, 0xEE, 0xFF}, // cyan
}

// Ink is the colour of text.
const Ink = -1

var (
	ink   = color.NRGBA{0x26, 0x26, 0x26, 0xFF}
	frame = color.NRGBA{0x6E, 0x6E, 0x6E, 0xFF}
	faint = color.NRGBA{0xE4, 0xE4, 0xE4, 0xFF}
)

func hue(i int) color.NRGBA {
	if i == Ink {
		return ink
	}
	return palette[i%len(palette)]
}

// soft returns a transparent colour.
func soft(i int, alpha uint8) color.NRGBA {
	c := hue(i)
	c.A = alpha
	return c
}

// shade returns the opacity of an area. It grows with the variant.
func shade(variant int) uint8 { return uint8(min(0x30+0x28*variant, 0xA0)) }

// dash distinguishes lines of one colour, even when printed in grey.
func dash(i int) []vg.Length {
	dashes := [][]vg.Length{nil, {4, 2}, {1.5, 1.5}, {5, 2, 1.5, 2}, {2.5, 1.5}}
	return dashes[i%len(dashes)]
}

func shape(i int) draw.GlyphDrawer {
	shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.PyramidGlyph{}, draw.BoxGlyph{}, draw.CrossGlyph{}, draw.RingGlyph{}, draw.TriangleGlyph{}, draw.SquareGlyph{}, draw.PlusGlyph{}}
	return shapes[i%len(shapes)]
}

const (
	tickSize  = 7.5
	labelSize = 8.5
	titleSize = 9
)

func regular(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

// bold returns the font of titles.
func bold() font.Font {
	f := regular(titleSize)
	f.Weight = xfont.WeightBold
	return f
}

// letters returns the style of centred text.
func letters(f font.Font) text.Style {
	return text.Style{Color: ink, Font: f, XAlign: draw.XCenter, YAlign: draw.YCenter, Handler: text.Plain{Fonts: font.DefaultCache}}
}

// clean replaces characters that the font lacks.
func clean(s string) string { return signs.Replace(s) }

var signs = strings.NewReplacer("‖", "||", "\u202f", " ", "\u00a0", " ")
