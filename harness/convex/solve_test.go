package convex

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"

	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

func TestCheckSize(t *testing.T) {
	for _, c := range []struct {
		loss        Loss
		images, dim int
		ok          bool
	}{
		{LogisticLoss, 30000, 30720, true}, {LogisticLoss, 30001, 30720, false}, {HingeLoss, 60000, 2000, true},
		{SquaredLoss, 60000, 2000, false}, {SoftmaxLoss, 60000, 30720, true},
		{LogisticLoss, 30000, 0, true}, {LogisticLoss, 30001, 0, false}, {HingeLoss, 30001, 0, false}, {SquaredLoss, 30001, 0, false},
		{SoftmaxLoss, 60000, 0, true}, {SoftmaxLoss, 80001, 0, false},
	} {
		if err := CheckSize(c.loss, c.images, c.dim); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Every solver reports progress, stops when its context is cancelled, gives the same bits on one
// thread, and refuses features that are not numbers.
func TestSolveReportsAndStops(t *testing.T) {
	r := rng.Stream(1, "stops")
	for name, c := range map[string]struct {
		loss Loss
		n, m int
	}{
		"small": {LogisticLoss, 40, 30}, "small hinge": {HingeLoss, 40, 30}, "stored": {SoftmaxLoss, 600, 700}, "softmax newton": {SoftmaxLoss, 40, 30},
		"primal": {LogisticLoss, 600, 20}, "primal hinge": {HingeLoss, 600, 20},
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
			t.Errorf("%s: cancelled, got %v", name, err)
		}
		p.Report = nil
		threads := runtime.GOMAXPROCS(1)
		one, err := Solve(context.Background(), p, 1e-3)
		runtime.GOMAXPROCS(threads)
		if err != nil || !slices.Equal(one.Weights.Data, v.Weights.Data) {
			t.Errorf("%s: other bits on one thread (%v)", name, err)
		}
		a.Data[4] = float32(math.NaN())
		if _, err := Solve(context.Background(), p, 1e-3); err == nil {
			t.Errorf("%s: NaN was accepted", name)
		}
	}
}

// If lambda is smaller than the rounding errors of the Gram matrix, Solve returns an error or a
// solution; it neither panics nor runs forever.
func TestTinyLambda(t *testing.T) {
	r := rng.Stream(1, "tiny lambda")
	a, of := classes(r, 30, 10, 2)
	copy(a.Row(7), a.Row(3))
	y := make([]float64, a.Rows)
	for i, class := range of {
		y[i] = float64(2*class - 1)
	}
	for _, lambda := range []float64{1e-18, 5e-324} {
		for _, loss := range []Loss{LogisticLoss, HingeLoss, SquaredLoss, SoftmaxLoss} {
			labels := gainsOf(loss, y)
			if loss == SoftmaxLoss {
				labels = Labels{Loss: loss, Form: Target, Values: hot(of, 2)}
			} else if loss == SquaredLoss {
				labels.Form = Target
			}
			fit, err := Solve(context.Background(), Problem{Gram: GramOf(a), Labels: labels, Lambda: lambda}, 1e-8)
			if err == nil && !(fit.Gap <= 1e-8) {
				t.Errorf("%s, lambda %v: gap %v", loss, lambda, fit.Gap)
			}
		}
	}
}

// Solve succeeds on a few hundred images that repeat in several classes, although the solver for
// many images converges too slowly.
func TestImagesInSeveralClasses(t *testing.T) {
	r := rng.Stream(1, "again")
	a, labels := classes(r, 45, 60, 3)
	for i := range 30 { // each picture in all classes
		copy(a.Row(i), a.Row(i/3*3))
		labels[i] = i % 3
	}
	p := Problem{Labels: Labels{Form: Target, Loss: SoftmaxLoss, Values: hot(labels, 3)}, Lambda: 1e-9 * 45, Features: a}
	const tol = 1e-4
	if _, err := p.solve(context.Background(), tol); !errors.Is(err, ErrGap) {
		t.Errorf("the solver for many images must miss the gap for this test, got %v", err)
	}
	kernel := p
	kernel.Features = tensor.Mat[float32]{}
	kernel.Lower = func(context.Context) (Triangle, error) { return strips(a), nil }
	kernel.Large = func(ctx context.Context) (tensor.Mat[float32], error) { return p.large(ctx) }
	for name, p := range map[string]Problem{"features": p, "kernel": kernel} {
		s, err := Solve(context.Background(), p, tol)
		if err != nil || s.Gap > tol || s.Outputs.Rows != 45 {
			t.Errorf("%s: gap %v, %v", name, s.Gap, err)
		}
	}
}

// On a small set Solve aims at exactGap, but accepts any gap within the caller's tolerance.
func TestExactGapMayBeMissed(t *testing.T) {
	a, labels := classes(rng.Stream(3, "more"), 60, 30, 2)
	y := tensor.NewMat[float64](60, 1)
	for i, class := range labels {
		y.Data[i] = float64(2*class - 1)
	}
	p := Problem{Labels: Values(y), Lambda: 60e-10, Features: a}
	s, err := Solve(context.Background(), p, 1e-4)
	if err != nil || s.Gap <= exactGap || s.Gap > 1e-4 || s.Weights.Rows != 1 {
		t.Errorf("gap %v, %v", s.Gap, err)
	}
	if s, err = Solve(context.Background(), p, s.Gap/2); !errors.Is(err, ErrGap) {
		t.Errorf("half of that gap: %v, %v", s.Gap, err)
	}
}
