package report

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

// Every diagram against a picture that people have looked at, and the same bytes
// twice in every format.
func TestDiagrams(t *testing.T) {
	for name, d := range diagrams {
		got, err := raster(d, 72)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", "diagram-"+name+".png")
		if *update {
			golden(t, filepath.Base(file), got)
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if d := distance(t, want, got); d > 0.002 {
			t.Errorf("%s is %.4f from %s; go test -update rewrites it", name, d, file)
		}
		for _, format := range figureFormats {
			a, err := render(d, format)
			if err != nil {
				t.Fatal(err)
			}
			if b, err := render(d, format); err != nil || !bytes.Equal(a, b) {
				t.Errorf("%s: %s differs when drawn again (%v)", name, format, err)
			}
		}
	}
}

// What a diagram writes has a shape in its font, and stays within its picture.
func TestDiagramsFit(t *testing.T) {
	for name, d := range diagrams {
		w, h := d.size()
		rec := new(recorder.Canvas)
		d.paint(draw.NewCanvas(rec, w, h))
		var buf sfnt.Buffer
		inside := func(p vg.Point) {
			if p.X < 0 || p.Y < 0 || p.X > w || p.Y > h {
				t.Errorf("%s: %v is outside of %v x %v", name, p, w, h)
			}
		}
		turned := 0
		for _, a := range rec.Actions {
			switch a := a.(type) {
			case *recorder.Push:
				turned++
			case *recorder.Pop:
				turned--
			case *recorder.Stroke:
				for _, c := range a.Path {
					if c.Type == vg.ArcComp {
						t.Errorf("%s: an arc begins a new path in a PDF", name)
					}
					if c.Type != vg.CloseComp {
						inside(c.Pos)
					}
				}
			case *recorder.FillString:
				face := letters(labelSize).Handler.Cache().Lookup(a.Font, a.Size)
				for _, r := range a.String {
					if g, err := face.Face.GlyphIndex(&buf, r); err != nil || g == 0 {
						t.Errorf("%s: the font has no %q of %q", name, r, a.String)
					}
				}
				if turned == 0 {
					inside(a.Point)
					inside(vg.Point{X: a.Point.X + face.Width(a.String), Y: a.Point.Y})
				}
			}
		}
	}
}

func TestRuns(t *testing.T) {
	for s, want := range map[string]string{
		"":                      "",
		"plain":                 "plain",
		"*x*_0 + 1":             "/x/ ↓0  + 1",
		"*θ*_{*O*} end":         "/θ/ ↓/O/  end",
		"(*a*)^{−1} *y*":        "( /a/ ) ↑−1   /y/",
		"||v||^2":               "||v|| ↑2",
		"unclosed _{brace":      "unclosed  ↓brace",
		"*K*_{*OS*}*c* and θ_1": "/K/ ↓/OS/ /c/  and θ ↓1",
	} {
		var parts []string
		for _, r := range runs(s) {
			text := r.text
			if r.italic {
				text = "/" + text + "/"
			}
			parts = append(parts, []string{"↓", "", "↑"}[r.shift+1]+text)
		}
		if got := strings.Join(parts, " "); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}
