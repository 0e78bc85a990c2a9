package nn

import (
	"math"
	"slices"
	"testing"

	"dgkip/harness/rng"
)

func TestSoftmax(t *testing.T) {
	z := []float64{0, math.Log(3), 1000, 0, -1000, -1000}
	p := make([]float64, 6)
	Softmax(p, z, 2)
	for i, want := range []float64{0.25, 0.75, 1, 0, 0.5, 0.5} {
		if math.Abs(p[i]-want) > 1e-15 {
			t.Errorf("%v becomes %v", z, p)
			break
		}
	}
	Softmax(z, z, 2)
	if !slices.Equal(z, p) {
		t.Errorf("in place %v, want %v", z, p)
	}
}

// ThroughSoftmax computes the gradient of <d, softmax(z)>.
func TestThroughSoftmax(t *testing.T) {
	const rows, k = 3, 4
	r := rng.Stream(1, "softmax")
	z, d, p := make([]float64, rows*k), make([]float64, rows*k), make([]float64, rows*k)
	for i := range z {
		z[i], d[i] = r.Normal64(), r.Normal64()
	}
	value := func() (sum float64) {
		q := make([]float64, rows*k)
		Softmax(q, z, k)
		for i, v := range q {
			sum += v * d[i]
		}
		return sum
	}
	got := slices.Clone(d)
	Softmax(p, z, k)
	ThroughSoftmax(got, p, k)
	const h = 1e-5
	for i := range z {
		old := z[i]
		z[i] = old + h
		up := value()
		z[i] = old - h
		want := (up - value()) / (2 * h)
		z[i] = old
		if math.Abs(got[i]-want) > 1e-9 {
			t.Errorf("logit %d: %v, want %v", i, got[i], want)
		}
	}
}
