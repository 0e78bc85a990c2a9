package optim

import (
	"math"

	"dgkip/harness/tensor"
)

// LAMBConfig holds the settings of LAMB: the fields of AdamConfig with the default Eps 1e-6.
type LAMBConfig AdamConfig

// LAMB steps along Adam's direction. The length of a step is the rate times the norm of all
// parameters together.
type LAMB[F Float] struct {
	state[F]
	u []F // the direction of a step
}

// NewLAMB returns an optimiser of n parameters in its initial state, or an error if a setting
// is out of range.
func NewLAMB[F Float](n int, cfg LAMBConfig) (*LAMB[F], error) {
	s, err := newMoments[F]("LAMB", n, AdamConfig(cfg), 1e-3, 1e-6)
	if err != nil {
		return nil, err
	}
	return &LAMB[F]{state: s}, nil
}

// Step implements Optimizer.
func (o *LAMB[F]) Step(params, grad []F) {
	if len(params) != o.n || len(grad) != o.n {
		panic("optim.LAMB.Step: wrong number of parameters or gradients")
	}
	c := o.advance()
	correct1 := F(1 - o.powers[0])
	m, s, u := o.slots[0], o.slots[1], tensor.Grow(&o.u, o.n)
	var ww, uu float64
	for i, g := range grad {
		m[i] = F(c.b1*m[i]) + F(c.rest1*g)
		s[i] = F(c.b2*s[i]) + F(c.rest2*F(g*g))
		u[i] = m[i] / correct1 / (sqrt(s[i]/c.correct2) + c.eps)
		ww += float64(float64(params[i]) * float64(params[i]))
		uu += float64(float64(u[i]) * float64(u[i]))
	}
	rate := o.lr
	if ww > 0 && uu > 0 {
		rate *= math.Sqrt(ww / uu)
	}
	for i, v := range u {
		params[i] -= F(float64(rate * float64(v)))
	}
}
