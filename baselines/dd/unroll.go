package dd

import (
	"context"
	"fmt"

	"dgkip/harness/nn"
	"dgkip/harness/tensor"
)

// divergenceHint is the hint of errors that report a divergence.
const divergenceHint = "choose a lower first_rate or rate, or fewer steps or epochs"

// realChunk is the number of real images that are processed at a time.
const realChunk = 128

// learned holds all that the inner steps depend on except the first weights, or the gradients of these
// values.
type learned[F tensor.Float] struct {
	X       []F // [n, Inputs]
	Targets []F // [n, Classes]; nil as a gradient that is not wanted
	Rates   []F // of every inner step
}

// unroll runs the inner steps and differentiates through them.
type unroll[F tensor.Float] struct {
	net   *nn.Net[F]
	pass  *nn.Pass[F]
	plan  plan
	chunk int // real images at a time

	w      [][]F // w_0 to w_K
	x, p   [][]F // of every slot
	v, g   []F   // v_k, and a gradient of the weights
	dx, dp []F   // gradients of a slot
	realX  []F
	realP  []F
}

func newUnroll[F tensor.Float](net *nn.Net[F], p plan, chunk int) *unroll[F] {
	u := &unroll[F]{net: net, pass: net.NewPass(), plan: p, chunk: chunk}
	weights := func() []F { return make([]F, net.Params()) }
	for range len(p.steps) + 1 {
		u.w = append(u.w, weights())
	}
	u.v, u.g = weights(), weights()
	most := 0
	for _, images := range p.of {
		u.x = append(u.x, make([]F, len(images)*net.Inputs()))
		u.p = append(u.p, make([]F, len(images)*net.Classes()))
		most = max(most, len(images))
	}
	u.dx, u.dp = make([]F, most*net.Inputs()), make([]F, most*net.Classes())
	u.realX, u.realP = make([]F, chunk*net.Inputs()), make([]F, chunk*net.Classes())
	return u
}

// check returns an error if a value is not finite, at an inner step or, for step K, after the last
// one.
func (u *unroll[F]) check(step int, what string, value float64) error {
	if value-value == 0 {
		return nil
	}
	steps := len(u.plan.steps)
	where := fmt.Sprintf("inner step %d of %d", step+1, steps)
	if step == steps {
		where = fmt.Sprintf("after all %d inner steps", steps)
	}
	return fmt.Errorf("%s: %s is %v: the unrolled descent diverged\nhint: %s", where, what, value, divergenceHint)
}

// run takes all steps from w_0 and keeps what the backward sweep needs.
func (u *unroll[F]) run(ctx context.Context, first []F, in learned[F]) error {
	copy(u.w[0], first)
	size, k := u.net.Inputs(), u.net.Classes()
	for slot, images := range u.plan.of {
		for at, i := range images {
			copy(u.x[slot][at*size:][:size], in.X[i*size:])
			copy(u.p[slot][at*k:][:k], in.Targets[i*k:])
		}
	}
	for k, rate := range in.Rates {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := u.loss(k); err != nil {
			return err
		}
		u.pass.Gradient(nn.Grad[F]{Theta: u.g})
		tensor.Axpy(u.w[k+1], -rate, u.g, u.w[k])
	}
	return nil
}

// loss runs the forward pass of step k. It detects weights that are not finite, because they make the
// loss NaN.
func (u *unroll[F]) loss(k int) error {
	slot := u.plan.steps[k]
	return u.check(k, "its loss", u.pass.Loss(u.w[k], u.x[slot], u.p[slot], len(u.plan.of[slot])))
}

// outer returns the mean loss of n real images at w_K and sets v to its gradient. image writes image i
// and returns its class.
func (u *unroll[F]) outer(ctx context.Context, n int, image func(x []F, i int) int) (float64, error) {
	size, classes := u.net.Inputs(), u.net.Classes()
	clear(u.v)
	var loss float64
	for from := 0; from < n; from += u.chunk {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		m := min(u.chunk, n-from)
		clear(u.realP)
		for i := range m {
			label := image(u.realX[i*size:][:size], from+i)
			u.realP[i*classes+label] = 1
		}
		part := float64(m) / float64(n)
		loss += float64(part * u.pass.Loss(u.w[len(u.plan.steps)], u.realX[:m*size], u.realP[:m*classes], m))
		u.pass.Gradient(nn.Grad[F]{Theta: u.g})
		tensor.Axpy(u.v, F(part), u.g, u.v)
	}
	return loss, u.check(len(u.plan.steps), "the loss of the real images", loss)
}

// sweep carries v back from w_K through all steps of the last run. It adds the gradients to grad.
func (u *unroll[F]) sweep(ctx context.Context, rates []F, grad learned[F]) error {
	size, classes := u.net.Inputs(), u.net.Classes()
	steps := len(u.plan.steps)
	for k := steps - 1; k >= 0; k-- {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := u.loss(k); err != nil {
			return err
		}
		images := u.plan.of[u.plan.steps[k]]
		out := nn.Grad[F]{Theta: u.g, X: u.dx[:len(images)*size]}
		if k == 0 {
			out.Theta = nil // v_0 is not needed
		}
		if grad.Targets != nil {
			out.Targets = u.dp[:len(images)*classes]
		}
		along := u.pass.Tangent(nn.Grad[F]{Theta: u.v}, out)
		if err := u.check(k, "the derivative of its rate", along); err != nil {
			return err
		}
		r := rates[k]
		grad.Rates[k] += F(-along)
		for at, i := range images {
			dx := grad.X[i*size:][:size]
			tensor.Axpy(dx, -r, out.X[at*size:][:size], dx)
			if grad.Targets != nil {
				dp := grad.Targets[i*classes:][:classes]
				tensor.Axpy(dp, -r, out.Targets[at*classes:][:classes], dp)
			}
		}
		if k > 0 {
			tensor.Axpy(u.v, -r, u.g, u.v)
		}
	}
	return nil
}
