package dsa

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"dgkip/baselines/dc"
	"dgkip/harness/method"
	"dgkip/harness/method/methodtest"
)

// quick has loops short enough for tests.
func quick() *DSA {
	m := defaults()
	m.Iterations, m.Outer, m.Inner, m.RealBatch, m.NetBatch = 3, 3, 2, 4, 3
	return m
}

func TestContract(t *testing.T) {
	for name, change := range map[string]func(*DSA){
		"learned labels": func(*DSA) {},
		"noise":          func(m *DSA) { m.Start, m.Labels = "noise", "fixed" },
		"one operation":  func(m *DSA) { m.Augment = "rotate" },
	} {
		t.Run(name, func(t *testing.T) {
			methodtest.Run(t, func() method.Method { m := quick(); change(m); return m }, methodtest.Options{})
		})
	}
}

func problem(dataset string) method.Problem {
	p := method.Problem{
		Data: methodtest.Data(1), IPC: 2, Seed: 1,
		Model: method.Model{Kind: "conv", Width: 4, Depth: 2, Nets: 1},
	}
	p.Data.Name, p.Data.Characters = dataset, dataset == "mnist"
	return p
}

func distil(t *testing.T, m method.Method, dataset string) *method.Distilled {
	t.Helper()
	return methodtest.Distill(t, m, problem(dataset), nil)
}

// The augmentation changes the result of dc, and flips depend on the dataset.
func TestAugment(t *testing.T) {
	m := quick()
	m.Iterations = 10
	augmented := distil(t, m, "halves").Images
	if slices.Equal(augmented, distil(t, &dc.DC{Settings: m.Settings}, "halves").Images) {
		t.Error("the augmentation has no effect")
	}
	digits := distil(t, m, "mnist").Images
	if slices.Equal(augmented, digits) {
		t.Error("digits are flipped")
	}
	m.Augment = "color_crop_cutout_scale_rotate"
	if !slices.Equal(digits, distil(t, m, "halves").Images) {
		t.Error("the operations for digits, given by name, differ from dsa on digits")
	}
}

// With the same seed, dc and dsa start from the same images.
func TestStart(t *testing.T) {
	m := quick()
	m.Iterations = 0
	if !slices.Equal(distil(t, m, "halves").Images, distil(t, &dc.DC{Settings: m.Settings}, "halves").Images) {
		t.Error("dc and dsa start from different images")
	}
}

func TestCheck(t *testing.T) {
	for augment, want := range map[string]string{"": "must name a strategy", "dc": "only suits training", "spin": `"spin"`, "crop_crop": "twice", "dsa": "", "flip": ""} {
		m := quick()
		m.Augment = augment
		err := m.Check()
		var bad *method.BadSetting
		if want == "" && err != nil || want != "" && (!errors.As(err, &bad) || bad.Key != "augment" || !strings.Contains(bad.Why, want)) {
			t.Errorf("%q: %v", augment, err)
		}
	}
	m := quick()
	m.NetRate, m.Augment = 0, ""
	if err := m.Check(); err == nil || !strings.Contains(err.Error(), "net_rate") || !strings.Contains(err.Error(), "augment") {
		t.Errorf("got %v", err)
	}
	m.Start = "real"
	sizes := method.Sizes{Train: 12, Test: 12, Classes: 2, H: 8, W: 8, C: 1, Smallest: 6, IPC: 7, Model: problem("").Model}
	if err := m.CheckSizes(sizes); err == nil || !strings.Contains(err.Error(), "dsa with start") {
		t.Errorf("got %v", err)
	}
	m.Augment = "spin"
	if _, err := m.Distill(context.Background(), problem("halves"), func(method.Step) {}); err == nil {
		t.Error("an unknown strategy is accepted")
	}
	if defaults().Start != "real" || dc.Defaults().Start != "noise" {
		t.Error("dsa must start from real images by default, and dc from noise")
	}
}
