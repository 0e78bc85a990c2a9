package dc

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/augment"
	"dgkip/harness/method"
	"dgkip/harness/method/methodtest"
	"dgkip/harness/nn"
	"dgkip/harness/rng"
)

// start returns a run whose networks see all images in every training step.
func start(t *testing.T, p method.Problem, change func(*Settings)) *run {
	t.Helper()
	m := quick()
	m.NetBatch, m.Iterations = 100, 2
	if change != nil {
		change(&m.Settings)
	}
	r, err := newRun(p, m.Settings, augment.Strategy{})
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
	r := start(t, p, nil)
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

// A network's training is plain gradient descent on the set. It starts from the weights after the
// last training, and keeps nothing else from it.
func TestTrainingStartsAnew(t *testing.T) {
	r := start(t, problemOf("fc", 2), func(s *Settings) { s.NetRate = 0.2 })
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
			methodtest.Near(t, fmt.Sprintf("weights in update %d", k+1), r.network.theta, methodtest.Wide(theta), 1e-5)
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
