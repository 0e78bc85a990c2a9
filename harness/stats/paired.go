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

	// Least is the smallest value that Flip can take for so many pairs, 2/2^n.
	Least float64

	// T and PT are the paired t statistic and its two-sided p-value, NaN if they
	// cannot be had.
	T, PT float64

	Warnings []Warning
}

// Compare compares a and b, of which a[i] and b[i] belong to one seed. It panics
// if their lengths differ.
func Compare(a, b []float64) Paired {
	if len(a) != len(b) {
		panic("stats: pairs of lists of different lengths")
	}
	n := len(a)
	p := Paired{N: n, Flip: math.NaN(), Least: math.NaN(), T: math.NaN(), PT: math.NaN()}
	if n == 0 {
		p.Warnings = []Warning{"no seed in common: nothing can be compared"}
		return p
	}
	d := make([]float64, n)
	for i := range d {
		d[i] = a[i] - b[i]
	}
	p.Diff = Summarise(d)
	p.Least = math.Ldexp(2, -n)
	switch {
	case n > mostFlips:
		p.Warnings = append(p.Warnings, Warning(fmt.Sprintf("%d pairs are too many for the exact test; see the paired t-test", n)))
	default:
		p.Flip = signFlip(d)
	}
	switch {
	case n == 1:
		p.Warnings = append(p.Warnings, "one seed: the smallest p-value that a test can give is 1, whatever the difference")
	case p.Least > 0.05:
		p.Warnings = append(p.Warnings, Warning(fmt.Sprintf("%d seeds: the smallest p-value that the exact test can give is %s, so it can never fall below 0.05; that takes %d seeds",
			n, strconv.FormatFloat(p.Least, 'g', -1, 64), Pairs(0.05))))
	}
	// Differences that are equal but for rounding have no spread to divide by.
	if n > 1 && p.Diff.SD > 1e-9*math.Abs(p.Diff.Mean) {
		p.T = p.Diff.Mean / (p.Diff.SD / math.Sqrt(float64(n-1)))
		p.PT = tTwoSided(p.T, n-1)
		if n < 6 {
			p.Warnings = append(p.Warnings, "the t-test assumes that differences are normal, which so few cannot show")
		}
	} else if n > 1 {
		p.Warnings = append(p.Warnings, "all differences are equal: there is no t statistic")
	}
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

// Holm returns p-values adjusted for being many: reject where the adjusted one is
// at most the level, and the chance of a single false rejection is at most that
// level. NaN marks a test that was not made and stays.
func Holm(p []float64) []float64 {
	var order []int
	for i, v := range p {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	sortBy(order, func(i int) float64 { return p[i] })
	out := make([]float64, len(p))
	for i := range out {
		out[i] = math.NaN()
	}
	highest := 0.0
	for rank, i := range order {
		highest = math.Max(highest, math.Min(1, float64(len(order)-rank)*p[i]))
		out[i] = highest
	}
	return out
}
