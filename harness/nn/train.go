package nn

import (
	"context"
	"fmt"

	"dgkip/harness/optim"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// Recipe describes the training of a network: stochastic gradient descent with momentum and
// weight decay. Every epoch draws a new permutation of the images and cuts it into batches.
// The last batch of an epoch may be smaller.
type Recipe struct {
	Epochs   int
	Batch    int       // images of a step
	Rate     float64   // learning rate
	Momentum float64   // in [0, 1)
	Decay    float64   // weight decay, for all parameters
	Drops    []float64 // shares of the training, in [0, 1], after which the rate falls to a tenth
}

// RateAt returns the learning rate in an epoch, counted from zero.
func (r Recipe) RateAt(epoch int) float64 {
	rate := r.Rate
	for _, part := range r.Drops {
		if float64(epoch) >= float64(part*float64(r.Epochs)) {
			rate *= 0.1
		}
	}
	return rate
}

func (r Recipe) check() {
	for _, part := range r.Drops {
		if !(part >= 0 && part <= 1) {
			panic("nn: drops of the learning rate must be shares of the training between 0 and 1")
		}
	}
	if r.Epochs < 0 || r.Batch < 1 || !(r.Rate > 0) {
		panic("nn: batch size and learning rate must be positive, and epochs must not be negative")
	}
}

// Data is what a network is trained on: n images and rows of targets. Augment, if set,
// changes a copy of every batch before use, with random numbers of the training's stream.
type Data[F tensor.Float] struct {
	N          int
	X, Targets []F
	Augment    func(x []F, n int, stream *rng.Rand)
}

// Step is the report on one step of a training.
type Step struct {
	Epoch, Batch int // counted from zero
	Last         bool
	Loss         float64 // of the batch, before the step
}

// Training is a training in progress. MarshalBinary saves all that later steps depend on,
// except the data and the recipe.
type Training[F tensor.Float] struct {
	net    *Net[F]
	theta  []F
	data   Data[F]
	recipe Recipe
	sgd    *optim.Optimizer[F]
	stream *rng.Rand

	epoch, batch int
	start        []byte // the stream's position before the epoch's permutation
	order        []int  // of the images in this epoch; nil before it is drawn

	pass       *Pass[F]
	grad, x, p []F
}

// NewTraining returns a training before its first step. It panics if the recipe is not valid. The
// training changes theta and moves the stream. Nothing else may use them until it is done.
func NewTraining[F tensor.Float](net *Net[F], theta []F, data Data[F], recipe Recipe, stream *rng.Rand) *Training[F] {
	if len(theta) != net.Params() {
		panic("nn: NewTraining: wrong number of parameters")
	}
	if data.N < 1 || len(data.X) != data.N*net.Inputs() || len(data.Targets) != data.N*net.Classes() {
		panic("nn: NewTraining: wrong number of images or targets")
	}
	recipe.check()
	recipe.Batch = min(recipe.Batch, data.N)
	t := &Training[F]{net: net, theta: theta, data: data, recipe: recipe, stream: stream, pass: net.NewPass()}
	t.sgd = t.newSGD()
	return t
}

// Reset returns to the state before the first step, with new parameters and a new stream. It
// reuses the memory.
func (t *Training[F]) Reset(theta []F, stream *rng.Rand) {
	if len(theta) != t.net.Params() {
		panic("nn: Training.Reset: wrong number of parameters")
	}
	t.theta, t.stream, t.sgd = theta, stream, t.newSGD()
	t.epoch, t.batch, t.start, t.order = 0, 0, nil, nil
}

func (t *Training[F]) newSGD() *optim.Optimizer[F] {
	r := t.recipe
	return optim.New[F](optim.SGD(r.Rate, r.Momentum, r.Decay), len(t.theta))
}

// Run takes steps until the training is done, or until more, called after every step unless it is
// nil, returns false. If ctx is cancelled, it returns the context's error between two steps.
func (t *Training[F]) Run(ctx context.Context, more func(Step) bool) error {
	for t.epoch < t.recipe.Epochs {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s := t.step(); more != nil && !more(s) {
			return nil
		}
	}
	return nil
}

// Finite returns an error if a weight is not finite after a training.
func Finite[F tensor.Float](theta []F) error {
	for _, v := range theta {
		if v-v != 0 {
			return fmt.Errorf("the training diverged: the weights of a network contain %v", v)
		}
	}
	return nil
}

func (t *Training[F]) step() Step {
	if t.order == nil {
		t.start = position(t.stream)
		t.order = t.stream.Perm(t.data.N)
	}
	from := t.batch * t.recipe.Batch
	to := min(t.data.N, from+t.recipe.Batch)
	n := t.gather(t.order[from:to])
	if t.data.Augment != nil {
		t.data.Augment(t.x, n, t.stream)
	}
	s := Step{Epoch: t.epoch, Batch: t.batch, Last: to == t.data.N}
	s.Loss = t.pass.Loss(t.theta, t.x, t.p, n)
	t.grad = tensor.Grow(&t.grad, len(t.theta))
	t.pass.Gradient(Grad[F]{Theta: t.grad})
	t.sgd.Step(t.theta, t.grad, t.recipe.RateAt(t.epoch))
	t.batch++
	if s.Last {
		t.epoch, t.batch, t.order = t.epoch+1, 0, nil
	}
	return s
}

// gather copies the images of a batch, and their targets.
func (t *Training[F]) gather(which []int) (n int) {
	size, k := t.net.Inputs(), t.net.Classes()
	t.x, t.p = tensor.Grow(&t.x, len(which)*size), tensor.Grow(&t.p, len(which)*k)
	tensor.GatherRows(tensor.MatOf(t.x, len(which), size), tensor.MatOf(t.data.X, t.data.N, size), which)
	tensor.GatherRows(tensor.MatOf(t.p, len(which), k), tensor.MatOf(t.data.Targets, t.data.N, k), which)
	return len(which)
}

// position returns a stream's position.
func position(stream *rng.Rand) []byte {
	b, err := stream.MarshalBinary()
	if err != nil {
		panic("nn: Training: the position of the stream cannot be read")
	}
	return b
}
