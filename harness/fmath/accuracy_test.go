package fmath

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// span draws from [lo, hi]. spread also varies the exponent and reaches tiny values of both
// signs.
func span(lo, hi float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return lo + (hi-lo)*r.Float64() }
}

func spread(minExp, maxExp int) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		x := math.Ldexp(1+r.Float64(), minExp+r.IntN(maxExp-minExp))
		if r.IntN(2) == 0 {
			return -x
		}
		return x
	}
}

func positive(f func(*rand.Rand) float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return math.Abs(f(r)) }
}

// nearQuarterTurn draws the float64 nearest to a random multiple of pi/2, where the reduction
// cancels most.
func nearQuarterTurn(r *rand.Rand) float64 {
	x, _ := mul(bf(float64(r.IntN(120000)-60000)), bigHalfPi).Float64()
	return x
}

// TestAccuracy limits the error against the oracle, in units in the last place.
func TestAccuracy(t *testing.T) {
	type gen = func(*rand.Rand) float64
	tests := []struct {
		name  string
		f     func(float64) float64
		exact func(*big.Float) *big.Float
		limit float64
		from  []gen
	}{
		{"Exp", Exp, bigExp, 0.52, []gen{span(-708, 709.7), span(-1, 1), spread(-60, 5)}},
		{"Exp subnormal", Exp, bigExp, 1.01, []gen{span(-745.1, -708)}},
		{"Log", Log, bigLog, 0.52, []gen{positive(spread(-1074, 1023)), span(0.5, 2), span(0.98, 1.02)}},
		{"Sigmoid", Sigmoid, bigSigmoid, 0.52, []gen{span(-708, 50), span(-3, 3), spread(-70, 5)}},
		{"Softplus", Softplus, bigSoftplus, 0.53, []gen{span(-708, 50), span(-5, 5), spread(-70, 5)}},
		{"Sin", Sin, bigSin, 0.8, []gen{span(-4, 4), span(-1e5, 1e5), spread(-1070, 16), nearQuarterTurn}},
		{"Cos", Cos, bigCos, 0.85, []gen{span(-4, 4), span(-1e5, 1e5), spread(-70, 16), nearQuarterTurn}},
	}
	n := 3000
	if testing.Short() {
		n = 200
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			worst, at := 0.0, 0.0
			for _, from := range tt.from {
				for range n {
					x := from(r)
					if u := ulps(tt.f(x), tt.exact(bf(x))); !(u <= worst) {
						worst, at = u, x
					}
				}
			}
			t.Logf("worst error %.4f ulp at %v", worst, at)
			if !(worst <= tt.limit) {
				t.Errorf("error %.4f ulp at %v (%x), limit %v", worst, at, at, tt.limit)
			}
		})
	}
}

// TestTables checks every table entry against the oracle.
func TestTables(t *testing.T) {
	near := func(hi, lo float64, want *big.Float) bool {
		d := sub(add(bf(hi), bf(lo)), want)
		return d.Sign() == 0 || d.MantExp(nil) < -95
	}
	for j, e := range exp2Table {
		want := bigExp(quo(mul(bigLn2, bf(float64(j))), bf(32)))
		if !near(e.hi, e.lo, want) || e.hi+e.lo != e.hi {
			t.Errorf("exp2Table[%d] = %v", j, e)
		}
	}
	for i, e := range logTable {
		if !near(e.hi, e.lo, new(big.Float).Neg(bigLog(bf(e.c)))) {
			t.Errorf("logTable[%d] = %v", i, e)
		}
		if s := math.Ldexp(e.hi, 42); s != math.Trunc(s) {
			t.Errorf("logTable[%d].hi is not a multiple of 2^-42", i)
		}
		m := 1 + float64(i)/64 // the interval is [m, m+w]
		w := 1.0 / 64
		if i >= 27 {
			m, w = m/2, w/2
		}
		if r := max(math.Abs(m*e.c-1), math.Abs((m+w)*e.c-1)); r > 1.0/64 {
			t.Errorf("logTable[%d]: |r| reaches %v", i, r)
		}
	}
}
