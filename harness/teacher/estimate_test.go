package teacher

import (
	"runtime"
	"testing"

	"dgkip/harness/convex"
	"dgkip/harness/features"
	"dgkip/harness/method"
	"dgkip/harness/tensor"
)

// heap is the memory in use.
func heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // the first leaves what pools hold
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// A map takes as much memory as MapBytes says, and more once a gradient has gone back.
func TestMapBytes(t *testing.T) {
	for kind, m := range map[string]method.Model{
		"fc":   {Kind: "fc", Width: 512, Depth: 3, Nets: 8},
		"conv": {Kind: "conv", Width: 128, Depth: 3, Nets: 8},
	} {
		s := method.Sizes{H: 16, W: 16, C: 3, Model: m}
		before := heap()
		fm, err := features.New(Config(m, s.H, s.W, s.C), 1)
		if err != nil {
			t.Fatal(err)
		}
		x, phi := make([]float32, s.H*s.W*s.C), tensor.NewMat[float32](1, fm.Dim())
		check := func(back bool) {
			t.Helper()
			if got, want := float64(MapBytes(s, back)), heap()-before; got < 0.9*want || got > 1.1*want {
				t.Errorf("%s, back %t: %.3g bytes, and it takes %.3g", kind, back, got, want)
			}
		}
		p := fm.NewPass()
		p.Forward(phi, x)
		check(false)
		p.Backward(x, phi)
		check(true)
		runtime.KeepAlive(p)
	}
}

// Factors of the Gram matrix take most of the time of the hinge, unless there are fewer features
// than images.
func TestEstimateOfTheHinge(t *testing.T) {
	s := method.Sizes{Train: 10_000, Classes: 2, H: 28, W: 28, C: 1, Model: method.Model{Kind: "nngp", Depth: 3}}
	hinge, squared := Estimate(s, convex.HingeLoss).Shared, Estimate(s, convex.SquaredLoss).Shared
	if more := hinge - squared; more < 9e12 || more > 11e12 {
		t.Errorf("the hinge takes %.2g operations more than the squared loss", more)
	}
	if thin := convex.SolverFlops(convex.HingeLoss, 60_000, 1000); thin > 1e13 {
		t.Errorf("with 1000 features the hinge takes %.2g operations", thin)
	}
}
