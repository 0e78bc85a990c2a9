package augment

import (
	"encoding/binary"
	"encoding/json"
	"hash"
	"hash/fnv"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// array holds images in PyTorch's layout.
type array struct {
	Shape []int     `json:"shape"`
	Data  []float64 `json:"data"`
}

// nhwc returns the images in our layout.
func nhwc[F tensor.Float](a array) []F {
	n, c, pixels := a.Shape[0], a.Shape[1], a.Shape[2]*a.Shape[3]
	out := make([]F, len(a.Data))
	for i, v := range a.Data {
		img, k, p := i/(c*pixels), i/pixels%c, i%pixels
		out[(img*pixels+p)*c+k] = F(v)
	}
	if len(out) != n*c*pixels {
		panic("shape")
	}
	return out
}

// reference is an operation with given parameters and its result, computed by PyTorch.
type reference struct {
	Params struct {
		U        float64 `json:"u"`
		RowShift int     `json:"row_shift"`
		ColShift int     `json:"col_shift"`
		Rows     [2]int  `json:"rows"`
		Cols     [2]int  `json:"cols"`
		SX       float64 `json:"sx"`
		SY       float64 `json:"sy"`
		Degrees  float64 `json:"degrees"`
	} `json:"params"`
	X         array `json:"x"`
	Y         array `json:"y"`
	Cotangent array `json:"cotangent"`
	Adjoint   array `json:"adjoint"`
}

// draw returns the operation. One half is the neutral value for the parts of color.
func (v reference) draw(t *testing.T, name string) Draw {
	p := v.Params
	switch name {
	case "brightness":
		return Draw{op: color, u: [3]float64{p.U, 0.5, 0.5}}
	case "saturation":
		return Draw{op: color, u: [3]float64{0.5, p.U, 0.5}}
	case "contrast":
		return Draw{op: color, u: [3]float64{0.5, 0.5, p.U}}
	case "crop":
		return Draw{op: crop, rows: [2]int{p.RowShift}, cols: [2]int{p.ColShift}}
	case "cutout":
		return Draw{op: cutout, rows: p.Rows, cols: p.Cols}
	case "flip":
		return Draw{op: flip}
	case "scale":
		return scaled(p.SX, p.SY)
	case "rotate":
		return rotated(p.Degrees)
	}
	t.Fatalf("unknown operation %s", name)
	return Draw{}
}

func references(t *testing.T) map[string]reference {
	t.Helper()
	b, err := os.ReadFile("testdata/dsa_ops.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Ops map[string]reference `json:"ops"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Ops) != 16 {
		t.Fatalf("%d operations, want 16", len(v.Ops))
	}
	return v.Ops
}

func TestVectors(t *testing.T) {
	for name, v := range references(t) {
		t.Run(name, func(t *testing.T) {
			op, _, _ := strings.Cut(name, "_")
			t.Run("float64", func(t *testing.T) { checkVectors[float64](t, v, v.draw(t, op), 1e-9) })
			t.Run("float32", func(t *testing.T) { checkVectors[float32](t, v, v.draw(t, op), 1e-4) })
		})
	}
}

func checkVectors[F tensor.Float](t *testing.T, v reference, d Draw, tol float64) {
	n, c, h, w := v.X.Shape[0], v.X.Shape[1], v.X.Shape[2], v.X.Shape[3]
	got := make([]F, len(v.X.Data))
	Apply(d, got, nhwc[F](v.X), n, h, w, c)
	near(t, "image", got, nhwc[float64](v.Y), tol)
	Adjoint(d, got, nhwc[F](v.Cotangent), n, h, w, c)
	near(t, "adjoint", got, nhwc[float64](v.Adjoint), tol)
}

// near compares. The tolerance is relative to the largest wanted entry.
func near[F tensor.Float](t *testing.T, what string, got []F, want []float64, tol float64) {
	t.Helper()
	var worst, scale float64
	for i, x := range want {
		if e := math.Abs(float64(got[i]) - x); !(e <= worst) {
			worst = e
		}
		scale = max(scale, math.Abs(x))
	}
	if !(worst <= tol*scale) {
		t.Errorf("%s: error %.3g of the largest entry, want at most %g", what, worst/scale, tol)
	}
}

// families lists all operations.
var families = []struct {
	prefix string
	list   []operation
}{{"", dsaOperations}, {"wide ", dcOperations}, {"regression ", frepoOperations}}

// drawn returns many draws of every operation.
func drawn(h, w int) map[string][]Draw {
	out := map[string][]Draw{}
	r := rng.Stream(1, "drawn")
	for _, f := range families {
		for _, o := range f.list {
			for range 20 {
				out[f.prefix+o.name] = append(out[f.prefix+o.name], o.draw(r, h, w))
			}
		}
	}
	return out
}

func normal[F tensor.Float](n int, label string) []F {
	r := rng.Stream(1, label)
	x := make([]F, n)
	for i := range x {
		x[i] = F(r.Normal64())
	}
	return x
}

// <g, A x> = <A' g, x>, where A x is Apply(x) - Apply(0).
func TestAdjoint(t *testing.T) {
	const n, h, w, c = 2, 9, 12, 3
	x, g := normal[float64](n*h*w*c, "x"), normal[float64](n*h*w*c, "g")
	zero := make([]float64, len(x))
	for name, draws := range drawn(h, w) {
		for _, d := range draws {
			y, b, back := slices.Clone(g), slices.Clone(g), slices.Clone(g)
			Apply(d, y, x, n, h, w, c)
			Apply(d, b, zero, n, h, w, c)
			Adjoint(d, back, g, n, h, w, c)
			var one, other float64
			for i := range x {
				one += g[i] * (y[i] - b[i])
				other += back[i] * x[i]
			}
			if math.Abs(one-other) > 1e-10 {
				t.Errorf("%s %+v: %v and %v", name, d, one, other)
			}
		}
	}
}

// Parameters stay in the documented ranges and reach both ends.
func TestRanges(t *testing.T) {
	const h, w = 28, 32
	r := rng.Stream(1, "ranges")
	lo, hi := map[string]float64{}, map[string]float64{}
	note := func(name string, v float64) {
		if _, ok := lo[name]; !ok {
			lo[name], hi[name] = v, v
		}
		lo[name], hi[name] = min(lo[name], v), max(hi[name], v)
	}
	flipped := 0
	for range 2000 {
		for _, f := range families {
			for _, o := range f.list {
				d := o.draw(r, h, w)
				name := f.prefix + o.name
				if d.edge && o.name != "rotate" {
					z := 1 / d.m[0]
					note(name+" zoom", z)
					for _, by := range d.by {
						if o.name == "crop" {
							by *= z / math.Abs(z-1)
						}
						note(name+" by", by)
					}
					continue
				}
				switch o.name {
				case "color":
					for _, u := range d.u {
						note(name, u)
					}
				case "crop":
					note(name+" rows", float64(d.rows[0]))
					note(name+" columns", float64(d.cols[0]))
				case "cutout":
					note(name+" top", float64(d.rows[0]))
					note(name+" bottom", float64(d.rows[1]))
					note(name+" height", float64(d.rows[1]-d.rows[0]))
					note(name+" width", float64(d.cols[1]-d.cols[0]))
				case "flip":
					if d.op == flip {
						flipped++
					}
				case "scale":
					note(name, d.m[0])
					note(name, d.m[3])
				case "rotate":
					note(name, math.Asin(d.m[2])*180/math.Pi)
				}
			}
		}
	}
	want := map[string][2]float64{
		"color": {0, 1}, "crop rows": {-4, 4}, "crop columns": {-4, 4}, // 3.5 is rounded up
		"cutout top": {0, 21}, "cutout bottom": {7, 28}, "cutout height": {7, 14}, "cutout width": {8, 16},
		"scale": {1 / 1.2, 1.2}, "rotate": {-15, 15},
		"wide crop rows": {-4, 3}, "wide crop columns": {-4, 3}, "wide scale": {1 / 1.2, 1 / 0.8}, "wide rotate": {-45, 45},
		"regression color": {0.25, math.Exp(0.25) - 0.5}, "regression rotate": {-15, 15},
		"regression crop zoom": {0.8, 1.25}, "regression crop by": {-1, 1}, "regression translate zoom": {1, 1}, "regression translate by": {-0.25, 0.25},
		"regression cutout top": {0, 21}, "regression cutout bottom": {7, 28}, "regression cutout height": {7, 7}, "regression cutout width": {8, 8},
	}
	for name, v := range want {
		slack := 0.01 * (v[1] - v[0])
		if _, ok := lo[name]; !ok || math.Abs(lo[name]-v[0]) > slack || math.Abs(hi[name]-v[1]) > slack {
			t.Errorf("%s: from %v to %v, want %v", name, lo[name], hi[name], v)
		}
	}
	if len(lo) != len(want) {
		t.Errorf("got ranges of %v", slices.Sorted(maps.Keys(lo)))
	}
	if flipped < 1850 || flipped > 2150 {
		t.Errorf("%d of 4000 images were flipped", flipped)
	}
}

func TestNew(t *testing.T) {
	for _, c := range []struct {
		name       string
		characters bool
		want       string
	}{
		{"", true, ""},
		{"dsa", true, "color_crop_cutout_scale_rotate"},
		{"dsa", false, "color_crop_cutout_flip_scale_rotate"},
		{"color_crop_cutout_flip_scale_rotate", true, "color_crop_cutout_flip_scale_rotate"},
		{"rotate_flip", false, "rotate_flip"},
		{"dc", false, "crop_scale_rotate"},
		{"frepo", false, "flip_color_crop_rotate_translate_cutout"},
		{"frepo", true, "color_crop_rotate_translate_cutout"},
	} {
		s, err := New(c.name, c.characters)
		if err != nil || s.String() != c.want || s.None() != (c.want == "") {
			t.Errorf("%q (characters: %v): %q, %v, want %q", c.name, c.characters, s, err, c.want)
		}
	}
	if s, err := Matching("flip", true); err != nil || !s.None() || s.Training(8, 8, 1) != nil {
		t.Errorf("characters are flipped: %v, %v", s, err)
	}
	for name, want := range map[string]string{
		"colour": `no operation "colour"`, "crop_": `no operation ""`, "dsa_crop": `no operation "dsa"`, "crop_flip_crop": "crop twice",
	} {
		if _, err := New(name, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// A strategy draws each of its operations, and no other.
func TestDraw(t *testing.T) {
	s, err := New("color_cutout_rotate", false)
	if err != nil {
		t.Fatal(err)
	}
	count := map[op]int{}
	r := rng.Stream(1, "draw")
	for range 300 {
		count[s.Draw(r, 8, 8).op]++
	}
	if len(count) != 3 || min(count[color], count[cutout], count[warp]) < 70 {
		t.Errorf("drawn: %v", count)
	}
	if (Strategy{}).Draw(r, 8, 8) != (Draw{}) {
		t.Error("the empty strategy draws an operation")
	}
}

// In training, images get their own parameters, and their own operations if the strategy says
// so. The result depends only on the stream.
func TestBatch(t *testing.T) {
	const n, h, w, c = 40, 8, 8, 1
	one := normal[float32](h*w*c, "one")
	kinds := func(s Strategy) (differ int, x []float32) {
		x = slices.Repeat(one, n)
		Batch(s, x, n, h, w, c, rng.Stream(1, "batch"))
		seen := map[string]bool{}
		for i := range n {
			b, _ := binary.Append(nil, binary.LittleEndian, x[i*h*w*c:][:h*w*c])
			seen[string(b)] = true
		}
		return len(seen), x
	}
	for name, least := range map[string]int{"rotate": n, "flip": 2, "crop": 6, "dc": 25, "": 1} {
		s, err := New(name, false)
		if err != nil {
			t.Fatal(err)
		}
		differ, x := kinds(s)
		if differ < least || least <= 2 && differ > least {
			t.Errorf("%q: %d different images, want %d", name, differ, least)
		}
		if _, again := kinds(s); !slices.Equal(x, again) {
			t.Errorf("%q: the same stream gave different images", name)
		}
	}
	// Batch agrees with draws made one by one.
	s, _ := New("scale", false)
	_, x := kinds(s)
	r := rng.Stream(1, "batch")
	r.IntN(1)
	want := make([]float32, len(one))
	for i := range n {
		Apply(s.ops[0].draw(r, h, w), want, one, 1, h, w, c)
		if !slices.Equal(want, x[i*len(one):][:len(one)]) {
			t.Fatalf("image %d differs from its own draw", i)
		}
	}
}

// A shift or a zoom fills with the edge of the image. A shift by whole pixels moves them, and
// a zoom reads a smaller part.
func TestEdge(t *testing.T) {
	x, y := []float64{1, 2, 4, 8}, make([]float64, 4)
	for _, c := range []struct {
		d    Draw
		want []float64
	}{
		{Draw{op: warp, m: [4]float64{1, 0, 0, 1}, by: [2]float64{0.5, 9}, edge: true}, []float64{2, 4, 8, 8}},
		{Draw{op: warp, m: [4]float64{1, 0, 0, 1}, by: [2]float64{-0.25, 0}, edge: true}, []float64{1, 1.5, 3, 6}},
		{Draw{op: warp, m: [4]float64{0.5, 0, 0, 0.5}, edge: true}, []float64{1.75, 2.5, 3.5, 5}},
		{Draw{op: warp, m: [4]float64{1, 0, 0, 1}, by: [2]float64{0.5, 0}}, []float64{2, 4, 8, 0}},
	} {
		Apply(c.d, y, x, 1, 1, 4, 1)
		if !slices.Equal(y, c.want) {
			t.Errorf("%+v: %v, want %v", c.d, y, c.want)
		}
	}
}

// The bits of all operations equal the recorded ones. This detects a compiler that fuses
// operations on some processor.
func TestGolden(t *testing.T) {
	const n, h, w, c = 2, 9, 12, 3
	draws := drawn(h, w)
	x, y := normal[float32](n*h*w*c, "x"), make([]float32, n*h*w*c)
	of := map[bool]hash.Hash64{false: fnv.New64a(), true: fnv.New64a()}
	for _, name := range slices.Sorted(maps.Keys(draws)) {
		sum := of[strings.HasPrefix(name, "regression ")]
		for _, d := range draws[name] {
			for _, change := range []func(Draw, []float32, []float32, int, int, int, int){Apply[float32], Adjoint[float32]} {
				change(d, y, x, n, h, w, c)
				if err := binary.Write(sum, binary.LittleEndian, y); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for later, want := range map[bool]uint64{false: 0x60e9e1fa8229ddb6, true: 0xe9d9c8cc16e492d0} {
		if got := of[later].Sum64(); got != want {
			t.Errorf("digest %#x, recorded %#x", got, want)
		}
	}
}

func BenchmarkBatch(b *testing.B) {
	const n, h, w, c = 256, 32, 32, 3
	x := normal[float32](n*h*w*c, "x")
	for _, o := range dsaOperations {
		b.Run(o.name, func(b *testing.B) {
			r := rng.Stream(1, "benchmark")
			for range b.N {
				Batch(Strategy{ops: []operation{o}}, x, n, h, w, c, r)
			}
		})
	}
}
