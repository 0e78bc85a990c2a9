package report

import (
	"image/color"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dgkip/harness/report/sheet"
)

// palette begins with Okabe and Ito's, which people with any kind of colour vision can tell
// apart, in an order that puts unlike ones first, and without its yellow, which a
// thin line on white does not carry. Beyond its end lines differ by their dashes.
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
	{0x33, 0x22, 0x88, 0xFF}, // indigo, and two more of Tol's
	{0x88, 0x22, 0x55, 0xFF}, // wine
	{0x99, 0x99, 0x33, 0xFF}, // olive
}

var (
	ink   = color.NRGBA{0x26, 0x26, 0x26, 0xFF}
	frame = color.NRGBA{0x6E, 0x6E, 0x6E, 0xFF}
	faint = color.NRGBA{0xE4, 0xE4, 0xE4, 0xFF}
)

func hue(i int) color.NRGBA { return palette[i%len(palette)] }

// dashes tell lines apart where colours do not, on paper without colours too.
var dashes = [][]vg.Length{nil, {5, 2}, {1.5, 1.5}, {6, 2, 1.5, 2}, {3, 1.5}}

func dash(i int) []vg.Length { return dashes[i%len(dashes)] }

var glyphs = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.PyramidGlyph{}, draw.BoxGlyph{}, draw.CrossGlyph{}, draw.RingGlyph{}, draw.TriangleGlyph{}, draw.SquareGlyph{}, draw.PlusGlyph{}}

func glyph(i int) draw.GlyphDrawer { return glyphs[i%len(glyphs)] }

// letters is a style of text in a figure.
func letters(size vg.Length) text.Style {
	return text.Style{
		Color: ink, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		XAlign: draw.XCenter, YAlign: draw.YCenter, Handler: text.Plain{Fonts: font.DefaultCache},
	}
}

const (
	tickSize  = 8
	labelSize = 9
	titleSize = 9.5
)

// bold is for headings.
func bold(s text.Style) text.Style { s.Font.Weight = xfont.WeightBold; return s }

// figureText spells signs that the figures' font lacks.
func figureText(s string) string { return figureSigns.Replace(sheet.Plain(s)) }

var figureSigns = strings.NewReplacer("‖", "||", "\u202f", " ", "\u00a0", " ")
