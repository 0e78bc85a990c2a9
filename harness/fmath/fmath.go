// Package fmath computes elementary functions, and a float32 multiply-add that is rounded
// once, with the same bits on every machine.
//
// Exp, Log, Sin, Cos, Sigmoid and Softplus reduce their argument exactly, compute the rest as an
// unevaluated sum hi + lo of two float64, and round that sum at the end. The reductions are e^x = 2^(n/32) e^r,
// log x = k log 2 - log c + log(1+r), and sin and cos on |r| <= pi/4.
//
// Guarantee: results depend only on the bits of the argument. Every product in a sum is rounded
// by an explicit conversion, so that no compiler may fuse them. Only operations that IEEE 754
// defines to the last bit are used. Errors are at most about one unit in the last place. A
// float64 function that returns NaN always returns math.NaN().
package fmath

import "math"

// twoSum returns the rounded sum s = a+b and its exact rounding error e.
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

// mad returns x*y + z. It rounds the product first.
func mad(x, y, z float64) float64 { return float64(x*y) + z }

// isFinite reports whether x is neither infinite nor NaN.
func isFinite(x float64) bool { return math.Abs(x) <= math.MaxFloat64 }
