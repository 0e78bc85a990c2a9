package convex

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// The solvers of the hinge loss for many images, whose factors are in float32, agree with the one
// for few images. Gram matrices are singular or not.
func TestLargeHinge(t *testing.T) {
	r := rng.Stream(1, "large hinge")
	for _, m := range []int{60, 700} {
		a, of := classes(r, 530, m, 2)
		copy(a.Row(7), a.Row(3)) // two images are equal
		y := make([]float64, a.Rows)
		for i, c := range of {
			y[i] = float64(2*c-1) * (1 + float64(i%3))
		}
		k := tensor.NewMat[float32](a.Rows, a.Rows)
		tensor.Gram(k, a)
		const lambda = 1e-2
		fit, err := exactly(GramOf(a), gainsOf(HingeLoss, y), lambda, 1e-9)
		if err != nil {
			t.Fatal(err)
		}
		d := dual{Gram: k, Labels: y, Loss: HingeLoss, Lambda: lambda}
		last, calls := 0.0, 0
		watched := towards(1e-5, 2000)
		watched.report = func(done float64) {
			if calls++; done < last || done > 1 {
				t.Errorf("progress went from %v to %v", last, done)
			}
			last = done
		}
		v, err := d.solve(watched)
		if err != nil {
			t.Fatal(err)
		}
		if v.Gap > 1e-5 || math.Abs(v.Primal-fit.Primal) > 2e-5*max(1, fit.Primal) || v.Dual > fit.Primal+1e-6*max(1, fit.Primal) {
			t.Errorf("%d features: P %v, D %v; in float64 %v", m, v.Primal, v.Dual, fit.Primal)
		}
		if last < 0.5 || calls < 20 {
			t.Errorf("%d reports, the last of %v", calls, last)
		}
		if _, err := d.solve(towards(1e-5, 1)); err == nil || !strings.Contains(err.Error(), "wanted 1e-05") {
			t.Errorf("one product: %v", err)
		}
		stopped, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := d.solve(&search{ctx: stopped, tol: 1e-5, limit: 2000}); !errors.Is(err, context.Canceled) {
			t.Errorf("stopped: %v", err)
		}
	}
}

// If the interior-point method needs too many products, the method of multipliers follows with as
// many as it has alone.
func TestHingeTriesBoth(t *testing.T) {
	r := rng.Stream(1, "fallback")
	a, of := classes(r, 60, 10, 2)
	y := make([]float64, a.Rows)
	for i, c := range of {
		if y[i] = float64(2*c - 1); r.IntN(3) == 0 {
			y[i] = -y[i]
		}
	}
	k := tensor.NewMat[float32](a.Rows, a.Rows)
	tensor.Gram(k, a)
	const limit = interiorProducts + 100
	fit, err := dual{Gram: k, Labels: y, Loss: HingeLoss, Lambda: 60e-9}.solve(towards(closeGap, limit))
	if !errors.Is(err, ErrGap) || fit.Sweeps < interiorProducts+limit || fit.Sweeps > interiorProducts+limit+200 {
		t.Errorf("%v steps, %v", fit.Sweeps, err)
	}
}

// The method of multipliers agrees with the interior-point method on random small problems,
// including singular ones and overlapping classes.
func TestMultipliers(t *testing.T) {
	for seed := range uint64(300) {
		r := rng.Stream(seed, "multipliers")
		n, m := 4+r.IntN(40), 1+r.IntN(30)
		a, of := classes(r, n, m, 2)
		copy(a.Row(n-1), a.Row(0))
		for i, x := range a.Data {
			a.Data[i] = float32(math.Round(float64(16*x)) / 16) // the matrix is exact
		}
		y := make([]float64, n)
		for i, c := range of {
			if y[i] = float64(2*c-1) * (1 + float64(i%3)); r.IntN(5) == 0 {
				y[i] = -y[i]
			}
		}
		k := tensor.NewMat[float32](n, n)
		tensor.Gram(k, a)
		lambda := math.Pow(10, -4*r.Float64())
		want, err := exactly(GramOf(a), gainsOf(HingeLoss, y), lambda, 1e-9)
		if err != nil {
			t.Fatal(err)
		}
		got, err := newMultipliers(&single{dual: dual{Gram: k, Labels: y, Loss: HingeLoss, Lambda: lambda}, search: towards(1e-6, 2000)}).solve()
		if err != nil || math.Abs(got.Primal-want.Primal) > 1e-5*max(1, want.Primal) {
			t.Errorf("seed %d, %d images, %d features, lambda %.2g: P = %v, not %v (%v)", seed, n, m, lambda, got.Primal, want.Primal, err)
		}
	}
}
