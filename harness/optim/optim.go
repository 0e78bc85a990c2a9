// Package optim updates flat parameter slices by first-order optimisation rules.
//
// With gradient g, learning rate h and step count t, SGD sets v = mu v + g and w -= h v.
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
	"encoding"
	"math"

	"dgkip/harness/tensor"
)

// Float is the type of parameters.
type Float = tensor.Float

// Optimizer is implemented by SGD and Adam.
type Optimizer[F Float] interface {
	// Step moves params by one step for the gradient grad. It does not change grad.
	// It panics unless both have the length given at construction.
	Step(params, grad []F)

	// LR and SetLR read and change the learning rate. SetLR panics unless the
	// rate is finite and not negative.
	LR() float64
	SetLR(lr float64)

	// MarshalBinary saves averages, step count and learning rate. UnmarshalBinary
	// restores them into an optimiser of the same type, length and settings; the
	// learning rate may differ. Otherwise it returns an error and changes nothing.
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

// validRate reports whether lr is finite and not negative. NaN is not valid.
func validRate(lr float64) bool { return lr >= 0 && lr <= math.MaxFloat64 }

const badRate = "optim: learning rate must be finite and not negative"

// sqrt is correctly rounded for both types: rounding the float64 root again to float32 gives
// the correctly rounded float32 root.
func sqrt[F Float](x F) F { return F(math.Sqrt(float64(x))) }
