package optim

import (
	"math"

	"dgkip/harness/tensor"
)

// coefficients are the scalars of one step, in the type of the parameters.
type coefficients[F Float] struct {
	b1, b2, rest1, rest2 F // beta and 1 - beta
	eps                  F
	rate                 F // rate/(1 - beta1^t)
	correct2             F // 1 - beta2^t
}

// advance counts a step. The powers of beta are running products, which are the same on every
// machine, unlike math.Pow.
func (o *Optimizer[F]) advance(rate float64) coefficients[F] {
	b1, b2 := o.rule.beta1, o.rule.beta2
	o.powers[0] = float64(o.powers[0] * b1)
	o.powers[1] = float64(o.powers[1] * b2)
	return coefficients[F]{
		b1: F(b1), b2: F(b2), rest1: F(1 - b1), rest2: F(1 - b2),
		eps:      F(o.rule.eps),
		rate:     F(rate / (1 - o.powers[0])),
		correct2: F(1 - o.powers[1]),
	}
}

// adam takes a step of Adam.
func (o *Optimizer[F]) adam(params, grad []F, rate float64) {
	c, m, s := o.advance(rate), o.slots[0], o.slots[1]
	for i, g := range grad {
		m[i] = F(c.b1*m[i]) + F(c.rest1*g)
		s[i] = F(c.b2*s[i]) + F(c.rest2*F(g*g))
		params[i] -= F(c.rate*m[i]) / (sqrt(s[i]/c.correct2) + c.eps)
	}
}

// adaBelief takes a step of AdaBelief.
func (o *Optimizer[F]) adaBelief(params, grad []F, rate float64) {
	c, m, s := o.advance(rate), o.slots[0], o.slots[1]
	for i, g := range grad {
		m[i] = F(c.b1*m[i]) + F(c.rest1*g)
		d := g - m[i]
		s[i] = F(c.b2*s[i]) + F(c.rest2*F(d*d)) + c.eps
		params[i] -= F(c.rate*m[i]) / (sqrt(s[i]/c.correct2) + c.eps)
	}
}

// lamb takes a step of LAMB.
func (o *Optimizer[F]) lamb(params, grad []F, rate float64) {
	c, m, s := o.advance(rate), o.slots[0], o.slots[1]
	correct1, u := F(1-o.powers[0]), tensor.Grow(&o.buffer, len(params))
	var ww, uu float64
	for i, g := range grad {
		m[i] = F(c.b1*m[i]) + F(c.rest1*g)
		s[i] = F(c.b2*s[i]) + F(c.rest2*F(g*g))
		u[i] = m[i] / correct1 / (sqrt(s[i]/c.correct2) + c.eps)
		ww += float64(float64(params[i]) * float64(params[i]))
		uu += float64(float64(u[i]) * float64(u[i]))
	}
	if ww > 0 && uu > 0 {
		rate *= math.Sqrt(ww / uu)
	}
	for i, v := range u {
		params[i] -= F(float64(rate * float64(v)))
	}
}
