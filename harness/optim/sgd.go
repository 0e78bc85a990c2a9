package optim

import (
	"cmp"
	"math"

	"dgkip/harness/tensor"
)

// SGDConfig holds the settings of SGD. The zero value is plain gradient descent with the
// default rate.
type SGDConfig struct {
	LR          float64 // learning rate; 0 means 1e-2
	Momentum    float64 // mu, in [0, 1)
	WeightDecay float64 // lambda; lambda w is added to the gradient
}

// SGD is gradient descent with momentum: v = mu v + g + lambda w, w -= lr v.
type SGD[F Float] struct {
	state[F]
	sums []F // g + lambda w of the pieces in progress
}

// NewSGD returns an optimiser of n parameters in its initial state. It panics if a setting
// is out of range.
func NewSGD[F Float](n int, cfg SGDConfig) *SGD[F] {
	switch {
	case !validRate(cfg.LR):
		panic(badRate)
	case !(cfg.Momentum >= 0 && cfg.Momentum < 1):
		panic("optim: SGD momentum must be at least 0 and less than 1")
	case !(cfg.WeightDecay >= 0 && cfg.WeightDecay <= math.MaxFloat64):
		panic("optim: SGD weight decay must be finite and not negative")
	}
	o := &SGD[F]{state: state[F]{
		rule:     "SGD",
		n:        n,
		lr:       cmp.Or(cfg.LR, 1e-2),
		settings: []float64{cfg.Momentum, cfg.WeightDecay},
	}}
	if cfg.Momentum != 0 {
		o.slots = [][]F{make([]F, n)}
	}
	return o
}

// Step implements Optimizer.
func (o *SGD[F]) Step(params, grad []F) {
	o.check(params, grad)
	lr, mu, decay := F(o.lr), F(o.settings[0]), F(o.settings[1])
	if mu == 0 && decay == 0 { // a single sum does not profit from small pieces
		tensor.Axpy(params, -lr, grad, params)
		return
	}
	// Small pieces stay in the cache between the sums.
	const tasks, piece = 16, 1 << 12
	if decay != 0 {
		o.sums = tensor.Grow(&o.sums, tasks*piece)
	}
	share := (o.n + tasks - 1) / tasks
	tensor.Parallel(tasks, func(task int) {
		for at, end := task*share, min(o.n, (task+1)*share); at < end; at += piece {
			to := min(end, at+piece)
			w, v := params[at:to], grad[at:to]
			if decay != 0 {
				v = o.sums[task*piece:][:to-at]
				tensor.Axpy(v, decay, w, grad[at:to])
			}
			if mu != 0 {
				slot := o.slots[0][at:to]
				tensor.Axpy(slot, mu, slot, v)
				v = slot
			}
			tensor.Axpy(w, -lr, v, w)
		}
	})
}
