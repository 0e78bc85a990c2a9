package fmath

import "math"

// trigLimit is the largest argument of Sin and Cos. Beyond it the reduction would silently lose
// bits, so Sin and Cos return NaN.
const trigLimit = 1 << 17

// Sin returns the sine of x radians for |x| <= 2^17, and NaN beyond.
func Sin(x float64) float64 {
	if !(math.Abs(x) <= trigLimit) {
		return math.NaN()
	}
	if math.Abs(x) < 0x1p-27 {
		return x
	}
	return sinQuarter(reduce(x))
}

// Cos returns the cosine of x radians for |x| <= 2^17, and NaN beyond.
func Cos(x float64) float64 {
	if !(math.Abs(x) <= trigLimit) {
		return math.NaN()
	}
	r, lo, n := reduce(x)
	return sinQuarter(r, lo, n+1)
}

// reduce returns r + lo = x - n*pi/2 with |r| below about pi/4.
func reduce(x float64) (r, lo float64, n int) {
	const (
		inv   = 0x1.45f306dc9c883p-01 // 2/pi
		p1    = 0x1.921fb5444p+00     // pi/2 = p1 + p2 + p3 + p4; the first
		p2    = 0x1.68c234c5p-39      // three are short enough for exact
		p3    = -0x1.cceba3f9p-74     // products with n
		p4    = -0x1.f1976b7ed8fbcp-110
		shift = 0x1.8p52 // adding it rounds to an integer
	)
	f := (float64(x*inv) + shift) - shift
	r = x - float64(f*p1) // exact
	r, e2 := twoSum(r, -float64(f*p2))
	r, e3 := twoSum(r, -float64(f*p3))
	r, lo = fastTwoSum(r, (e2+e3)-float64(f*p4))
	return r, lo, int(f)
}

// sinQuarter returns sin(r + lo + n*pi/2).
func sinQuarter(r, lo float64, n int) float64 {
	var y float64
	if n&1 == 0 {
		y = sinKernel(r, lo)
	} else {
		y = cosKernel(r, lo)
	}
	if n&2 != 0 {
		return -y
	}
	return y
}

// sinKernel returns sin(r + lo) for |r| <= pi/4, by its Taylor series. It is exact to first order
// in lo.
func sinKernel(r, lo float64) float64 {
	z := float64(r * r)
	s := mad(z, 1.0/355687428096000, -1.0/1307674368000)
	s = mad(z, s, 1.0/6227020800)
	s = mad(z, s, -1.0/39916800)
	s = mad(z, s, 1.0/362880)
	s = mad(z, s, -1.0/5040)
	s = mad(z, s, 1.0/120)
	s = mad(z, s, -1.0/6)
	s = mad(float64(z*r), s, lo) - float64(float64(0.5*z)*lo)
	return r + s
}

// cosKernel returns cos(r + lo) for |r| <= pi/4, by its Taylor series.
func cosKernel(r, lo float64) float64 {
	z := float64(r * r)
	s := mad(z, -1.0/6402373705728000, 1.0/20922789888000)
	s = mad(z, s, -1.0/87178291200)
	s = mad(z, s, 1.0/479001600)
	s = mad(z, s, -1.0/3628800)
	s = mad(z, s, 1.0/40320)
	s = mad(z, s, -1.0/720)
	s = mad(z, s, 1.0/24)
	h := float64(0.5 * z)
	w, e := fastTwoSum(1, -h)
	return w + (e + mad(float64(z*z), s, -float64(r*lo)))
}

// CosineShare returns the share of the learning rate in update i of n, counted from 0. It falls
// from 1 towards floor like a cosine.
func CosineShare(i, n int, floor float64) float64 {
	return floor + float64((1-floor)*(1+Cos(float64(math.Pi*float64(i))/float64(n))))/2
}
