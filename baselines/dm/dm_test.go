package dm

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/augment"
	"dgkip/harness/method"
	"dgkip/harness/method/methodtest"
	"dgkip/harness/nn"
	"dgkip/harness/rng"
)

// quick has few updates, as tests need.
func quick() *DM {
	m := defaults()
	m.Iterations, m.RealBatch = 6, 4
	return m
}

func TestContract(t *testing.T) {
	for name, change := range map[string]func(*DM){
		"augmented": func(*DM) {},
		"plain":     func(m *DM) { m.Start, m.Augment, m.Norm = "noise", "", false },
	} {
		t.Run(name, func(t *testing.T) {
			methodtest.Run(t, func() method.Method { m := quick(); change(m); return m }, methodtest.Options{})
		})
	}
}

func problem() method.Problem {
	return method.Problem{Data: methodtest.Data(1), IPC: 2, Seed: 1, Model: method.Model{Kind: "conv", Width: 8, Depth: 2, Nets: 1}}
}

// The gradient equals a central difference, for every operation.
func TestGradient(t *testing.T) {
	const h, w, c, n, step = 8, 8, 2, 3, 1e-6
	net, err := nn.ConvNet[float64](nn.Shape{Kind: "conv", Width: 3, Depth: 2, Norm: true}, h, w, c, 2)
	if err != nil {
		t.Fatal(err)
	}
	body := net.Body()
	for _, name := range []string{"", "color", "crop", "cutout", "scale", "rotate"} {
		strategy, err := augment.New(name, false)
		if err != nil {
			t.Fatal(err)
		}
		r := rng.Stream(1, name)
		draw := strategy.Draw(r, h, w)
		theta := make([]float64, body.Params())
		body.InitUniform(theta, r)
		drawn, syn := methodtest.Normal[float64](r, 5*h*w*c, 1), methodtest.Normal[float64](r, n*h*w*c, 1)
		m := newMatcher(body, h, w, c)
		dx, other := make([]float64, len(syn)), make([]float64, len(syn))
		m.match(theta, draw, drawn, syn, dx)
		var scale float64
		for _, v := range dx {
			scale = max(scale, math.Abs(v))
		}
		for i, v := range syn {
			syn[i] = v + step
			up := m.match(theta, draw, drawn, syn, other)
			syn[i] = v - step
			want := (up - m.match(theta, draw, drawn, syn, other)) / (2 * step)
			syn[i] = v
			if !(math.Abs(dx[i]-want) <= 1e-6*scale) {
				t.Fatalf("%q: gradient of value %d is %g, want %g", name, i, dx[i], want)
			}
		}
		if d := m.match(theta, draw, syn, syn, dx); d != 0 || slices.ContainsFunc(dx, func(v float64) bool { return v != 0 }) {
			t.Errorf("%q: images have the distance %v from themselves", name, d)
		}
	}
}

// Distances fall, and labels stay.
func TestLearns(t *testing.T) {
	m := quick()
	m.Iterations, m.RealBatch, m.Start = 60, 256, "noise"
	m.Rate = 10 // embeddings of such a small network are short
	var losses []float64
	d := methodtest.Distill(t, m, problem(), func(s method.Step) { losses = append(losses, s.Loss) })
	methodtest.Fell(t, "distances", losses, 10, 0.7)
	if d.Kind != method.Hard || !slices.Equal(d.Labels, []float32{1, 0, 1, 0, 0, 1, 0, 1}) {
		t.Errorf("labels %v, %s", d.Labels, d.Kind)
	}
}

func TestSettings(t *testing.T) {
	for name, want := range map[string]string{"": "", "dsa": "", "flip": "", "dc": "only suits training", "spin": `"spin"`, "crop_crop": "twice"} {
		m := quick()
		m.Augment = name
		err := m.Check()
		var bad *method.BadSetting
		if want == "" && err != nil || want != "" && (!errors.As(err, &bad) || bad.Key != "augment" || !strings.Contains(bad.Why, want)) {
			t.Errorf("%q: %v", name, err)
		}
	}
	m := quick()
	for ipc, want := range map[int]float64{1: 1, 50: 1, 100: 10} {
		if got := m.rate(ipc); got != want {
			t.Errorf("ipc %d: rate %v, want %v", ipc, got, want)
		}
	}
	sizes := method.Sizes{Train: 12, Test: 12, Classes: 2, H: 8, W: 8, C: 1, Smallest: 6, IPC: 7, Model: problem().Model}
	if err := m.CheckSizes(sizes); err == nil || !strings.Contains(err.Error(), "dm with start") {
		t.Errorf("got %v", err)
	}
	sizes.IPC, sizes.Model.Depth = 1, 4
	if err := m.CheckSizes(sizes); err == nil || !strings.Contains(err.Error(), "too small for 4 blocks") {
		t.Errorf("got %v", err)
	}
}
