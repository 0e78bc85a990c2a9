package stats

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

func near(a, b, tol float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= tol
}

func ExampleSummarise() {
	s := Summarise([]float64{0.90, 0.92, 0.94})
	fmt.Printf("%.4f sd %.4f, 95 %% interval +- %.4f\n", s.Mean, s.SD, s.Half)
	// Output:
	// 0.9200 sd 0.0163, 95 % interval +- 0.0497
}

func TestSummarise(t *testing.T) {
	s := Summarise([]float64{2, 4, 4, 4, 5, 5, 7, 9})
	// Population deviation 2; sample deviation sqrt(32/7), t(0.975, 7) = 2.364624.
	if s.Mean != 5 || s.SD != 2 || !near(s.Half, 2.364624252*math.Sqrt(32.0/7/8), 1e-8) {
		t.Errorf("%+v", s)
	}
	if s := Summarise([]float64{3}); s.SD != 0 || !math.IsNaN(s.Half) || s.HasSpread() {
		t.Errorf("one value: %+v", s)
	}
	if s := Summarise([]float64{1, 3}); !near(s.Half, 12.7062047362, 1e-8) {
		t.Errorf("two values: %+v", s)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{4, 1}, 2.5}, {[]float64{9, 1, 2}, 2}} {
		first := slices.Clone(c.x)
		if got := Median(c.x); got != c.want || !slices.Equal(c.x, first) {
			t.Errorf("the median of %v is %v, not %v", first, got, c.want)
		}
	}
}

func TestTQuantile(t *testing.T) {
	for df, want := range map[int]float64{1: 12.7062047362, 2: 4.30265272975, 4: 2.77644510520, 9: 2.26215716280, 29: 2.04522964213} {
		if got := tQuantile(0.975, df); !near(got, want, 1e-8) {
			t.Errorf("t(0.975, %d) = %v, want %v", df, got, want)
		}
	}
}

func TestSpearman(t *testing.T) {
	// A textbook example: IQ and hours of television.
	iq := []float64{106, 86, 100, 101, 99, 103, 97, 113, 112, 110}
	tv := []float64{7, 0, 27, 50, 28, 29, 20, 12, 6, 17}
	if got := Spearman(iq, tv); !near(got, -29.0/165, 1e-15) {
		t.Errorf("%v, want %v", got, -29.0/165)
	}
	if got := Spearman([]float64{1, 2, 3}, []float64{5, 5, 5}); !math.IsNaN(got) {
		t.Errorf("a constant has correlation %v", got)
	}
	if got := ranks([]float64{3, 1, 3}); got[0] != 2.5 || got[1] != 1 || got[2] != 2.5 {
		t.Errorf("ranks %v", got)
	}
}

// Means of accuracies in steps of 1/2000 are exact, to the last bit.
func TestMeanIsExact(t *testing.T) {
	for i := range 300 {
		for j := range 20 {
			step := 1000 + i
			x := []float64{float64(step-j) / 2000, float64(step+2*j) / 2000, float64(step-j) / 2000}
			if got, want := Mean(x), float64(step)/2000; got != want {
				t.Fatalf("the mean of %v is %v, not %v", x, got, want)
			}
		}
	}
	if got := Mean([]float64{0.7, 0.1, 1e300, -1e300}); got != 0.2 {
		t.Errorf("the mean is %v", got)
	}
	if got := Mean([]float64{math.Inf(1), 1}); !math.IsInf(got, 1) {
		t.Errorf("with an infinity, the mean is %v", got)
	}
	if !math.IsNaN(Mean([]float64{math.NaN(), 1})) || !math.IsNaN(Mean(nil)) {
		t.Error("the mean with a NaN is a number")
	}
}

func TestSame(t *testing.T) {
	if a, b := 100*Mean([]float64{0.1, 0.2, 0.6}), Mean([]float64{10, 20, 60}); !Same(a, b) {
		t.Errorf("%v and %v are the same", a, b)
	}
	if !Same(0.1+0.2, 0.3) {
		t.Error("a difference in the last bit counts")
	}
	if Same(0.99995, 0.99996) {
		t.Error("different means are a tie")
	}
}
