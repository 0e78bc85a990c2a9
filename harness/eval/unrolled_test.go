package eval

import (
	"context"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/method"
	"dgkip/harness/nn"
	"dgkip/harness/rng"
)

// learnedSteps returns a trial of a set with learned steps on two slots of six images in turn.
func learnedSteps(kind string, random bool) method.Trial {
	tr := trial(kind)
	list := func(x ...float64) method.Array { return method.Array{Shape: []int{len(x)}, Data: x} }
	tr.Set.Kind, tr.Set.Labels = method.Logits, slices.Clone(tr.Set.Labels)
	for i := range tr.Set.Labels {
		tr.Set.Labels[i] *= 3
	}
	var slots []float64
	for i := range tr.Set.Of {
		slots = append(slots, float64(i/2%2))
	}
	tr.Set.Extra = map[string]method.Array{
		"rates":      list(0.5, 0.3, 0.25, 0.2, 0.1),
		"step_slot":  list(0, 1, 0, 1, 0),
		"image_slot": {Shape: []int{len(slots)}, Data: slots},
		"epochs":     list(1),
		"init":       list(0),
		"init_seed":  list(0xfedcba98, 0x76543210),
		"network":    list(0, 9, 2, 0, 0),
	}
	if kind == "conv" {
		tr.Set.Extra["network"] = list(1, 6, 2, 1, 2)
	}
	if random {
		tr.Set.Extra["init"] = list(1)
		delete(tr.Set.Extra, "init_seed")
	}
	return tr
}

func steps() *Unrolled { return &Unrolled{Nets: 3, TraceNets: 2} }

// Score takes the steps of the set: the same steps by hand give the same weights and errors.
func TestUnrolledByHand(t *testing.T) {
	for _, kind := range []string{"fc", "conv"} {
		tr := learnedSteps(kind, false)
		net, err := nn.FCNet[float32](64, 9, 2, 2)
		if kind == "conv" {
			net, err = nn.ConvNet[float32](nn.Shape{Kind: "conv", Width: 6, Depth: 2, Norm: true, FirstPad: 2}, 8, 8, 1, 2)
		}
		if err != nil {
			t.Fatal(err)
		}
		theta, g := make([]float32, net.Params()), make([]float32, net.Params())
		net.InitUniform(theta, rng.Stream(0xfedcba9876543210, "unrolled", "init"))
		pass := net.NewPass()
		high := float32(math.Exp(3) / (1 + math.Exp(3)))
		for k, rate := range []float32{0.5, 0.3, 0.25, 0.2, 0.1} {
			var x, p []float32
			for i, y := range tr.Set.Of {
				if i/2%2 == k%2 {
					x = append(x, tr.Set.Images[i*64:][:64]...)
					p = append(p, [][]float32{{high, 1 - high}, {1 - high, high}}[y]...)
				}
			}
			pass.Loss(theta, x, p, 6)
			pass.Gradient(nn.Grad[float32]{Theta: g})
			for i := range theta {
				theta[i] -= float32(rate * g[i])
			}
		}
		count, err := pass.Errors(t.Context(), theta, tr.Test.X, tr.Test.Labels)
		if err != nil {
			t.Fatal(err)
		}
		want := int64(count)
		d, err := readDescent(tr)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float32, net.Params())
		net.InitUniform(got, rng.Stream(d.seed, "unrolled", "init"))
		if _, err := d.descend(context.Background(), d.net.NewPass(), got); err != nil {
			t.Fatal(err)
		}
		for i, v := range theta {
			if math.Abs(float64(got[i]-v)) > 1e-5 {
				t.Fatalf("%s: parameter %d is %v, want %v", kind, i, got[i], v)
			}
		}
		s := scored(t, steps(), tr)
		if e := s.Counts["test_errors"]; len(e) != 1 || e[0] != want {
			t.Errorf("%s: errors %v, want [%d]", kind, e, want)
		}
		if n := s.Counts["test_images"]; len(n) != 1 || n[0] != 12 || s.Metrics["test_acc"] != float64(12-want)/12 {
			t.Errorf("%s: %+v", kind, s)
		}
	}
}

// Fixed weights depend only on the set, and random weights on the trial.
func TestUnrolledRepetitions(t *testing.T) {
	fixed := scored(t, steps(), learnedSteps("fc", false))
	other := learnedSteps("fc", false)
	other.Seed, other.Model.Width, other.Model.Kind = 99, 3, "conv"
	if got := scored(t, steps(), other); !reflect.DeepEqual(got, fixed) {
		t.Errorf("fixed weights: %v with another seed and model, %v before", got, fixed)
	}
	tr := learnedSteps("conv", true)
	if n := len(scored(t, steps(), tr).Counts["test_errors"]); n != 3 {
		t.Errorf("%d repetitions in the final scores, want 3", n)
	}
	tr.Final = false
	if n := len(scored(t, steps(), tr).Counts["test_errors"]); n != 2 {
		t.Errorf("%d repetitions in earlier scores, want 2", n)
	}
}

func TestUnrolledSameBits(t *testing.T) {
	checkSameBits(t, &Unrolled{Nets: 3, TraceNets: 1}, learnedSteps("conv", true), 1)
}

func TestUnrolledMisfits(t *testing.T) {
	set := func(name string, x ...float64) func(*method.Trial) {
		return func(tr *method.Trial) { tr.Set.Extra[name] = method.Array{Shape: []int{len(x)}, Data: x} }
	}
	for name, c := range map[string]struct {
		change func(*method.Trial)
		want   string
	}{
		"a set of another method": {func(tr *method.Trial) { tr.Set.Extra = nil }, `"rates" is missing`},
		"whole":                   {func(tr *method.Trial) { *tr.Set = method.Distilled{Whole: true} }, "no learned steps"},
		"no slots of images":      {func(tr *method.Trial) { delete(tr.Set.Extra, "image_slot") }, `"image_slot" is missing`},
		"no seed":                 {func(tr *method.Trial) { delete(tr.Set.Extra, "init_seed") }, `"init_seed" is missing`},
		"half a seed":             {set("init_seed", 1), `"init_seed" has 1 values, not 2`},
		"no rates":                {set("rates"), `"rates" is empty`},
		"a negative rate":         {set("rates", 1, -1, 1, 1, 1), `"rates" contains -1 at index 1`},
		"a rate of NaN":           {set("rates", 1, math.NaN(), 1, 1, 1), `"rates" contains NaN at index 1`},
		"fewer rates than steps":  {set("rates", 1), `"step_slot" has 5 values, not 1`},
		"a slot out of range":     {set("step_slot", 0, 1, 12, 0, 0), `"step_slot" contains 12 at index 2`},
		"half a slot":             {set("step_slot", 0, 1, 0.5, 0, 0), `"step_slot" contains 0.5 at index 2, which is not an integer`},
		"an empty slot":           {set("step_slot", 0, 1, 2, 0, 0), "step 3 of the set uses slot 2"},
		"an unknown init":         {set("init", 2), `"init" contains 2 at index 0`},
		"no network":              {set("network", 0, 0, 0, 0, 0), "describes no network"},
		"a third norm":            {set("network", 1, 4, 2, 2, 1), "describes no network"},
		"no padding":              {set("network", 1, 4, 2, 1, 0), "describes no network"},
		"too much padding":        {set("network", 1, 4, 2, 1, 65), "describes no network"},
		"all memory for weights":  {set("network", 0, 65536, 16, 0, 0), "is too large"},
		"all memory for images":   {set("network", 1, 4096, 1, 1, 64), "is too large"},
		"a network too deep":      {set("network", 1, 4, 4, 1, 1), "too small"},
		"other images":            {func(tr *method.Trial) { tr.Set.H = 4 }, "the distilled set has images of"},
		"steps too long":          {set("rates", 1e38, 1e38, 1e38, 1e38, 1e38), "step 2 of 5: the loss is"},
		"a last step too long":    {set("rates", 1e-3, 1e-3, 1e-3, 1e-3, 3.4e38), "contain +Inf"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := learnedSteps("fc", false)
			for i := range tr.Set.Images {
				tr.Set.Images[i] *= 30
			}
			c.change(&tr)
			_, err := (&Unrolled{Nets: 1, TraceNets: 1}).Score(context.Background(), tr, func(method.Step) {})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// another is a method that learns no steps; elsewhere is a method whose sets come from files.
type another struct{ method.Method }

func (another) Info() method.Info { return method.Info{Name: "another", Protocol: "network"} }

type elsewhere struct{ another }

func (e elsewhere) Locate(method.Place, *method.Data) (method.Method, error) { return e, nil }

// The protocol accepts methods that learn steps, and sets from files, which may contain steps.
func TestUnrolledMethods(t *testing.T) {
	s := method.Sizes{Model: trial("fc").Model, Classes: 2, H: 8, W: 8, C: 1, IPC: 1, Method: another{}}
	if err := new(Unrolled).CheckSizes(s); err == nil || !strings.Contains(err.Error(), "another learns none") {
		t.Error(err)
	}
	s.Method = elsewhere{}
	if err := new(Unrolled).CheckSizes(s); err != nil {
		t.Error(err)
	}
}
