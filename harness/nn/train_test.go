package nn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// twoClasses returns noisy images of two classes, with a bright left or right half.
func twoClasses[F tensor.Float](n, h, w int) (Data[F], []int) {
	r := rng.Stream(3, "two classes")
	d := Data[F]{N: n, X: make([]F, n*h*w), Targets: make([]F, 2*n)}
	labels := make([]int, n)
	for i := range n {
		labels[i] = i % 2
		d.Targets[2*i+labels[i]] = 1
		for p := range h * w {
			d.X[i*h*w+p] = F(0.5 * r.Normal64())
			if p%w*2/w == labels[i] {
				d.X[i*h*w+p]++
			}
		}
	}
	return d, labels
}

// smallConv returns a network for images of twoClasses(., 8, 8).
func smallConv[F tensor.Float](t *testing.T) (*Net[F], []F) {
	t.Helper()
	net, err := ConvNet[F](ConvConfig{In: 1, H: 8, W: 8, Width: 8, Depth: 2, Norm: true})
	if err != nil {
		t.Fatal(err)
	}
	theta := make([]F, net.Params())
	net.InitUniform(theta, rng.Stream(1, "init"))
	return net, theta
}

// train runs a training from the first step to the last.
func train[F tensor.Float](t *testing.T, net *Net[F], theta []F, data Data[F], recipe Recipe, hook func(Step)) {
	t.Helper()
	training := NewTraining(net, theta, data, recipe, rng.Stream(1, "batches"))
	more := func(s Step) bool {
		if hook != nil {
			hook(s)
		}
		return true
	}
	if err := training.Run(context.Background(), more); err != nil {
		t.Fatal(err)
	}
}

func TestTrain(t *testing.T) {
	net, theta := smallConv[float32](t)
	data, labels := twoClasses[float32](64, 8, 8)
	before, _ := net.NewPass().Errors(t.Context(), theta, data.X, labels)
	var first, last Step
	train(t, net, theta, data, Recipe{Epochs: 20, Batch: 10, Rate: 0.05, Momentum: 0.9, Decay: 5e-4}, func(s Step) {
		if s.Epoch == 0 && s.Batch == 0 {
			first = s
		}
		last = s
	})
	if last.Epoch != 19 || last.Batch != 6 || !last.Last {
		t.Errorf("the last step was %+v", last)
	}
	if after, _ := net.NewPass().Errors(t.Context(), theta, data.X, labels); after != 0 || before < 16 || !(last.Loss < 0.2*first.Loss) {
		t.Errorf("%d errors became %d, the loss %g became %g", before, after, first.Loss, last.Loss)
	}
}

// After Reset a training behaves like a new one, wherever it stopped.
func TestReset(t *testing.T) {
	net, begin := smallConv[float32](t)
	data, _ := twoClasses[float32](13, 8, 8)
	recipe := Recipe{Epochs: 2, Batch: 5, Rate: 0.1, Momentum: 0.8, Decay: 0.01, Drops: []float64{0.5}}
	want := slices.Clone(begin)
	train(t, net, want, data, recipe, nil)
	for steps := 0; steps <= 6; steps++ {
		other := slices.Clone(begin)
		again := NewTraining(net, other, data, recipe, rng.Stream(2, "batches"))
		taken := 0
		if steps > 0 {
			again.Run(context.Background(), func(Step) bool { taken++; return taken < steps })
		}
		theta, left := slices.Clone(begin), slices.Clone(other)
		again.Reset(theta, rng.Stream(1, "batches"))
		if err := again.Run(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(theta, want) || !slices.Equal(other, left) {
			t.Errorf("after %d steps: the bits differ, or the wrong parameters changed", steps)
		}
	}
}

// TestTrainByHand compares a training with an explicit loop.
func TestTrainByHand(t *testing.T) {
	net, theta := smallConv[float64](t)
	want := slices.Clone(theta)
	data, _ := twoClasses[float64](13, 8, 8)
	recipe := Recipe{Epochs: 5, Batch: 5, Rate: 0.1, Momentum: 0.8, Decay: 0.01, Drops: []float64{0.4, 0.8}}
	train(t, net, theta, data, recipe, nil)

	stream := rng.Stream(1, "batches")
	velocity, g := make([]float64, len(want)), make([]float64, len(want))
	for epoch := range 5 {
		order := stream.Perm(13)
		for _, b := range [][]int{order[:5], order[5:10], order[10:]} {
			var x, p []float64
			for _, i := range b {
				x = append(x, data.X[64*i:64*i+64]...)
				p = append(p, data.Targets[2*i:2*i+2]...)
			}
			pass := net.NewPass()
			pass.Loss(want, x, p, len(b))
			pass.Gradient(Grad[float64]{Theta: g})
			for i := range want {
				velocity[i] = 0.8*velocity[i] + g[i] + 0.01*want[i]
				want[i] -= []float64{0.1, 0.1, 0.01, 0.01, 0.001}[epoch] * velocity[i]
			}
		}
	}
	near(t, "parameters", theta, want, 1e-12)
}

func TestRateAt(t *testing.T) {
	r := Recipe{Epochs: 300, Rate: 0.01, Drops: []float64{0.5}}
	for epoch, want := range map[int]float64{0: 0.01, 149: 0.01, 150: 0.001, 299: 0.001} {
		if got := r.RateAt(epoch); math.Abs(got-want) > 1e-15 {
			t.Errorf("rate %g in epoch %d, want %g", got, epoch, want)
		}
	}
}

// TestResume interrupts a training after each number of steps and continues in a new one.
func TestResume(t *testing.T) {
	net, theta := smallConv[float32](t)
	data, _ := twoClasses[float32](13, 8, 8)
	data.Augment = func(x []float32, n int, stream *rng.Rand) {
		for i := range n {
			x[i*64] += float32(stream.Normal64())
		}
	}
	recipe := Recipe{Epochs: 3, Batch: 5, Rate: 0.1, Momentum: 0.8, Drops: []float64{0.5}}
	start := func(label string, theta []float32) (*Training[float32], *rng.Rand) {
		stream := rng.Stream(1, label)
		training := NewTraining(net, theta, data, recipe, stream)
		return training, stream
	}
	whole := slices.Clone(theta)
	training, stream := start("batches", whole)
	steps := 0
	if err := training.Run(context.Background(), func(Step) bool { steps++; return true }); err != nil || steps != 9 {
		t.Fatal(steps, err)
	}
	next := stream.Uint64()
	for stop := range steps + 1 {
		ctx, cancel := context.WithCancel(context.Background())
		if stop == 0 {
			cancel()
		}
		training, _ := start("batches", slices.Clone(theta))
		done := 0
		err := training.Run(ctx, func(Step) bool {
			if done++; done == stop {
				cancel()
			}
			return true
		})
		cancel()
		if done != stop || (stop < steps) != errors.Is(err, context.Canceled) || (training.epoch == training.recipe.Epochs) != (stop == steps) {
			t.Errorf("interrupted after %d steps instead of %d: %v", done, stop, err)
		}
		saved, err := training.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float32, len(theta))
		resumed, stream := start("elsewhere", got)
		if err := resumed.UnmarshalBinary(saved); err != nil {
			t.Fatal(err)
		}
		if again, err := resumed.MarshalBinary(); err != nil || !bytes.Equal(again, saved) {
			t.Errorf("after %d steps: the state changes when it is saved again (%v)", stop, err)
		}
		if err := resumed.Run(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		if !equalBits(got, whole) {
			t.Errorf("resumed after %d steps, the training ends with different parameters", stop)
		}
		if stream.Uint64() != next {
			t.Errorf("resumed after %d steps, the stream ends at a different position", stop)
		}
	}
}

// TestDamage checks that damaged states and states of other trainings are refused, and that
// nothing changes then.
func TestDamage(t *testing.T) {
	net, theta := smallConv[float32](t)
	data, _ := twoClasses[float32](13, 8, 8)
	start := func(r Recipe) *Training[float32] {
		training := NewTraining(net, theta, data, r, rng.Stream(1))
		return training
	}
	recipe := Recipe{Epochs: 2, Batch: 5, Rate: 0.01, Momentum: 0.5}
	training := start(recipe)
	training.step()
	saved, err := training.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	refuse := func(what string, training *Training[float32], state []byte) {
		t.Helper()
		before, err := training.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if training.UnmarshalBinary(state) == nil {
			t.Errorf("%s was accepted", what)
		}
		if after, err := training.MarshalBinary(); err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s changed the training", what)
		}
	}
	for _, n := range []int{0, 1, 20, 100, len(saved) / 2, len(saved) - 1} {
		refuse(fmt.Sprint("a state cut to ", n), start(recipe), saved[:n])
	}
	refuse("a longer state", start(recipe), append(slices.Clone(saved), 0))
	header := len(training.header())
	for i, what := range map[int]string{header: "epoch", header + 8: "batch", header + 16: "length", header + 17: "length"} {
		bad := slices.Clone(saved)
		bad[i] = 200
		refuse("a wrong "+what, start(recipe), bad)
	}
	for _, r := range []func(r *Recipe){
		func(r *Recipe) { r.Epochs = 3 }, func(r *Recipe) { r.Batch = 4 }, func(r *Recipe) { r.Rate = 0.02 }, func(r *Recipe) { r.Drops = []float64{0.5} },
	} {
		other := recipe
		r(&other)
		refuse(fmt.Sprintf("a state with a recipe other than %+v", other), start(other), saved)
	}
}

func TestRecipe(t *testing.T) {
	net, theta := smallConv[float32](t)
	data, _ := twoClasses[float32](4, 8, 8)
	for _, spoil := range []func(r *Recipe){
		func(r *Recipe) { r.Epochs = -1 }, func(r *Recipe) { r.Batch = 0 },
		func(r *Recipe) { r.Rate = 0 }, func(r *Recipe) { r.Rate = -1 }, func(r *Recipe) { r.Rate = math.NaN() },
		func(r *Recipe) { r.Drops = []float64{1.5} }, func(r *Recipe) { r.Drops = []float64{math.NaN()} },
	} {
		r := Recipe{Epochs: 1, Batch: 1, Rate: 0.01}
		NewTraining(net, slices.Clone(theta), data, r, rng.Stream(1))
		spoil(&r)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("recipe %+v was accepted", r)
				}
			}()
			NewTraining(net, theta, data, r, rng.Stream(1))
		}()
	}
}
