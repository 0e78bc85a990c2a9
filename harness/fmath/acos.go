package fmath

import "math"

// Acos returns the angle in [0, pi] whose cosine is x. It returns NaN for |x| > 1.
func Acos(x float64) float64 {
	switch {
	case !(math.Abs(x) <= 1):
		return math.NaN()
	case x > 0.5: // acos x = 2 asin sqrt((1-x)/2)
		z := (1 - x) / 2
		s := math.Sqrt(z)
		return 2 * float64(s*asinOver(z))
	case x < -0.5:
		z := (1 + x) / 2
		s := math.Sqrt(z)
		return math.Pi - float64(2*float64(s*asinOver(z)))
	}
	return math.Pi/2 - float64(x*asinOver(float64(x*x)))
}

// asinOver returns asin(x)/x at z = x^2 in [0, 1/4]. It evaluates the polynomial through the
// values at 14 Chebyshev nodes, with an error of 1.1e-18 before rounding.
func asinOver(z float64) float64 {
	p := 0x1.0ae3d8415ff12p-5
	p = mad(p, z, -0x1.56ed8b3ca32b7p-6)
	p = mad(p, z, 0x1.63026d0d7730cp-6)
	p = mad(p, z, 0x1.e75550de0d565p-9)
	p = mad(p, z, 0x1.61321491c7098p-7)
	p = mad(p, z, 0x1.75847cdbae0e8p-7)
	p = mad(p, z, 0x1.ca20259c3bdefp-7)
	p = mad(p, z, 0x1.1c49e34e05c97p-6)
	p = mad(p, z, 0x1.6e8be020ef9afp-6)
	p = mad(p, z, 0x1.f1c71a826a620p-6)
	p = mad(p, z, 0x1.6db6db726356fp-5)
	p = mad(p, z, 0x1.333333332d538p-4)
	p = mad(p, z, 0x1.5555555555584p-3)
	return mad(p, z, 1)
}
