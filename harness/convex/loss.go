package convex

import "dgkip/harness/fmath"

// Margin is a loss of the margin m = y f.
type Margin interface {
	Name() string
	// Value returns L(m).
	Value(m float64) float64
	// Conj returns L*(-a) for a in [0, 1].
	Conj(a float64) float64
	// Residual returns L(m) + L*(-a) + a m, which is never negative and zero
	// only where -a is a slope of L at m.
	Residual(m, a float64) float64
	// ResidualSlopes returns the derivatives of Residual, L'(m) + a in m and
	// m - L*'(-a) in a.
	ResidualSlopes(m, a float64) (inM, inA float64)
	// Slope returns the dual variable that a gap takes at m, and its derivative in m.
	Slope(m float64) (a, da float64)
}

// Logistic is log(1 + e^-m). Its dual variable is alpha = sigma(-m), for which
// the residual is exactly zero.
type Logistic struct{}

func (Logistic) Name() string { return "logistic" }

func (Logistic) Value(m float64) float64 { return fmath.Softplus(-m) }

func (Logistic) Conj(a float64) float64 { return xlogx(a) + xlogx(1-a) }

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

// ResidualSlopes are zero where a is sigma(-m), where the residual is least.
func (Logistic) ResidualSlopes(m, a float64) (inM, inA float64) {
	s := fmath.Sigmoid(-m)
	if a == s {
		return 0, 0
	}
	return a - s, fmath.Log(a/(1-a)) + m
}

// Hinge is max(0, 1-m). Its dual variable is the smooth
// alpha = sigma((1-m)/Temperature); a Temperature of zero stands for 1.
type Hinge struct{ Temperature float64 }

func (Hinge) Name() string { return "hinge" }

func (Hinge) Value(m float64) float64 { return max(0, 1-m) }

func (Hinge) Conj(a float64) float64 { return -a }

// Residual is a (m-1) beyond the margin and (1-a) (1-m) before it.
func (Hinge) Residual(m, a float64) float64 {
	if m < 1 {
		return (1 - a) * (1 - m)
	}
	return a * (m - 1)
}

func (h Hinge) Slope(m float64) (a, da float64) {
	t := h.Temperature
	if t == 0 {
		t = 1
	}
	u := (1 - m) / t
	a = fmath.Sigmoid(u)
	return a, -a * fmath.Sigmoid(-u) / t
}

// ResidualSlopes takes the slope 0 of the loss at its corner.
func (Hinge) ResidualSlopes(m, a float64) (inM, inA float64) {
	if m < 1 {
		return a - 1, m - 1
	}
	return a, m - 1
}

// MarginOf returns the Margin of that name: Logistic{} or Hinge{}.
func MarginOf(l Loss) Margin {
	switch l {
	case LogisticLoss:
		return Logistic{}
	case HingeLoss:
		return Hinge{}
	}
	panic("convex: MarginOf: the logistic and the hinge loss alone are losses of a margin")
}

// xlogx is x log x, and 0 at 0.
func xlogx(x float64) float64 {
	if x == 0 {
		return 0
	}
	return x * fmath.Log(x)
}

// probabilities sets p to e^f_k / sum_j e^f_j, the softmax of f, and returns
// log sum_j e^f_j. p may be f.
func probabilities(p, f []float64) float64 {
	top, logSum := fmath.Softmax(p, f)
	return top + logSum
}
