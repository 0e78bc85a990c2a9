package eval

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/rng"
	"dgkip/harness/space"
	"dgkip/harness/teacher"
)

func inFresh() *Fresh { return method.NewProtocol("fresh").(*Fresh) }

func TestFreshScores(t *testing.T) {
	trial := featureTrial(t)
	s := scored(t, inFresh(), trial)
	if s.Metrics["test_acc"] < 0.8 || s.Metrics["own.test_acc"] != scored(t, inFeatures(), trial).Metrics["test_acc"] {
		t.Errorf("%v", s.Metrics)
	}
	wrong, sum := s.Counts["test_errors"], 0.0
	if len(wrong) != 4 {
		t.Fatalf("%d draws", len(wrong))
	}
	for _, w := range wrong {
		sum += 1 - float64(w)/float64(trial.Test.Len())
	}
	if mean := sum / 4; mean-s.Metrics["test_acc"] > 1e-12 || s.Metrics["test_acc"]-mean > 1e-12 {
		t.Errorf("test_acc is %v, but the mean over draws is %v", s.Metrics["test_acc"], mean)
	}
	// Networks may have another architecture. A set of an exact kernel is scored in networks of
	// the kernel's kind.
	for _, f := range []*Fresh{{Draws: 2, Kind: "conv", Width: 8, Nets: 2, Lambda: 1e-6}, {Draws: 2, Width: 64, Lambda: 1e-6}} {
		if s := scored(t, f, trial); s.Metrics["test_acc"] < 0.7 {
			t.Errorf("%+v: %v", f, s.Metrics)
		}
	}
	trial.Model.Kind = "nngp"
	trial.Shared, trial.Own = new(method.Shared), new(method.Shared)
	if s := scored(t, inFresh(), trial); s.Metrics["test_acc"] < 0.8 || s.Metrics["own.test_acc"] < 0.8 {
		t.Errorf("exact kernel: %v", s.Metrics)
	}
}

// With permuted test labels, accuracies are near chance.
func TestFreshOfPermutedLabels(t *testing.T) {
	trial := featureTrial(t)
	trial.Test.Labels = slices.Clone(trial.Test.Labels)
	deal := rng.Stream(3, "permuted")
	for i, j := range deal.Perm(len(trial.Test.Labels)) {
		trial.Test.Labels[i], trial.Test.Labels[j] = trial.Test.Labels[j], trial.Test.Labels[i]
	}
	s := scored(t, inFresh(), trial)
	for _, name := range []string{"test_acc", "own.test_acc"} {
		if acc := s.Metrics[name]; acc < 0.3 || acc > 0.7 {
			t.Errorf("%s is %v", name, acc)
		}
	}
}

// New networks differ from the run's own networks and from all draws that methods use.
func TestFreshNetworksAreFresh(t *testing.T) {
	trial := featureTrial(t)
	seen := map[string]string{}
	add := func(name string, draw []string) {
		r := space.OfTrial(trial)
		r.Draw = draw
		shown, err := r.Space().Show(context.Background(), trial.Test.At(0), nil)
		if err != nil {
			t.Fatal(err)
		}
		gram, err := shown.Gram(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		key := fmt.Sprint(gram.Data)
		if other, same := seen[key]; same {
			t.Errorf("%s equals %s", name, other)
		}
		seen[key] = name
	}
	add("the run's own", nil)
	for i := range 4 {
		add("draw "+strconv.Itoa(i), []string{"drawn features", trial.Data.Name, strconv.Itoa(i)})
		add("fresh "+strconv.Itoa(i), freshStream(trial.Data.Name, i))
	}
}

// Portable labels are used if there are any, unless exact ones are requested. They are the outputs
// of the set's own model.
func TestPortableLabels(t *testing.T) {
	trial := featureTrial(t)
	project(t, &trial)
	exact := scored(t, inFresh(), trial)
	r := space.OfTrial(trial)
	shown, err := r.Space().Show(context.Background(), trial.Set.Images, nil)
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
	student, err := teacher.Train(context.Background(), gram, labels, float64(trial.Set.Len())*teacher.DefaultLambda)
	if err != nil {
		t.Fatal(err)
	}
	teacher.SetTravelLabels(trial.Set, student.Outputs)
	s := scored(t, inFresh(), trial)
	if !strings.Contains(strings.Join(s.Notes, "\n"), "portable labels") || strings.Contains(strings.Join(exact.Notes, "\n"), "portable labels") {
		t.Errorf("notes %q and %q", s.Notes, exact.Notes)
	}
	if s.Metrics["own.test_acc"] != exact.Metrics["own.test_acc"] {
		t.Error("own.test_acc does not use the exact labels")
	}
	f := inFresh()
	f.Labels = "exact"
	if again := scored(t, f, trial); again.Metrics["test_acc"] != exact.Metrics["test_acc"] {
		t.Error("labels = \"exact\" does not use the exact labels")
	}
	f.Labels = "outputs"
	if again := scored(t, f, trial); again.Metrics["test_acc"] != s.Metrics["test_acc"] {
		t.Error("labels = \"outputs\" differs from the portable labels")
	}
}

func TestFreshRefuses(t *testing.T) {
	trial := featureTrial(t)
	trial.Set = &method.Distilled{H: 8, W: 8, C: 1, Whole: true, Classes: trial.Data.Classes, Kind: method.Hard}
	if _, err := inFresh().Score(context.Background(), trial, nil); err == nil || !strings.Contains(err.Error(), "hint: ") {
		t.Errorf("got %v", err)
	}
	f := inFresh()
	f.Kind = "nngp"
	if err := f.CheckSizes(method.Sizes{Model: trial.Model, Classes: 2, H: 8, W: 8, C: 1}); err == nil || !strings.Contains(err.Error(), "is an exact kernel") {
		t.Errorf("got %v", err)
	}
	f.Kind = "dream"
	if err := f.Check(); err == nil {
		t.Error("an unknown kind was accepted")
	}
}
