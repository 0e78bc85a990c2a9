package convex

import (
	"context"
	"errors"
	"testing"

	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

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
