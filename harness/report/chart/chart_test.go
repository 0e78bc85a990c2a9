package chart

import (
	"bytes"
	"image"
	"image/color"
	imagedraw "image/draw"
	"image/png"
	"math"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

func line(kind Kind, ys ...float64) Series {
	s := Series{Name: "s", Kind: kind}
	for i, y := range ys {
		s.Points = append(s.Points, Point{float64(i), y, math.NaN(), math.NaN()})
	}
	return s
}

// A chart of any values can be drawn, with the same bytes each time.
func TestAnyValues(t *testing.T) {
	spread := line(Line, 1, 2)
	spread.Points[0].Low, spread.Points[0].High = -1, 3
	spread.Points[1].Low, spread.Points[1].High = 1, 4
	for name, series := range map[string][]Series{
		"none":        nil,
		"no points":   {line(Line)},
		"one point":   {line(Line, 5)},
		"equal":       {line(Line, 3, 3, 3)},
		"zeros":       {line(Dots, 0, 0)},
		"negative":    {line(Dots, -1, -2)},
		"not finite":  {line(Line, 1, math.Inf(1), math.NaN(), 2)},
		"all kinds":   {line(Line, 1, 2), line(Dots, 1, 2), line(Trail, 2, 1), line(Level, 1)},
		"with spread": {spread, {Name: "r", Kind: Range, Points: spread.Points}, {Name: "d", Kind: Dots, Points: spread.Points}},
		"tiny, large": {line(Line, 1e-12, 1e12)},
	} {
		for _, log := range []bool{false, true} {
			x, y := &Axis{Label: "x", Log: log}, &Axis{Label: "y", Log: log}
			c := &Chart{Rows: [][]Panel{{{Title: "a", X: x, Y: y, Series: series}, {X: x, Y: y}}, {{X: x, Y: &Axis{Categories: []string{"one", "two"}}}}}}
			Raster(c, 20)
			if !bytes.Equal(Render(c, "pdf"), Render(c, "pdf")) {
				t.Errorf("%s differs when drawn again", name)
			}
			var canvas recorder.Canvas
			c.Paint(draw.New(outlined{rounding{&sized{&canvas, c}}}))
			for _, a := range canvas.Actions {
				if strings.Contains(a.Call(), "NaN") {
					t.Errorf("%s, log %v: %s", name, log, a.Call())
				}
			}
		}
	}
}

// sized is a canvas of the size of a picture.
type sized struct {
	vg.Canvas
	p Picture
}

func (s *sized) Size() (w, h vg.Length) { return s.p.Size() }

func TestTicks(t *testing.T) {
	labels := func(ticks []plot.Tick) string {
		var out []string
		for i, k := range ticks {
			if k.Label != "" {
				out = append(out, k.Label)
			}
			if i > 0 && k.Value <= ticks[i-1].Value {
				t.Errorf("ticks do not rise: %v", ticks)
			}
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{0, 1, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{88.1, 99.9, "90 92 94 96 98"},
		{-0.03, 1.03, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{0, 1500, "0 500 1,000 1,500"},
		{-2000, 0, "-2,000 -1,500 -1,000 -500 0"},
		{0, 3e7, "0 1e+07 2e+07 3e+07"},
	} {
		if got := labels(linearTicks(c.low, c.high)); got != c.want {
			t.Errorf("%v to %v: ticks %s, want %s", c.low, c.high, got, c.want)
		}
	}
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{0.001, 100, "0.001 0.01 0.1 1 10 100"},
		{1, 50, "1 2 5 10 20 50"},
		{1, 10000, "1 10 100 1,000 10,000"},
		{1, 5, "1 2 3 5"},
		{1e-9, 1.1, "1e-8 1e-6 1e-4 0.01 1"},
	} {
		if got := labels(logTicks(math.Log10(c.low), math.Log10(c.high))); got != c.want {
			t.Errorf("%v to %v: ticks %s, want %s", c.low, c.high, got, c.want)
		}
	}
}

// Panels that share an axis have the same range; other panels have their own.
func TestRanges(t *testing.T) {
	x1, x2, y := &Axis{}, &Axis{}, &Axis{}
	c := &Chart{Rows: [][]Panel{{{X: x1, Y: y, Series: []Series{line(Line, 1, 2, 3)}}, {X: x2, Y: y, Series: []Series{line(Line, 7, 8)}}}}}
	r := c.ranges()
	if r[x1].max < 2 || r[x2].max > 1.5 || r[y].min > 1 || r[y].max < 8 {
		t.Errorf("%v, %v, %v", r[x1], r[x2], r[y])
	}
}

// A legend lists each name once, in lines that fit.
func TestLegend(t *testing.T) {
	var series []Series
	for _, name := range []string{"first", "second", "first", "a rather long name of a series", "another quite long name of one", "third", "fourth"} {
		series = append(series, Series{Name: name})
	}
	l := (&Chart{Rows: [][]Panel{{{Series: series}}}}).legend(300)
	n := 0
	for _, row := range l {
		w := vg.Length(-betweenNames)
		for _, e := range row {
			n++
			w += e.width()
		}
		if w > 300 {
			t.Errorf("a line is %v wide", w)
		}
	}
	if n != 6 || len(l) < 2 {
		t.Errorf("%d entries in %d lines", n, len(l))
	}
	if l := (&Chart{}).legend(300); l != nil {
		t.Errorf("a legend of nothing: %v", l)
	}
}

// The font has all characters of labels.
func TestLettersExist(t *testing.T) {
	face := font.DefaultCache.Lookup(regular(9), 9)
	var buf sfnt.Buffer
	for _, r := range clean("±×–→…≤≥−∂ℓθαλéü²‖") {
		if g, err := face.Face.GlyphIndex(&buf, r); err != nil || g == 0 {
			t.Errorf("no glyph for %q", r)
		}
	}
}

// all draws one of everything that figures contain.
type all struct{}

func (all) Size() (w, h vg.Length) { return 144, 108 }

func (all) Paint(dc draw.Canvas) {
	blank(dc)
	m := image.NewRGBA(image.Rect(0, 0, 1, 2)) // red above blue
	m.Set(0, 0, color.RGBA{R: 255, A: 255})
	m.Set(0, 1, color.RGBA{B: 255, A: 255})
	at := func(x, y, side vg.Length) vg.Rectangle {
		return vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + side, Y: y + side}}
	}
	dc.DrawImage(at(6, 66, 36), m)
	for i, alpha := range []uint8{0xFF, 0x30} {
		dc.SetColor(soft(1, alpha))
		dc.Fill(at(54+30*vg.Length(i), 66, 36).Path())
	}
	dc.DrawGlyph(draw.GlyphStyle{Color: hue(2), Radius: 18, Shape: draw.CircleGlyph{}}, vg.Point{X: 24, Y: 36})
	dc.DrawGlyph(draw.GlyphStyle{Color: hue(3), Radius: 18, Shape: draw.RingGlyph{}}, vg.Point{X: 72, Y: 36})
	dashed := draw.LineStyle{Color: hue(4), Width: 6, Dashes: []vg.Length{12, 6}, DashOffs: 3}
	dc.StrokeLine2(dashed, 6, 8, 138, 8)
	dc.StrokeLine2(draw.LineStyle{Color: hue(4)}, 6, 4, 138, 4) // width 0 draws no line
	style := letters(regular(24))
	style.Rotation = math.Pi / 3
	dc.FillText(style, vg.Point{X: 116, Y: 40}, "Qa8")
}

// A PDF looks like the PNG.
func TestPDFLooksLikePNG(t *testing.T) {
	pdftoppm, err := exec.LookPath("pdftoppm")
	if err != nil {
		t.Skip("SKIPPED: pdftoppm is not installed")
	}
	cmd := exec.Command(pdftoppm, "-png", "-r", "144", "-")
	cmd.Stdin = bytes.NewReader(Render(all{}, "pdf"))
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	drawn, err := cmd.Output()
	if err != nil || complaints.Len() > 0 {
		t.Fatal(err, complaints.String())
	}
	got, err := png.Decode(bytes.NewReader(drawn))
	if err != nil {
		t.Fatal(err)
	}
	want, err := png.Decode(bytes.NewReader(Raster(all{}, 144)))
	if err != nil {
		t.Fatal(err)
	}
	if got.Bounds() != want.Bounds() {
		t.Fatal(got.Bounds(), want.Bounds())
	}
	// Edges may be smoothed differently. A dot is wrong if no neighbour has a similar value.
	size := got.Bounds().Size()
	off := func(x, y int) bool {
		for j := max(0, y-1); j < min(size.Y, y+2); j++ {
			for i := max(0, x-1); i < min(size.X, x+2); i++ {
				if p, q := gray(got.At(x, y)), gray(want.At(i, j)); p-q < 16 && q-p < 16 {
					return false
				}
			}
		}
		return true
	}
	wrong := 0
	for y := range size.Y {
		for x := range size.X {
			if off(x, y) {
				wrong++
			}
		}
	}
	if wrong > size.X*size.Y/200 {
		t.Errorf("%d of %d dots differ", wrong, size.X*size.Y)
	}
}

func gray(c color.Color) int { return int(color.GrayModel.Convert(c).(color.Gray).Y) }

// A PNG shows every pixel of an image as a square of one colour, all of the same size. An image with
// fewer pixels is as large.
func TestImagesAreSharp(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 32, 32))
	for i := range 32 * 32 {
		img.Set(i%32, i/32, color.RGBA{R: uint8(i), G: uint8(i >> 2), B: 100, A: 255})
	}
	blue := image.NewRGBA(image.Rect(0, 0, 16, 16))
	imagedraw.Draw(blue, blue.Bounds(), image.NewUniform(color.RGBA{B: 200, A: 255}), image.Point{}, imagedraw.Src)
	p := &Images{Columns: []string{"one", "two"}, Rows: []ImageRow{{Name: "a", Tiles: []Tile{
		{Lines: [][]image.Image{{img, img, img}, {img, img, img}}}, {Lines: [][]image.Image{{img}, {blue}}}}}}}
	m, err := png.Decode(bytes.NewReader(Render(p, "png")))
	if err != nil {
		t.Fatal(err)
	}
	dots := map[color.Color]int{}
	for y := range m.Bounds().Dy() {
		for x := range m.Bounds().Dx() {
			dots[color.RGBAModel.Convert(m.At(x, y))]++
		}
	}
	side := int(math.Round(math.Sqrt(float64(dots[img.At(5, 5)]) / 7)))
	for i := range 32 * 32 {
		if got := dots[img.At(i%32, i/32)]; side < 2 || got != 7*side*side {
			t.Fatalf("the pixel %d, %d of 7 images has %d dots, want 7 squares of %d dots", i%32, i/32, got, side)
		}
	}
	if got := dots[blue.At(0, 0)]; got != 32*32*side*side {
		t.Errorf("16x16 pixels cover %d dots, want %d", got, 32*32*side*side)
	}
}
