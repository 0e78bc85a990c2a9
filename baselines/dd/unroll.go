package dd

import (
	"context"
	"fmt"

	"dgkip/harness/nn"
	"dgkip/harness/tensor"
)

// divergenceHint is that of errors that report it.
const divergenceHint = "a lower first_rate or rate, or fewer steps and epochs, keep it stable"

const (
	// keptBytes bounds the weights kept for the sweep back.
	keptBytes = 1 << 30
	// realChunk is how many real images are worked on at a time.
	realChunk = 128
)

// learned holds what the inner steps depend on beside the first weights, or the
// gradients in it.
type learned[F tensor.Float] struct {
	X       []F // [n, Inputs]
	Targets []F // [n, Classes]; as a gradient nil if not wanted
	Rates   []F // of every inner step
}

// unroll runs the inner steps and differentiates through them.
type unroll[F tensor.Float] struct {
	net   *nn.Net[F]
	pass  *nn.Pass[F]
	plan  plan
	chunk int // real images at a time

	// w_k is at(k): before every stride-th step in kept, in between, for one stretch
	// at a time, in inner, and after the last in end.
	stride      int
	kept, inner [][]F
	end         []F

	x, p   [][]F // of every slot
	v, g   []F   // v_k, and a gradient in the weights
	dx, dp []F   // gradients in a slot
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

// strideFor returns how far apart the weights that are kept must be, so that those
// of k steps, of the given bytes each, fit into the bound, or come as close as they
// can.
func strideFor(k int, bytes, bound int64) int {
	stride := 1
	for ; (stride+1)*(stride+1) <= k; stride++ {
		if keptWeights(k, stride)*bytes <= bound {
			break
		}
	}
	return stride
}

// keptWeights is how many vectors of weights an unroll of k steps keeps.
func keptWeights(k, stride int) int64 {
	begins, between, end := (k+stride-1)/stride, min(stride, k)-1, 1
	return int64(begins + between + end)
}

// at is where w_k lies.
func (u *unroll[F]) at(k int) []F {
	switch {
	case k == len(u.plan.steps):
		return u.end
	case k%u.stride == 0:
		return u.kept[k/u.stride]
	}
	return u.inner[k%u.stride-1]
}

// check refuses a value that is not finite, at an inner step or, for step K, after
// the last.
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

// run takes all steps from w_0, to end, and keeps what the sweep back needs.
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

// advance takes the steps from one up to, and without, another.
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

// loss runs the forward pass of step k. Weights that are not finite show here, for
// they make the loss NaN.
func (u *unroll[F]) loss(k int) error {
	slot := u.plan.steps[k]
	return u.check(k, "its loss", u.pass.Loss(u.at(k), u.x[slot], u.p[slot], len(u.plan.of[slot])))
}

// outer sets v to the gradient at w_K of the mean loss of n real images, which it
// returns. Image i is written by image, which returns its class.
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

// sweep carries v back from w_K through all steps of the last run, and adds the
// gradients to grad.
func (u *unroll[F]) sweep(ctx context.Context, rates []F, grad learned[F]) error {
	size, classes := u.net.Inputs(), u.net.Classes()
	steps := len(u.plan.steps)
	for k := steps - 1; k >= 0; k-- {
		if stretch := k + 1; stretch%u.stride == 0 && stretch < steps {
			// The weights in between are those of a later stretch.
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
			out.Theta = nil // nobody asks for v_0
		}
		if grad.Targets != nil {
			out.Targets = u.dp[:len(images)*classes]
		}
		along := u.pass.Tangent(nn.Grad[F]{Theta: u.v}, out)
		if err := u.check(k, "the derivative in its rate", along); err != nil {
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
