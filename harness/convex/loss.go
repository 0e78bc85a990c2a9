package convex

import (
	"cmp"

	"dgkip/harness/fmath"
)

// Margin is a loss L of the margin m = y f. Below, a in [0, 1] is the dual variable.
type Margin interface {
	// Value returns L(m).
	Value(m float64) float64
	// Residual returns L(m) + L*(-a) + a m. It is never negative, and zero only where -a is
	// a slope of L at m.
	Residual(m, a float64) float64
	// ResidualSlopes returns the derivatives of Residual: L'(m) + a with respect to m, and
	// m - L*'(-a) with respect to a.
	ResidualSlopes(m, a float64) (inM, inA float64)
	// Slope returns the dual variable that Gap uses at m, and its derivative.
	Slope(m float64) (a, da float64)
}

// Logistic is log(1 + e^-m). Its dual variable is alpha = sigma(-m), which makes the residual
// exactly zero.
type Logistic struct{}

func (Logistic) Value(m float64) float64 { return fmath.Softplus(-m) }

// Residual is the relative entropy of a and sigma(-m), in the form
// a log(a/p) + (1-a) log((1-a)/(1-p)).
func (Logistic) Residual(m, a float64) float64 {
	if a == fmath.Sigmoid(-m) {
		return 0
	}
	part := func(x, logp float64) float64 {
		if x == 0 {
			return 0
		}
		return float64(x * (fmath.Log(x) - logp))
	}
	return max(0, part(a, -fmath.Softplus(m))+part(1-a, -fmath.Softplus(-m)))
}

func (Logistic) Slope(m float64) (a, da float64) {
	a = fmath.Sigmoid(-m)
	return a, -a * fmath.Sigmoid(m)
}

// ResidualSlopes returns exact zeros where a is sigma(-m), the minimum of the residual.
func (Logistic) ResidualSlopes(m, a float64) (inM, inA float64) {
	s := fmath.Sigmoid(-m)
	if a == s {
		return 0, 0
	}
	return a - s, fmath.Log(a/(1-a)) + m
}

// Hinge is max(0, 1-m). Its dual variable is the smooth alpha = sigma((1-m)/Temperature); a
// Temperature of zero means 1.
type Hinge struct{ Temperature float64 }

func (Hinge) Value(m float64) float64 { return max(0, 1-m) }

// Residual is a (m-1) where m >= 1, and (1-a) (1-m) elsewhere.
func (Hinge) Residual(m, a float64) float64 {
	if m < 1 {
		return (1 - a) * (1 - m)
	}
	return a * (m - 1)
}

func (h Hinge) Slope(m float64) (a, da float64) {
	t := cmp.Or(h.Temperature, 1)
	u := (1 - m) / t
	a = fmath.Sigmoid(u)
	return a, -a * fmath.Sigmoid(-u) / t
}

// ResidualSlopes uses slope 0 at the kink of the loss.
func (Hinge) ResidualSlopes(m, a float64) (inM, inA float64) {
	if m < 1 {
		return a - 1, m - 1
	}
	return a, m - 1
}

// marginOf returns Logistic{} or Hinge{}. It panics for any other loss.
func marginOf(l Loss) Margin {
	switch l {
	case LogisticLoss:
		return Logistic{}
	case HingeLoss:
		return Hinge{}
	}
	panic("convex: only the logistic and the hinge loss depend on a margin")
}

// probabilities sets p to e^f_k / sum_j e^f_j, the softmax of f, and returns
// log sum_j e^f_j. p may be f.
func probabilities(p, f []float64) float64 {
	top, logSum := fmath.Softmax(p, f)
	return top + logSum
}
