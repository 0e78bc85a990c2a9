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

func draw(n int, f func() float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = f()
	}
	return x
}

// moments returns mean, variance, skewness and kurtosis.
func moments(x []float64) (mean, variance, skew, kurt float64) {
	n := float64(len(x))
	for _, v := range x {
		mean += v / n
	}
	for _, v := range x {
		d := v - mean
		variance += d * d / n
		skew += d * d * d / n
		kurt += d * d * d * d / n
	}
	return mean, variance, skew / math.Pow(variance, 1.5), kurt / (variance * variance)
}

// ks returns sqrt(n) times the Kolmogorov-Smirnov distance from cdf.
func ks(x []float64, cdf func(float64) float64) float64 {
	slices.Sort(x)
	n, worst := float64(len(x)), 0.0
	for i, v := range x {
		p := cdf(v)
		worst = max(worst, p-float64(i)/n, float64(i+1)/n-p)
	}
	return worst * math.Sqrt(n)
}

func TestDistributions(t *testing.T) {
	normal := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	uniform := func(x float64) float64 { return min(max(x, 0), 1) }
	dst := make([]float32, 1)
	tests := []struct {
		name                       string
		draw                       func(*Rand) float64
		cdf                        func(float64) float64
		mean, variance, skew, kurt float64
	}{
		{"Normal64", (*Rand).Normal64, normal, 0, 1, 0, 3},
		{"FillNormal", func(r *Rand) float64 {
			r.FillNormal(dst, 3, 2)
			return float64(dst[0])
		}, func(x float64) float64 { return normal((x - 3) / 2) }, 3, 4, 0, 3},
		{"Float64", (*Rand).Float64, uniform, 0.5, 1.0 / 12, 0, 1.8},
	}
	for _, tt := range tests {
		r := Stream(1, "distributions", tt.name)
		x := draw(samples, func() float64 { return tt.draw(r) })
		mean, variance, skew, kurt := moments(x)
		se := 5 / math.Sqrt(samples)
		sd := math.Sqrt(tt.variance)
		if math.Abs(mean-tt.mean) > se*sd {
			t.Errorf("%s: mean %v, want %v", tt.name, mean, tt.mean)
		}
		if math.Abs(variance/tt.variance-1) > se*math.Sqrt2 {
			t.Errorf("%s: variance %v, want %v", tt.name, variance, tt.variance)
		}
		if math.Abs(skew-tt.skew) > se*math.Sqrt(6) {
			t.Errorf("%s: skewness %v, want %v", tt.name, skew, tt.skew)
		}
		if math.Abs(kurt-tt.kurt) > se*math.Sqrt(24) {
			t.Errorf("%s: kurtosis %v, want %v", tt.name, kurt, tt.kurt)
		}
		if d := ks(x, tt.cdf); d > 1.95 { // exceeded with probability 0.1%
			t.Errorf("%s: Kolmogorov-Smirnov statistic %v", tt.name, d)
		}
	}
}

// TestNormalTail counts rare values, which the other tests do not notice.
func TestNormalTail(t *testing.T) {
	r := Stream(1, "tail")
	for _, cut := range []float64{2, 3, 4} {
		p := math.Erfc(cut / math.Sqrt2)
		count := 0
		for range samples {
			if math.Abs(r.Normal64()) > cut {
				count++
			}
		}
		mean := samples * p
		if math.Abs(float64(count)-mean) > 5*math.Sqrt(mean) {
			t.Errorf("%d of %d beyond %v, want about %.0f", count, samples, cut, mean)
		}
	}
}

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

// TestIndependence looks for correlation between streams with similar names, and between
// neighbouring numbers of one stream.
func TestIndependence(t *testing.T) {
	names := [][]string{{"a"}, {"b"}, {"a", ""}, {"a", "1"}, {"a", "2"}, {"ab"}}
	x := make([][]float64, len(names))
	for i, n := range names {
		x[i] = draw(samples, Stream(1, n...).Normal64)
	}
	other := draw(samples, Stream(2, "a").Normal64)
	x = append(x, other, append(slices.Clone(other[1:]), other[0]))
	for i := range x {
		for j := range i {
			sum := 0.0
			for k := range samples {
				sum += x[i][k] * x[j][k]
			}
			if z := sum / math.Sqrt(samples); math.Abs(z) > 5 {
				t.Errorf("series %d and %d: correlation of %.1f standard errors", j, i, z)
			}
		}
	}
}
