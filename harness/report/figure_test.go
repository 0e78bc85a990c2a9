package report

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Every kind of figure, at a low resolution, against pictures that people have
// looked at. Single pixels may differ between machines.
func TestFigureGoldens(t *testing.T) {
	r := loadDemo(t)
	for _, f := range r.Spec.Figures {
		p := r.figure(f)
		if p == nil {
			t.Errorf("%s: %q", f.Name, r.Problems)
			continue
		}
		got, err := raster(p, 72)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", "figure-"+f.Name+".png")
		if *update {
			golden(t, filepath.Base(file), got)
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if d := distance(t, want, got); d > 0.002 {
			t.Errorf("%s is %.4f from %s; go test -update rewrites it", f.Name, d, file)
		}
	}
}

// distance is the mean difference of two pictures' pixels, 1 for black and white.
func distance(t *testing.T, a, b []byte) float64 {
	t.Helper()
	x, err := png.Decode(bytes.NewReader(a))
	if err != nil {
		t.Fatal(err)
	}
	y, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if x.Bounds() != y.Bounds() {
		t.Errorf("sizes %v and %v", x.Bounds(), y.Bounds())
		return 1
	}
	var sum float64
	size := x.Bounds().Size()
	for j := range size.Y {
		for i := range size.X {
			p, q := color.GrayModel.Convert(x.At(i, j)).(color.Gray), color.GrayModel.Convert(y.At(i, j)).(color.Gray)
			sum += math.Abs(float64(p.Y)-float64(q.Y)) / 255
		}
	}
	return sum / float64(size.X*size.Y)
}

func TestFigureProblems(t *testing.T) {
	for text, want := range map[string]string{
		"kind = \"curves\"\ny = [\"absent\"]":         "no record has what it shows",
		"kind = \"bars\"\ny = [\"absent\"]":           "no record has what it shows",
		"kind = \"scatter\"\ny = [\"absent\"]":        "no record has what it shows",
		"kind = \"images\"\nseed = 5":                 "there is no seed number 5",
		"kind = \"diagram\"\ndiagram = \"moonshine\"": "there is no diagram",
	} {
		r := made(t, small+"[[figure]]\nname = \"f\"\n"+text+"\n", map[string][]float64{"slow": {0.9}})
		if p := r.figure(r.Spec.Figures[0]); p != nil || len(r.Problems) == 0 || !strings.Contains(r.Problems[0], want) {
			t.Errorf("%s: %v, problems %q", text, p, r.Problems)
		}
	}
}

// Cells that the description does not tell apart become lines of their own.
func TestNothingIsMerged(t *testing.T) {
	r := made(t, small+"[[figure]]\nname = \"f\"\nkind = \"curves\"\ny = [\"bound\"]\n", map[string][]float64{"slow": {0.9}, "fast-lr": {0.9, 0.8}})
	c, ok := r.figure(r.Spec.Figures[0]).(*chart)
	if !ok || len(c.panels) != 1 || len(c.panels[0].curves) != 2 || len(c.keys) != 2 {
		t.Fatalf("%+v", c)
	}
	if c.panels[0].curves[0].color == c.panels[0].curves[1].color {
		t.Error("two lines of one colour")
	}
	if p := c.panels[0].curves[1].points[3]; !(p.low < p.y && p.y < p.high) {
		t.Errorf("two seeds without a spread: %+v", p)
	}
}

func TestTicks(t *testing.T) {
	labels := func(r rangeOf) string {
		var out []string
		for _, k := range r.ticks {
			if k.Label != "" {
				out = append(out, k.Label)
			}
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct {
		e    extent
		log  bool
		want string
	}{
		{extent{0, 1}, false, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{extent{88.1, 99.9}, false, "90 92 94 96 98"},
		{extent{0, 1500}, false, "0 200 400 600 800 1000 1200 1400"},
		{extent{0.001, 100}, true, "0.001 0.01 0.1 1 10 100"},
		{extent{1, 50}, true, "1 2 5 10 20 50"},
		{extent{1e-9, 1.1}, true, "1e-8 1e-6 1e-4 0.01 1"},
	} {
		if c.log {
			c.e = extent{c.e.min * 1.0001, c.e.max * 0.9999}
		}
		r := c.e.toRange(c.log, 0.001, false)
		if got := labels(r); got != c.want {
			t.Errorf("%v: ticks %s, want %s", c.e, got, c.want)
		}
		for i, k := range r.ticks {
			if i > 0 && k.Value <= r.ticks[i-1].Value {
				t.Errorf("%v: ticks do not rise", c.e)
			}
		}
	}
	for _, e := range []extent{newExtent(), {5, 5}, {0, 0}, {-3, -3}} {
		for _, log := range []bool{false, true} {
			if r := e.toRange(log, 0.05, false); !(r.min < r.max) || math.IsNaN(r.at(1)) && !log {
				t.Errorf("%v, log %v: range %+v", e, log, r)
			}
		}
	}
}

func TestCut(t *testing.T) {
	// Two classes of 12 images, ten in a line, of 3x4 pixels and 2 around them.
	img := image.NewRGBA(image.Rect(0, 0, 10*5+2, 4*6+2))
	for k := range 24 {
		class, i := k/12, k%12
		x, y := 2+(i%10)*5, 2+(class*2+i/10)*6
		img.Set(x, y, color.RGBA{uint8(100*class + i), 0, 0, 255})
	}
	got, cell := cut(img, 2, 24, 3)
	if got == nil || cell != 5 || got.Bounds().Dx() != 3*5+2 || got.Bounds().Dy() != 2*6+2 {
		t.Fatalf("%v", got)
	}
	for class := range 2 {
		for i := range 3 {
			r, _, _, _ := got.At(2+i*5, 2+class*6).RGBA()
			if int(r>>8) != 100*class+i {
				t.Errorf("class %d, image %d is %d", class, i, r>>8)
			}
		}
	}
	for _, bad := range [][2]int{{3, 24}, {2, 25}, {0, 0}} {
		if got, _ := cut(img, bad[0], bad[1], 3); got != nil {
			t.Errorf("a picture was cut for %d classes and %d images", bad[0], bad[1])
		}
	}
	big := enlarge(got, 3)
	if big.Bounds().Dx() != 3*got.Bounds().Dx() || big.At(3*2+2, 3*2+2) != got.At(2, 2) {
		t.Error("enlarging changes pixels")
	}
}

// The ten columns of a paper's table and two more have colours of their own.
func TestPalette(t *testing.T) {
	for i := range 12 {
		for j := range i {
			if hue(i) == hue(j) {
				t.Errorf("colours %d and %d are the same", i, j)
			}
		}
	}
}

// The font has what labels are made of.
func TestLettersExist(t *testing.T) {
	face := font.DefaultCache.Lookup(letters(9).Font, 9)
	var buf sfnt.Buffer
	text := "±×–→≤≥θαλéü²"
	for _, m := range metrics {
		text += figureText(m.title)
	}
	for _, r := range text {
		if g, err := face.Face.GlyphIndex(&buf, r); err != nil || g == 0 {
			t.Errorf("no glyph for %q", r)
		}
	}
}

func Example_powerLabel() {
	for _, e := range []int{-9, -3, 0, 4, 7} {
		fmt.Println(powerLabel(1, e))
	}
	// Output:
	// 1e-9
	// 0.001
	// 1
	// 10000
	// 1e7
}

// upsideUp is a picture whose upper half is red and whose lower half is blue.
type upsideUp struct{}

func (upsideUp) size() (w, h vg.Length) { return 72, 72 }

func (upsideUp) paint(dc draw.Canvas) {
	m := image.NewRGBA(image.Rect(0, 0, 1, 2))
	m.Set(0, 0, color.RGBA{R: 255, A: 255})
	m.Set(0, 1, color.RGBA{B: 255, A: 255})
	dc.DrawImage(dc.Rectangle, m)
}

// Images stand the right way up in a PDF as they do in a PNG.
func TestImagesAreUpright(t *testing.T) {
	pdftoppm, err := exec.LookPath("pdftoppm")
	if err != nil {
		t.Skip("SKIPPED: pdftoppm is not installed")
	}
	pdf, err := render(upsideUp{}, "pdf")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(pdftoppm, "-png", "-r", "72", "-")
	cmd.Stdin = bytes.NewReader(pdf)
	drawn, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	direct, err := render(upsideUp{}, "png")
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"pdf": drawn, "png": direct} {
		m, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		h := m.Bounds().Dy()
		upper, _, _, _ := m.At(m.Bounds().Dx()/2, h/8).RGBA()
		_, _, lower, _ := m.At(m.Bounds().Dx()/2, h-h/8).RGBA()
		if upper>>8 < 200 || lower>>8 < 200 {
			t.Errorf("%s: red above is %d, blue below %d", name, upper>>8, lower>>8)
		}
	}
}
