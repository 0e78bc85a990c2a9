package fmath

import "math"

// FMA32 returns a*b + c rounded once to float32. NaN results carry no defined
// payload.
//
// The product of two float32 is exact in float64, so the sum is wrong by at most
// its own rounding. Rounding that sum s again is harmless unless s sits on the
// midpoint of two float32, or the result is subnormal and midpoints lie
// elsewhere; those cases go the long way.
func FMA32(a, b, c float32) float32 { return fma32(a, b, c, sumToOdd) }

// fma32 takes the long way as a parameter because the compiler counts a call of
// a parameter as cheap, which keeps FMA32 within its budget for inlining.
func fma32(a, b, c float32, long func(p, c float64) float32) float32 {
	p := float64(float64(a) * float64(b)) // exact
	s := p + float64(c)
	u := math.Float64bits(s)
	// The second test is |s| < 2^-126 and s != 0: zero wraps round.
	if u&(1<<29-1) == 1<<28 || u<<1-1 < (1023-126)<<53-1 {
		return long(p, float64(c))
	}
	return float32(s)
}

// sumToOdd returns p + c rounded once to float32. It first rounds to odd: the
// last bit of the float64 is set when anything was lost, so that the second
// rounding still knows on which side of a midpoint the sum lies.
//
//go:noinline
func sumToOdd(p, c float64) float32 {
	s, e := twoSum(p, c)
	u := math.Float64bits(s)
	if isFinite(s) && e != 0 && u&1 == 0 {
		if (e > 0) == (s > 0) {
			u++
		} else {
			u--
		}
	}
	return float32(math.Float64frombits(u))
}
