package fmath

import (
	"math"
	"math/big"
)

// The oracle evaluates the functions by series in math/big and shares no code with the package.
// prec leaves room for arguments up to 2^17 and for cancellation in e^x - 1.
const prec = 260

func bf(x float64) *big.Float        { return new(big.Float).SetPrec(prec).SetFloat64(x) }
func add(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(prec).Add(x, y) }
func sub(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(prec).Sub(x, y) }
func mul(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(prec).Mul(x, y) }
func quo(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(prec).Quo(x, y) }

func ldexp(x *big.Float, k int) *big.Float { return new(big.Float).SetPrec(prec).SetMantExp(x, k) }

func round(x *big.Float) int64 {
	f, _ := x.Float64()
	return int64(math.Floor(f + 0.5))
}

// negligible reports whether term no longer changes sum.
func negligible(term, sum *big.Float) bool {
	return term.Sign() == 0 || sum.Sign() != 0 && term.MantExp(nil) < sum.MantExp(nil)-prec
}

// bigExpm1Small sums the series of e^x - 1 for |x| < 1.
func bigExpm1Small(x *big.Float) *big.Float {
	sum, term := bf(0), bf(1)
	for n := 1; ; n++ {
		term = quo(mul(term, x), bf(float64(n)))
		sum = add(sum, term)
		if negligible(term, sum) {
			return sum
		}
	}
}

func bigExp(x *big.Float) *big.Float {
	k := round(quo(x, bigLn2))
	r := sub(x, mul(bf(float64(k)), bigLn2))
	return ldexp(add(bf(1), bigExpm1Small(r)), int(k))
}

// atanhSeries returns x + x^3/3 + x^5/5 + ..., or the series with alternating signs.
func atanhSeries(x *big.Float, sign float64) *big.Float {
	sum, pow, x2 := x, x, mul(mul(x, x), bf(sign))
	for n := 3; ; n += 2 {
		pow = mul(pow, x2)
		term := quo(pow, bf(float64(n)))
		sum = add(sum, term)
		if negligible(term, sum) {
			return sum
		}
	}
}

// bigLog1p uses log(1+x) = 2 atanh(x/(2+x)), after removing powers of two.
func bigLog1p(x *big.Float) *big.Float {
	if x.Sign() == 0 || x.MantExp(nil) < -2 {
		return mul(bf(2), atanhSeries(quo(x, add(x, bf(2))), 1))
	}
	return bigLog(add(x, bf(1)))
}

func bigLog(x *big.Float) *big.Float {
	m := new(big.Float).SetPrec(prec)
	k := x.MantExp(m)
	if m.Cmp(bf(0.71)) < 0 {
		m = ldexp(m, 1)
		k--
	}
	l := mul(bf(2), atanhSeries(quo(sub(m, bf(1)), add(m, bf(1))), 1))
	return add(l, mul(bf(float64(k)), bigLn2))
}

var (
	bigLn2 = mul(bf(2), atanhSeries(quo(bf(1), bf(3)), 1))
	// Machin: pi/2 = 8 arctan(1/5) - 2 arctan(1/239).
	bigHalfPi = sub(mul(bf(8), atanhSeries(quo(bf(1), bf(5)), -1)),
		mul(bf(2), atanhSeries(quo(bf(1), bf(239)), -1)))
)

func bigSigmoid(x *big.Float) *big.Float {
	return quo(bf(1), add(bf(1), bigExp(new(big.Float).Neg(x))))
}

func bigSoftplus(x *big.Float) *big.Float { return bigLog1p(bigExp(x)) }

// bigSinQuarter returns sin(x + n pi/2).
func bigSinQuarter(x *big.Float, n int64) *big.Float {
	k := round(quo(x, bigHalfPi))
	r := sub(x, mul(bf(float64(k)), bigHalfPi))
	n += k
	r2 := new(big.Float).Neg(mul(r, r))
	sum, first := r, 2.0 // sine: r - r^3/(2*3) + ...
	if n&1 != 0 {
		sum, first = bf(1), 1 // cosine: 1 - r^2/(1*2) + ...
	}
	term := sum
	for j := first; !negligible(term, sum); j += 2 {
		term = quo(mul(term, r2), bf(j*(j+1)))
		sum = add(sum, term)
	}
	if n&2 != 0 {
		return new(big.Float).Neg(sum)
	}
	return sum
}

func bigSin(x *big.Float) *big.Float { return bigSinQuarter(x, 0) }
func bigCos(x *big.Float) *big.Float { return bigSinQuarter(x, 1) }

// ulps returns |got - want| in units in the last place of want.
func ulps(got float64, want *big.Float) float64 {
	e := max(want.MantExp(nil)-53, -1074)
	d, _ := ldexp(sub(bf(got), want), -e).Float64()
	return math.Abs(d)
}
