// Package fmath computes elementary functions, and a float32 multiply-add
// rounded once, with the same bits on every machine.
//
// Each function reduces its argument exactly, looks up or expands the rest as
// an unevaluated sum hi + lo of two float64 (e^x = 2^(n/32) e^r, log x = k log 2
// - log c + log(1+r), sin and cos on |r| <= pi/4), and rounds that sum at the
// end.
//
// Guarantee: results depend only on the argument's bits. Every product that
// feeds a sum is rounded by an explicit conversion, so that no compiler may fuse
// the two, and only operations that IEEE 754 defines to the last bit are used.
// Errors stay within one unit in the last place. A NaN returned by a float64
// function is always math.NaN().
package fmath

import "math"

// twoSum returns s = a+b rounded and the exact rounding error e.
func twoSum(a, b float64) (s, e float64) {
	s = a + b
	t := s - a
	return s, (a - (s - t)) + (b - t)
}

// fastTwoSum is twoSum for |a| >= |b|.
func fastTwoSum(a, b float64) (s, e float64) {
	s = a + b
	return s, b - (s - a)
}

// mad returns x*y + z with the product rounded first.
func mad(x, y, z float64) float64 { return float64(x*y) + z }

// isFinite reports whether x is neither infinite nor NaN.
func isFinite(x float64) bool { return math.Abs(x) <= math.MaxFloat64 }
