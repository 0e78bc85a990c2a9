package rng

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"testing"
)

// These tests are deterministic, because the streams are fixed. Their limits are about five
// standard errors, so only a wrong distribution fails.

const samples = 200_000

// chiSquare returns the distance of the statistic from its mean in standard deviations, for
// equally likely cells.
func chiSquare(count []int) float64 {
	total := 0
	for _, c := range count {
		total += c
	}
	want, x := float64(total)/float64(len(count)), 0.0
	for _, c := range count {
		d := float64(c) - want
		x += d * d / want
	}
	df := float64(len(count) - 1)
	return (x - df) / math.Sqrt(2*df)
}

func TestIntN(t *testing.T) {
	r := Stream(1, "intn")
	for _, n := range []int{2, 3, 7, 10, 64, 1000} {
		count := make([]int, n)
		for range samples {
			count[r.IntN(n)]++
		}
		if x := chiSquare(count); math.Abs(x) > 5 {
			t.Errorf("IntN(%d): chi-square off by %.1f standard deviations", n, x)
		}
	}
	// With 64-bit int, a quarter of all words must be redrawn here. Otherwise one residue
	// modulo 3 would be less frequent.
	const n = 3 << (bits.UintSize - 3)
	count := make([]int, 3)
	for range samples {
		count[r.IntN(n)%3]++
	}
	if x := chiSquare(count); math.Abs(x) > 5 {
		t.Errorf("IntN(3<<61): chi-square off by %.1f standard deviations", x)
	}
	if r.IntN(1) != 0 {
		t.Error("IntN(1) is not 0")
	}
}

func TestPerm(t *testing.T) {
	r := Stream(1, "perm")
	count := map[string]int{}
	for range samples {
		count[fmt.Sprint(r.Perm(4))]++
	}
	if len(count) != 24 {
		t.Fatalf("%d different permutations of 4, want 24", len(count))
	}
	var cells []int
	for _, c := range count {
		cells = append(cells, c)
	}
	if x := chiSquare(cells); math.Abs(x) > 5 {
		t.Errorf("chi-square off by %.1f standard deviations", x)
	}
	if len(r.Perm(0)) != 0 || !slices.Equal(r.Perm(1), []int{0}) {
		t.Error("short permutations are wrong")
	}
}
