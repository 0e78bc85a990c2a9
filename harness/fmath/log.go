package fmath

import "math"

// Log returns the natural logarithm of x. It returns -Inf at zero and NaN below.
func Log(x float64) float64 {
	switch {
	case x != x || x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	case x > math.MaxFloat64:
		return x
	}
	hi, lo := logParts(x)
	return hi + lo
}

// logParts returns hi and lo with hi + lo = log x, to about 2^-60, for finite x > 0.
func logParts(x float64) (hi, lo float64) {
	const (
		ln2Hi = 0x1.62e42fefa38p-01 // truncated at 2^-42, so that k*ln2Hi + t.hi is exact
		ln2Lo = 0x1.ef35793c7673p-45
		frac  = 1<<52 - 1
		one   = 1023 << 52
		low   = 1<<27 - 1
	)
	k := 0
	if x < 0x1p-1022 {
		x *= 0x1p54
		k = -54
	}
	b := math.Float64bits(x)
	k += int(b>>52) - 1023
	i := b >> 46 & 63
	b = b&frac | one
	if i >= 27 { // m above about sqrt 2: halve it, to keep log(1-tiny) accurate
		b -= 1 << 52
		k++
	}
	t := &logTable[i]

	// r = m*c - 1, |r| <= 1/64, with no rounding at any step.
	m := math.Float64frombits(b)
	mh := math.Float64frombits(b &^ low)
	r := (float64(mh*t.c) - 1) + float64((m-mh)*t.c)

	kf := float64(k)
	hi, lo = twoSum(float64(kf*ln2Hi)+t.hi, r)
	return hi, lo + (mad(kf, ln2Lo, t.lo) + log1pTail(r))
}

// log1pParts returns hi and lo with hi + lo = log(1 + x + dx), for x > -1 and dx below a unit in
// the last place of x.
func log1pParts(x, dx float64) (hi, lo float64) {
	if math.Abs(x) < 1.0/64 {
		return x, log1pTail(x) + dx/(1+x)
	}
	u, e := twoSum(1, x)
	hi, lo = logParts(u)
	return hi, lo + (e+dx)/u
}

// log1pTail returns log(1+r) - r for |r| <= 1/64, by its Taylor series.
func log1pTail(r float64) float64 {
	s := mad(r, -1.0/10, 1.0/9)
	s = mad(r, s, -1.0/8)
	s = mad(r, s, 1.0/7)
	s = mad(r, s, -1.0/6)
	s = mad(r, s, 1.0/5)
	s = mad(r, s, -1.0/4)
	s = mad(r, s, 1.0/3)
	z := float64(r * r)
	return mad(float64(z*r), s, float64(-0.5*z))
}
