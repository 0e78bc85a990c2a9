package dd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/eval"
	"dgkip/harness/method"
	"dgkip/harness/method/methodtest"
)

// quick has settings for runs of a few milliseconds.
func quick(change func(*DD)) *DD {
	m := defaults()
	m.Iterations, m.Steps, m.Epochs, m.Batch = 6, 2, 2, 5
	if change != nil {
		change(m)
	}
	return m
}

func TestContract(t *testing.T) {
	for name, change := range map[string]func(*DD){
		"defaults":     nil,
		"random init":  func(m *DD) { m.Init, m.Nets = "random", 2 },
		"fixed labels": func(m *DD) { m.Labels, m.Start, m.Halvings, m.Norm = "fixed", "real", 2, false },
		"one slot":     func(m *DD) { m.Steps = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			methodtest.Run(t, func() method.Method { return quick(change) }, methodtest.Options{})
		})
	}
}

func halves(kind string, seed uint64) method.Problem {
	return method.Problem{
		Data: methodtest.Data(1), IPC: 2, Seed: seed, Model: method.Model{Kind: kind, Width: 8, Depth: 2, Nets: 1},
	}
}

// distil runs a distillation that is long enough to learn.
func distil(t *testing.T, p method.Problem, change func(*DD)) (*method.Distilled, []float64) {
	t.Helper()
	m := quick(func(m *DD) {
		m.Iterations, m.Steps, m.Epochs, m.Batch, m.Rate, m.FirstRate = 60, 3, 2, 12, 0.05, 0.1
		if change != nil {
			change(m)
		}
	})
	var losses []float64
	set, err := m.Distill(context.Background(), p, func(s method.Step) { losses = append(losses, s.Loss) })
	if err != nil {
		t.Fatal(err)
	}
	return set, losses
}

// score returns the errors of the protocol on the training images.
func score(t *testing.T, p method.Problem, set *method.Distilled, seed uint64) []int64 {
	t.Helper()
	protocol := method.NewProtocol("unrolled").(*eval.Unrolled)
	s, err := protocol.Score(context.Background(), method.Trial{
		Data: p.Data, Test: p.Data.Train, Set: set, Model: p.Model, Seed: seed, Final: true,
	}, func(method.Step) {})
	if err != nil {
		t.Fatal(err)
	}
	return s.Counts["test_errors"]
}

func TestLearns(t *testing.T) {
	for _, kind := range []string{"conv", "fc"} {
		for _, init := range []string{"fixed", "random"} {
			p := halves(kind, 1)
			set, losses := distil(t, p, func(m *DD) { m.Init = init })
			first, last := losses[1], losses[len(losses)-1]
			if last > 0.6*first {
				t.Errorf("%s, %s: loss %.3f at first and %.3f at last", kind, init, first, last)
			}
			wrong := score(t, p, set, p.Seed)
			if slices.Max(wrong) > 1 {
				t.Errorf("%s, %s: %v of 12 images wrong", kind, init, wrong)
			}
			if want := map[string]int{"fixed": 1, "random": 5}[init]; len(wrong) != want {
				t.Errorf("%s, %s: %d repetitions, want %d", kind, init, len(wrong), want)
			}
		}
	}
}

// update applies update k, counted from 0.
func update(t testing.TB, r *run, k int) {
	t.Helper()
	if _, err := r.gradient(context.Background(), k); err != nil {
		t.Fatal(err)
	}
	for _, v := range r.variables {
		v.Step(r.m.share(k))
	}
	r.refresh()
}

// The protocol repeats the steps of the training from the set alone. It reaches the same weights and
// errors without the seed or the networks of the run.
func TestEvaluationRepeatsTraining(t *testing.T) {
	for _, kind := range []string{"conv", "fc"} {
		for _, ipc := range []int{1, 2, 5} {
			// All 64 bits of the seed matter.
			p := halves(kind, 0xfedcba9876543210)
			p.IPC = ipc
			m := quick(func(m *DD) { m.Steps, m.FirstRate, m.Width = 3, 0.3, 7 })
			var sets []*method.Distilled
			var want []int64
			r, err := m.newRun(p)
			if err != nil {
				t.Fatal(err)
			}
			for k := range 4 {
				if err := r.unroll.run(context.Background(), r.first, r.in); err != nil {
					t.Fatal(err)
				}
				wrong, _ := r.unroll.net.NewPass().Errors(t.Context(), r.unroll.w[len(r.unroll.plan.steps)], p.Data.Train.X, p.Data.Train.Labels)
				want = append(want, int64(wrong))
				sets = append(sets, r.set())
				update(t, r, k)
			}
			p.Model.Width = 5
			for i, set := range sets {
				if got := score(t, p, set, 77); !slices.Equal(got, want[i:i+1]) {
					t.Errorf("%s, ipc %d, update %d: %v errors in the evaluation, %d in training", kind, ipc, i, got, want[i])
				}
			}
		}
	}
}

// A run that diverges fails with the update and the step. The diverged set is not observed.
func TestDivergenceIsAnError(t *testing.T) {
	for _, kind := range []string{"conv", "fc"} {
		m := quick(func(m *DD) { m.FirstRate, m.Norm = 1e30, false })
		steps := 0
		_, err := m.Distill(context.Background(), halves(kind, 1), func(method.Step) { steps++ })
		if err == nil || !strings.Contains(err.Error(), "dd: update 1: inner step ") || !strings.Contains(err.Error(), "hint: ") {
			t.Errorf("%s: got %v", kind, err)
		}
		if steps != 1 {
			t.Errorf("%s: %d sets were observed, want only the first", kind, steps)
		}
	}
}

func TestHalvings(t *testing.T) {
	m := quick(func(m *DD) { m.Iterations, m.Halvings = 10, 4 })
	var got []float64
	for update := range 10 {
		got = append(got, m.share(update))
	}
	if want := []float64{1, 1, .5, .5, .25, .25, .125, .125, .0625, .0625}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Every epoch has its own permutation and uses no image twice.
func TestBatches(t *testing.T) {
	p := halves("fc", 1)
	r, err := quick(nil).newRun(p)
	if err != nil {
		t.Fatal(err)
	}
	var epochs []string
	for epoch := range 3 {
		seen := map[int]bool{}
		for part := range 2 { // of 5 of the 12 images
			for _, i := range r.batch(2*epoch + part) {
				seen[i] = true
			}
		}
		if len(seen) != 10 {
			t.Errorf("%d images in an epoch, want 10", len(seen))
		}
		epochs = append(epochs, fmt.Sprint(r.order))
	}
	if epochs[0] == epochs[1] || epochs[1] == epochs[2] {
		t.Error("two epochs have the same order")
	}
}

func TestSettings(t *testing.T) {
	if err := defaults().Check(); err != nil {
		t.Errorf("defaults: %v", err)
	}
	for key, change := range map[string]func(*DD){
		"first_rate": func(m *DD) { m.FirstRate = 0 },
		"rate":       func(m *DD) { m.Rate = 0 },
		"label_rate": func(m *DD) { m.LabelRate = 0 },
		"margin":     func(m *DD) { m.Labels, m.Margin = "fixed", 0 },
		"nets":       func(m *DD) { m.Nets = 2 },
		"epochs":     func(m *DD) { m.Steps, m.Epochs = 10000, 10000 },
	} {
		m := defaults()
		change(m)
		var bad *method.BadSetting
		if err := m.Check(); !errors.As(err, &bad) || bad.Key != key {
			t.Errorf("%s: got %v", key, err)
		}
	}
	free := defaults()
	free.Labels, free.LabelRate = "fixed", 0
	if err := free.Check(); err != nil {
		t.Errorf("fixed labels need no rate: %v", err)
	}
}

func TestSizes(t *testing.T) {
	s := method.Sizes{Train: 100, Test: 10, Classes: 2, H: 8, W: 8, C: 1, Smallest: 5, IPC: 6, Model: method.Model{Kind: "conv", Width: 4, Depth: 3}}
	m := defaults()
	if err := m.CheckSizes(s); err != nil {
		t.Errorf("noise needs no images: %v", err)
	}
	m.Start = "real"
	if err := m.CheckSizes(s); err == nil || !strings.Contains(err.Error(), "only 5") {
		t.Errorf("got %v", err)
	}
	s.IPC, s.Model.Depth = 5, 4
	if err := m.CheckSizes(s); err == nil || !strings.Contains(err.Error(), "dd: images of 8x8 pixels are too small") {
		t.Errorf("got %v", err)
	}
	s.Model.Depth, m.Width = 3, 65536
	if err := m.CheckSizes(s); err == nil || !strings.Contains(err.Error(), "is too large") {
		t.Errorf("got %v", err)
	}
	m.Width = 0
	s.H, s.W = 28, 28
	for _, c := range []struct {
		kind string
		want []float64
	}{{"conv", []float64{1, 4, 3, 1, 3}}, {"fc", []float64{0, 4, 3, 0, 0}}} {
		s.Model.Kind = c.kind
		if got := m.Shape(s.Model).Numbers(28, 28); !slices.Equal(got, c.want) {
			t.Errorf("%s: a set carries %v, want %v", c.kind, got, c.want)
		}
	}
}

func TestTooManyWeights(t *testing.T) {
	m := defaults()
	m.Steps, m.Epochs = 1000, 100
	err := m.CheckSizes(method.Sizes{Train: 10, Classes: 2, H: 32, W: 32, C: 3, IPC: 1, Model: method.Model{Kind: "conv", Width: 128, Depth: 3}})
	if err == nil || !strings.Contains(err.Error(), "dd: 100000 inner steps keep") {
		t.Error(err)
	}
}
