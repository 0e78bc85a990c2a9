package dc

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/augment"
	"dgkip/harness/method"
	"dgkip/harness/nn"
	"dgkip/harness/rng"
)

// start returns a run whose networks see all images in every training step.
func start(t *testing.T, p method.Problem, strategy string, change func(*Settings)) *run {
	t.Helper()
	s, err := augment.New(strategy, false)
	if err != nil {
		t.Fatal(err)
	}
	m := quick()
	m.NetBatch, m.Iterations = 100, 2
	if change != nil {
		change(&m.Settings)
	}
	r, err := newRun(p, m.Settings, s)
	if err != nil {
		t.Fatal(err)
	}
	r.refresh()
	return r
}

// update applies update k, counted from 0.
func update(t *testing.T, r *run, k int) {
	t.Helper()
	if err := r.prepare(context.Background(), k); err != nil {
		t.Fatal(err)
	}
	if _, err := r.gradient(context.Background(), k); err != nil {
		t.Fatal(err)
	}
	for _, v := range r.variables {
		v.Step(1)
	}
	r.refresh()
}

func updates(r *run) int { return r.s.Iterations * r.outer }

// Begin is called once in an update, after the training of its network and before the set changes.
func TestBegin(t *testing.T) {
	p := problemOf("conv", 2)
	r := start(t, p, "", nil)
	begun, done := 0, 0
	theta, images := slices.Clone(r.network.theta), slices.Clone(r.images)
	p.Begin = func() {
		begun++
		if slices.Equal(theta, r.network.theta) || !slices.Equal(images, r.images) {
			t.Errorf("update %d did not begin between the training and the matching", begun)
		}
		theta = slices.Clone(r.network.theta)
	}
	_, err := r.descent("dc").Run(context.Background(), p, func(s method.Step) {
		if begun != s.Update {
			t.Errorf("after %d updates %d have begun", s.Update, begun)
		}
		if s.Update > 0 && (slices.Equal(images, r.images) || !slices.Equal(theta, r.network.theta)) {
			t.Errorf("update %d did not change the images, or changed the network", s.Update)
		}
		images, done = slices.Clone(r.images), s.Update
	})
	if err != nil || done != updates(r) {
		t.Errorf("%d updates, %v", done, err)
	}
}

// The momentum of the images, v = mu v + dx, continues when networks are replaced.
func TestMomentum(t *testing.T) {
	r := start(t, problemOf("fc", 1), "", func(s *Settings) { s.Rate = 0.25 })
	v := make([]float64, len(r.images))
	for k := range updates(r) {
		before := slices.Clone(r.images)
		update(t, r, k)
		var want []float64
		kept := 0.0
		for i, g := range r.dx {
			kept = max(kept, math.Abs(0.5*v[i]))
			v[i] = 0.5*v[i] + float64(g)
			want = append(want, float64(before[i])-0.25*v[i])
		}
		near(t, fmt.Sprintf("images after update %d", k+1), r.images, want, 1e-6)
		if k > 0 && kept < 1e-3 {
			t.Fatalf("update %d: a velocity of %g is too small to test", k+1, kept)
		}
	}
}

// A network's training is plain gradient descent on the set. It starts from the weights after the
// last training, and keeps nothing else from it.
func TestTrainingStartsAnew(t *testing.T) {
	r := start(t, problemOf("fc", 2), "", func(s *Settings) { s.NetRate = 0.2 })
	for k := range updates(r) {
		theta, g := slices.Clone(r.network.theta), make([]float32, len(r.network.theta))
		pass := r.network.net.NewPass()
		if k%r.outer > 0 {
			for range r.inner {
				pass.Loss(theta, r.images, r.targets, r.begin.Len())
				pass.Gradient(nn.Grad[float32]{Theta: g})
				for i, v := range g {
					theta[i] -= 0.2 * v
				}
			}
		}
		update(t, r, k)
		if k%r.outer > 0 {
			var want []float64
			for _, v := range theta {
				want = append(want, float64(v))
			}
			near(t, fmt.Sprintf("weights in update %d", k+1), r.network.theta, want, 1e-5)
		}
	}
}

// trainNet runs a training from the first step to the last.
func trainNet(t *testing.T, net *nn.Net[float32], theta []float32, data nn.Data[float32], recipe nn.Recipe, stream *rng.Rand) {
	t.Helper()
	training := nn.NewTraining(net, theta, data, recipe, stream)
	if err := training.Run(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
}

// With a strategy, the training augments every batch. It draws from the stream that also orders the
// images.
func TestTrainingAugments(t *testing.T) {
	for _, strategy := range []string{"flip", "cutout", "dsa"} {
		p := problemOf("conv", 2)
		r := start(t, p, strategy, func(s *Settings) { s.NetBatch = 3 })
		train := p.Data.Train
		trained := func(k int, change func(x []float32, n int, stream *rng.Rand)) []float32 {
			theta := slices.Clone(r.network.theta)
			data := nn.Data[float32]{N: r.begin.Len(), X: r.images, Targets: r.targets, Augment: change}
			recipe := nn.Recipe{Epochs: 2, Batch: 3, Rate: 0.01}
			trainNet(t, r.network.net, theta, data, recipe, r.stream(k, "train"))
			return theta
		}
		for k := range updates(r) {
			if k%r.outer == 0 {
				update(t, r, k)
				continue
			}
			plain := trained(k, nil)
			want := trained(k, func(x []float32, n int, stream *rng.Rand) {
				augment.Batch(r.strategy, x, n, train.H, train.W, train.C, stream)
			})
			update(t, r, k)
			if !slices.Equal(r.network.theta, want) || slices.Equal(want, plain) {
				t.Errorf("%s, update %d: the network is trained on different images", strategy, k+1)
			}
		}
	}
}

// Every class and every update has its own draw. It changes real and synthetic images in the same
// way.
func TestDraws(t *testing.T) {
	p := problemOf("fc", 2)
	r := start(t, p, "color", nil)
	h, w, c := p.Data.Train.H, p.Data.Train.W, p.Data.Train.C
	seen := map[augment.Draw]bool{}
	for k := range updates(r) {
		if k%r.outer == 0 {
			r.network.net.InitUniform(r.network.theta, r.stream(k, "weights"))
		}
		for class := range r.classes {
			draw := r.draw(k, class)
			if draw != r.draw(k, class) {
				t.Error("a repeated draw differs")
			}
			seen[draw] = true
			r.match(k, class)
			syn := r.images[class*p.IPC*h*w*c:][:p.IPC*h*w*c]
			want := make([]float32, len(syn))
			augment.Apply(draw, want, syn, p.IPC, h, w, c)
			if !slices.Equal(r.matcher.x[:len(want)], want) {
				t.Errorf("update %d, class %d: synthetic images are changed differently", k+1, class)
			}
			n := len(r.sample) / (h * w * c)
			x, g := make([]float32, len(r.sample)), make([]float32, len(r.network.theta))
			augment.Apply(draw, x, r.sample, n, h, w, c)
			pass := r.network.net.NewPass()
			pass.Loss(r.network.theta, x, method.OneHot(slices.Repeat([]int{class}, n), r.classes), n)
			pass.Gradient(nn.Grad[float32]{Theta: g})
			if !slices.Equal(r.matcher.ofReal, g) {
				t.Errorf("update %d, class %d: real images are changed differently", k+1, class)
			}
		}
	}
	if want := updates(r) * r.classes; len(seen) != want {
		t.Errorf("%d draws, want %d", len(seen), want)
	}
}

// A run that diverges fails with the update and a hint. The diverged set is not observed.
func TestDivergence(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Settings)
		want   string
	}{
		"images":   {func(s *Settings) { s.Rate, s.Outer, s.Norm = 1e30, 1, false }, "the descent diverged"},
		"networks": {func(s *Settings) { s.NetRate, s.Norm = 1e30, false }, "dc: update 2: the training diverged: the weights of a network contain NaN"},
	} {
		m := quick()
		c.change(&m.Settings)
		last := 0
		_, err := m.Distill(context.Background(), problemOf("conv", 2), func(s method.Step) {
			last = s.Update
			for _, v := range s.Distilled().Images {
				if v-v != 0 {
					t.Fatalf("%s: update %d shows a set that holds %v", name, last, v)
				}
			}
		})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), fmt.Sprintf("dc: update %d: ", last+1)) ||
			!strings.Contains(err.Error(), "\nhint: choose a lower rate, or a lower net_rate") {
			t.Errorf("%s, after update %d: got %v", name, last, err)
		}
	}
}
