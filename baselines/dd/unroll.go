package dd

import (
	"context"
	"fmt"

	"dgkip/harness/nn"
	"dgkip/harness/tensor"
)

// divergenceHint is the hint of errors that report a divergence.
const divergenceHint = "choose a lower first_rate or rate, or fewer steps or epochs"

const (
	// keptBytes is the memory for weights that the backward sweep needs.
	keptBytes = 1 << 30
	// realChunk is the number of real images that are processed at a time.
	realChunk = 128
)

// learned holds all that the inner steps depend on except the first weights, or their gradients.
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

	// at(k) is w_k. kept holds the weights before every stride-th step, inner those between
	// two of them, for one stretch at a time, and end those after the last step.
	stride      int
	kept, inner [][]F
	end         []F

	x, p   [][]F // of every slot
	v, g   []F   // v_k, and a gradient of the weights
	dx, dp []F   // gradients of a slot
	realX  []F
	realP  []F
}

func newUnroll[F tensor.Float](net *nn.Net[F], p plan, stride, chunk int) *unroll[F] {
	u := &unroll[F]{net: net, pass: net.NewPass(), plan: p, stride: stride, chunk: chunk}
	weights := func() []F { return make([]F, net.Params()) }
	k := len(p.steps)
	for range (k + stride - 1) / stride {
		u.kept = append(u.kept, weights())
	}
	for range min(stride, k) - 1 {
		u.inner = append(u.inner, weights())
	}
	u.end, u.v, u.g = weights(), weights(), weights()
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

// strideFor returns the smallest stride at which the kept weights of k steps (bytes each) fit into
// bound, or the one that keeps the fewest.
func strideFor(k int, bytes, bound int64) int {
	stride := 1
	for ; (stride+1)*(stride+1) <= k; stride++ {
		if keptWeights(k, stride)*bytes <= bound {
			break
		}
	}
	return stride
}

// keptWeights returns the number of vectors of weights that an unroll of k steps keeps.
func keptWeights(k, stride int) int64 {
	begins, between, end := (k+stride-1)/stride, min(stride, k)-1, 1
	return int64(begins + between + end)
}

// at returns the memory of w_k.
func (u *unroll[F]) at(k int) []F {
	switch {
	case k == len(u.plan.steps):
		return u.end
	case k%u.stride == 0:
		return u.kept[k/u.stride]
	}
	return u.inner[k%u.stride-1]
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
	copy(u.at(0), first)
	size, k := u.net.Inputs(), u.net.Classes()
	for slot, images := range u.plan.of {
		for at, i := range images {
			copy(u.x[slot][at*size:][:size], in.X[i*size:])
			copy(u.p[slot][at*k:][:k], in.Targets[i*k:])
		}
	}
	return u.advance(ctx, 0, len(u.plan.steps), in.Rates)
}

// advance takes the steps [from, to).
func (u *unroll[F]) advance(ctx context.Context, from, to int, rates []F) error {
	for k := from; k < to; k++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := u.loss(k); err != nil {
			return err
		}
		u.pass.Gradient(nn.Grad[F]{Theta: u.g})
		tensor.Axpy(u.at(k+1), -rates[k], u.g, u.at(k))
	}
	return nil
}

// loss runs the forward pass of step k. It detects weights that are not finite, because they make the
// loss NaN.
func (u *unroll[F]) loss(k int) error {
	slot := u.plan.steps[k]
	return u.check(k, "its loss", u.pass.Loss(u.at(k), u.x[slot], u.p[slot], len(u.plan.of[slot])))
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
		loss += float64(part * u.pass.Loss(u.end, u.realX[:m*size], u.realP[:m*classes], m))
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
		if stretch := k + 1; stretch%u.stride == 0 && stretch < steps {
			// inner holds the weights of a later stretch.
			if err := u.advance(ctx, stretch-u.stride, k, rates); err != nil {
				return err
			}
		}
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
