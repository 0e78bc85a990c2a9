package dc

import (
	"dgkip/harness/augment"
	"dgkip/harness/nn"
	"dgkip/harness/tensor"
)

// batch is n images with their targets.
type batch[F tensor.Float] struct {
	n          int
	x, targets []F
}

// matcher compares gradients of a network's loss. Its memory grows to the largest batch and is
// reused.
type matcher[F tensor.Float] struct {
	h, w, c int // size of an image
	tensors []nn.Tensor
	pass    *nn.Pass[F]

	ofReal, ofSyn, v []F // gradients of the weights, and dD/dsyn
	x, dx            []F // augmented images, and their gradient
}

func newMatcher[F tensor.Float](net *nn.Net[F], h, w, c int) *matcher[F] {
	k := net.Params()
	return &matcher[F]{
		h: h, w: w, c: c, tensors: net.Tensors(), pass: net.NewPass(),
		ofReal: make([]F, k), ofSyn: make([]F, k), v: make([]F, k),
	}
}

// match returns the distance D between the gradients on real and on synthetic images, all changed
// by the draw. It sets dx and dp to the gradients of D with respect to the synthetic images and
// their targets. dp may be nil.
func (m *matcher[F]) match(theta []F, draw augment.Draw, real, syn batch[F], dx, dp []F) float64 {
	m.gradient(m.ofReal, theta, draw, real)
	m.gradient(m.ofSyn, theta, draw, syn)
	d := distance(m.v, m.ofSyn, m.ofReal, m.tensors)
	changed := tensor.Grow(&m.dx, len(dx))
	m.pass.Tangent(nn.Grad[F]{Theta: m.v}, nn.Grad[F]{X: changed, Targets: dp})
	augment.Adjoint(draw, dx, changed, syn.n, m.h, m.w, m.c)
	return d
}

// gradient sets g to the gradient of the loss on a batch changed by the draw.
func (m *matcher[F]) gradient(g, theta []F, draw augment.Draw, b batch[F]) {
	x := tensor.Grow(&m.x, len(b.x))
	augment.Apply(draw, x, b.x, b.n, m.h, m.w, m.c)
	m.pass.Loss(theta, x, b.targets, b.n)
	m.pass.Gradient(nn.Grad[F]{Theta: g})
}
