package eval

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/method/methodtest"
	"dgkip/harness/rng"
	"dgkip/harness/space"
	"dgkip/harness/teacher"
	"dgkip/harness/tensor"
)

func featureTrial(t *testing.T) method.Trial {
	t.Helper()
	d := methodtest.Data(1)
	p := method.Problem{Data: d, IPC: 3, Seed: 4}
	set, err := method.Choose(p, rng.Stream(1, "features test"))
	if err != nil {
		t.Fatal(err)
	}
	test := methodtest.Data(1).Train
	return method.Trial{
		Data: d, Test: test, Set: set, Seed: 4, Final: true, Shared: new(method.Shared), Own: new(method.Shared),
		Model: method.Model{Kind: "fc", Width: 16, Depth: 2, Nets: 2},
	}
}

func inFeatures() *Features {
	return method.NewProtocol("features").(*Features)
}

func TestFeaturesScores(t *testing.T) {
	trial := featureTrial(t)
	s := scored(t, inFeatures(), trial)
	if got := s.Metrics["test_acc"]; got < 0.8 {
		t.Errorf("accuracy %v on classes that are easy to separate", got)
	}
	for _, name := range []string{"transfer.hinge.test_acc", "transfer.squared.test_acc", "deviation", "best_bound", "teacher_acc", "interval.low", "interval.high", "interval.decided"} {
		if _, ok := s.Metrics[name]; !ok {
			t.Errorf("no metric %s in %v", name, s.Metrics)
		}
	}
	if s.Metrics["best_bound"] < s.Metrics["deviation"]*(1-1e-6) {
		t.Errorf("bound %v below the deviation %v", s.Metrics["best_bound"], s.Metrics["deviation"])
	}
	n := s.Counts["test_images"][0]
	if wrong := s.Counts["test_errors"][0]; s.Metrics["test_acc"] != float64(n-wrong)/float64(n) {
		t.Errorf("accuracy %v with %d of %d wrong", s.Metrics["test_acc"], wrong, n)
	}
	trial.Final = false
	if _, ok := scored(t, inFeatures(), trial).Metrics["transfer.test_acc"]; ok {
		t.Error("transfer is scored during distillation, too")
	}
}

// If the labels of the real images do not depend on the images, there is a score but no bound.
func TestNothingToBound(t *testing.T) {
	trial := featureTrial(t)
	clear(trial.Data.Train.X)
	clear(trial.Set.Images)
	s := scored(t, inFeatures(), trial)
	_, bound := s.Metrics["best_bound"]
	if _, scored := s.Metrics["test_acc"]; bound || !scored || !strings.Contains(strings.Join(s.Notes, "\n"), "no bounds: the reference model is zero") {
		t.Errorf("metrics %v, notes %q", s.Metrics, s.Notes)
	}
}

// A set keeps its score under its own loss if another loss cannot be solved.
func TestTransferThatFails(t *testing.T) {
	trial := featureTrial(t)
	d := trial.Set
	d.Kind, d.Loss, d.Labels = method.Gain, "hinge", nil
	gains := rng.Stream(20, "gains")
	for range d.Len() { // too many orders of magnitude for logistic regression
		size, sign := math.Exp(12*gains.Normal64()), gains.Normal64()
		d.Labels = append(d.Labels, float32(math.Copysign(size, sign)))
	}
	s := scored(t, inFeatures(), trial)
	if _, ok := s.Metrics["test_acc"]; !ok {
		t.Error("no score under the set's own loss")
	}
	notes := strings.Join(s.Notes, "\n")
	if _, ok := s.Metrics["transfer.logistic.test_acc"]; ok || !strings.Contains(notes, "no transfer to the logistic loss: ") {
		t.Errorf("logistic regression must fail for this test: %q", notes)
	}
	if _, ok := s.Metrics["transfer.squared.test_acc"]; !ok {
		t.Errorf("the other loss is not scored: %q", notes)
	}
}

// The measured test error is within the proved intervals.
func TestIntervalsHold(t *testing.T) {
	for _, metric := range []string{"", "ls"} {
		trial := featureTrial(t)
		trial.Test.X = append([]float32(nil), trial.Test.X...)
		noise := rng.Stream(2, "noise")
		for i := range trial.Test.X {
			trial.Test.X[i] += float32(1.5 * noise.Normal64())
		}
		name := "interval."
		if metric == "ls" {
			name = "interval_perp."
			project(t, &trial)
		}
		s := scored(t, inFeatures(), trial)
		low, high := s.Metrics[name+"low"], s.Metrics[name+"high"]
		if e := 1 - s.Metrics["test_acc"]; !(low <= e && e <= high) {
			t.Errorf("%q: error %v is outside [%v, %v]", metric, e, low, high)
		}
		if metric == "ls" && s.Metrics["interval_perp.decided"] < s.Metrics["interval.decided"] {
			t.Errorf("the sharper interval decides fewer images: %v and %v", s.Metrics["interval_perp.decided"], s.Metrics["interval.decided"])
		}
		if metric == "ls" && s.Metrics["interval_perp.decided"] == 0 {
			t.Error("the intervals decide no image")
		}
	}
}

// Without an inverse of the Gram matrix, the plain interval remains.
func TestSingular(t *testing.T) {
	trial := featureTrial(t)
	project(t, &trial)
	s, err := inFeatures().score(t.Context(), trial)
	if err != nil {
		t.Fatal(err)
	}
	sharper := s.out.Metrics["interval_perp.decided"]
	clear(s.out.Metrics)
	s.gram = tensor.NewMat[float64](s.gram.Rows, s.gram.Cols)
	if err := s.bounds(t.Context()); err != nil || sharper == 0 {
		t.Fatal(err, sharper)
	}
	m, notes := s.out.Metrics, strings.Join(s.out.Notes, "\n")
	if _, there := m["interval_perp.low"]; there || m["interval.high"] == 0 || !strings.Contains(notes, "no sharper bound: ") {
		t.Errorf("%v, %s", m, notes)
	}
}

// project replaces the labels of a trial's set by solved labels.
func project(t *testing.T, trial *method.Trial) {
	t.Helper()
	r := space.OfTrial(*trial)
	shown, err := r.Space().Show(context.Background(), trial.Set.Images, nil)
	if err != nil {
		t.Fatal(err)
	}
	theta, err := teacher.Problem{Loss: convex.LogisticLoss, Lambda: teacher.DefaultLambda}.Theta(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	view, err := shown.View(context.Background(), &theta.Model)
	if err != nil {
		t.Fatal(err)
	}
	solved, err := convex.Project(view)
	if err != nil {
		t.Fatal(err)
	}
	teacher.SetLabels(trial.Set, solved.Labels(convex.LogisticLoss, float64(trial.Set.Len())*teacher.DefaultLambda))
}

// The whole set keeps its score if another loss cannot be solved.
func TestFeaturesOfTheWholeSet(t *testing.T) {
	trial := featureTrial(t)
	trial.Set = &method.Distilled{H: 8, W: 8, C: 1, Whole: true, Classes: trial.Data.Classes, Kind: method.Hard}
	s := scored(t, inFeatures(), trial)
	if s.Metrics["test_acc"] != 1 || s.Metrics["train_acc"] != 1 || s.Metrics["teacher_gap"] > 1e-4 {
		t.Errorf("%v", s.Metrics)
	}
	trial.Model.Width, trial.Model.Nets = 8, 1 // fewer features than images: their Gram matrix is singular
	f := inFeatures()
	f.Lambda = 1e-12
	s = scored(t, f, trial)
	if _, ok := s.Metrics["transfer.squared.test_acc"]; ok || s.Metrics["test_acc"] != 1 || !strings.Contains(strings.Join(s.Notes, "\n"), "no transfer: the squared model") {
		t.Errorf("metrics %v, notes %q", s.Metrics, s.Notes)
	}
}

func TestFeaturesRefuses(t *testing.T) {
	trial := featureTrial(t)
	f := inFeatures()
	f.Loss = "softmax"
	if _, err := f.Score(context.Background(), trial, nil); err == nil || !strings.Contains(err.Error(), "does not support 2 classes") {
		t.Errorf("got %v", err)
	}
	trial.Set.H = 7
	if _, err := inFeatures().Score(context.Background(), trial, nil); err == nil || !strings.Contains(err.Error(), "the distilled set has images of") {
		t.Errorf("got %v", err)
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	if _, err := inFeatures().Score(stopped, featureTrial(t), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	f = inFeatures()
	f.Lambda = 0
	if err := f.Check(); err == nil {
		t.Error("lambda = 0 was accepted")
	}
}
