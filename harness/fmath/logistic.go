package fmath

import "math"

// Sigmoid returns 1/(1+e^-x). Its relative error is small in both tails.
func Sigmoid(x float64) float64 {
	switch {
	case x != x:
		return math.NaN()
	case x > 40:
		return 1
	case x < -40: // 1 + e^x rounds to 1
		return Exp(x)
	}
	// The result is (nh + nl) / (d + e), with t = e^-|x| in both parts, so that nothing
	// overflows or cancels.
	th, tl := expScaled(-math.Abs(x))
	d, e := fastTwoSum(1, th)
	e += tl
	nh, nl := 1.0, 0.0
	if x < 0 {
		nh, nl = th, tl
	}
	q := nh / d
	rem := math.FMA(-q, d, nh) // exact
	return q + (rem+nl-float64(q*e))/d
}

// Softplus returns log(1+e^x). Its relative error is small for every x.
func Softplus(x float64) float64 {
	switch {
	case x != x:
		return math.NaN()
	case x > 40: // x + e^-x rounds to x
		return x
	case x < -40: // log(1+t) rounds to t
		return Exp(x)
	}
	hi, lo := log1pParts(expScaled(-math.Abs(x)))
	if x < 0 {
		return hi + lo
	}
	s, e := twoSum(x, hi)
	return s + (e + lo)
}

// Softmax sets p to e^z_j / sum_k e^z_k. It returns top, the largest z, and
// log sum_k e^(z_k - top). p may be z.
func Softmax[F float32 | float64](p []float64, z []F) (top, logSum float64) {
	top = float64(z[0])
	for _, v := range z {
		top = max(top, float64(v))
	}
	var sum float64
	for j, v := range z {
		p[j] = Exp(float64(v) - top)
		sum += p[j]
	}
	for j := range p {
		p[j] /= sum
	}
	return top, Log(sum)
}
