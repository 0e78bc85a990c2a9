package convex

import (
	"context"
	"errors"
	"slices"
	"testing"

	"dgkip/harness/rng"
)

func TestTooManyImagesAreRefusedBeforeARun(t *testing.T) {
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

// Every solver reports progress, and stops when its context is cancelled.
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
			t.Errorf("%s: cancelled, got %v", name, err)
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
