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

	"dgkip/harness/method/methodtest"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

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
	X         methodtest.Array `json:"x"`
	Y         methodtest.Array `json:"y"`
	Cotangent methodtest.Array `json:"cotangent"`
	Adjoint   methodtest.Array `json:"adjoint"`
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
	Apply(d, got, methodtest.NHWC[F](v.X), n, h, w, c)
	methodtest.Near(t, "image", got, methodtest.NHWC[float64](v.Y), tol)
	Adjoint(d, got, methodtest.NHWC[F](v.Cotangent), n, h, w, c)
	methodtest.Near(t, "adjoint", got, methodtest.NHWC[float64](v.Adjoint), tol)
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

// <g, A x> = <A' g, x>, where A x is Apply(x) - Apply(0).
func TestAdjoint(t *testing.T) {
	const n, h, w, c = 2, 9, 12, 3
	x, g := methodtest.Normal[float64](rng.Stream(1, "x"), n*h*w*c, 1), methodtest.Normal[float64](rng.Stream(1, "g"), n*h*w*c, 1)
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

// In training, images get their own parameters, and their own operations if the strategy says
// so. The result depends only on the stream.
func TestBatch(t *testing.T) {
	const n, h, w, c = 40, 8, 8, 1
	one := methodtest.Normal[float32](rng.Stream(1, "one"), h*w*c, 1)
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
	x, y := methodtest.Normal[float32](rng.Stream(1, "x"), n*h*w*c, 1), make([]float32, n*h*w*c)
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
