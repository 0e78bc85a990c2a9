// Package stats summarises repeated runs.
//
// Means are exact, and other sums run in the order of their terms and are never fused, so
// that the same numbers give the same bits on every machine. What rests on library
// functions is rounded to ten digits for the same reason.
package stats

import (
	"fmt"
	"math"
	"math/big"
	"strconv"

	"gonum.org/v1/gonum/stat/distuv"
)

// Summary describes the values of one quantity over the seeds of a run.
type Summary struct {
	N    int
	Mean float64
	SD   float64 // population standard deviation; 0 if N is 1

	// Half is half the width of the 95 % t-interval of the mean, NaN if there is
	// none because N is below 2.
	Half float64
}

// HasSpread reports whether there is anything to take a spread of.
func (s Summary) HasSpread() bool { return s.N > 1 }

// Summarise describes values. It panics if there are none.
func Summarise(x []float64) Summary {
	if len(x) == 0 {
		panic("stats: a summary of nothing")
	}
	s := Summary{N: len(x), Mean: Mean(x), Half: math.NaN()}
	if s.HasSpread() {
		s.SD = SD(x)
		// The interval rests on the sample deviation, s = sd sqrt(n/(n-1)).
		s.Half = tQuantile(0.975, s.N-1) * s.SD / math.Sqrt(float64(s.N-1))
	}
	return s
}

// Mean is the arithmetic mean of the values as people write them, in their shortest
// decimals, rounded once: that of 0.684, 0.686 and 0.688 is 0.686 and no neighbour
// of it, in whatever order they come.
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
		if _, ok := term.SetString(strconv.FormatFloat(v, 'g', -1, 64)); !ok {
			panic(fmt.Sprintf("stats: %v is not a number", v))
		}
		exact.Add(exact, term)
	}
	mean, _ := exact.Quo(exact, term.SetInt64(int64(len(x)))).Float64()
	return mean
}

// SD is the population standard deviation: of these values, not of others like
// them, so the divisor is n.
func SD(x []float64) float64 {
	m := Mean(x)
	var sum float64
	for _, v := range x {
		d := v - m
		sum += float64(d * d)
	}
	return math.Sqrt(sum / float64(len(x)))
}

// Slope is that of the line of least squares through points, 0 if all have one x.
func Slope(x, y []float64) float64 {
	mx, my := Mean(x), Mean(y)
	var xx, xy float64
	for i := range x {
		xx += float64((x[i] - mx) * (x[i] - mx))
		xy += float64((x[i] - mx) * (y[i] - my))
	}
	if xx == 0 {
		return 0
	}
	return xy / xx
}

// Combined is the spread of a difference of two independent numbers.
func Combined(a, b float64) float64 { return math.Sqrt(float64(a*a) + float64(b*b)) }

// Same reports whether two means are a tie. Means of which one was scaled may differ
// in their last bits, and count as the same.
func Same(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-12*math.Max(math.Abs(a), math.Abs(b))
}

// tQuantile is the quantile of Student's t.
func tQuantile(p float64, df int) float64 {
	return digits10(distuv.StudentsT{Sigma: 1, Nu: float64(df)}.Quantile(p))
}

// digits10 removes digits in which machines may differ.
func digits10(x float64) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 9, 64), 64)
	if err != nil {
		panic(fmt.Sprintf("stats: %v", err))
	}
	return v
}
