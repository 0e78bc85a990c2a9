package nn

import (
	"math"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// Every registered architecture can be built with its defaults. Its frozen form gives the
// same features and gradients as a Pass.
func TestArchitectures(t *testing.T) {
	for _, kind := range Kinds() {
		a, _ := Lookup(kind)
		if a.Name != kind || a.Title == "" || min(a.Width, a.Depth, a.Nets) < 1 {
			t.Errorf("%s: %+v", kind, a)
		}
		if _, err := (Shape{Kind: kind, Width: a.Width, Depth: a.Depth}).Net(28, 28, 1, 10); err != nil {
			t.Error(err)
		}
		s := Shape{Kind: kind, Width: 12, Depth: 2}
		net, err := s.Features(9, 8, 3)
		if a.OnlyTrained {
			if err == nil || !strings.Contains(err.Error(), "can only be trained") {
				t.Errorf("%s: %v", kind, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		const n, scale = 3, 0.5
		r := rng.Stream(1, "architectures", kind)
		theta, x, dy := make([]float32, net.Params()), make([]float32, n*net.Inputs()), make([]float32, n*net.Classes())
		r.FillNormal(theta, 0, 0.3)
		r.FillNormal(x, 0, 1)
		r.FillNormal(dy, 0, 1)
		pass := net.NewPass()
		want, dwant := slices.Clone(outputs(pass, theta, x, n)), make([]float32, len(x))
		copy(pass.outputGrad(), dy)
		pass.backward(0, Grad[float32]{X: dwant})

		f := net.Freeze(func(layer int, _ []Tensor, part []float32) { copy(part, net.part(theta, layer)) })
		if f.Together() < 1 {
			t.Errorf("%s: %d images at a time", kind, f.Together())
		}
		wide := tensor.Mat[float32]{Rows: n, Cols: net.Classes(), Stride: net.Classes() + 5, Data: make([]float32, n*(net.Classes()+5))}
		var k Kept
		f.Forward(wide, x, scale, &k)
		dx := make([]float32, len(x))
		f.Backward(dx, tensor.MatOf(dy, n, net.Classes()), scale, &k)
		for i := range n {
			for j, v := range wide.Row(i) {
				if w := scale * want[i*net.Classes()+j]; math.Abs(float64(v-w)) > 1e-5 {
					t.Fatalf("%s: image %d, feature %d is %v, want %v", kind, i, j, v, w)
				}
			}
		}
		for i, v := range dx {
			if w := scale * dwant[i]; math.Abs(float64(v-w)) > 1e-5 {
				t.Fatalf("%s: gradient at %d is %v, want %v", kind, i, v, w)
			}
		}
		if back, err := ShapeOf([]int64{int64(a.Code), 12, 2, 0, int64(s.Padding(9, 8))}); err != nil || back.Kind != kind || back.Width != 12 || back.Depth != 2 {
			t.Errorf("%s: ShapeOf returns %+v, %v", kind, back, err)
		}
	}
	if _, err := (Shape{Kind: "unknown"}).Net(8, 8, 1, 2); err == nil {
		t.Error("an unknown architecture was built")
	}
}
