package optim

import "dgkip/harness/tensor"

// sgd takes a step of SGD.
func (o *Optimizer[F]) sgd(params, grad []F, rate float64) {
	n, lr, mu, decay := len(params), F(rate), F(o.rule.momentum), F(o.rule.decay)
	if mu == 0 && decay == 0 { // a single sum does not profit from small pieces
		tensor.Axpy(params, -lr, grad, params)
		return
	}
	// Small pieces stay in the cache between the sums.
	const tasks, piece = 16, 1 << 12
	if decay != 0 {
		o.buffer = tensor.Grow(&o.buffer, tasks*piece)
	}
	share := (n + tasks - 1) / tasks
	tensor.Parallel(tasks, func(task int) {
		for at, end := task*share, min(n, (task+1)*share); at < end; at += piece {
			to := min(end, at+piece)
			w, v := params[at:to], grad[at:to]
			if decay != 0 {
				v = o.buffer[task*piece:][:to-at]
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
