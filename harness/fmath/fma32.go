package fmath

import "math"

// FMA32 returns a*b + c rounded once to float32. The payload of a NaN result is undefined.
//
// The product of two float32 values is exact in float64, so the float64 sum s has only one
// rounding error. Rounding s again to float32 is wrong only in two cases: s is the midpoint of
// two float32 values, or the result is subnormal. These cases take a slower path.
func FMA32(a, b, c float32) float32 { return fma32(a, b, c, sumToOdd) }

// fma32 takes the slow path as a parameter, because the compiler counts a call of a parameter
// as cheap. That keeps FMA32 small enough for inlining.
func fma32(a, b, c float32, long func(p, c float64) float32) float32 {
	p := float64(float64(a) * float64(b)) // exact
	s := p + float64(c)
	u := math.Float64bits(s)
	// The second test is |s| < 2^-126 and s != 0: for zero the subtraction wraps around.
	if u&(1<<29-1) == 1<<28 || u<<1-1 < (1023-126)<<53-1 {
		return long(p, float64(c))
	}
	return float32(s)
}

// sumToOdd returns p + c rounded once to float32. It first rounds to odd: it sets the last bit
// of the float64 sum if the sum is inexact. The second rounding then knows on which side of a
// midpoint the sum is.
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
