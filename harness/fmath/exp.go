package fmath

import "math"

// Exp returns e^x. It returns +Inf on overflow, and 0 if the result is below half the least
// subnormal number.
func Exp(x float64) float64 {
	switch {
	case x != x:
		return math.NaN()
	case x > 710:
		return math.Inf(1)
	case x < -746:
		return 0
	}
	hi, _, k := expParts(x)
	return scale(hi, k)
}

// expParts returns hi, lo, k with e^x = 2^k (hi + lo) and hi in [0.98, 2]. The relative error of
// the sum is about 2^-59. It needs |x| <= 746.
func expParts(x float64) (hi, lo float64, k int) {
	const (
		inv   = 0x1.71547652b82fep+05 // 32/ln 2
		stepH = 0x1.62e42fefap-06     // ln 2/32 truncated at 2^-42, so that n*stepH is exact
		stepL = 0x1.cf79abc9e3b3ap-45
		shift = 0x1.8p52 // adding it rounds to an integer
	)
	n := (float64(x*inv) + shift) - shift
	i := int(n)
	t := &exp2Table[i&31]

	w := float64(n * stepL)
	r0 := x - float64(n*stepH) // exact
	r := r0 - w                // |r| < 0.011
	c := (r0 - r) - w
	q := c + float64(float64(r*r)*expTail(r)) // e^r - 1 - r

	lo = mad(t.hi, r, mad(t.hi, q, mad(t.lo, r, t.lo)))
	hi, lo = fastTwoSum(t.hi, lo)
	return hi, lo, i >> 5
}

// expScaled returns hi and lo with e^x = hi + lo, for |x| <= 700.
func expScaled(x float64) (hi, lo float64) {
	hi, lo, k := expParts(x)
	return scale(hi, k), scale(lo, k)
}

// expTail returns (e^r - 1 - r)/r^2 for |r| < 0.011, by its Taylor series.
func expTail(r float64) float64 {
	s := mad(r, 1.0/5040, 1.0/720)
	s = mad(r, s, 1.0/120)
	s = mad(r, s, 1.0/24)
	s = mad(r, s, 1.0/6)
	return mad(r, s, 1.0/2)
}

// scale returns x*2^k rounded once, for x near 1 and -1100 < k <= 1024.
func scale(x float64, k int) float64 {
	switch {
	case k > 1023: // the factor itself would overflow
		return x * 2 * 0x1p1023
	case k < -1021: // round only in the second product
		return x * pow2(k+128) * 0x1p-128
	}
	return x * pow2(k)
}

// pow2 returns 2^k for a normal result.
func pow2(k int) float64 { return math.Float64frombits(uint64(k+1023) << 52) }
