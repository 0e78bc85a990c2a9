package convex

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// classes is a random problem of K classes that are partly told apart.
func classes(r *rng.Rand, n, m, k int) (tensor.Mat[float32], []int) {
	a := tensor.NewMat[float32](n, m)
	r.FillNormal(a.Data, 0, float32(1/math.Sqrt(float64(m))))
	labels := make([]int, n)
	for i := range labels {
		labels[i] = r.IntN(k)
		for j := labels[i]; j < m; j += k {
			a.Row(i)[j] += float32(1 / math.Sqrt(float64(m)))
		}
	}
	return a, labels
}

func hot(labels []int, k int) tensor.Mat[float64] {
	p := tensor.NewMat[float64](len(labels), k)
	for i, y := range labels {
		p.Row(i)[y] = 1
	}
	return p
}

// The solver for stored features finds what Set does, on blocks full and not, and
// the same bits on any number of threads.
func TestSoftmax(t *testing.T) {
	r := rng.Stream(1, "large softmax")
	for _, n := range []int{1, 40, 600} {
		a, labels := classes(r, n, 150, 4)
		lambda := 1e-4 * float64(n)
		p := stored{Features: a, Labels: labels, Classes: 4, Lambda: lambda}
		last := 0.0
		watched := towards(1e-6, 300)
		watched.report = func(done float64) {
			if done < last || done > 1 {
				t.Errorf("progress went from %v to %v", last, done)
			}
			last = done
		}
		v, err := p.solve(watched)
		if err != nil {
			t.Fatal(err)
		}
		fit, err := exactly(GramOf(a), Labels{Form: Target, Loss: SoftmaxLoss, Values: hot(labels, 4)}, lambda, 1e-10)
		if err != nil {
			t.Fatal(err)
		}
		star := Combine(a, fit.C)
		limit := math.Sqrt(2 * (v.Primal - v.Dual) / lambda)
		if d := distance(v.Weights.Data, star.Data); d > limit+1e-4*math.Sqrt(fit.Norm2) || limit > 0.1*math.Sqrt(fit.Norm2) {
			t.Errorf("n = %d: %v from the minimiser of norm %v, bound %v", n, d, math.Sqrt(fit.Norm2), limit)
		}
		if v.Primal < fit.Dual-1e-9 || v.Dual > fit.Primal+1e-9 || v.Gap > 1e-6 {
			t.Errorf("n = %d: P %v, D %v; optimum between %v and %v", n, v.Primal, v.Dual, fit.Dual, fit.Primal)
		}
		if !slices.Equal(v.Outputs.Data, Apply(a, v.Weights).Data) {
			t.Error("the outputs are not those of the weights")
		}
		was := runtime.GOMAXPROCS(1)
		w, err := p.solve(towards(1e-6, 300))
		runtime.GOMAXPROCS(was)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range v.Weights.Data {
			if w.Weights.Data[i] != x {
				t.Fatal("results depend on the number of threads")
			}
		}
	}
}

func TestSoftmaxErrors(t *testing.T) {
	a := tensor.MatOf([]float32{1, 0, 0, 1}, 2, 2)
	bad := tensor.MatOf([]float32{1, 0, 0, float32(math.NaN())}, 2, 2)
	for name, c := range map[string]struct {
		p    stored
		tol  float64
		want string
	}{
		"features": {stored{bad, []int{0, 1}, 2, 1}, 1e-2, "NaN"},
		"passes":   {stored{a, []int{0, 1}, 2, 1e-3}, 1e-300, "after 3 steps"},
	} {
		if _, err := c.p.solve(towards(c.tol, 3)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (stored{a, []int{0, 1}, 2, 1}).solve(&search{ctx: stopped, tol: 1e-2, limit: 3}); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

// Conjugate gradients find what the factorisation does, on a Gram matrix of full
// rank or not.
func TestRidge(t *testing.T) {
	r := rng.Stream(1, "ridge")
	// With fewer features than images the Gram matrix in float32 has small
	// eigenvalues below zero, and coefficients of 1/lambda on them.
	for m, tol := range map[int]float64{20: 1e-3, 200: 1e-6} {
		a, _ := classes(r, 70, m, 3)
		k := tensor.NewMat[float32](a.Rows, a.Rows)
		tensor.Gram(k, a)
		wide := tensor.NewMat[float64](a.Rows, a.Rows)
		copy(wide.Data, widen(k.Data))
		y := normals(r, a.Rows, 3, 1)
		v, err := ridge{Gram: k, Targets: y, Lambda: 1e-2}.solve(towards(1e-10, 1000))
		if err != nil {
			t.Fatal(err)
		}
		fit, err := exactly(wide, Labels{Form: Value, Loss: SquaredLoss, Values: y}, 1e-2, 1e-12)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "outputs", v.Outputs.Data, fit.Outputs.Data, tol)
		if math.Abs(v.Primal-fit.Primal) > tol*tol*fit.Primal*10 || v.Dual > fit.Primal*(1+tol*tol*10) {
			t.Errorf("P %v, D %v; by factorisation %v", v.Primal, v.Dual, fit.Primal)
		}
	}
	one := tensor.MatOf([]float32{1}, 1, 1)
	y := tensor.MatOf([]float64{1}, 1, 1)
	for name, c := range map[string]struct {
		p    ridge
		want string
	}{
		"features": {ridge{tensor.MatOf([]float32{float32(math.NaN())}, 1, 1), y, 1}, "NaN"},
		"steps":    {ridge{one, y, 1}, "after 0 steps"},
	} {
		if _, err := c.p.solve(towards(1e-3, 0)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// The interior-point method for many images finds what the one for few does, from
// a factor in float32, on Gram matrices of full rank and not.
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
		was := runtime.GOMAXPROCS(1)
		w, err := d.solve(towards(1e-5, 2000))
		runtime.GOMAXPROCS(was)
		if err != nil || !slices.Equal(v.C.Data, w.C.Data) {
			t.Errorf("results depend on the number of threads (%v)", err)
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

// A factor in blocks solves its system, and says where there is none.
func TestDecompose32(t *testing.T) {
	r := rng.Stream(1, "factor")
	for _, n := range []int{1, factorBlock, 2*factorBlock + 17} {
		a := tensor.NewMat[float32](n, n+40)
		r.FillNormal(a.Data, 0, 1/float32(n))
		k := tensor.NewMat[float32](n, n)
		tensor.Gram(k, a)
		for i := range n {
			k.Row(i)[i] += 0.01
		}
		wide := tensor.MatOf(widen(k.Data), n, n)
		x := normals(r, n, 1, 1)
		c, ok := decompose32(context.Background(), k, func() {})
		if !ok {
			t.Fatalf("n = %d: no factor", n)
		}
		near(t, "solution", c.solve(multiply(wide, x).Data), x.Data, 1e-4)
	}
	bad := tensor.MatOf([]float32{1, 2, 2, 1}, 2, 2)
	if _, ok := decompose32(context.Background(), bad, func() {}); ok {
		t.Error("an indefinite matrix has a factor")
	}
}

func TestTooManyImagesAreRefusedBeforeARun(t *testing.T) {
	for _, c := range []struct {
		loss        Loss
		images, dim int
		ok          bool
	}{
		{LogisticLoss, 30000, 30720, true}, {LogisticLoss, 30001, 30720, false}, {HingeLoss, 60000, 2000, true},
		{SquaredLoss, 60000, 2000, false}, {SoftmaxLoss, 60000, 30720, true},
	} {
		if err := CheckSize(c.loss, c.images, c.dim); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Every solver reports how far it is, and stops where its context ends in the middle.
func TestSolveReportsAndStops(t *testing.T) {
	r := rng.Stream(1, "stops")
	for name, c := range map[string]struct {
		loss Loss
		n, m int
	}{
		"small": {LogisticLoss, 40, 30}, "small hinge": {HingeLoss, 40, 30}, "stored": {SoftmaxLoss, 40, 30},
		"thin": {LogisticLoss, 600, 20}, "thin hinge": {HingeLoss, 600, 20},
		"dual": {LogisticLoss, 600, 700}, "dual hinge": {HingeLoss, 600, 700}, "ridge": {SquaredLoss, 600, 700},
	} {
		a, of := classes(r, c.n, c.m, 2)
		labels := Labels{Form: Target, Values: hot(of, 2)}
		if c.loss != SoftmaxLoss {
			y := make([]float64, c.n)
			for i, class := range of {
				y[i] = float64(2*class - 1)
			}
			labels = gainsOf(c.loss, y)
		}
		reports, last := 0, 0.0
		p := Problem{Features: a, Labels: labels.For(c.loss), Lambda: 1e-3, Report: func(done float64) {
			if reports++; done < last || done > 1 {
				t.Errorf("%s: progress went from %v to %v", name, last, done)
			}
			last = done
		}}
		v, err := Solve(context.Background(), p, 1e-3)
		if err != nil || last != 1 || reports < 3 || !slices.Equal(v.Outputs.Data, Apply(a, v.Weights).Data) {
			t.Errorf("%s: %d reports, the last of %v, %v", name, reports, last, err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		p.Report = func(float64) { cancel() }
		if _, err := Solve(ctx, p, 1e-3); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: stopped in the middle, got %v", name, err)
		}
	}
}
