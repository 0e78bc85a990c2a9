package dc

import (
	"bytes"
	"context"
	"encoding/gob"
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

// Condense distils by gradient matching, with real and synthetic images changed
// alike by the strategy, and images changed by it in the networks' training. The
// name is that of the method in messages.
func Condense(ctx context.Context, p method.Problem, name string, s Settings, strategy augment.Strategy, observe func(method.Step)) (*method.Distilled, error) {
	if ctx.Err() != nil {
		return nil, &method.Interrupted{Checkpoint: p.Resume, Cause: context.Cause(ctx)}
	}
	r, err := newRun(p, s, strategy)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if p.Resume == nil {
		observe(r.step(0))
	}
	for r.done < r.updates() {
		loss, err := r.update(ctx)
		if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			state, saving := r.checkpoint()
			if saving != nil {
				return nil, saving
			}
			return nil, &method.Interrupted{Checkpoint: state, Cause: context.Cause(ctx)}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: update %d: %w", name, r.done+1, err)
		}
		observe(r.step(loss))
	}
	return r.distilled(), nil
}

// run is a distillation under way. Everything that later updates depend on is in
// the images, logits, weights, the two optimisers, the number of updates, and in the
// middle of a network's training in that: random numbers come from streams that are
// named by the iteration and the step.
type run struct {
	s            Settings
	p            method.Problem
	strategy     augment.Strategy
	outer, inner int
	classes      int
	of           [][]int           // the training images of every class
	begin        *method.Distilled // the initial images with hard labels
	net          *nn.Net[float32]
	matcher      *matcher[float32]

	images []float32
	logits []float32 // of the labels; nil if they are fixed
	sgd    *optim.SGD[float32]
	labels *optim.SGD[float32] // nil if they are fixed
	theta  []float32           // as the last update left them
	done   int

	targets   []float32 // of the images: softmax(logits), or hard
	next      []float32 // weights in training
	training  *nn.Training[float32]
	begun     bool // training has, for the next update, and is not over
	dx, dz    []float32
	realX     []float32
	realLabel []float32
}

// newRun returns a run before its first update, or where its checkpoint left it.
func newRun(p method.Problem, s Settings, strategy augment.Strategy) (*run, error) {
	train := p.Data.Train
	r := &run{s: s, p: p, strategy: strategy, classes: len(p.Data.Classes)}
	if p.IPC < 1 {
		return nil, errors.New("ipc must be at least 1")
	}
	r.of = train.ByClass(r.classes)
	for class, members := range r.of {
		if len(members) == 0 {
			return nil, fmt.Errorf("class %s of %s has no training images to match", p.Data.Classes[class], p.Data.Name)
		}
	}
	r.outer, r.inner = s.loops(p.IPC)
	var err error
	if r.net, err = network[float32](s, p.Model, train.H, train.W, train.C, r.classes); err != nil {
		return nil, err
	}
	r.matcher = newMatcher(r.net, train.H, train.W, train.C)
	r.theta, r.next = make([]float32, r.net.Params()), make([]float32, r.net.Params())
	if r.begin, err = r.start(); err != nil {
		return nil, err
	}
	r.images = slices.Clone(r.begin.Images)
	r.targets = slices.Clone(r.begin.Labels)
	r.dx = make([]float32, len(r.images))
	rate, labelRate := s.rates(p.Model)
	if r.sgd, err = optim.NewSGD[float32](len(r.images), optim.SGDConfig{LR: rate, Momentum: s.Momentum}); err != nil {
		return nil, err
	}
	if s.learnsLabels() {
		r.logits, r.dz = make([]float32, len(r.targets)), make([]float32, len(r.targets))
		for i, y := range r.begin.Of {
			r.logits[i*r.classes+y] = float32(s.Margin)
		}
		if r.labels, err = optim.NewSGD[float32](len(r.logits), optim.SGDConfig{LR: labelRate, Momentum: s.Momentum}); err != nil {
			return nil, err
		}
	}
	if p.Resume != nil {
		if err := r.restore(p.Resume); err != nil {
			return nil, fmt.Errorf("checkpoint: %w", err)
		}
	}
	r.refresh()
	return r, nil
}

// start returns the initial images, class by class, with hard labels.
func (r *run) start() (*method.Distilled, error) {
	stream := rng.Stream(r.p.Seed, "dc", "start")
	if r.s.Start == "real" {
		return method.Choose(r.p, stream)
	}
	return method.Noise(r.p, stream), nil
}

func (r *run) updates() int { return r.s.Iterations * r.outer }

// stream returns the stream for a purpose in the update under way.
func (r *run) stream(labels ...string) *rng.Rand {
	name := []string{"dc", strconv.Itoa(r.done / r.outer), strconv.Itoa(r.done % r.outer)}
	return rng.Stream(r.p.Seed, append(name, labels...)...)
}

// refresh computes targets from what is learned of them.
func (r *run) refresh() {
	if r.logits != nil {
		nn.Softmax(r.targets, r.logits, r.classes)
	}
}

// update makes one update of images and labels, or none if it fails. It returns the
// mean of the classes' distances.
func (r *run) update(ctx context.Context) (loss float64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if r.done%r.outer == 0 {
		r.net.InitUniform(r.theta, r.stream("weights"))
	} else if err := r.train(ctx); err != nil {
		return 0, err
	}
	if r.p.Begin != nil {
		r.p.Begin() // an update is the matching; the networks are its surroundings
	}
	for class := range r.classes {
		loss += r.match(class) / float64(r.classes)
	}
	if r.logits != nil {
		nn.ThroughSoftmax(r.dz, r.targets, r.classes)
	}
	if err := r.check(loss); err != nil {
		return 0, err
	}
	r.sgd.Step(r.images, r.dx)
	if r.logits != nil {
		r.labels.Step(r.logits, r.dz)
		r.refresh()
	}
	r.done++
	return loss, nil
}

// mendDivergence is the hint of errors that tell of it.
const mendDivergence = "hint: a lower rate, or net_rate for the networks, keeps it stable"

// check refuses a distance and gradients that are not finite, of which images and
// labels would never come back.
func (r *run) check(distance float64) error {
	if distance-distance != 0 {
		return fmt.Errorf("the distance is %v: the matching diverged\n%s", distance, mendDivergence)
	}
	for _, part := range []struct {
		name string
		g    []float32
	}{{"images", r.dx}, {"labels", r.dz}} {
		for _, v := range part.g {
			if v-v != 0 {
				return fmt.Errorf("the gradient in the %s holds %v: the matching diverged\n%s", part.name, v, mendDivergence)
			}
		}
	}
	return nil
}

// train trains the network on the set, or goes on where it was stopped in doing so:
// a checkpoint holds the training that has begun.
func (r *run) train(ctx context.Context) error {
	if !r.begun {
		copy(r.next, r.theta)
		if err := r.prepare(r.stream("train")); err != nil {
			return err
		}
		r.begun = true
	}
	if err := r.training.Run(ctx, nil); err != nil {
		return err
	}
	r.begun = false
	for _, v := range r.next {
		if v-v != 0 {
			return fmt.Errorf("the network's weights hold %v after its training on the set: the training diverged\n%s", v, mendDivergence)
		}
	}
	r.theta, r.next = r.next, r.theta
	return nil
}

// prepare makes a training of next that has taken no step: its optimiser and its
// stream are new, and only memory is that of the training before.
func (r *run) prepare(stream *rng.Rand) (err error) {
	if r.training != nil {
		return r.training.Reset(r.next, stream)
	}
	data := nn.Data[float32]{N: r.begin.Len(), X: r.images, Targets: r.targets}
	if !r.strategy.None() {
		train := r.p.Data.Train
		data.Augment = func(x []float32, n int, stream *rng.Rand) {
			augment.Batch(r.strategy, x, n, train.H, train.W, train.C, stream)
		}
	}
	recipe := nn.Recipe{Epochs: r.inner, Batch: r.s.NetBatch, Rate: r.s.NetRate}
	r.training, err = nn.NewTraining(r.net, r.next, data, recipe, stream)
	return err
}

// draw returns the change of a class's images in the update under way.
func (r *run) draw(class int) augment.Draw {
	return r.strategy.Draw(r.stream("augment", strconv.Itoa(class)), r.begin.H, r.begin.W)
}

// match sets the class's part of dx, and of dz the gradient in its targets, and
// returns its distance.
func (r *run) match(class int) float64 {
	images := func(x []float32) []float32 { n := r.p.IPC * r.begin.Size(); return x[class*n:][:n] }
	rows := func(x []float32) []float32 {
		if x == nil {
			return nil
		}
		n := r.p.IPC * r.classes
		return x[class*n:][:n]
	}
	syn := batch[float32]{r.p.IPC, images(r.images), rows(r.targets)}
	real := r.real(class, r.stream("real", strconv.Itoa(class)))
	return r.matcher.match(r.theta, r.draw(class), real, syn, images(r.dx), rows(r.dz))
}

// real returns different images of a class, all of them if there are no more than a
// batch.
func (r *run) real(class int, stream *rng.Rand) batch[float32] {
	members := r.of[class]
	n := min(r.s.RealBatch, len(members))
	size := r.begin.Size()
	r.realX = grow(r.realX, n*size)
	r.realLabel = grow(r.realLabel, n*r.classes)
	clear(r.realLabel)
	for i, j := range stream.Perm(len(members))[:n] {
		copy(r.realX[i*size:][:size], r.p.Data.Train.At(members[j]))
		r.realLabel[i*r.classes+class] = 1
	}
	return batch[float32]{n, r.realX, r.realLabel}
}

func (r *run) distilled() *method.Distilled {
	d := r.begin.Clone()
	copy(d.Images, r.images)
	if r.logits != nil {
		d.Kind = method.Logits
		copy(d.Labels, r.logits)
	}
	return d
}

func (r *run) step(loss float64) method.Step {
	return method.Step{Update: r.done, Of: r.updates(), Loss: loss, Distilled: r.distilled, Checkpoint: r.checkpoint}
}

// saved is the state between two updates, or in the training between them.
type saved struct {
	Done           int
	Images, Logits []float32
	SGD, Labels    []byte
	Theta          []float32 // nil where the next update takes a fresh network
	Training       []byte    // nil where that before the next update has not begun
}

func (r *run) checkpoint() ([]byte, error) {
	s := saved{Done: r.done, Images: r.images, Logits: r.logits}
	if r.done%r.outer > 0 {
		s.Theta = r.theta
	}
	var err error
	if s.SGD, err = r.sgd.MarshalBinary(); err != nil {
		return nil, err
	}
	if r.labels != nil {
		if s.Labels, err = r.labels.MarshalBinary(); err != nil {
			return nil, err
		}
	}
	if r.begun {
		if s.Training, err = r.training.MarshalBinary(); err != nil {
			return nil, err
		}
	}
	var b bytes.Buffer
	err = gob.NewEncoder(&b).Encode(s)
	return b.Bytes(), err
}

var errOther = errors.New("it is of another run")

func (r *run) restore(state []byte) error {
	var s saved
	if err := gob.NewDecoder(bytes.NewReader(state)).Decode(&s); err != nil {
		return err
	}
	between := 0
	if s.Done%r.outer > 0 {
		between = len(r.theta)
	}
	if s.Done < 0 || s.Done > r.updates() || len(s.Images) != len(r.images) || len(s.Logits) != len(r.logits) || len(s.Theta) != between ||
		s.Training != nil && between == 0 {
		return errOther
	}
	if err := r.sgd.UnmarshalBinary(s.SGD); err != nil {
		return err
	}
	if r.labels != nil {
		if err := r.labels.UnmarshalBinary(s.Labels); err != nil {
			return err
		}
	}
	copy(r.images, s.Images)
	copy(r.logits, s.Logits)
	copy(r.theta, s.Theta)
	r.done = s.Done
	if r.begun = s.Training != nil; !r.begun {
		return nil
	}
	if err := r.prepare(r.stream("train")); err != nil {
		return err
	}
	return r.training.UnmarshalBinary(s.Training)
}
