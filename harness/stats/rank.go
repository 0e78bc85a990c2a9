package stats

import (
	"cmp"
	"math"
	"slices"
)

// ranks returns the rank of every value, starting at 1. Equal values share their mean rank.
func ranks(x []float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(x[i], x[j]) })
	out := make([]float64, len(x))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && x[order[to]] == x[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			out[i] = float64(from+1+to) / 2
		}
		from = to
	}
	return out
}

// Spearman returns the rank correlation of two lists, from -1 to 1. It is NaN if a list is constant
// or has fewer than two values. Spearman panics if the lengths differ.
func Spearman(a, b []float64) float64 {
	if len(a) != len(b) {
		panic("stats: Spearman: lengths differ")
	}
	if len(a) < 2 {
		return math.NaN()
	}
	x, y := ranks(a), ranks(b)
	mx, my := Mean(x), Mean(y)
	var xy, xx, yy float64
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		xy += float64(dx * dy)
		xx += float64(dx * dx)
		yy += float64(dy * dy)
	}
	if xx == 0 || yy == 0 {
		return math.NaN()
	}
	return xy / math.Sqrt(float64(xx*yy))
}
