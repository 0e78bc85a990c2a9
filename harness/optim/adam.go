package optim

import (
	"cmp"
	"math"

	"dgkip/harness/tensor"
)

// AdamConfig holds the settings of Adam, AdaBelief and LAMB. A zero field selects its default. For
// a decay rate of practically zero, use math.SmallestNonzeroFloat64.
type AdamConfig struct {
	LR    float64 // learning rate; 0 means 1e-3, or 1e-2 for AdaBelief
	Beta1 float64 // decay of the average gradient; 0 means 0.9
	Beta2 float64 // decay of the average square; 0 means 0.999
}

// Adam divides the average gradient by the root of an average square: of the gradient (Adam and
// LAMB), or of its distance from the average gradient (AdaBelief). The length of a step of LAMB is
// the rate times the norm of all parameters together.
type Adam[F Float] struct {
	state[F]
	u []F // the direction of a step of LAMB
}

// NewAdam returns an optimiser of n parameters in its initial state. It panics if a setting is
// out of range.
func NewAdam[F Float](n int, cfg AdamConfig) *Adam[F] {
	return newAdam[F]("Adam", n, cfg, 1e-3, 1e-8)
}

// NewAdaBelief is NewAdam for AdaBelief.
func NewAdaBelief[F Float](n int, cfg AdamConfig) *Adam[F] {
	return newAdam[F]("AdaBelief", n, cfg, 1e-2, 1e-16)
}

// NewLAMB is NewAdam for LAMB.
func NewLAMB[F Float](n int, cfg AdamConfig) *Adam[F] {
	return newAdam[F]("LAMB", n, cfg, 1e-3, 1e-6)
}

// newAdam adds eps to the root, and AdaBelief also to the square.
func newAdam[F Float](rule string, n int, cfg AdamConfig, lr, eps float64) *Adam[F] {
	cfg = AdamConfig{cmp.Or(cfg.LR, lr), cmp.Or(cfg.Beta1, 0.9), cmp.Or(cfg.Beta2, 0.999)}
	switch {
	case !validRate(cfg.LR):
		panic(badRate)
	case !(cfg.Beta1 > 0 && cfg.Beta1 < 1 && cfg.Beta2 > 0 && cfg.Beta2 < 1):
		panic("optim: decay rates of averages must be between 0 and 1, exclusive")
	}
	return &Adam[F]{state: state[F]{
		rule:     rule,
		n:        n,
		lr:       cfg.LR,
		settings: []float64{cfg.Beta1, cfg.Beta2, eps},
		powers:   [2]float64{1, 1},
		slots:    [][]F{make([]F, n), make([]F, n)},
	}}
}

// coefficients are the scalars of one step, in the type of the parameters.
type coefficients[F Float] struct {
	b1, b2, rest1, rest2 F // beta and 1 - beta
	eps                  F
	rate                 F // lr/(1 - beta1^t)
	correct2             F // 1 - beta2^t
}

// advance counts a step. The powers of beta are running products, which are the same on every
// machine, unlike math.Pow.
func (s *state[F]) advance() coefficients[F] {
	b1, b2 := s.settings[0], s.settings[1]
	s.powers[0] = float64(s.powers[0] * b1)
	s.powers[1] = float64(s.powers[1] * b2)
	return coefficients[F]{
		b1: F(b1), b2: F(b2), rest1: F(1 - b1), rest2: F(1 - b2),
		eps:      F(s.settings[2]),
		rate:     F(s.lr / (1 - s.powers[0])),
		correct2: F(1 - s.powers[1]),
	}
}

// Step implements Optimizer.
func (o *Adam[F]) Step(params, grad []F) {
	o.check(params, grad)
	c := o.advance()
	m, s := o.slots[0], o.slots[1]
	switch o.rule {
	case "Adam":
		for i, g := range grad {
			m[i] = F(c.b1*m[i]) + F(c.rest1*g)
			s[i] = F(c.b2*s[i]) + F(c.rest2*F(g*g))
			params[i] -= F(c.rate*m[i]) / (sqrt(s[i]/c.correct2) + c.eps)
		}
	case "AdaBelief":
		for i, g := range grad {
			m[i] = F(c.b1*m[i]) + F(c.rest1*g)
			d := g - m[i]
			s[i] = F(c.b2*s[i]) + F(c.rest2*F(d*d)) + c.eps
			params[i] -= F(c.rate*m[i]) / (sqrt(s[i]/c.correct2) + c.eps)
		}
	case "LAMB":
		correct1, u := F(1-o.powers[0]), tensor.Grow(&o.u, o.n)
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
}
