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
	"dgkip/harness/teacher"
	"dgkip/harness/tensor"
)

// carriedTrial is a set with gains of a small unit, most of them of their class.
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

// ownModel returns the Gram matrix of a trial's set, its labels for its own loss, and the
// model that these give.
func ownModel(t *testing.T, trial method.Trial, lambda float64) (tensor.Mat[float64], convex.Labels, convex.Solution) {
	t.Helper()
	shown, err := teacher.OfTrial(trial).Show(context.Background(), trial.Set.Images)
	if err != nil {
		t.Fatal(err)
	}
	labels, _, err := teacher.LabelsFor(trial.Set, convex.LogisticLoss)
	if err != nil {
		t.Fatal(err)
	}
	gram := shown.Gram()
	model, err := teacher.Train(context.Background(), gram, labels, lambda)
	if err != nil {
		t.Fatal(err)
	}
	return gram, labels, model
}

// Solved labels give the other loss the model of the own one, also where a label opposes
// what the model says of its image.
func TestSolvedLabelsCarry(t *testing.T) {
	trial := carriedTrial(t)
	trial.Set.Labels[0] *= -0.01
	f := inFeatures()
	f.Carry = "solved"
	s := scoreIn(t, f, trial)
	if got, want := s.Counts["transfer.hinge.test_errors"], s.Counts["test_errors"]; !slices.Equal(got, want) {
		t.Errorf("%d errors with the hinge loss, %d with the own one", got, want)
	}
	gram, labels, own := ownModel(t, trial, f.Lambda)
	if c, f := own.C.Data[0], own.Outputs.Data[0]; c*f >= 0 {
		t.Fatalf("coefficient %v does not oppose output %v", c, f)
	}
	solved, note := f.carried(labels.For(convex.HingeLoss), own)
	if note != "" {
		t.Error(note)
	}
	other, err := teacher.Train(context.Background(), gram, solved, f.Lambda)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range own.Outputs.Data {
		if got := other.Outputs.Data[i]; math.Abs(got-want) > 1e-4*math.Abs(want)+1e-9 {
			t.Errorf("image %d: output %v, of the own model %v", i, got, want)
		}
	}
}

// What would do nothing, or is for one output, is refused.
func TestCarryRefuses(t *testing.T) {
	model := method.Model{Kind: "fc", Width: 16, Depth: 2, Nets: 2}
	for key, f := range map[string]*Features{"carry": {Lambda: 1, Carry: "sign"}, "centre": {Lambda: 1, Centre: true}} {
		var bad *method.BadSetting
		if err := f.Check(); !errors.As(err, &bad) || bad.Key != key {
			t.Errorf("%s without transfer: got %v", key, err)
		}
		f.Transfer, f.Loss = true, "own"
		for classes, refused := range map[int]bool{2: false, 10: true} {
			err := f.CheckSizes(method.Sizes{Model: model, Classes: classes, H: 8, W: 8, C: 1})
			if errors.As(err, &bad) != refused || err != nil && !refused {
				t.Errorf("%s and %d classes: got %v", key, classes, err)
			}
		}
	}
}

// Hard labels are those of the classes, however small the gains are; and gains in the
// unit of the margin are on it on average.
func TestCarriedLabels(t *testing.T) {
	trial := carriedTrial(t)
	_, own, model := ownModel(t, trial, 1e-4)
	labels := own.For(convex.HingeLoss)
	hard, _ := (&Features{Carry: "sign"}).carried(labels, model)
	unit, _ := (&Features{Carry: "unit"}).carried(labels, model)
	margin := 0.0
	for i, class := range trial.Set.Of {
		if want := 2*float64(class) - 1; hard.Values.Data[i] != want {
			t.Errorf("image %d of class %d has the hard label %v", i, class, hard.Values.Data[i])
		}
		margin += math.Abs(unit.Values.Data[i]*model.Outputs.Data[i]) / float64(len(trial.Set.Of))
	}
	if math.Abs(margin-1) > 1e-12 {
		t.Errorf("margins in the unit of labels are %v on average, want 1", margin)
	}
	if labels.Values.Data[0] != float64(trial.Set.Labels[0]) {
		t.Error("the labels themselves have changed")
	}
}

// The model on features less their mean says the same, whether these are taken as they
// are or by inner products.
func TestCentred(t *testing.T) {
	const n, dim = 5, 7
	r := rng.Stream(1, "centred")
	a, x, c := tensor.NewMat[float64](n, dim), make([]float64, dim), tensor.NewMat[float64](n, 1)
	for _, v := range [][]float64{a.Data, x, c.Data} {
		for i := range v {
			v[i] = r.Normal64() + 1
		}
	}
	k, less := tensor.NewMat[float64](n, n), tensor.NewMat[float64](n, dim)
	cross := make([]float64, n)
	for i := range n {
		for j := range n {
			k.Row(i)[j] = dot(a.Row(i), a.Row(j))
		}
		cross[i] = dot(a.Row(i), x)
		for d := range dim {
			mean := 0.0
			for j := range n {
				mean += a.Row(j)[d] / n
			}
			less.Row(i)[d] = a.Row(i)[d] - mean
		}
	}
	kc := centred(k)
	for i := range n {
		for j := range n {
			if want := dot(less.Row(i), less.Row(j)); math.Abs(kc.Row(i)[j]-want) > 1e-12 {
				t.Fatalf("K[%d,%d] is %v, want %v", i, j, kc.Row(i)[j], want)
			}
		}
	}
	// x less the mean, before the model sees it.
	want := 0.0
	for i := range n {
		for d := range dim {
			want += c.Data[i] * less.Row(i)[d] * (x[d] - (a.Row(0)[d] - less.Row(0)[d]))
		}
	}
	coefficients, offset := uncentred(k, c)
	if got := dot(coefficients.Data, cross) - offset; math.Abs(got-want) > 1e-12 {
		t.Errorf("output %v, want %v", got, want)
	}
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}
