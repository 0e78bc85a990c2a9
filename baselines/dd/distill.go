package dd

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"strconv"

	"dgkip/harness/method"
	"dgkip/harness/nn"
	"dgkip/harness/optim"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// run is a distillation under way. Everything that later updates depend on is in
// params, logits, the two optimisers and the number of updates: random numbers come
// from streams that are named by the update.
type run struct {
	m       *DD
	p       method.Problem
	begin   *method.Distilled // the initial images with hard labels
	shape   nn.Shape
	unroll  *unroll[float32]
	first   []float32 // w_0
	classes int

	params []float32 // images, then rho
	logits []float32 // of labels; nil if they are fixed
	adam   *optim.Adam[float32]
	labels *optim.Adam[float32] // nil if they are fixed
	done   int

	in, grad  learned[float32]
	paramGrad []float32 // the memory of grad.X and grad.Rates
	order     []int     // of the training images in an epoch
	epoch     int       // that order is of
	norm      float64   // of the images' gradient in the last update
}

// Distill implements method.Method.
func (m *DD) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	if err := ctx.Err(); err != nil {
		return nil, &method.Interrupted{Checkpoint: p.Resume, Cause: context.Cause(ctx)}
	}
	r, err := m.newRun(p)
	if err != nil {
		return nil, err
	}
	if p.Resume == nil {
		observe(r.step(0))
	}
	for r.done < m.Iterations {
		loss, err := r.update(ctx)
		if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			state, saving := r.checkpoint()
			if saving != nil {
				return nil, saving
			}
			return nil, &method.Interrupted{Checkpoint: state, Cause: context.Cause(ctx)}
		}
		if err != nil {
			return nil, fmt.Errorf("dd: update %d: %w", r.done+1, err)
		}
		r.done++
		observe(r.step(loss))
	}
	return r.distilled(), nil
}

// newRun returns a run before its first update, or where its checkpoint left it.
func (m *DD) newRun(p method.Problem) (*run, error) {
	train := p.Data.Train
	r := &run{m: m, p: p, classes: len(p.Data.Classes), shape: m.shape(p.Model), epoch: -1}
	net, err := nn.ShapedNet[float32](r.shape, train.H, train.W, train.C, r.classes)
	if err != nil {
		return nil, fmt.Errorf("dd: %w", err)
	}
	if p.IPC < 1 {
		return nil, errors.New("dd: ipc must be at least 1")
	}
	if train.Len() == 0 {
		return nil, errors.New("dd: there are no training images")
	}
	plan := newPlan(p.IPC, r.classes, m.Steps, m.Epochs)
	k := len(plan.steps)
	r.unroll = newUnroll(net, plan, strideFor(k, 4*int64(net.Params()), keptBytes), realChunk)
	r.first = make([]float32, net.Params())
	if m.Init == "fixed" {
		fixedWeights(net, r.first, p.Seed)
	}
	if r.begin, err = m.startingImages(p); err != nil {
		return nil, err
	}
	images := len(r.begin.Images)
	r.params = append(append(r.params, r.begin.Images...), make([]float32, k)...)
	rho := float32(inverseSoftplus(m.FirstRate))
	for i := range k {
		r.params[images+i] = rho
	}
	r.paramGrad = make([]float32, len(r.params))
	r.in = learned[float32]{X: r.params[:images], Targets: method.OneHot(r.begin.Of, r.classes), Rates: make([]float32, k)}
	r.grad = learned[float32]{X: r.paramGrad[:images], Rates: r.paramGrad[images:]}
	if r.adam, err = optim.NewAdam[float32](len(r.params), adamConfig(m.Rate)); err != nil {
		return nil, fmt.Errorf("dd: %w", err)
	}
	if m.learnsLabels() {
		r.logits = make([]float32, len(r.in.Targets))
		for i, y := range r.begin.Of {
			r.logits[i*r.classes+y] = float32(m.Margin)
		}
		r.grad.Targets = make([]float32, len(r.logits))
		if r.labels, err = optim.NewAdam[float32](len(r.logits), adamConfig(m.LabelRate)); err != nil {
			return nil, fmt.Errorf("dd: %w", err)
		}
	}
	if p.Resume != nil {
		if err := r.restore(p.Resume); err != nil {
			return nil, fmt.Errorf("dd: checkpoint: %w", err)
		}
	}
	r.refresh()
	return r, nil
}

// adamConfig has the decay rates of the original.
func adamConfig(rate float64) optim.AdamConfig {
	return optim.AdamConfig{LR: rate, Beta1: 0.5, Beta2: 0.999}
}

// fixedWeights draws the weights of init = "fixed". The evaluation draws the same.
func fixedWeights(net *nn.Net[float32], theta []float32, seed uint64) {
	net.InitUniform(theta, rng.Stream(seed, "unrolled", "init"))
}

// startingImages returns the initial images, class by class, with hard labels.
func (m *DD) startingImages(p method.Problem) (*method.Distilled, error) {
	stream := rng.Stream(p.Seed, "dd", "start")
	if m.Start == "real" {
		return method.Choose(p, stream)
	}
	return method.Noise(p, stream), nil
}

func (r *run) rho() []float32 { return r.params[len(r.in.X):] }

// refresh computes rates and targets from what is learned of them.
func (r *run) refresh() {
	softplus(r.in.Rates, r.rho())
	if r.logits != nil {
		nn.Softmax(r.in.Targets, r.logits, r.classes)
	}
}

// update makes one update of images, rates and labels, or none if it fails.
func (r *run) update(ctx context.Context) (loss float64, err error) {
	clear(r.paramGrad)
	clear(r.grad.Targets)
	batch := r.batch()
	train := r.p.Data.Train
	real := func(x []float32, i int) int {
		copy(x, train.At(batch[i]))
		return train.Labels[batch[i]]
	}
	for i := range r.m.Nets {
		if r.m.Init == "random" {
			r.unroll.net.InitUniform(r.first, rng.Stream(r.p.Seed, "dd", "init", strconv.Itoa(r.done), strconv.Itoa(i)))
		}
		if _, err := r.unroll.run(ctx, r.first, r.in); err != nil {
			return 0, err
		}
		one, err := r.unroll.outer(ctx, len(batch), real)
		if err != nil {
			return 0, err
		}
		if err := r.unroll.sweep(ctx, r.in.Rates, r.grad); err != nil {
			return 0, err
		}
		loss += one / float64(r.m.Nets)
	}
	if n := float32(r.m.Nets); n > 1 {
		for _, g := range [][]float32{r.paramGrad, r.grad.Targets} {
			for i := range g {
				g[i] /= n
			}
		}
	}
	throughSoftplus(r.grad.Rates, r.rho())
	if r.logits != nil {
		nn.ThroughSoftmax(r.grad.Targets, r.in.Targets, r.classes)
	}
	if err := r.checkGradients(); err != nil {
		return 0, err
	}
	r.norm = math.Sqrt(float64(tensor.Dot(r.grad.X, r.grad.X)))
	scale := r.scale()
	r.adam.SetLR(r.m.Rate * scale)
	r.adam.Step(r.params, r.paramGrad)
	if r.logits != nil {
		r.labels.SetLR(r.m.LabelRate * scale)
		r.labels.Step(r.logits, r.grad.Targets)
	}
	r.refresh()
	return loss, nil
}

// batch chooses the training images of the next update: the next part of a fresh
// permutation every epoch, the rest of which is left out.
func (r *run) batch() []int {
	n := r.p.Data.Train.Len()
	size := min(r.m.Batch, n)
	batches := n / size
	if epoch := r.done / batches; epoch != r.epoch {
		r.epoch = epoch
		r.order = rng.Stream(r.p.Seed, "dd", "order", strconv.Itoa(epoch)).Perm(n)
	}
	return r.order[r.done%batches*size:][:size]
}

// scale is the factor of Adam's rates in the next update.
func (r *run) scale() float64 {
	return math.Ldexp(1, -(r.done * (r.m.Halvings + 1) / r.m.Iterations))
}

// checkGradients refuses gradients that are not finite, and those whose squares,
// which Adam averages, are not: an average would never come back from there.
func (r *run) checkGradients() error {
	for _, part := range []struct {
		name string
		g    []float32
	}{{"images", r.grad.X}, {"rates", r.grad.Rates}, {"labels", r.grad.Targets}} {
		for _, v := range part.g {
			if square := float32(v * v); square-square != 0 {
				return fmt.Errorf("the gradient in the %s holds %v after the sweep back to inner step 1: the unrolled descent diverged\n%s", part.name, v, mendDivergence)
			}
		}
	}
	return nil
}

func (r *run) step(loss float64) method.Step {
	return method.Step{
		Update: r.done, Of: r.m.Iterations, Loss: loss,
		Metrics: func() map[string]float64 {
			var sum, top float64
			for _, v := range r.in.Rates {
				sum += float64(v)
				top = max(top, float64(v))
			}
			out := map[string]float64{"rate_mean": sum / float64(len(r.in.Rates)), "rate_max": top}
			if r.done > 0 {
				out["image_gradient"] = r.norm
			}
			return out
		},
		Distilled:  r.distilled,
		Checkpoint: r.checkpoint,
	}
}

// distilled returns the set as it stands, with all that is needed to take the same
// steps again.
func (r *run) distilled() *method.Distilled {
	d := r.begin.Clone()
	copy(d.Images, r.in.X)
	if r.logits != nil {
		d.Kind = method.Logits
		copy(d.Labels, r.logits)
	}
	list := func(x []float64) method.Array { return method.Array{Shape: []int{len(x)}, Data: x} }
	var rates, steps, slots []float64
	for i, v := range r.in.Rates {
		rates = append(rates, float64(v))
		steps = append(steps, float64(r.unroll.plan.steps[i]))
	}
	for _, s := range r.unroll.plan.slotOf {
		slots = append(slots, float64(s))
	}
	d.Extra = map[string]method.Array{
		"rates":      list(rates),
		"step_slot":  list(steps),
		"image_slot": list(slots),
		"epochs":     list([]float64{float64(r.m.Epochs)}),
		"network":    list(numbers(r.shape, d.H, d.W)),
		"init":       list([]float64{1}), // 0 for fixed weights, 1 for random ones
	}
	if r.m.Init == "fixed" {
		d.Extra["init"].Data[0] = 0
		// A float64 holds no whole seed.
		d.Extra["init_seed"] = list([]float64{float64(r.p.Seed >> 32), float64(r.p.Seed & math.MaxUint32)})
	}
	return d
}

// saved is a checkpoint.
type saved struct {
	Update         int
	Params, Logits []float32
	Adam, Labels   []byte
}

func (r *run) checkpoint() ([]byte, error) {
	s := saved{Update: r.done, Params: r.params, Logits: r.logits}
	var err error
	if s.Adam, err = r.adam.MarshalBinary(); err != nil {
		return nil, err
	}
	if r.labels != nil {
		if s.Labels, err = r.labels.MarshalBinary(); err != nil {
			return nil, err
		}
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(s); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func (r *run) restore(state []byte) error {
	var s saved
	if err := gob.NewDecoder(bytes.NewReader(state)).Decode(&s); err != nil {
		return err
	}
	if len(s.Params) != len(r.params) || len(s.Logits) != len(r.logits) || s.Update < 0 || s.Update > r.m.Iterations {
		return errors.New("it is of a run with other settings")
	}
	if err := r.adam.UnmarshalBinary(s.Adam); err != nil {
		return err
	}
	if r.labels != nil {
		if err := r.labels.UnmarshalBinary(s.Labels); err != nil {
			return err
		}
	}
	copy(r.params, s.Params)
	copy(r.logits, s.Logits)
	r.done = s.Update
	return nil
}
