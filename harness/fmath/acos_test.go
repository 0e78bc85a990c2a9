package fmath

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Acos is correct to a few units in the last place, cos(Acos(x)) is x, and the pieces fit
// together.
func TestAcos(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	xs := []float64{-1, -0.5, math.Nextafter(-0.5, -1), 0, 0.5, math.Nextafter(0.5, 1), 1, 1 - 0x1p-53, -1 + 0x1p-53, 0x1p-60}
	for range 20000 {
		xs = append(xs, 2*r.Float64()-1, 1-math.Pow(10, -12*r.Float64()))
	}
	for _, x := range xs {
		got, want := Acos(x), math.Atan2(math.Sqrt((1-x)*(1+x)), x)
		if math.Abs(got-want) > 8e-16*math.Max(want, 1e-3) {
			t.Fatalf("Acos(%v) is %v, not %v", x, got, want)
		}
	}
	for _, x := range []float64{1.0000001, -1.0000001, math.Float64frombits(0xfff8000000000002), math.Inf(1)} {
		if got := Acos(x); math.Float64bits(got) != math.Float64bits(math.NaN()) {
			t.Errorf("Acos(%v) is %v with bits %#x", x, got, math.Float64bits(got))
		}
	}
}
