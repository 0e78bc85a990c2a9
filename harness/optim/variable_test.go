package optim

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// A variable continues from its saved state with the same bits. It refuses other lengths.
func TestVariable(t *testing.T) {
	variable := func(x ...float32) *Variable[float32] { return NewVariable("images", x, Adam(0.5, 0.9, 0.999)) }
	step := func(v *Variable[float32], g float32, share float64) {
		v.Grad[0], v.Grad[1] = g, -g
		v.Step(share)
	}
	v, w := variable(1, 2), variable(7, 8)
	step(v, 3, 1)
	state, err := v.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.UnmarshalBinary(state); err != nil {
		t.Fatal(err)
	}
	step(v, 1, 0.25)
	step(w, 1, 0.25)
	if !slices.Equal(v.X, w.X) || v.X[0] == 1 {
		t.Errorf("%v and %v", v.X, w.X)
	}
	still := slices.Clone(v.X)
	step(v, 1, 0)
	if !slices.Equal(v.X, still) {
		t.Error("a step with share 0 changes the values")
	}
	for n := range len(state) {
		if err := w.UnmarshalBinary(state[:n]); err == nil {
			t.Errorf("%d bytes of %d were restored", n, len(state))
		}
	}
	if variable(1, 2, 3).UnmarshalBinary(state) == nil {
		t.Error("the state of another length was restored")
	}
}

func TestVariableCheck(t *testing.T) {
	v := NewVariable("labels", []float32{1, 2}, SGD(0.01, 0, 0))
	if err := v.Check(); err != nil {
		t.Error(err)
	}
	for _, bad := range []float32{1e20, float32(math.Inf(-1)), float32(math.NaN())} {
		v.Grad[1] = bad
		if err := v.Check(); err == nil || !strings.Contains(err.Error(), "gradient of the labels") {
			t.Errorf("a gradient of %v: %v", bad, err)
		}
	}
	wide := NewVariable("labels", []float64{1}, SGD(0.01, 0, 0))
	if wide.Grad[0] = 1e20; wide.Check() != nil {
		t.Error("1e20 has a square in float64")
	}
}
