package nn

import "dgkip/harness/tensor"

// Grad holds all that a network's loss depends on: the parameters, n images, and n rows of
// targets. It also holds gradients with respect to them, and directions of change.
//
// A nil result is not computed. A nil direction is zero and costs nothing.
type Grad[F tensor.Float] struct {
	Theta   []F // [Params]
	X       []F // [n, Inputs]
	Targets []F // [n, Classes]
}

// Pass evaluates a network and its derivatives. The order of calls is Loss, Gradient,
// Tangent. Later calls may be repeated, and Gradient may be left out. Outputs and then
// Linear can replace Loss.
//
// A Pass keeps the slices of a call without a copy. They must not change until the last call
// that builds on it. Results must not overlap them.
//
// Memory grows to the largest batch seen and is reused. Only one goroutine at a time may use
// a Pass. Many may share a Net.
type Pass[F tensor.Float] struct {
	net    *Net[F]
	stages []stage[F]
	// edges[i] holds the values before layer i. The caller owns the memory of the first.
	edges []edge[F]
	work  workspace[F]
	loss  crossEntropy[F]
	// linear holds the weights if the loss is a weighted sum of the outputs. It is nil
	// for the cross-entropy.
	linear []F

	n         int
	kept      bool // by the last forward pass, what derivatives read
	lossKnown bool
	reached   int // the lowest layer that the backward pass went through
}

// edge holds the values between two layers.
type edge[F tensor.Float] struct{ value, grad, tangent, gradTangent []F }

// NewPass returns a Pass. Its memory is allocated on first use.
func (n *Net[F]) NewPass() *Pass[F] {
	p := &Pass[F]{net: n, edges: make([]edge[F], len(n.layers)+1)}
	for _, l := range n.layers {
		p.stages = append(p.stages, l.stage(&p.work))
	}
	return p
}

// Loss returns the mean over n images of -sum_k p_k log softmax(z)_k for the outputs z and
// the targets p. The targets of an image need not sum to one.
func (p *Pass[F]) Loss(theta, x, targets []F, n int) float64 {
	p.check(theta, x, n, "nn: Pass.Loss: wrong number of parameters or images")
	if len(targets) != n*p.net.Classes() {
		panic("nn: Pass.Loss: wrong number of targets")
	}
	p.forward(theta, x, n, true)
	p.lossKnown = true
	return p.loss.value(p.logits(), targets, n)
}

// Outputs returns the outputs for n images, in memory of the Pass. Linear may follow.
func (p *Pass[F]) Outputs(theta, x []F, n int) []F {
	p.check(theta, x, n, "nn: Pass.Outputs: wrong number of parameters or images")
	p.forward(theta, x, n, true)
	return p.logits()
}

// Linear makes <b, z> the loss of Gradient and Tangent, for the outputs z of the last
// Outputs and fixed weights b. This loss has no targets, so gradients of targets must be nil.
func (p *Pass[F]) Linear(b []F) {
	if !p.kept || len(b) != len(p.logits()) {
		panic("nn: Pass.Linear: call Outputs first, and give one weight for each output")
	}
	p.linear, p.lossKnown, p.reached = b, true, len(p.stages)
}

// lossGradient sets dz and dp. Either may be nil.
func (p *Pass[F]) lossGradient(dz, dp []F) {
	if p.linear == nil {
		p.loss.gradient(dz, dp)
	} else if dz != nil {
		copy(dz, p.linear)
	}
}

// lossTangent returns the derivative of the loss along (zt, pt). It sets dzt and dpt to the
// derivatives of dz and dp.
func (p *Pass[F]) lossTangent(zt, pt, dzt, dpt []F) (lossT float64) {
	if p.linear == nil {
		return p.loss.tangent(zt, pt, dzt, dpt)
	}
	for i, v := range zt {
		lossT += float64(float64(p.linear[i]) * float64(v))
	}
	clear(dzt)
	return lossT
}

// logits returns the outputs of the last forward pass, in memory of the Pass.
func (p *Pass[F]) logits() []F { return p.edges[len(p.stages)].value }

func (p *Pass[F]) check(theta, x []F, n int, message string) {
	if n < 1 || len(theta) != p.net.Params() || len(x) != n*p.net.Inputs() {
		panic(message)
	}
}

func (p *Pass[F]) checkGrad(g Grad[F], message string) {
	wrong := func(x []F, n int) bool { return x != nil && len(x) != n }
	if wrong(g.Theta, p.net.Params()) || wrong(g.X, p.n*p.net.Inputs()) || wrong(g.Targets, p.n*p.net.Classes()) || p.linear != nil && g.Targets != nil {
		panic(message)
	}
}

// forward runs the forward pass. If keep is false, no derivative may follow.
func (p *Pass[F]) forward(theta, x []F, n int, keep bool) {
	p.n, p.kept, p.lossKnown, p.linear, p.reached = n, keep, false, nil, len(p.stages)
	p.edges[0].value = x
	for i, s := range p.stages {
		e := &p.edges[i+1]
		e.value = tensor.Grow(&e.value, n*p.net.layers[i].out())
		s.forward(e.value, p.edges[i].value, p.net.part(theta, i), n, keep)
	}
}

// Gradient sets the fields of g to the gradients of the last Loss.
func (p *Pass[F]) Gradient(g Grad[F]) {
	if !p.lossKnown {
		panic("nn: Pass.Gradient: call Loss first")
	}
	p.checkGrad(g, "nn: Pass.Gradient: wrong length")
	var dz []F
	low := p.lowest(g)
	if low < len(p.stages) {
		dz = p.outputGrad()
	}
	p.lossGradient(dz, g.Targets)
	p.backward(low, g)
}

func (p *Pass[F]) outputGrad() []F {
	e := &p.edges[len(p.stages)]
	e.grad = tensor.Grow(&e.grad, len(e.value))
	return e.grad
}

// lowest returns the lowest layer that the backward pass must reach for g.
func (p *Pass[F]) lowest(g Grad[F]) int {
	switch {
	case g.X != nil:
		return 0
	case g.Theta != nil:
		return p.net.firstWithParams()
	}
	return len(p.stages)
}

// backward runs the backward pass from the outputs down to layer low.
func (p *Pass[F]) backward(low int, g Grad[F]) {
	for i := len(p.stages) - 1; i >= low; i-- {
		dx := g.X
		if i > 0 {
			dx = p.below(&p.edges[i].grad, i, low)
		}
		p.stages[i].backward(dx, p.net.part(g.Theta, i), p.edges[i+1].grad)
	}
	p.reached = min(p.reached, low)
}

// below returns memory for the gradient before layer i. It returns nil if i <= low,
// because the backward pass ends at layer low.
func (p *Pass[F]) below(buf *[]F, i, low int) []F {
	if i <= low {
		return nil
	}
	*buf = tensor.Grow(buf, len(p.edges[i].value))
	return *buf
}

// Tangent sets the fields of out to the derivatives along dir of Gradient's results, and
// returns the derivative of the loss. For dir.Theta = v alone, the results are the gradients
// of <grad_theta L, v>.
func (p *Pass[F]) Tangent(dir, out Grad[F]) float64 {
	if !p.lossKnown {
		panic("nn: Pass.Tangent: call Loss first")
	}
	p.checkGrad(dir, "nn: Pass.Tangent: direction has the wrong length")
	p.checkGrad(out, "nn: Pass.Tangent: result has the wrong length")
	var dzt []F
	if p.lowest(out) < len(p.stages) {
		if p.reached == len(p.stages) {
			p.lossGradient(p.outputGrad(), nil)
		}
		dzt = p.outputGradTangent()
	}
	zt := p.forwardTangent(dir)
	lossT := p.lossTangent(zt, dir.Targets, dzt, out.Targets)
	p.backwardTangent(out)
	return lossT
}

// forwardTangent returns the derivative of the outputs along dir, or nil if dir is zero.
func (p *Pass[F]) forwardTangent(dir Grad[F]) []F {
	xt := dir.X
	for i, s := range p.stages {
		v := p.net.part(dir.Theta, i)
		var yt []F
		if xt != nil || v != nil {
			e := &p.edges[i+1]
			e.tangent = tensor.Grow(&e.tangent, len(e.value))
			yt = e.tangent
		}
		s.tangent(yt, xt, v)
		xt = yt
	}
	return xt
}

func (p *Pass[F]) outputGradTangent() []F {
	e := &p.edges[len(p.stages)]
	e.gradTangent = tensor.Grow(&e.gradTangent, len(e.value))
	return e.gradTangent
}

// backwardTangent runs the tangent of the backward pass from the outputs down.
func (p *Pass[F]) backwardTangent(out Grad[F]) {
	low := p.lowest(out)
	if low == len(p.stages) {
		return
	}
	// Run the backward pass if Gradient was left out or did not reach far enough. Layers
	// below the first parameters keep nothing from it.
	if first := p.net.firstWithParams(); p.reached > first {
		p.backward(first, Grad[F]{})
	}
	for i := len(p.stages) - 1; i >= low; i-- {
		dxt := out.X
		if i > 0 {
			dxt = p.below(&p.edges[i].gradTangent, i, low)
		}
		p.stages[i].backwardTangent(dxt, p.net.part(out.Theta, i), p.edges[i+1].gradTangent)
	}
}
