// Package optim updates flat parameter slices by first-order optimisation rules.
//
// With gradient g, learning rate h and step count t, SGD sets v = mu v + g and
// w -= h v. Adam and AdaBelief keep m = b1 m + (1-b1) g and a second average,
// Adam of g^2 and AdaBelief of (g-m)^2 with eps added at every step, and set
// w -= h m' / (sqrt(s') + eps), where m' = m/(1-b1^t) and s' = s/(1-b2^t). LAMB takes
// Adam's step u = m' / (sqrt(s') + eps) at the length of the parameters:
// w -= h (|w|/|u|) u, or h u where either is zero.
//
// Guarantee: a step gives the same bits on every machine, since every product
// that feeds a sum is rounded by an explicit conversion and scalars come from
// float64 arithmetic alone; and an optimiser restored from its
// saved state continues bit for bit.
package optim

import (
	"encoding"
	"errors"
	"math"

	"dgkip/harness/tensor"
)

// Float is the type of parameters.
type Float = tensor.Float

// Optimizer is implemented by SGD, Adam, AdaBelief and LAMB.
type Optimizer[F Float] interface {
	// Step moves params one step for the gradient grad, which it leaves alone.
	// It panics unless both have the length given at construction.
	Step(params, grad []F)

	// LR and SetLR read and change the learning rate. SetLR panics unless the
	// rate is finite and not negative.
	LR() float64
	SetLR(lr float64)

	// MarshalBinary saves averages, step count and learning rate.
	// UnmarshalBinary restores them into an optimiser constructed with the same
	// type, length and settings (the learning rate may differ); otherwise it
	// returns an error and changes nothing.
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

// validRate reports whether lr is finite and not negative; NaN fails.
func validRate(lr float64) bool { return lr >= 0 && lr <= math.MaxFloat64 }

var (
	errLength = errors.New("optim: negative number of parameters")
	errRate   = errors.New("optim: learning rate must be finite and not negative")
)

// sqrt is correctly rounded for both types: a float64 root has digits enough to
// round again to float32 without harm.
func sqrt[F Float](x F) F { return F(math.Sqrt(float64(x))) }
