package fmath

import (
	"math"
	"testing"
)

// TestEdges checks special arguments and the limits of overflow, underflow and domain, bit for
// bit.
func TestEdges(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	negZero := math.Copysign(0, -1)
	const least = math.SmallestNonzeroFloat64
	tests := []struct {
		name    string
		f       func(float64) float64
		x, want float64
	}{
		{"Exp", Exp, 0, 1},
		{"Exp", Exp, negZero, 1},
		{"Exp", Exp, least, 1},
		{"Exp", Exp, inf, inf},
		{"Exp", Exp, -inf, 0},
		{"Exp", Exp, nan, nan},
		{"Exp", Exp, 0x1.62e42fefa39efp+9, 0x1.fffffffffff2ap+1023}, // last finite
		{"Exp", Exp, 0x1.62e42fefa39f0p+9, inf},
		{"Exp", Exp, -0x1.74910d52d3051p+9, least}, // last above zero
		{"Exp", Exp, -0x1.74910d52d3052p+9, 0},
		{"Exp", Exp, 1e300, inf},
		{"Exp", Exp, -1e300, 0},
		{"Log", Log, 0, -inf},
		{"Log", Log, negZero, -inf},
		{"Log", Log, 1, 0},
		{"Log", Log, -1, nan},
		{"Log", Log, -least, nan},
		{"Log", Log, inf, inf},
		{"Log", Log, -inf, nan},
		{"Log", Log, nan, nan},
		{"Log", Log, least, -0x1.74385446d71c3p+9},
		{"Log", Log, math.MaxFloat64, 0x1.62e42fefa39efp+9},
		{"Sigmoid", Sigmoid, 0, 0.5},
		{"Sigmoid", Sigmoid, negZero, 0.5},
		{"Sigmoid", Sigmoid, inf, 1},
		{"Sigmoid", Sigmoid, -inf, 0},
		{"Sigmoid", Sigmoid, nan, nan},
		{"Sigmoid", Sigmoid, 1e300, 1},
		{"Sigmoid", Sigmoid, -1e300, 0},
		{"Sigmoid", Sigmoid, -745, least},
		{"Softplus", Softplus, 0, math.Ln2},
		{"Softplus", Softplus, negZero, math.Ln2},
		{"Softplus", Softplus, inf, inf},
		{"Softplus", Softplus, -inf, 0},
		{"Softplus", Softplus, nan, nan},
		{"Softplus", Softplus, 1e300, 1e300},
		{"Softplus", Softplus, -745, least},
		{"Sin", Sin, 0, 0},
		{"Sin", Sin, negZero, negZero},
		{"Sin", Sin, least, least},
		{"Sin", Sin, inf, nan},
		{"Sin", Sin, -inf, nan},
		{"Sin", Sin, nan, nan},
		{"Sin", Sin, trigLimit + 1, nan},
		{"Sin", Sin, math.Pi / 2, 1},
		{"Sin", Sin, math.Pi, 0x1.1a62633145c07p-53},
		{"Cos", Cos, 0, 1},
		{"Cos", Cos, least, 1},
		{"Cos", Cos, inf, nan},
		{"Cos", Cos, nan, nan},
		{"Cos", Cos, -trigLimit - 1, nan},
		{"Cos", Cos, math.Pi, -1},
		{"Cos", Cos, math.Pi / 2, 0x1.1a62633145c07p-54},
	}
	for _, tt := range tests {
		if got := tt.f(tt.x); math.Float64bits(got) != math.Float64bits(tt.want) {
			t.Errorf("%s(%x) = %x, want %x", tt.name, tt.x, got, tt.want)
		}
	}
}
