package dd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"dgkip/harness/method"
	"dgkip/harness/nn"
	"dgkip/harness/optim"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// run is a distillation in progress. Random numbers come from streams named by the update.
type run struct {
	m       *DD
	p       method.Problem
	begin   *method.Distilled // the initial images with hard labels
	shape   nn.Shape
	unroll  *unroll[float32]
	first   []float32 // w_0
	classes int

	in, grad  learned[float32] // the set with its rates, and the gradients; rates and targets follow from rho and logits
	rho       []float32
	logits    []float32 // of the labels; nil if labels are fixed
	variables []method.Variable
	order     []int   // of the training images in the current epoch
	epoch     int     // of order
	norm      float64 // of the images' gradient in the last update; -1 before the first
}

// Distill implements method.Method.
func (m *DD) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	r, err := m.newRun(p)
	if err != nil {
		return nil, method.Stopped(ctx, p, fmt.Errorf("dd: %w", err))
	}
	return method.Descent{
		Name: "dd", Updates: m.Iterations, Variables: r.variables,
		Gradient: r.gradient, Set: r.set, Metrics: r.metrics, Schedule: m.share, Hint: divergenceHint,
	}.Run(ctx, p, observe)
}

// newRun returns a run before its first update.
func (m *DD) newRun(p method.Problem) (*run, error) {
	train := p.Data.Train
	r := &run{m: m, p: p, classes: len(p.Data.Classes), shape: m.Shape(p.Model), epoch: -1, norm: -1}
	net, err := r.shape.Net(train.H, train.W, train.C, r.classes)
	if err != nil {
		return nil, err
	}
	if p.IPC < 1 {
		return nil, errors.New("ipc must be at least 1")
	}
	if train.Len() == 0 {
		return nil, errors.New("there are no training images")
	}
	plan := newPlan(p.IPC, r.classes, m.Steps, m.Epochs)
	r.unroll = newUnroll(net, plan, realChunk)
	r.first = make([]float32, net.Params())
	if m.Init == "fixed" {
		fixedWeights(net, r.first, p.Seed)
	}
	if r.begin, err = method.Start(p, m.Start, rng.Stream(p.Seed, "dd", "start")); err != nil {
		return nil, err
	}
	r.addVariables(len(plan.steps))
	return r, nil
}

// addVariables adds the learned variables: images, the steps' rates through rho, and logits of labels
// unless they are fixed.
func (r *run) addVariables(steps int) {
	add := func(name string, first []float32, rate float64) (x, grad []float32) {
		// The decay rates are those of the original.
		v := optim.NewVariable(name, first, optim.Adam(rate, 0.5, 0.999))
		r.variables = append(r.variables, v)
		return v.X, v.Grad
	}
	r.in.X, r.grad.X = add("images", slices.Clone(r.begin.Images), r.m.Rate)
	rho := slices.Repeat([]float32{float32(inverseSoftplus(r.m.FirstRate))}, steps)
	r.rho, r.grad.Rates = add("rates", rho, r.m.Rate)
	r.in.Rates, r.in.Targets = make([]float32, steps), slices.Clone(r.begin.Labels)
	if r.m.learnsLabels() {
		r.logits, r.grad.Targets = add("labels", r.begin.FirstLogits(r.m.Margin), r.m.LabelRate)
	}
	r.refresh()
}

// fixedWeights draws the weights of init = "fixed". The evaluation draws the same.
func fixedWeights(net *nn.Net[float32], theta []float32, seed uint64) {
	net.InitUniform(theta, rng.Stream(seed, "unrolled", "init"))
}

// refresh computes rates from rho, and targets from logits.
func (r *run) refresh() {
	softplus(r.in.Rates, r.rho)
	if r.logits != nil {
		nn.Softmax(r.in.Targets, r.logits, r.classes)
	}
}

// gradient computes the loss of a batch of real images after the inner steps, sets its gradient and
// returns it.
func (r *run) gradient(ctx context.Context, update int) (loss float64, err error) {
	r.refresh()
	grads := [][]float32{r.grad.X, r.grad.Rates, r.grad.Targets}
	for _, g := range grads {
		clear(g)
	}
	batch := r.batch(update)
	train := r.p.Data.Train
	image := func(x []float32, i int) int {
		copy(x, train.At(batch[i]))
		return train.Labels[batch[i]]
	}
	for i := range r.m.Nets {
		if r.m.Init == "random" {
			r.unroll.net.InitUniform(r.first, rng.Stream(r.p.Seed, "dd", "init", strconv.Itoa(update), strconv.Itoa(i)))
		}
		if err := r.unroll.run(ctx, r.first, r.in); err != nil {
			return 0, err
		}
		one, err := r.unroll.outer(ctx, len(batch), image)
		if err != nil {
			return 0, err
		}
		if err := r.unroll.sweep(ctx, r.in.Rates, r.grad); err != nil {
			return 0, err
		}
		loss += one / float64(r.m.Nets)
	}
	if n := float32(r.m.Nets); n > 1 {
		for _, g := range grads {
			for i := range g {
				g[i] /= n
			}
		}
	}
	throughSoftplus(r.grad.Rates, r.rho)
	if r.logits != nil {
		nn.ThroughSoftmax(r.grad.Targets, r.in.Targets, r.classes)
	}
	r.norm = math.Sqrt(float64(tensor.Dot(r.grad.X, r.grad.X)))
	return loss, nil
}

// batch returns the training images of the next update. Every epoch draws a new permutation and cuts
// it into batches. The rest of the permutation is left out.
func (r *run) batch(update int) []int {
	n := r.p.Data.Train.Len()
	size := min(r.m.Batch, n)
	batches := n / size
	if epoch := update / batches; epoch != r.epoch {
		r.epoch = epoch
		r.order = rng.Stream(r.p.Seed, "dd", "order", strconv.Itoa(epoch)).Perm(n)
	}
	return r.order[update%batches*size:][:size]
}

// share returns the share of Adam's rates, which is halved at equal intervals.
func (m *DD) share(update int) float64 {
	return math.Ldexp(1, -(update * (m.Halvings + 1) / m.Iterations))
}

func (r *run) metrics() map[string]float64 {
	r.refresh()
	var sum, top float64
	for _, v := range r.in.Rates {
		sum += float64(v)
		top = max(top, float64(v))
	}
	line := map[string]float64{"rate_mean": sum / float64(len(r.in.Rates)), "rate_max": top}
	if r.norm >= 0 {
		line["image_gradient"] = r.norm
	}
	return line
}

// set returns the current set with all that is needed to repeat its steps.
func (r *run) set() *method.Distilled {
	r.refresh()
	d := r.begin.With(r.in.X, r.logits)
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
		"network":    list(r.shape.Numbers(d.H, d.W)),
		"init":       list([]float64{1}), // 0 for fixed weights, 1 for random ones
	}
	if r.m.Init == "fixed" {
		d.Extra["init"].Data[0] = 0
		// A float64 cannot hold a whole seed.
		d.Extra["init_seed"] = list([]float64{float64(r.p.Seed >> 32), float64(r.p.Seed & math.MaxUint32)})
	}
	return d
}
