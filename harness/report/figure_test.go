package report

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/report/chart"
	"dgkip/harness/store"
)

// Figures of every kind match approved pictures of low resolution. Single pixels may differ between
// machines.
func TestFigureGoldens(t *testing.T) {
	r := loadDemo(t)
	for _, f := range r.Spec.Figures {
		v := r.figure(f)
		if v.picture == nil {
			t.Errorf("there is no figure %s", f.Name)
			continue
		}
		matches(t, "figure-"+f.Name+".png", v.picture)
		// Pictures name the classes of their lines.
		if lines := strings.Contains(v.Caption, "Classes from top to bottom: nought, one. Pixel values"); lines != (f.Kind == "images") {
			t.Errorf("%s: %s", f.Name, v.Caption)
		}
	}
}

// matches compares a picture with a file in testdata.
func matches(t *testing.T, file string, p chart.Picture) {
	t.Helper()
	got := chart.Raster(p, 72)
	if *update {
		golden(t, file, got)
		return
	}
	want, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	if d := distance(t, want, got); d > 0.002 {
		t.Errorf("the picture differs by %.4f from %s; go test -update rewrites it", d, file)
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
	for _, kind := range []string{"curves", "scatter"} {
		r := made(t, small+"[[figure]]\nname = \"f\"\nkind = \""+kind+"\"\ny = [\"absent\"]\n", map[string][]float64{"slow": {0.9}})
		drawn := new(writer).figures(r)
		if want := []string{"figure f of demo: no record has what it shows: absent"}; drawn != nil || !slices.Equal(r.Problems, want) {
			t.Errorf("%s: %v, problems %q", kind, drawn, r.Problems)
		}
	}
}

// A caption states whether numbers are means or medians over seeds.
func TestFigureOfSeveralSeeds(t *testing.T) {
	for figure, want := range map[string]string{
		"x = \"ipc\"\ny = [\"test_acc\"]":                         "Means ± population standard deviation over 2 seeds.",
		"x = \"ipc\"\ny = [\"seconds_per_update\"]":               "Medians with their range over 2 seeds.",
		"x = \"ipc\"\ny = [\"test_acc\", \"seconds_per_update\"]": "Means ± population standard deviation over 2 seeds. Times are medians with their range.",
		"y = [\"test_acc\"]":                                      "Lines are means over 2 seeds, bands ± population standard deviation.",
	} {
		r := made(t, small+"[[figure]]\nname = \"f\"\nkind = \"curves\"\n"+figure+"\n", map[string][]float64{"slow": {0.9, 0.8}})
		if got := r.figure(r.Spec.Figures[0]).Caption; !strings.Contains(got, want) || strings.Contains(got, "Times are") != strings.Contains(want, "Times are") {
			t.Errorf("%s: %s", figure, got)
		}
	}
}

// A figure of times says so if they were not taken on the machine that its caption names, even if
// they can be compared with each other.
func TestFigureOfOtherMachine(t *testing.T) {
	s := parse(t, small+"[[figure]]\nname = \"f\"\nkind = \"scatter\"\nx = \"seconds_per_iteration\"\ny = [\"test_acc\"]\nonly = \"method:fast-lr\"\n")
	for cpu, says := range map[string]bool{"Some CPU": false, "Another CPU": true} {
		st := stored(t, s, func(i int, d *store.Draft) {
			d.Provenance.Timing.Shared = false
			if i == 1 {
				d.Provenance.Sessions[0].Host.CPU = cpu
			}
		})
		v := Load(s, st, keyed).figure(s.Figures[0])
		if got := strings.Contains(v.Caption, "Some times were not taken on an idle machine of that kind"); got != says || !strings.Contains(v.Caption, "Timed on: Some CPU") {
			t.Errorf("%s: %s", cpu, v.Caption)
		}
	}
}

// A note names a metric that neither the program nor any record knows.
func TestMistyped(t *testing.T) {
	text := strings.Replace(small, "[table]\n", "[table]\nvalues = { slow = \"secnods\", fast-lr = \"mine\" }\n", 1)
	s := parse(t, text+"[[figure]]\nname = \"f\"\nkind = \"curves\"\ny = [\"test_accuracy\", \"last.bound\", \"absent\", \"margin_min\", \"mine_too\"]\ny2 = [\"transfer.hinge.tset_acc\"]\n")
	st := stored(t, s, func(i int, d *store.Draft) { d.Result.Metrics["mine"], d.Result.Metrics["last.mine_too"] = 1, 1 })
	const no = ", but neither the program nor any record has such a metric"
	want := []string{
		`figure f of demo shows "test_accuracy"` + no + `; did you mean "test_acc"?`,
		`figure f of demo shows "absent"` + no,
		`figure f of demo shows "transfer.hinge.tset_acc"` + no + `; did you mean "transfer.hinge.test_acc"?`,
		`the table of demo shows "secnods"` + no + `; did you mean "seconds"?`,
	}
	if got := Mistyped(s, st); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// A picture shows the first selected seed, or the reason why there is none.
func TestTiles(t *testing.T) {
	s := parse(t, small+"[[figure]]\nname = \"f\"\nkind = \"images\"\n")
	st := stored(t, s, func(i int, d *store.Draft) { d.Set = fakeSet(s.Cells[i], d.Result.Identity, 0) })
	b := &figureBuilder{r: Load(s, st, keyed), f: s.Figures[0]}
	cell := b.r.Cells[0]
	if len(cell.Runs) != 2 || b.tile(cell).Lines == nil {
		t.Errorf("no picture of the first seed: %+v", cell.Runs)
	}
	second := &CellRuns{Cell: cell.Cell, Runs: []Run{{Seed: 1, Record: cell.Runs[0].Record}}}
	if b.tile(second).Lines == nil {
		t.Error("no picture of a selected seed")
	}
	for want, run := range map[string]Run{
		"not run": {}, "failed": {Failure: new(store.Failure)}, "damaged": {Damage: store.ErrDamaged},
	} {
		if got := b.tile(&CellRuns{Cell: cell.Cell, Runs: []Run{run}}); got.Missing != want {
			t.Errorf("%q, want %q", got.Missing, want)
		}
	}
}

// Cells that the spec does not distinguish become lines of their own.
func TestNothingIsMerged(t *testing.T) {
	r := made(t, small+"[[figure]]\nname = \"f\"\nkind = \"curves\"\ny = [\"bound\"]\n", map[string][]float64{"slow": {0.9}, "fast-lr": {0.9, 0.8}})
	c, ok := r.figure(r.Spec.Figures[0]).picture.(*chart.Chart)
	if !ok || len(c.Rows) != 1 || len(c.Rows[0]) != 1 || len(c.Rows[0][0].Series) != 2 {
		t.Fatalf("%+v", c)
	}
	lines := c.Rows[0][0].Series
	if lines[0].Color == lines[1].Color || lines[0].Name == lines[1].Name {
		t.Error("two lines that look the same")
	}
	if p := lines[1].Points[3]; !(p.Low < p.Y && p.Y < p.High) {
		t.Errorf("two seeds without a spread: %+v", p)
	}
}

// A method has one colour in all figures; its columns differ by dashes or shapes. All lines look
// different, even if several methods have three columns.
func TestColours(t *testing.T) {
	seen := map[string]int{}
	for _, methods := range []string{`["slow", "fast-lr", "mine"]`, `["mine", "fast-ls", "slow"]`, `["slow", "slow-2", "slow-3", "fast-lr", "lr-2", "lr-3"]`} {
		text := strings.Replace(small, `["slow", "fast-lr", "fast-ls"]`, methods, 1)
		if text == small {
			t.Fatal("the grid has other methods")
		}
		for column, use := range map[string]string{"mine": "slow", "slow-2": "slow", "slow-3": "slow", "lr-2": "fast-lr", "lr-3": "fast-lr"} {
			if strings.Contains(methods, `"`+column+`"`) {
				text += "[method." + column + "]\nuse = \"" + use + "\"\n"
			}
		}
		text += "[[figure]]\nname = \"f\"\nkind = \"curves\"\ny = [\"test_acc\"]\nseries = [\"method\"]\n"
		r := made(t, text, map[string][]float64{"slow": {0.9}, "fast-lr": {0.9}, "fast-ls": {0.8}, "mine": {0.7}, "slow-2": {0.9}, "slow-3": {0.9}, "lr-2": {0.9}, "lr-3": {0.9}})
		c, ok := r.figure(r.Spec.Figures[0]).picture.(*chart.Chart)
		if !ok {
			t.Fatal(r.Problems)
		}
		looks := map[[2]int]bool{}
		for _, s := range c.Rows[0][0].Series {
			if color, ok := seen[s.Name]; ok && color != s.Color {
				t.Errorf("%s has the colours %d and %d", s.Name, color, s.Color)
			}
			seen[s.Name] = s.Color
			looks[[2]int{s.Color, s.Variant}] = true
		}
		if lines := strings.Count(methods, ",") + 1; len(looks) != lines {
			t.Errorf("%d looks of %d lines", len(looks), lines)
		}
	}
	if seen["Slow"] != seen["mine"] {
		t.Errorf("a method's columns have the colours %v", seen)
	}
}

// The two ends of an interval form one area in percent. The plain bound replaces a missing sharper
// one, and the error is one minus the accuracy.
func TestIntervals(t *testing.T) {
	r := made(t, small+"[[figure]]\nname = \"f\"\nkind = \"curves\"\nonly = \"method:slow\"\ny = [\"interval_perp.low\", \"interval_perp.high\", \"test_error\"]\n", map[string][]float64{"slow": {0.9, 0.9}})
	tr := &store.Trace{Columns: []string{"update", "interval.low", "interval.high", "interval_perp.low", "interval_perp.high", "test_acc"},
		Rows: [][]float64{{0, 0.1, 0.5, math.NaN(), math.NaN(), 0.75}, {10, 0.15, 0.45, 0.2, 0.4, 0.5}}}
	for _, c := range r.Cells {
		for _, run := range c.done() {
			r.traces[run.Record.Result.Key] = tr
		}
	}
	f := r.figure(r.Spec.Figures[0])
	c, ok := f.picture.(*chart.Chart)
	if !ok || len(c.Rows[0][0].Series) != 2 || !strings.Contains(f.Caption, "Proved ranges join the means of their two ends.") {
		t.Fatalf("%+v, %q, %s", c, r.Problems, f.Caption)
	}
	area, line := c.Rows[0][0].Series[0], c.Rows[0][0].Series[1]
	if area.Kind != chart.Range || len(area.Points) != 2 || area.Points[0].Low != 10 || area.Points[0].High != 50 || area.Points[1].Low != 20 || area.Points[1].High != 40 {
		t.Errorf("%+v", area)
	}
	if line.Kind != chart.Line || line.Points[0].Y != 25 {
		t.Errorf("%+v", line)
	}
}

func TestCut(t *testing.T) {
	// Two classes of 12 images of 3x4 pixels, ten in a line, with 2 pixels around each.
	img := image.NewRGBA(image.Rect(0, 0, 10*5+2, 4*6+2))
	for k := range 24 {
		class, i := k/12, k%12
		x, y := 2+(i%10)*5, 2+(class*2+i/10)*6
		img.Set(x, y, color.RGBA{uint8(100*class + i), 0, 0, 255})
	}
	got := cut(img, 2, 24, 3)
	if len(got) != 2 || len(got[0]) != 3 || got[0][0].Bounds().Size() != image.Pt(3, 4) {
		t.Fatalf("%v", got)
	}
	for class, line := range got {
		for i, m := range line {
			r, _, _, _ := m.At(m.Bounds().Min.X, m.Bounds().Min.Y).RGBA()
			if int(r>>8) != 100*class+i {
				t.Errorf("class %d, image %d is %d", class, i, r>>8)
			}
		}
	}
	for _, bad := range [][2]int{{3, 24}, {2, 25}, {0, 0}} {
		if got := cut(img, bad[0], bad[1], 3); got != nil {
			t.Errorf("a picture was cut for %d classes and %d images", bad[0], bad[1])
		}
	}
}

// A logarithmic axis drops points of either end of an interval. The others keep their update.
func TestBetween(t *testing.T) {
	low := []chart.Point{{X: 2, Y: 0.1}, {X: 3, Y: 0.2}}
	high := []chart.Point{{X: 1, Y: 0.7}, {X: 2, Y: 0.8}}
	if got := between(low, high); len(got) != 1 || got[0].X != 2 || got[0].Low != 0.1 || got[0].High != 0.8 {
		t.Error(got)
	}
}
