// Package stats summarises repeated runs.
//
// The same numbers give the same bits on every machine. Means are exact. Other sums add their terms
// in order, without fused multiply-adds. Quantiles are rounded to ten digits.
package stats

import (
	"math"
	"math/big"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat/distuv"
)

// Summary describes the values of a quantity over the runs of a cell.
type Summary struct {
	N    int
	Mean float64
	SD   float64 // population standard deviation; 0 if N is 1

	Median, Low, High float64 // Low and High are the least and the greatest value

	// Half is half the width of the 95 % t-interval of the mean, or NaN if N is below 2.
	Half float64
}

// HasSpread reports whether there are at least two values.
func (s Summary) HasSpread() bool { return s.N > 1 }

// Summarise returns the summary of x. It panics if x is empty.
func Summarise(x []float64) Summary {
	if len(x) == 0 {
		panic("stats: Summarise: no values")
	}
	s := Summary{N: len(x), Mean: Mean(x), Half: math.NaN(), Median: Median(x), Low: slices.Min(x), High: slices.Max(x)}
	if s.HasSpread() {
		s.SD = SD(x)
		// The interval uses the sample deviation, s = sd sqrt(n/(n-1)).
		s.Half = tQuantile(0.975, s.N-1) * s.SD / math.Sqrt(float64(s.N-1))
	}
	return s
}

// Mean returns the arithmetic mean. It adds the shortest decimal forms of the values exactly and
// rounds once. The mean of 0.684, 0.686 and 0.688 is therefore exactly 0.686, in any order.
func Mean(x []float64) float64 {
	var sum float64
	for _, v := range x {
		sum += v
	}
	if len(x) == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return sum / float64(len(x))
	}
	exact, term := new(big.Rat), new(big.Rat)
	for _, v := range x {
		term.SetString(strconv.FormatFloat(v, 'g', -1, 64))
		exact.Add(exact, term)
	}
	mean, _ := exact.Quo(exact, term.SetInt64(int64(len(x)))).Float64()
	return mean
}

// Median returns the middle value, or the mean of the two middle values. It is 0 if x is empty.
func Median(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(x))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// SD returns the population standard deviation, which divides by n. It describes just these values.
func SD(x []float64) float64 {
	m := Mean(x)
	var sum float64
	for _, v := range x {
		d := v - m
		sum += float64(d * d)
	}
	return math.Sqrt(sum / float64(len(x)))
}

// Combined returns the standard deviation of the difference of two independent numbers with
// standard deviations a and b.
func Combined(a, b float64) float64 { return math.Sqrt(float64(a*a) + float64(b*b)) }

// Same reports whether two means are equal up to rounding. Scaling a mean may change its last bits.
func Same(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-12*math.Max(math.Abs(a), math.Abs(b))
}

// tQuantile returns a quantile of Student's t distribution with df degrees of freedom. It rounds to
// ten digits, because the later ones may differ between machines.
func tQuantile(p float64, df int) float64 {
	q := distuv.StudentsT{Sigma: 1, Nu: float64(df)}.Quantile(p)
	q, _ = strconv.ParseFloat(strconv.FormatFloat(q, 'e', 9, 64), 64)
	return q
}
