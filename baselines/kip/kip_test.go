package kip

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/method/methodtest"
	"dgkip/harness/space"
	"dgkip/harness/teacher"
	"dgkip/harness/tensor"
)

// variants are settings that take different ways through the code.
var variants = map[string]func(*KIP){
	"learned":          func(*KIP) {},
	"fixed from noise": func(m *KIP) { m.Labels, m.Start = "fixed", "noise" },
	"solved":           func(m *KIP) { m.Labels = "solved" },
	"jitter":           func(m *KIP) { m.Jitter = 1e-6 },
	"batch":            func(m *KIP) { m.Batch = 7 },
	"large batch":      func(m *KIP) { m.Batch = 1000 },
	"resample":         func(m *KIP) { m.Resample, m.Batch = true, 7 },
	"resample all":     func(m *KIP) { m.Resample, m.Batch, m.Nets = true, 1000, 3 },
}

func variant(name string, updates int) *KIP {
	m := defaults()
	m.Updates = updates
	variants[name](m)
	return m
}

// three turns a problem into one of three classes.
func three(p *method.Problem) {
	p.Data.Classes = []string{"upper", "lower", "other"}
	for i := range p.Data.Train.Labels {
		p.Data.Train.Labels[i] = i % 3
	}
}

func TestContract(t *testing.T) {
	for name := range variants {
		t.Run(name, func(t *testing.T) {
			fresh := func() method.Method {
				if err := variant(name, 6).Check(); err != nil {
					t.Error(err)
				}
				return variant(name, 6)
			}
			methodtest.Run(t, fresh, methodtest.Options{})
			t.Run("three classes", func(t *testing.T) {
				methodtest.Run(t, fresh, methodtest.Options{Problem: three})
			})
		})
	}
}

func problem(kind string) method.Problem {
	return method.Problem{
		Data: methodtest.Data(1), IPC: 2, Seed: 5, Shared: new(method.Shared),
		Model: method.Model{Kind: kind, Width: 32, Depth: 2, Nets: 8},
	}
}

// score is the loss on all real images, in the features that score a set, of the
// regression that scores it.
func score(t *testing.T, p method.Problem, d *method.Distilled) float64 {
	t.Helper()
	pass, err := space.Of(p).Space().Learn(context.Background(), d.Images, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	y := tensor.MatOf(d.Extra["exact_labels"].Data, d.Len(), d.LabelWidth())
	m, err := convex.Ridge{Fixed: 1e-6 * float64(d.Len())}.Fit(pass.View(0, false, nil), y, convex.Values(teacher.Signs(p.Data.Train.Labels, len(p.Data.Classes))), tensor.Mat[float64]{})
	if err != nil {
		t.Fatal(err)
	}
	return m.Loss
}

// The loss on all real images falls with every kind of labels.
func TestLossFalls(t *testing.T) {
	for name := range variants {
		for _, kind := range []string{"fc", "conv"} {
			p := problem(kind)
			m := variant(name, 60)
			m.Start = "noise"
			var first *method.Distilled
			var metrics map[string]float64
			var loss float64
			d, err := m.Distill(context.Background(), p, func(s method.Step) {
				if first == nil {
					first = s.Distilled()
				}
				loss, metrics = s.Loss, s.Metrics()
			})
			if err != nil {
				t.Fatal(err)
			}
			before, after := score(t, p, first), score(t, p, d)
			if !(after < 0.5*before) {
				t.Errorf("%s, %s: loss %v at first, %v at last", name, kind, before, after)
			}
			if got := metrics["train_loss"]; !m.Resample && math.Abs(got-after) > 0.01*after {
				t.Errorf("%s, %s: loss %v, in the trace %v", name, kind, after, got)
			}
			if got := metrics["train_loss"]; name == "learned" && got != loss {
				t.Errorf("%s: loss %v, in the trace %v", kind, loss, got)
			}
			if d.Kind != method.Value || d.Loss != "squared" || d.LabelWidth() != 1 {
				t.Errorf("%s: a set of kind %s, loss %s, %d values a label", name, d.Kind, d.Loss, d.LabelWidth())
			}
			if fixed := slices.Equal(d.Labels, []float32{-1, -1, 1, 1}); fixed != (m.Labels == "fixed") {
				t.Errorf("%s: labels %v", name, d.Labels)
			}
		}
	}
}

// Every update draws a new batch and, with resample, new networks.
func TestDraw(t *testing.T) {
	for _, name := range []string{"batch", "resample"} {
		m := variant(name, 1)
		r, err := m.newRun(context.Background(), problem("fc"))
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for update := range 4 {
			for range 2 {
				if _, err := r.eval(context.Background(), update, true); err != nil {
					t.Fatal(err)
				}
				seen[fmt.Sprint(r.model.C.Data)] = true
			}
			batch := r.batch(update)
			of, targets := r.real(batch)
			if len(batch) != 7 || targets.Rows != 7 || len(of) != 7 {
				t.Fatalf("%s: %d images, %d targets, %d labels", name, len(batch), targets.Rows, len(of))
			}
			for i, of := range of {
				if targets.Row(i)[0] != float64(2*of-1) {
					t.Errorf("%s: target %v of class %d", name, targets.Row(i), of)
				}
			}
			seen[fmt.Sprint(batch)] = true
		}
		if want := 4 + map[string]int{"batch": 1, "resample": 4}[name]; len(seen) != want {
			t.Errorf("%s: four updates have %d batches and models of the first labels, not %d", name, len(seen), want)
		}
	}
}

func TestCheck(t *testing.T) {
	for want, spoil := range map[string]func(*KIP){
		"rate must be positive and at most 1e6, not 0":     func(m *KIP) { m.Rate = 0 },
		"label_rate must be positive":                      func(m *KIP) { m.LabelRate = 0 },
		"lambda must be between 1e-14 and 1e6, not -1":     func(m *KIP) { m.Lambda = -1 },
		"labels is \"solved\"":                             func(m *KIP) { m.Labels, m.Resample, m.Batch = "solved", true, 9 },
		"jitter has no effect with labels = \"solved\"":    func(m *KIP) { m.Labels, m.Jitter = "solved", 1e-6 },
		"label_rate has no effect with labels = \"fixed\"": func(m *KIP) { m.Labels, m.LabelRate = "fixed", 1 },
		"batch cannot be used with labels":                 func(m *KIP) { m.Labels, m.Batch = "solved", 9 },
		"batch is 0, so every":                             func(m *KIP) { m.Resample = true },
		"nets needs resample":                              func(m *KIP) { m.Nets = 2 },
		"rate must be positive and at most 1e6, not NaN":   func(m *KIP) { m.Rate -= m.Rate; m.Rate /= m.Rate },
	} {
		m := defaults()
		spoil(m)
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	m := defaults()
	m.Labels, m.LabelRate = "fixed", 0
	if err := m.Check(); err != nil {
		t.Error(err)
	}
}

func TestCheckSizes(t *testing.T) {
	sizes := method.Sizes{Train: 100, Test: 10, Classes: 2, H: 8, W: 8, C: 1, Smallest: 5, IPC: 6, Model: method.Model{Kind: "conv", Width: 4, Depth: 2, Nets: 2}}
	m := defaults()
	if err := m.CheckSizes(sizes); err == nil || !strings.Contains(err.Error(), "smallest class has only 5") {
		t.Error(err)
	}
	m.Start = "noise"
	if err := m.CheckSizes(sizes); err != nil {
		t.Error(err)
	}
	deep := sizes
	deep.Model.Depth = 9
	if err := m.CheckSizes(deep); err == nil || !strings.Contains(err.Error(), "kip: depth 9") {
		t.Errorf("a network deeper than images allow: %v", err)
	}
	m.Labels, sizes.IPC = "solved", 50
	if err := m.CheckSizes(sizes); err == nil || !strings.Contains(err.Error(), "100 images fit the labels of 100 real ones exactly") {
		t.Error(err)
	}
	sizes.Classes = 1
	if err := m.CheckSizes(sizes); err == nil {
		t.Error("a single class")
	}
	p := problem("fc")
	p.IPC = 7
	if _, err := defaults().Distill(context.Background(), p, func(method.Step) {}); err == nil || !strings.Contains(err.Error(), "class upper of halves has only 6") {
		t.Errorf("more images than there are: %v", err)
	}
}
