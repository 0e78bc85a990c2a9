// Package optim updates flat parameter slices by first-order optimisation rules.
//
// With gradient g, learning rate h and step count t, SGD sets v = mu v + g + lambda w and
// w -= h v.
//
// Adam and AdaBelief keep m = b1 m + (1-b1) g and a second average s: Adam of g^2, and
// AdaBelief of (g-m)^2 with eps added at every step. They set w -= h m' / (sqrt(s') + eps),
// where m' = m/(1-b1^t) and s' = s/(1-b2^t).
//
// LAMB scales Adam's step u = m' / (sqrt(s') + eps) to the norm of the parameters:
// w -= h (|w|/|u|) u, or h u if either norm is zero.
//
// Guarantee: a step gives the same bits on every machine. Every product in a sum is rounded
// by an explicit conversion, and scalars are computed in float64. An optimiser restored from
// its saved state continues with the same bits.
package optim

import (
	"encoding/binary"
	"errors"
	"math"

	"dgkip/harness/tensor"
)

// Float is the type of parameters.
type Float = tensor.Float

// Rule is an optimisation rule with its settings.
type Rule struct {
	kind            kind
	rate            float64
	momentum, decay float64 // of SGD
	beta1, beta2    float64 // of the other rules
	eps             float64
}

type kind int

const (
	sgd kind = iota
	adam
	adaBelief
	lamb
)

// SGD returns gradient descent with momentum mu and weight decay lambda, which may be zero.
func SGD(rate, momentum, decay float64) Rule {
	return Rule{kind: sgd, rate: rate, momentum: momentum, decay: decay}
}

// Adam returns Adam with the decay rates beta1 of the average gradient and beta2 of the average
// square.
func Adam(rate, beta1, beta2 float64) Rule {
	return Rule{kind: adam, rate: rate, beta1: beta1, beta2: beta2, eps: 1e-8}
}

// AdaBelief returns AdaBelief with the decay rates of Adam.
func AdaBelief(rate, beta1, beta2 float64) Rule {
	return Rule{kind: adaBelief, rate: rate, beta1: beta1, beta2: beta2, eps: 1e-16}
}

// LAMB returns LAMB with the decay rates of Adam.
func LAMB(rate, beta1, beta2 float64) Rule {
	return Rule{kind: lamb, rate: rate, beta1: beta1, beta2: beta2, eps: 1e-6}
}

// Optimizer follows a rule, with the averages that the rule keeps between steps.
type Optimizer[F Float] struct {
	rule   Rule
	powers [2]float64 // beta1^t and beta2^t
	slots  [][]F      // averages, one number for each parameter
	buffer []F        // of SGD with weight decay, and of LAMB
}

// New returns an optimiser of n parameters before its first step.
func New[F Float](rule Rule, n int) *Optimizer[F] {
	o := &Optimizer[F]{rule: rule, powers: [2]float64{1, 1}}
	slots := 2
	if rule.kind == sgd {
		slots = 0
		if rule.momentum != 0 {
			slots = 1
		}
	}
	for range slots {
		o.slots = append(o.slots, make([]F, n))
	}
	return o
}

// Step moves the parameters by one step for their gradient, at a learning rate that may differ
// from the rule's.
func (o *Optimizer[F]) Step(params, grad []F, rate float64) {
	switch o.rule.kind {
	case sgd:
		o.sgd(params, grad, rate)
	case adam:
		o.adam(params, grad, rate)
	case adaBelief:
		o.adaBelief(params, grad, rate)
	case lamb:
		o.lamb(params, grad, rate)
	}
}

// MarshalBinary saves the powers and the averages.
func (o *Optimizer[F]) MarshalBinary() ([]byte, error) {
	b, err := binary.Append(nil, binary.LittleEndian, o.powers)
	for _, slot := range o.slots {
		if err == nil {
			b, err = binary.Append(b, binary.LittleEndian, slot)
		}
	}
	return b, err
}

// UnmarshalBinary restores what MarshalBinary saved from an optimiser of the same rule and
// number of parameters. It returns an error and changes nothing if the length differs.
func (o *Optimizer[F]) UnmarshalBinary(data []byte) error {
	size := binary.Size(o.powers)
	for _, slot := range o.slots {
		size += binary.Size(slot)
	}
	if len(data) != size {
		return errors.New("optim: saved state has the wrong length")
	}
	n, err := binary.Decode(data, binary.LittleEndian, &o.powers)
	for _, slot := range o.slots {
		if err == nil {
			data = data[n:]
			n, err = binary.Decode(data, binary.LittleEndian, slot)
		}
	}
	return err
}

// sqrt is correctly rounded for both types: rounding the float64 root again to float32 gives
// the correctly rounded float32 root.
func sqrt[F Float](x F) F { return F(math.Sqrt(float64(x))) }
