package eval

import (
	"context"
	"errors"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/method"
	"dgkip/harness/method/methodtest"
	"dgkip/harness/nn"
	"dgkip/harness/rng"
)

func trial(kind string) method.Trial {
	data := methodtest.Data(1)
	set := &method.Distilled{
		H: 8, W: 8, C: 1, Images: data.Train.X, Of: data.Train.Labels, Labels: method.OneHot(data.Train.Labels, 2),
		Kind: method.Hard, Classes: data.Classes, Prep: data.Prep,
	}
	return method.Trial{
		Data: data, Test: data.Train, Set: set, Seed: 3, Final: true,
		Model: method.Model{Kind: kind, Width: 8, Depth: 2, Nets: 1},
	}
}

func quick() *Network {
	return &Network{Nets: 2, TraceNets: 1, Epochs: 10, Batch: 5, Rate: 0.05, Momentum: 0.9, Decay: 5e-4, TrainedNets: method.TrainedNets{Norm: true}}
}

func scored(t *testing.T, p method.Protocol, tr method.Trial) *method.Scores {
	t.Helper()
	s, err := p.Score(context.Background(), tr, func(method.Step) {})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLearns(t *testing.T) {
	for _, kind := range []string{"conv", "fc", "res"} {
		s := scored(t, quick(), trial(kind))
		if s.Metrics["test_acc"] < 0.9 {
			t.Errorf("%s: accuracy %v on the images it was trained on", kind, s.Metrics["test_acc"])
		}
		if len(s.Counts["test_errors"]) != 2 || s.Counts["test_images"][0] != 12 {
			t.Errorf("%s: counts %v", kind, s.Counts)
		}
		whole := trial(kind)
		whole.Set = &method.Distilled{Whole: true, Classes: whole.Data.Classes}
		if got := scored(t, quick(), whole); !reflect.DeepEqual(got, s) {
			t.Errorf("%s: the whole set scores %v, its images %v", kind, got, s)
		}
		untrained := quick()
		untrained.Epochs = 0
		scored(t, untrained, trial(kind))
	}
	along := trial("fc")
	along.Final = false
	if n := len(scored(t, quick(), along).Counts["test_errors"]); n != 1 {
		t.Errorf("%d networks during distillation, want 1", n)
	}
}

// Networks of another kind and depth can be trained on the set.
func TestKind(t *testing.T) {
	tr := trial("conv")
	params := func(kind string, depth int) int {
		n := quick()
		n.Kind, n.Depth, n.Width = kind, depth, 8
		net, err := n.Net(tr.Model, 8, 8, 1, 2)
		if err != nil {
			t.Fatal(err)
		}
		return net.Params()
	}
	if params("", 0) != params("conv", 2) || params("conv", 3) <= params("", 0) || params("res", 2) <= params("", 0) || params("res", 0) <= params("res", 2) {
		t.Error("wrong networks")
	}
	n := quick()
	if n.Kind = "none"; n.Check() == nil {
		t.Error("an unknown kind is accepted")
	}
	if n.Kind, n.Depth = "conv", 5; n.CheckSizes(method.Sizes{H: 8, W: 8, C: 1, Classes: 2, Model: tr.Model}) == nil {
		t.Error("8x8 images are halved five times")
	}
}

// Scores match an explicit loop, in which the rate falls to a tenth halfway and the momentum
// continues.
func TestByHand(t *testing.T) {
	n := quick()
	n.Nets, n.Batch = 1, 100 // all images in one step, so that their order does not matter
	tr := trial("fc")
	net, err := n.Net(tr.Model, 8, 8, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	theta, g, v := make([]float32, net.Params()), make([]float32, net.Params()), make([]float32, net.Params())
	net.InitUniform(theta, rng.Stream(tr.Seed, "eval", "network", "0", "init"))
	pass := net.NewPass()
	var want []float64
	for _, rate := range []float32{0.05, 0.05, 0.05, 0.05, 0.05, 0.005, 0.005, 0.005, 0.005, 0.005} {
		want = append(want, pass.Loss(theta, tr.Set.Images, tr.Set.Labels, 12))
		pass.Gradient(nn.Grad[float32]{Theta: g})
		for i := range theta {
			v[i] = 0.9*v[i] + g[i] + 5e-4*theta[i]
			theta[i] -= rate * v[i]
		}
	}
	var got []float64
	s, err := n.Score(context.Background(), tr, func(s method.Step) { got = append(got, s.Loss) })
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("%d losses, want %d", len(got), len(want))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) < 1e-5*want[i]) {
			t.Errorf("loss %v in epoch %d, want %v", got[i], i, want[i])
		}
	}
	if wrong, err := pass.Errors(t.Context(), theta, tr.Test.X, tr.Test.Labels); err != nil || s.Counts["test_errors"][0] != int64(wrong) {
		t.Errorf("%d errors, want %d", s.Counts["test_errors"][0], wrong)
	}
}

func TestRate(t *testing.T) {
	n := quick()
	n.Rate = 0
	var bad *method.BadSetting
	if err := n.Check(); !errors.As(err, &bad) || bad.Key != "rate" {
		t.Errorf("a rate of zero: %v", err)
	}
	if err := quick().Check(); err != nil {
		t.Error(err)
	}
}

func TestCheckSizes(t *testing.T) {
	s := method.Sizes{Train: 12, Test: 12, Classes: 2, H: 8, W: 8, C: 1, Model: trial("conv").Model}
	if err := quick().CheckSizes(s); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*method.Model){
		"[eval.network] images of 8x8 pixels are too small": func(m *method.Model) { m.Depth = 4 },
		"is too large": func(m *method.Model) { m.Width = 65536 },
	} {
		s := s
		change(&s.Model)
		if err := quick().CheckSizes(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestSameBits(t *testing.T) {
	for _, name := range []string{"", "dsa", "dc"} {
		t.Run(name, func(t *testing.T) {
			n := quick()
			n.Augment = name
			checkSameBits(t, n, trial("conv"), 7)
		})
	}
}

// checkSameBits fails if scores or steps depend on the number of threads or on interruptions after
// a number of steps, or if half a checkpoint is accepted.
func checkSameBits(t *testing.T, p method.Protocol, tr method.Trial, every int) {
	t.Helper()
	var all, steps []method.Step
	want, err := p.Score(context.Background(), tr, func(s method.Step) {
		s.Checkpoint = nil
		all = append(all, s)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if got, err := p.Score(context.Background(), tr, func(method.Step) {}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("the number of threads changes the result (%v)", err)
	}
	for range 100 {
		ctx, cancel := context.WithCancel(context.Background())
		calls := 0
		got, err := p.Score(ctx, tr, func(s method.Step) {
			if calls++; calls == every {
				cancel()
			}
			s.Checkpoint = nil
			steps = append(steps, s)
		})
		cancel()
		var stopped *method.Interrupted
		if errors.As(err, &stopped) {
			tr.Resume = stopped.Checkpoint
			continue
		}
		if err != nil || !reflect.DeepEqual(got, want) || !reflect.DeepEqual(steps, all) {
			t.Errorf("interrupted: %v, %v, want %v", got, err, want)
		}
		tr.Resume = tr.Resume[:len(tr.Resume)/2]
		if _, err := p.Score(context.Background(), tr, func(method.Step) {}); !errors.Is(err, method.ErrCheckpoint) {
			t.Errorf("half a checkpoint: %v", err)
		}
		return
	}
	t.Error("the scoring does not end")
}

// countdown is a context that is done after left calls of Err.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// A scoring that is interrupted while it counts errors resumes with counting and trains no network
// twice.
func TestInterruptedInCounting(t *testing.T) {
	n, tr := quick(), trial("fc")
	tr.Test.Labels = slices.Clone(tr.Test.Labels)
	tr.Test.Labels[0] = 1 - tr.Test.Labels[0] // at least one error
	// The context is checked before each step and once before counting.
	const each = 30
	var all []int
	want, err := n.Score(context.Background(), tr, func(s method.Step) { all = append(all, s.Update) })
	if err != nil || len(all) != 2*each {
		t.Fatal(len(all), err)
	}
	for network := range 2 {
		var steps []int
		see := func(s method.Step) { steps = append(steps, s.Update) }
		_, err := n.Score(&countdown{context.Background(), each*(1+network) + network}, tr, see)
		var stopped *method.Interrupted
		if !errors.As(err, &stopped) {
			t.Fatalf("interrupted in counting errors of network %d: %v", network+1, err)
		}
		if len(steps) != each*(1+network) {
			t.Errorf("network %d: interrupted after %d steps", network+1, len(steps))
		}
		again := tr
		again.Resume = stopped.Checkpoint[:len(stopped.Checkpoint)/2]
		if _, err := n.Score(context.Background(), again, see); !errors.Is(err, method.ErrCheckpoint) {
			t.Errorf("half a checkpoint: %v", err)
		}
		again.Resume = stopped.Checkpoint
		got, err := n.Score(context.Background(), again, see)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("network %d: %v, %v, want %v", network+1, got, err, want)
		}
		if !slices.Equal(steps, all) {
			t.Errorf("network %d: steps %v", network+1, steps)
		}
	}
}

func TestLabels(t *testing.T) {
	for _, c := range []struct {
		kind   method.LabelKind
		labels []float32
		want   []float32
	}{
		{method.Hard, []float32{1, 0, 0, 1}, []float32{1, 0, 0, 1}},
		{method.Soft, []float32{0.25, 0.75, 2, -1}, []float32{0.25, 0.75, 2, -1}},
		{method.Logits, []float32{0, 0, 50, -50}, []float32{0.5, 0.5, 1, 0}},
		{method.Target, []float32{0.25, 1.5}, []float32{0.75, 0.25, 0, 1}},
		{method.Gain, []float32{-3, 0.1}, []float32{1, 0, 0, 1}},
		{method.Value, []float32{-3, 0.1}, []float32{1, 0, 0, 1}},
		{method.Value, []float32{0.1, 0.2, 3, 1}, []float32{0, 1, 1, 0}},
	} {
		tr := trial("fc")
		tr.Set.Images, tr.Set.Of = tr.Set.Images[:2*64], []int{0, 1}
		tr.Set.Kind, tr.Set.Labels = c.kind, c.labels
		before := slices.Clone(c.labels)
		d, err := trainingData(tr, 2)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range d.Targets {
			if math.Abs(float64(v-c.want[i])) > 1e-6 {
				t.Errorf("%s %v becomes %v, want %v", c.kind, c.labels, d.Targets, c.want)
				break
			}
		}
		if !slices.Equal(before, c.labels) {
			t.Errorf("%s: the labels of the set were changed", c.kind)
		}
	}
}

// Augmentation changes the training batches, but neither the set nor the test images.
func TestAugment(t *testing.T) {
	tr := trial("fc")
	before := slices.Clone(tr.Set.Images)
	losses := map[string][]float64{}
	for _, name := range []string{"", "dsa", "dc", "frepo", "flip"} {
		n := quick()
		n.Augment = name
		if err := n.Check(); err != nil {
			t.Fatal(err)
		}
		if _, err := n.Score(context.Background(), tr, func(s method.Step) { losses[name] = append(losses[name], s.Loss) }); err != nil {
			t.Fatal(err)
		}
		if name != "" && slices.Equal(losses[name], losses[""]) {
			t.Errorf("%q changes nothing", name)
		}
	}
	if !slices.Equal(before, tr.Set.Images) {
		t.Error("images of the set were changed")
	}
	// Characters are not flipped, so "dsa" has fewer operations for them.
	// FRePo flips no grey images.
	tr.Data.Characters = true
	n := quick()
	for _, n.Augment = range []string{"dsa", "frepo"} {
		var digits []float64
		if _, err := n.Score(context.Background(), tr, func(s method.Step) { digits = append(digits, s.Loss) }); err != nil {
			t.Fatal(err)
		}
		if same := slices.Equal(digits, losses[n.Augment]); same != (n.Augment == "frepo") {
			t.Errorf("%s: the same as without characters: %v", n.Augment, same)
		}
	}

	n.Augment = "spin"
	var bad *method.BadSetting
	if err := n.Check(); !errors.As(err, &bad) || bad.Key != "augment" || !strings.Contains(bad.Why, `"spin"`) {
		t.Errorf("got %v", err)
	}
	if _, err := n.Score(context.Background(), tr, func(method.Step) {}); err == nil {
		t.Error("an unknown strategy was accepted")
	}
}
