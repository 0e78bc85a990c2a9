package nn

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// twoClasses returns noisy images of two classes, with a bright left or right half.
func twoClasses[F tensor.Float](n, h, w int) Data[F] {
	r := rng.Stream(3, "two classes")
	d := Data[F]{N: n, X: make([]F, n*h*w), Targets: make([]F, 2*n)}
	for i := range n {
		d.Targets[2*i+i%2] = 1
		for p := range h * w {
			d.X[i*h*w+p] = F(0.5 * r.Normal64())
			if p%w*2/w == i%2 {
				d.X[i*h*w+p]++
			}
		}
	}
	return d
}

// smallConv returns a network for images of twoClasses(., 8, 8).
func smallConv[F tensor.Float]() (*Net[F], []F) {
	net := must(ConvNet[F](Shape{Kind: "conv", Width: 8, Depth: 2, Norm: true}, 8, 8, 1, 2))
	theta := make([]F, net.Params())
	net.InitUniform(theta, rng.Stream(1, "init"))
	return net, theta
}

// train runs a training from the first step to the last.
func train[F tensor.Float](t *testing.T, net *Net[F], theta []F, data Data[F], recipe Recipe) {
	t.Helper()
	training := NewTraining(net, theta, data, recipe, rng.Stream(1, "batches"))
	if err := training.Run(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
}

// After Reset a training behaves like a new one, wherever it stopped.
func TestReset(t *testing.T) {
	net, begin := smallConv[float32]()
	data := twoClasses[float32](13, 8, 8)
	recipe := Recipe{Epochs: 2, Batch: 5, Rate: 0.1, Momentum: 0.8, Decay: 0.01, Drops: []float64{0.5}}
	want := slices.Clone(begin)
	train(t, net, want, data, recipe)
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
	net, theta := smallConv[float64]()
	want := slices.Clone(theta)
	data := twoClasses[float64](13, 8, 8)
	recipe := Recipe{Epochs: 5, Batch: 5, Rate: 0.1, Momentum: 0.8, Decay: 0.01, Drops: []float64{0.4, 0.8}}
	train(t, net, theta, data, recipe)

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
	net, theta := smallConv[float32]()
	data := twoClasses[float32](13, 8, 8)
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

// A state of another network is refused.
func TestDamage(t *testing.T) {
	net, theta := smallConv[float32]()
	data, recipe := twoClasses[float32](13, 8, 8), Recipe{Epochs: 2, Batch: 5, Rate: 0.01, Momentum: 0.5}
	saved, err := NewTraining(net, theta, data, recipe, rng.Stream(1)).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	small := must(ConvNet[float32](Shape{Kind: "conv", Width: 4, Depth: 2}, 8, 8, 1, 2))
	if NewTraining(small, make([]float32, small.Params()), data, recipe, rng.Stream(1)).UnmarshalBinary(saved) == nil {
		t.Error("a state with another number of parameters was accepted")
	}
}

func TestRecipe(t *testing.T) {
	net, theta := smallConv[float32]()
	data := twoClasses[float32](4, 8, 8)
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
