package tangent

import (
	"context"
	"slices"
	"strconv"

	"dgkip/harness/augment"
	"dgkip/harness/method"
	"dgkip/harness/nn"
	"dgkip/harness/optim"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// run is a distillation in progress.
type run struct {
	m            *Tangent
	p            method.Problem
	strategy     augment.Strategy
	trajectories []trajectory
	begin        *method.Distilled // the initial images
	images       *optim.Variable[float32]
	matcher      *matcher[float32]
	d            []float32
}

func newRun(ctx context.Context, p method.Problem, m *Tangent) (*run, error) {
	train := p.Data.Train
	r := &run{m: m, p: p}
	var err error
	if r.strategy, err = augment.Matching(m.Augment, p.Data.Characters); err != nil {
		return nil, err
	}
	if r.begin, err = method.Start(p, m.Start, rng.Stream(p.Seed, "tangent", "start")); err != nil {
		return nil, err
	}
	net, err := m.Shape(p.Model).Net(train.H, train.W, train.C, len(p.Data.Classes))
	if err != nil {
		return nil, err
	}
	r.matcher = newMatcher(net, train.H, train.W, train.C)
	r.d = make([]float32, net.Params())
	r.images = optim.NewVariable("images", slices.Clone(r.begin.Images), optim.AdaBelief(m.Rate, 0.9, 0.999))
	r.trajectories, err = trajectories(ctx, p, m, net, r.strategy)
	return r, err
}

// gradient sets the gradient of the gap along one part of one trajectory, and returns the gap.
func (r *run) gradient(_ context.Context, update int) (float64, error) {
	of := r.trajectories[update%len(r.trajectories)]
	part := update / len(r.trajectories) % (len(of) - 1)
	for i, v := range of[part+1] {
		r.d[i] = v - of[part][i]
	}
	draw := r.strategy.Draw(rng.Stream(r.p.Seed, "tangent", "augment", strconv.Itoa(update)), r.begin.H, r.begin.W)
	return r.matcher.match(of[part], r.d, draw, r.images.X, r.begin.Labels, r.m.Detached, r.images.Grad), nil
}

func (r *run) set() *method.Distilled { return r.begin.With(r.images.X, nil) }

// matcher compares the gradient on S with the direction of training. Its memory grows to the largest set
// and is reused.
type matcher[F tensor.Float] struct {
	h, w, c int // size of an image
	tensors []nn.Tensor
	classes int
	pass    *nn.Pass[F]

	s, v  []F // gradient of the loss with respect to the weights, and dG/ds
	x, dx []F // augmented images, and their gradient
	b     []F // the dual variables, if they are held
}

func newMatcher[F tensor.Float](net *nn.Net[F], h, w, c int) *matcher[F] {
	return &matcher[F]{
		h: h, w: w, c: c, tensors: net.Tensors(), classes: net.Classes(), pass: net.NewPass(),
		s: make([]F, net.Params()), v: make([]F, net.Params()),
	}
}

// match returns the gap of the images changed by the draw, at the weights theta, where d is the change of
// the weights by training. It sets dx to the gradient of the gap with respect to the images.
func (m *matcher[F]) match(theta, d []F, draw augment.Draw, images, targets []F, detached bool, dx []F) float64 {
	n := len(images) / (m.h * m.w * m.c)
	x := tensor.Grow(&m.x, len(images))
	augment.Apply(draw, x, images, n, m.h, m.w, m.c)
	if detached {
		b := tensor.Grow(&m.b, n*m.classes)
		nn.Softmax(b, m.pass.Outputs(theta, x, n), m.classes)
		for i, y := range targets {
			b[i] = (b[i] - y) / F(n)
		}
		m.pass.Linear(b)
	} else {
		m.pass.Loss(theta, x, targets, n)
	}
	m.pass.Gradient(nn.Grad[F]{Theta: m.s})
	g := gap(m.v, m.s, d, m.tensors)
	m.pass.Tangent(nn.Grad[F]{Theta: m.v}, nn.Grad[F]{X: tensor.Grow(&m.dx, len(images))})
	augment.Adjoint(draw, dx, m.dx[:len(images)], n, m.h, m.w, m.c)
	return g
}

// gap returns G and sets v to its derivative with respect to s:
//
//	G = 1 - cos^2(-s, d)
//
// in the inner product in which every tensor of d has length 1. If the cosine is not positive, G is 1 and
// the derivative is zero. Tensors with d = 0 are ignored.
func gap[F tensor.Float](v, s, d []F, tensors []nn.Tensor) float64 {
	clear(v)
	squares := make([]float64, len(tensors)) // squared lengths of d's tensors; 0 for tensors that are ignored
	var count, ss, sd float64
	for i, t := range tensors {
		if !t.Weight() {
			continue
		}
		s, d := s[t.Offset:][:t.Len], d[t.Offset:][:t.Len]
		if squares[i] = dot(d, d); squares[i] == 0 {
			continue
		}
		count++
		ss += dot(s, s) / squares[i]
		sd += dot(s, d) / squares[i]
	}
	if !(sd < 0 && ss > 0) {
		return 1
	}
	for i, t := range tensors {
		if squares[i] == 0 {
			continue
		}
		v, s, d := v[t.Offset:][:t.Len], s[t.Offset:][:t.Len], d[t.Offset:][:t.Len]
		of := -2 * sd / (ss * count * squares[i])
		for j := range v {
			v[j] = F(of * (float64(d[j]) - float64(sd/ss*float64(s[j]))))
		}
	}
	return 1 - float64(sd*sd)/(ss*count)
}

func dot[F tensor.Float](a, b []F) (sum float64) {
	for i, v := range a {
		sum += float64(float64(v) * float64(b[i]))
	}
	return sum
}
