package rng

import (
	"math"

	"dgkip/harness/fmath"
)

// Normal64 returns a standard normal number.
//
// It maps one uniform number through the inverse of the distribution function. Rejection and
// polar methods are faster, but use a varying number of words or keep a spare number between
// calls. Here the n-th normal depends on the n-th word, and the only state is the generator.
func (r *Rand) Normal64() float64 {
	// Midpoints of 2^52 equal cells are never 0 or 1, and symmetric about 1/2, so q is
	// exact. Results stay within +-8.21.
	q := float64(float64(int64(r.Uint64()>>12)-1<<51)*0x1p-52) + 0x1p-53
	return quantile(q)
}

// FillNormal fills dst with normal numbers of the given mean and standard deviation, using one
// word for each.
func (r *Rand) FillNormal(dst []float32, mean, sd float32) {
	m, s := float64(mean), float64(sd)
	for i := range dst {
		dst[i] = float32(m + float64(s*r.Normal64()))
	}
}

// quantile returns the z for which a standard normal number is below z with probability
// 1/2 + q, for |q| < 1/2.
//
// This is algorithm AS 241 (PPND16) of M. J. Wichura, Applied Statistics 37 (1988), 477-484.
// Its relative error is about 1e-16.
func quantile(q float64) float64 {
	if math.Abs(q) <= 0.425 {
		r := 0.180625 - float64(q*q)
		return q * ratio(r, &central)
	}
	// The probability of the smaller tail has at most 53 bits and is exact.
	r := math.Sqrt(-fmath.Log(0.5 - math.Abs(q)))
	var z float64
	if r <= 5 {
		z = ratio(r-1.6, &middle)
	} else {
		z = ratio(r-5, &far)
	}
	return math.Copysign(z, q)
}

// rational holds the coefficients of numerator and denominator, lowest power first.
type rational struct{ num, den [8]float64 }

// ratio evaluates c at r by Horner's rule. Each product is rounded before it is added.
func ratio(r float64, c *rational) float64 {
	n, d := c.num[7], c.den[7]
	n, d = float64(n*r)+c.num[6], float64(d*r)+c.den[6]
	n, d = float64(n*r)+c.num[5], float64(d*r)+c.den[5]
	n, d = float64(n*r)+c.num[4], float64(d*r)+c.den[4]
	n, d = float64(n*r)+c.num[3], float64(d*r)+c.den[3]
	n, d = float64(n*r)+c.num[2], float64(d*r)+c.den[2]
	n, d = float64(n*r)+c.num[1], float64(d*r)+c.den[1]
	n, d = float64(n*r)+c.num[0], float64(d*r)+c.den[0]
	return n / d
}

var (
	central = rational{
		num: [8]float64{
			3.3871328727963666080e0, 1.3314166789178437745e+2,
			1.9715909503065514427e+3, 1.3731693765509461125e+4,
			4.5921953931549871457e+4, 6.7265770927008700853e+4,
			3.3430575583588128105e+4, 2.5090809287301226727e+3,
		},
		den: [8]float64{
			1, 4.2313330701600911252e+1,
			6.8718700749205790830e+2, 5.3941960214247511077e+3,
			2.1213794301586595867e+4, 3.9307895800092710610e+4,
			2.8729085735721942674e+4, 5.2264952788528545610e+3,
		},
	}
	middle = rational{
		num: [8]float64{
			1.42343711074968357734e0, 4.63033784615654529590e0,
			5.76949722146069140550e0, 3.64784832476320460504e0,
			1.27045825245236838258e0, 2.41780725177450611770e-1,
			2.27238449892691845833e-2, 7.74545014278341407640e-4,
		},
		den: [8]float64{
			1, 2.05319162663775882187e0,
			1.67638483018380384940e0, 6.89767334985100004550e-1,
			1.48103976427480074590e-1, 1.51986665636164571966e-2,
			5.47593808499534494600e-4, 1.05075007164441684324e-9,
		},
	}
	far = rational{
		num: [8]float64{
			6.65790464350110377720e0, 5.46378491116411436990e0,
			1.78482653991729133580e0, 2.96560571828504891230e-1,
			2.65321895265761230930e-2, 1.24266094738807843860e-3,
			2.71155556874348757815e-5, 2.01033439929228813265e-7,
		},
		den: [8]float64{
			1, 5.99832206555887937690e-1,
			1.36929880922735805310e-1, 1.48753612908506148525e-2,
			7.86869131145613259100e-4, 1.84631831751005468180e-5,
			1.42151175831644588870e-7, 2.04426310338993978564e-15,
		},
	}
)
