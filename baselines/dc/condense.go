package dc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"dgkip/harness/augment"
	"dgkip/harness/method"
	"dgkip/harness/nn"
	"dgkip/harness/optim"
	"dgkip/harness/rng"
)

// Condense distils by gradient matching. The strategy changes real and synthetic images in the
// same way, and also the images in the networks' training. Messages call the method by name.
func Condense(ctx context.Context, p method.Problem, name string, s Settings, strategy augment.Strategy, observe func(method.Step)) (*method.Distilled, error) {
	r, err := newRun(p, s, strategy)
	if err != nil {
		return nil, method.Stopped(ctx, p, fmt.Errorf("%s: %w", name, err))
	}
	return r.descent(name).Run(ctx, p, observe)
}

func (r *run) descent(name string) method.Descent {
	return method.Descent{
		Name: name, Updates: r.s.Iterations * r.outer, Iteration: r.outer, Variables: r.variables, Keep: []method.Part{&r.network},
		Prepare: r.prepare, Gradient: r.gradient, Set: r.set, Hint: divergenceHint,
	}
}

const divergenceHint = "choose a lower rate, or a lower net_rate for the networks"

// run is a distillation in progress. Random numbers come from streams named by the iteration and
// the step.
type run struct {
	s            Settings
	p            method.Problem
	strategy     augment.Strategy
	outer, inner int
	classes      int
	of           [][]int           // the training images of every class
	begin        *method.Distilled // the initial images with hard labels
	network      network
	matcher      *matcher[float32]

	images, dx []float32
	logits, dz []float32 // of the labels, and their gradient; nil if labels are fixed
	variables  []method.Variable
	targets    []float32 // softmax(logits), or the hard labels
	sample     []float32 // real images
}

// newRun returns a run before its first update.
func newRun(p method.Problem, s Settings, strategy augment.Strategy) (*run, error) {
	train := p.Data.Train
	r := &run{s: s, p: p, strategy: strategy, classes: len(p.Data.Classes)}
	if p.IPC < 1 {
		return nil, errors.New("ipc must be at least 1")
	}
	var err error
	if r.of, err = p.Data.Members(); err != nil {
		return nil, err
	}
	r.outer, r.inner = s.loops(p.IPC)
	net, err := s.Shape(p.Model).Net(train.H, train.W, train.C, r.classes)
	if err != nil {
		return nil, err
	}
	r.matcher = newMatcher(net, train.H, train.W, train.C)
	if r.begin, err = method.Start(p, s.Start, rng.Stream(p.Seed, "dc", "start")); err != nil {
		return nil, err
	}
	r.addVariables()
	data := nn.Data[float32]{N: r.begin.Len(), X: r.images, Targets: r.targets, Augment: strategy.Training(train.H, train.W, train.C)}
	r.network = newNetwork(net, data, nn.Recipe{Epochs: r.inner, Batch: s.NetBatch, Rate: s.NetRate})
	return r, nil
}

// addVariables adds the learned variables: images, and logits unless labels are fixed.
func (r *run) addVariables() {
	rate, labelRate := r.s.rates(r.p.Model)
	images := optim.NewVariable("images", slices.Clone(r.begin.Images), optim.SGD(rate, r.s.Momentum, 0))
	r.images, r.dx, r.variables = images.X, images.Grad, append(r.variables, images)
	r.targets = slices.Clone(r.begin.Labels)
	if !r.s.learnsLabels() {
		return
	}
	logits := optim.NewVariable("labels", r.begin.FirstLogits(r.s.Margin), optim.SGD(labelRate, r.s.Momentum, 0))
	r.logits, r.dz, r.variables = logits.X, logits.Grad, append(r.variables, logits)
}

// stream returns the stream with the given labels for the next update.
func (r *run) stream(update int, labels ...string) *rng.Rand {
	name := []string{"dc", strconv.Itoa(update / r.outer), strconv.Itoa(update % r.outer)}
	return rng.Stream(r.p.Seed, append(name, labels...)...)
}

// refresh computes targets from logits.
func (r *run) refresh() {
	if r.logits != nil {
		nn.Softmax(r.targets, r.logits, r.classes)
	}
}

// prepare draws or trains the network at whose weights gradients are matched.
func (r *run) prepare(ctx context.Context, update int) error {
	r.refresh()
	if update%r.outer == 0 {
		r.network.net.InitUniform(r.network.theta, r.stream(update, "weights"))
		return nil
	}
	return r.network.train(ctx, r.stream(update, "train"))
}

// gradient sets the gradient of the sum of the classes' distances, and returns their mean.
func (r *run) gradient(_ context.Context, update int) (loss float64, err error) {
	r.refresh()
	for class := range r.classes {
		loss += r.match(update, class) / float64(r.classes)
	}
	if r.logits != nil {
		nn.ThroughSoftmax(r.dz, r.targets, r.classes)
	}
	return loss, nil
}

// draw returns the augmentation of a class in an update.
func (r *run) draw(update, class int) augment.Draw {
	return r.strategy.Draw(r.stream(update, "augment", strconv.Itoa(class)), r.begin.H, r.begin.W)
}

// match returns the distance of a class. It sets the class's part of dx, and of the gradient of
// the targets.
func (r *run) match(update, class int) float64 {
	images := func(x []float32) []float32 { n := r.p.IPC * r.begin.Size(); return x[class*n:][:n] }
	rows := func(x []float32) []float32 {
		if x == nil {
			return nil
		}
		n := r.p.IPC * r.classes
		return x[class*n:][:n]
	}
	syn := batch[float32]{r.p.IPC, images(r.images), rows(r.targets)}
	real := r.batch(class, r.stream(update, "real", strconv.Itoa(class)))
	return r.matcher.match(r.network.theta, r.draw(update, class), real, syn, images(r.dx), rows(r.dz))
}

// batch returns different real images of a class, or all of them if the class is not larger than a
// batch.
func (r *run) batch(class int, stream *rng.Rand) batch[float32] {
	members := r.of[class]
	n := min(r.s.RealBatch, len(members))
	r.sample = r.sample[:0]
	for _, j := range stream.Perm(len(members))[:n] {
		r.sample = append(r.sample, r.p.Data.Train.At(members[j])...)
	}
	return batch[float32]{n, r.sample, method.OneHot(slices.Repeat([]int{class}, n), r.classes)}
}

func (r *run) set() *method.Distilled { return r.begin.With(r.images, r.logits) }
