package dm

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"dgkip/harness/augment"
	"dgkip/harness/method"
	"dgkip/harness/nn"
	"dgkip/harness/optim"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// run is a distillation in progress. Random numbers come from streams named by the update.
type run struct {
	m        *DM
	p        method.Problem
	strategy augment.Strategy
	of       [][]int           // the training images of every class
	begin    *method.Distilled // the initial images
	images   *optim.Variable[float32]

	net     *nn.Net[float32]
	theta   []float32
	matcher *matcher[float32]
	sample  []float32 // real images
}

func newRun(p method.Problem, m *DM) (*run, error) {
	train := p.Data.Train
	r := &run{m: m, p: p}
	var err error
	if r.of, err = p.Data.Members(); err != nil {
		return nil, err
	}
	if r.strategy, err = augment.Matching(m.Augment, p.Data.Characters); err != nil {
		return nil, fmt.Errorf("augment %w", err)
	}
	whole, err := m.Shape(p.Model).Net(train.H, train.W, train.C, len(p.Data.Classes))
	if err != nil {
		return nil, err
	}
	r.net = whole.Body()
	r.theta = make([]float32, r.net.Params())
	r.matcher = newMatcher(r.net, train.H, train.W, train.C)
	if r.begin, err = method.Start(p, m.Start, rng.Stream(p.Seed, "dm", "start")); err != nil {
		return nil, err
	}
	r.images = optim.NewVariable("images", slices.Clone(r.begin.Images), optim.SGD(m.rate(p.IPC), m.Momentum, 0))
	return r, nil
}

// stream returns the stream with the given labels for the next update.
func (r *run) stream(update int, labels ...string) *rng.Rand {
	return rng.Stream(r.p.Seed, append([]string{"dm", strconv.Itoa(update)}, labels...)...)
}

// gradient sets the gradient of the sum of the classes' distances, and returns their mean.
func (r *run) gradient(_ context.Context, update int) (loss float64, err error) {
	r.net.InitUniform(r.theta, r.stream(update, "weights"))
	n := r.p.IPC * r.begin.Size()
	for class := range r.of {
		label := strconv.Itoa(class)
		draw := r.strategy.Draw(r.stream(update, "augment", label), r.begin.H, r.begin.W)
		real := r.batch(class, r.stream(update, "real", label))
		syn, dx := r.images.X[class*n:][:n], r.images.Grad[class*n:][:n]
		loss += r.matcher.match(r.theta, draw, real, syn, dx) / float64(len(r.of))
	}
	return loss, nil
}

// batch returns different real images of a class, or all of them if the class is not larger than a
// batch.
func (r *run) batch(class int, stream *rng.Rand) []float32 {
	members := r.of[class]
	r.sample = r.sample[:0]
	for _, j := range stream.Perm(len(members))[:min(r.m.RealBatch, len(members))] {
		r.sample = append(r.sample, r.p.Data.Train.At(members[j])...)
	}
	return r.sample
}

func (r *run) set() *method.Distilled { return r.begin.With(r.images.X, nil) }

// matcher compares mean embeddings. Its memory grows to the largest batch and is reused.
type matcher[F tensor.Float] struct {
	h, w, c int // size of an image
	pass    *nn.Pass[F]

	ofReal, ofSyn []float64 // mean embeddings
	b             []F       // gradients of the embeddings of the synthetic images
	x, dx         []F       // augmented images, and their gradient
}

func newMatcher[F tensor.Float](body *nn.Net[F], h, w, c int) *matcher[F] {
	k := body.Classes()
	return &matcher[F]{h: h, w: w, c: c, pass: body.NewPass(), ofReal: make([]float64, k), ofSyn: make([]float64, k)}
}

// match returns the squared distance between the mean embeddings of real and of synthetic images, all
// changed by the draw. It sets dx to its gradient with respect to the synthetic images.
func (m *matcher[F]) match(theta []F, draw augment.Draw, real, syn, dx []F) (d float64) {
	m.mean(m.ofReal, theta, draw, real)
	n := m.mean(m.ofSyn, theta, draw, syn)
	k := len(m.ofSyn)
	b := tensor.Grow(&m.b, n*k)
	for j, v := range m.ofSyn {
		e := v - m.ofReal[j]
		d += float64(e * e)
		for at := j; at < len(b); at += k {
			b[at] = F(2 * e / float64(n))
		}
	}
	m.pass.Linear(b)
	m.pass.Gradient(nn.Grad[F]{X: tensor.Grow(&m.dx, len(syn))})
	augment.Adjoint(draw, dx, m.dx[:len(syn)], n, m.h, m.w, m.c)
	return d
}

// mean sets sum to the mean embedding of images changed by the draw. It returns the number of images.
func (m *matcher[F]) mean(sum []float64, theta []F, draw augment.Draw, images []F) int {
	n := len(images) / (m.h * m.w * m.c)
	x := tensor.Grow(&m.x, len(images))
	augment.Apply(draw, x, images, n, m.h, m.w, m.c)
	clear(sum)
	z := m.pass.Outputs(theta, x, n)
	for i := range n {
		for j, v := range z[i*len(sum):][:len(sum)] {
			sum[j] += float64(v)
		}
	}
	for j := range sum {
		sum[j] /= float64(n)
	}
	return n
}
