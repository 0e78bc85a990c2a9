package stats

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
)

// mostFlips bounds the pairs for which all sign patterns are counted.
const mostFlips = 20

// Paired is a comparison of two methods that ran with the same seeds.
type Paired struct {
	N    int
	Diff Summary // of a - b, pair by pair

	// Flip is the two-sided p-value of the exact sign-flip test: the share of the
	// 2^n ways to give the differences signs whose mean is at least as far from 0.
	// NaN if there are no pairs, or too many to count.
	Flip float64

	// Least is the smallest value that Flip can take for that number of pairs, 2/2^n.
	Least float64

	Warning string // what a reader must know about the test, "" for nothing
}

// Compare compares a and b, of which a[i] and b[i] belong to one seed. It panics
// if their lengths differ.
func Compare(a, b []float64) Paired {
	if len(a) != len(b) {
		panic("stats: pairs of lists of different lengths")
	}
	n := len(a)
	p := Paired{N: n, Flip: math.NaN(), Least: math.NaN()}
	if n == 0 {
		p.Warning = "no seed in common: nothing can be compared"
		return p
	}
	d := make([]float64, n)
	for i := range d {
		d[i] = a[i] - b[i]
	}
	p.Diff, p.Least = Summarise(d), math.Ldexp(2, -n)
	switch {
	case n > mostFlips:
		p.Warning = fmt.Sprintf("%d pairs are too many for the exact test", n)
		return p
	case n == 1:
		p.Warning = "one seed: the smallest p-value that a test can give is 1, whatever the difference"
	case p.Least > 0.05:
		p.Warning = fmt.Sprintf("%d seeds: the smallest p-value that the exact test can give is %s, so it can never fall below 0.05; that takes %d seeds",
			n, strconv.FormatFloat(p.Least, 'g', -1, 64), Pairs(0.05))
	}
	p.Flip = signFlip(d)
	return p
}

// signFlip counts sign patterns. Sums that differ by rounding alone are ties.
func signFlip(d []float64) float64 {
	n := len(d)
	sum := func(pattern uint32) float64 {
		var s float64
		for i, v := range d {
			if pattern>>i&1 == 1 {
				v = -v
			}
			s += v
		}
		return math.Abs(s)
	}
	var scale float64
	for _, v := range d {
		scale += math.Abs(v)
	}
	observed := sum(0)
	extreme := 0
	for pattern := range uint32(1) << (n - 1) { // the other half mirrors this one
		if sum(pattern) >= observed-1e-12*scale {
			extreme++
		}
	}
	return math.Ldexp(float64(extreme), 1-n)
}

// Pairs is how many pairs the exact test needs for a p-value of at most p.
func Pairs(p float64) int {
	if !(p > 0 && p <= 1) {
		panic("stats: a p-value lies in (0, 1]")
	}
	return 1 + bits.Len64(uint64(math.Ceil(1/p)-1))
}
