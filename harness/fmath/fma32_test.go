package fmath

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// exactFMA32 rounds the exact a*b + c once, for finite arguments.
func exactFMA32(a, b, c float32) float32 {
	x := new(big.Float).SetPrec(48).SetFloat64(float64(a) * float64(b))
	// 600 bits cover everything from 2^-298 to 2^256.
	s := new(big.Float).SetPrec(600).Add(x, big.NewFloat(float64(c)))
	if s.Sign() == 0 {
		// IEEE 754: an exact zero sum of two zeros with equal signs keeps the sign.
		return float32(float64(a)*float64(b) + float64(c))
	}
	f, _ := s.Float32()
	return f
}

func sameFloat32(x, y float32) bool {
	return math.Float32bits(x) == math.Float32bits(y) || x != x && y != y
}

func TestFMA32Cases(t *testing.T) {
	inf := float32(math.Inf(1))
	nan := float32(math.NaN())
	negZero := float32(math.Copysign(0, -1))
	const (
		maxF  = math.MaxFloat32
		least = math.SmallestNonzeroFloat32
		ulp   = 0x1p-23
	)
	tests := []struct{ a, b, c, want float32 }{
		// The product is 2^-70 below half a unit. Rounding twice would see a tie and
		// round up to even.
		{0x1p-12 * (1 + ulp), 0x1p-12 * (1 - ulp), 1 + ulp, 1 + ulp},
		{-0x1p-12 * (1 + ulp), 0x1p-12 * (1 - ulp), -(1 + ulp), -(1 + ulp)},
		{-0x1p-12 * (1 + ulp), 0x1p-12 * (1 - ulp), 1 + 2*ulp, 1 + 2*ulp},
		{0x1p-12, 0x1p-12, 1, 1},                             // exact tie to even, down
		{0x1p-12, 0x1p-12, 1 + ulp, 1 + 2*ulp},               // exact tie to even, up
		{1 + 0x1p-12, 1 + 0x1p-12, least, 1 + 0x1p-11 + ulp}, // just above a tie
		{1 + 0x1p-12, 1 + 0x1p-12, -least, 1 + 0x1p-11},
		{maxF, 1, 0x1p103, inf}, // tie at the overflow edge
		{maxF, 1, 0x1p103 * (1 - ulp/2), maxF},
		{maxF, 2, -maxF, maxF}, // no intermediate overflow
		{maxF, maxF, -inf, -inf},
		{0x1p-75, 0x1p-75, 0, 0}, // half the least subnormal
		{0x1p-75, 0x1p-75, least, 2 * least},
		{0x1p-75, 0x1p-75 * (1 - ulp/2), least, least},
		{0x1p-75, 0x1p-75 * (1 + ulp), 0, least},
		{0x1p-126, 1 - 0x1p-24, 0, 0x1p-126}, // rounds up to normal
		{least, least, 0, 0},
		{-least, least, 0, negZero},
		{least, least, least, least},
		{0, 1, negZero, 0},
		{negZero, 1, negZero, negZero},
		{0, 5, 0, 0},
		{1, 1, -1, 0},
		{inf, 0, 1, nan},
		{inf, 1, -inf, nan},
		{inf, -1, 3, -inf},
		{nan, 1, 1, nan},
		{1, 1, nan, nan},
		{1, 1, math.Float32frombits(0x7fc00001), nan},
	}
	for _, tt := range tests {
		if got := FMA32(tt.a, tt.b, tt.c); !sameFloat32(got, tt.want) {
			t.Errorf("FMA32(%x, %x, %x) = %x, want %x", tt.a, tt.b, tt.c, got, tt.want)
		}
	}
	// The first row must fail when rounded twice, or it tests nothing.
	f := tests[0]
	if float32(math.FMA(float64(f.a), float64(f.b), float64(f.c))) == f.want {
		t.Error("the double-rounding example no longer exposes double rounding")
	}
}

// TestFMA32Random compares with exact arithmetic. The sums are at or next to the midpoint of
// two float32 values.
func TestFMA32Random(t *testing.T) {
	n := 700_000
	if testing.Short() {
		n = 20_000
	}
	r := rand.New(rand.NewPCG(3, 4))
	small := func() int { return r.IntN(9) - 4 }
	sign := func() float32 { return float32(1 - 2*r.IntN(2)) }
	pow := func(lo, hi int) float32 { return float32(math.Ldexp(1, lo+r.IntN(hi-lo))) }
	gens := []struct {
		name string
		next func() (a, b, c float32)
	}{
		{"half a unit of c", func() (a, b, c float32) {
			e := r.IntN(200) - 100
			i := r.IntN(e+126+100+1) - 126 // keeps both factors in range
			c = math.Float32frombits(uint32(e+127)<<23 | r.Uint32()>>9)
			u, v := small(), small()
			if r.IntN(2) == 0 {
				v = -u
			}
			a = float32(math.Ldexp(1+float64(u)*0x1p-23, i))
			b = float32(math.Ldexp(1+float64(v)*0x1p-23, e-24-i))
			return sign() * a, b, sign() * c
		}},
		{"odd 25-bit product", func() (a, b, c float32) {
			a = float32(1<<12|1|r.IntN(1<<12)) * pow(-60, 30)
			b = float32(1<<12|1|r.IntN(1<<12)) * pow(-60, 30)
			return sign() * a, b, sign() * pow(-149, 0)
		}},
		{"subnormal", func() (a, b, c float32) {
			i, u := r.IntN(140)-75, small()
			a = float32(math.Ldexp(1+float64(u)*0x1p-23, i))
			b = float32(math.Ldexp(1-float64(u)*0x1p-23, -150-i))
			c = math.Float32frombits(r.Uint32() >> (9 + r.IntN(23)))
			return sign() * a, b, sign() * c
		}},
		{"any bits", func() (a, b, c float32) {
			f := func() float32 { return math.Float32frombits(r.Uint32()) }
			return f(), f(), f()
		}},
	}
	for _, g := range gens {
		t.Run(g.name, func(t *testing.T) {
			twice := 0
			for range n {
				a, b, c := g.next()
				if !isFinite(float64(a)) || !isFinite(float64(b)) || !isFinite(float64(c)) {
					continue
				}
				want := exactFMA32(a, b, c)
				if got := FMA32(a, b, c); !sameFloat32(got, want) {
					t.Fatalf("FMA32(%x, %x, %x) = %x, want %x", a, b, c, got, want)
				}
				if !sameFloat32(want, float32(math.FMA(float64(a), float64(b), float64(c)))) {
					twice++
				}
			}
			t.Logf("%d of %d triples are wrong when rounded twice", twice, n)
		})
	}
}
