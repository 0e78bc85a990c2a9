package tensor

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"
)

// random returns n values with mean 0 and variance 1. It only uses sums, because the
// standard library's normal numbers may differ between processors.
func random(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = 2 * float32(r.Float64()+r.Float64()+r.Float64()-1.5)
	}
	return v
}

func widen(v []float32) []float64 {
	w := make([]float64, len(v))
	for i, x := range v {
		w[i] = float64(x)
	}
	return w
}

// guard is the value around the outputs of tests.
const guard = 54321.5

// guarded returns n random values between guards, and a check that the guards are
// unchanged.
func guarded(t *testing.T, r *rand.Rand, n int) (v []float32, check func(name string)) {
	all := random(r, n+128)
	for i := range 64 {
		all[i], all[n+64+i] = guard, guard
	}
	return all[64 : n+64 : n+64], func(name string) {
		t.Helper()
		for i := range 64 {
			if all[i] != guard || all[n+64+i] != guard {
				t.Fatalf("%s: wrote outside the output", name)
			}
		}
	}
}

// near compares with float64 values. The tolerance is relative to the largest value.
func near(t *testing.T, name string, got []float32, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", name, len(got), len(want))
	}
	worst, scale := 0.0, 0.0
	for i, w := range want {
		worst, scale = max(worst, math.Abs(float64(got[i])-w)), max(scale, math.Abs(w))
	}
	if !(worst <= tol*scale) {
		t.Errorf("%s: off by %.2g of the largest entry, want at most %.2g", name, worst/scale, tol)
	}
}

// eachPath runs a test on every path of this processor.
func eachPath(t *testing.T, f func(t *testing.T)) {
	before := Path()
	defer Use(before)
	for _, path := range Paths() {
		if err := Use(path); err != nil {
			t.Fatal(err)
		}
		t.Run(path, f)
	}
}

// digest returns a hash of the bits of some results.
func digest(vs ...[]float32) uint64 {
	h := fnv.New64a()
	for _, v := range vs {
		for _, x := range v {
			b := math.Float32bits(x)
			h.Write([]byte{byte(b), byte(b >> 8), byte(b >> 16), byte(b >> 24)})
		}
	}
	return h.Sum64()
}

// halves returns the bits of float64 values as twice as many float32 values.
func halves(v []float64) []float32 {
	var h []float32
	for _, x := range v {
		b := math.Float64bits(x)
		h = append(h, math.Float32frombits(uint32(b)), math.Float32frombits(uint32(b>>32)))
	}
	return h
}

// inner returns the dot product, computed in float64.
func inner(a, b []float32) float64 {
	sum := 0.0
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}

// panics checks that f panics with the message.
func panics(t *testing.T, message string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if r := recover(); r != message {
			t.Errorf("recovered %v, want %q", r, message)
		}
	}()
	f()
}
