package eval

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/rng"
	"dgkip/harness/space"
	"dgkip/harness/teacher"
	"dgkip/harness/tensor"
)

// carriedTrial returns a set with small gains, most of which have the sign of their class.
func carriedTrial(t *testing.T) method.Trial {
	trial := featureTrial(t)
	d := trial.Set
	r := rng.Stream(3, "gains")
	d.Kind, d.Loss, d.Labels = method.Gain, "logistic", nil
	for _, class := range d.Of {
		d.Labels = append(d.Labels, float32((2*float64(class)-1)*(0.001+0.002*r.Float64())))
	}
	return trial
}

// ownModel returns the Gram matrix of a trial's set, its labels for its own loss, and its model.
func ownModel(t *testing.T, trial method.Trial, lambda float64) (tensor.Mat[float64], convex.Labels, convex.Solution) {
	t.Helper()
	shown, err := space.OfTrial(trial).Space().Show(context.Background(), trial.Set.Images, nil)
	if err != nil {
		t.Fatal(err)
	}
	labels, _, err := teacher.LabelsFor(trial.Set, convex.LogisticLoss)
	if err != nil {
		t.Fatal(err)
	}
	gram, err := shown.Gram(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	model, err := teacher.Train(context.Background(), gram, labels, lambda)
	if err != nil {
		t.Fatal(err)
	}
	return gram, labels, model
}

// Solved labels give another loss the same model, also if a label and the model's output differ in
// sign.
func TestSolvedLabelsCarry(t *testing.T) {
	trial := carriedTrial(t)
	trial.Set.Labels[0] *= -0.01
	f := inFeatures()
	f.Carry = "solved"
	s := scored(t, f, trial)
	if got, want := s.Counts["transfer.hinge.test_errors"], s.Counts["test_errors"]; !slices.Equal(got, want) {
		t.Errorf("%d errors with the hinge loss, %d with the set's own loss", got, want)
	}
	gram, _, own := ownModel(t, trial, f.Lambda)
	if c, f := own.C.Data[0], own.Outputs.Data[0]; c*f >= 0 {
		t.Fatalf("coefficient %v and output %v must differ in sign", c, f)
	}
	solved, note := solved(convex.HingeLoss, own)
	if note != "" {
		t.Error(note)
	}
	other, err := teacher.Train(context.Background(), gram, solved, f.Lambda)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range own.Outputs.Data {
		if got := other.Outputs.Data[i]; math.Abs(got-want) > 1e-4*math.Abs(want)+1e-9 {
			t.Errorf("image %d: output %v, want %v", i, got, want)
		}
	}
}

// carry is rejected without transfer, and for more than two classes.
func TestCarryRefuses(t *testing.T) {
	model := method.Model{Kind: "fc", Width: 16, Depth: 2, Nets: 2}
	f := &Features{Lambda: 1, Carry: "solved"}
	var bad *method.BadSetting
	if err := f.Check(); !errors.As(err, &bad) || bad.Key != "carry" {
		t.Errorf("without transfer: got %v", err)
	}
	f.Transfer, f.Loss = true, "own"
	for classes, refused := range map[int]bool{2: false, 10: true} {
		err := f.CheckSizes(method.Sizes{Model: model, Classes: classes, H: 8, W: 8, C: 1})
		if (err != nil) != refused {
			t.Errorf("%d classes: got %v", classes, err)
		}
	}
}

// fitOffset removes an offset along the mean feature of any size. It does not use the classes of
// test images.
func TestOffset(t *testing.T) {
	r := rng.Stream(2, "offset")
	const n = 200
	f, k, y := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		y[i] = float64(2*(i%2) - 1)
		k[i] = 5 + r.Normal64()
		f[i] = float64(0.01*y[i]) + float64(3*k[i]) - 7
	}
	fit, _ := leastSquares(f, k, y)
	for i := range n {
		if got := fit(f[i], k[i]); math.Abs(got-y[i]) > 1e-6 {
			t.Fatalf("image %d: %v, want %v", i, got, y[i])
		}
	}

	for i := range f { // a model of reversed sign, and one that is k itself, stay unchanged
		f[i] = -f[i]
	}
	if fit, _ := leastSquares(f, k, y); fit(3, 7) != 3 {
		t.Error("the fit reversed the sign of the model")
	}
	if fit, _ := leastSquares(k, k, y); fit(3, 7) != 3 {
		t.Error("a model equal to k was changed")
	}
	if fit, _ := leastSquares([]float64{0.5599999999999999, 0.21, 0.27999999999999997}, []float64{0.8, 0.3, 0.4}, []float64{1, 1, -1}); fit(3, 7) != 3 { // rounding makes the numerator positive
		t.Error("a multiple of k was changed")
	}

	trial := carriedTrial(t)
	as, offset := inFeatures(), inFeatures()
	offset.Carry = "offset"
	a, b := scored(t, as, trial), scored(t, offset, trial)
	if a.Metrics["test_acc"] != b.Metrics["test_acc"] {
		t.Errorf("under the set's own loss, accuracies are %v and %v", a.Metrics["test_acc"], b.Metrics["test_acc"])
	}
	if x, y := a.Metrics["transfer.hinge.test_acc"], b.Metrics["transfer.hinge.test_acc"]; y < x {
		t.Errorf("under the hinge loss, the accuracy is %v, and %v with an offset", x, y)
	}
	test := trial.Test
	trial.Test.Labels = slices.Clone(test.Labels)
	for i := range trial.Test.Labels {
		trial.Test.Labels[i] = 1 - test.Labels[i]
	}
	if c := scored(t, offset, trial); math.Abs(c.Metrics["transfer.hinge.test_acc"]+b.Metrics["transfer.hinge.test_acc"]-1) > 1e-12 {
		t.Error("the fit depends on the classes of test images")
	}
}
