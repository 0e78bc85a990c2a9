package convex

import (
	"math"

	"dgkip/harness/tensor"
)

// This file defines the duality gap. With a loss l of the margin m_i = y_i f_i,
// f_i = theta'phi_i, a set S has the primal and the dual problem
//
//	P(theta) = sum_i l(m_i) + (lambda/2) |theta|^2
//	D(alpha) = -sum_i l*(-alpha_i) - (1/(2 lambda)) sum_ij alpha_i alpha_j y_i y_j k_ij
//
// The paper's Theorem 3.2 bounds the distance of any Theta_O from the minimiser, for all feasible
// alpha:
//
//	|Theta_O - Theta_S*|^2 <= (2/lambda) G,   G = P(Theta_O) - D(alpha).
//
// (The paper misprints D without its first minus sign. Its gap for logistic regression lacks
// a square on |theta_O|.)
//
// P - D is the difference of two large numbers. With alpha_i m_i = theta'(alpha_i y_i phi_i)
// it becomes a sum of non-negative terms, in which nothing cancels:
//
//	G = sum_i h_i + (lambda/2) |R|^2
//	h_i = l(m_i) + l*(-alpha_i) + alpha_i m_i
//	R = Theta_O - Theta(alpha),   Theta(alpha) = (1/lambda) sum_i w_i phi_i',   w_i = alpha_i y_i
//
// h_i is a Fenchel-Young term: zero only where -alpha_i is a slope of l at m_i.
//
// With K outputs, Theta is [K, M], |R| is the Frobenius norm, and all outputs share phi_i. With
// targets in place of gains, there is no y: alpha_i = -grad l(f_i), w_i = alpha_i, and
// alpha_i'f_i replaces alpha_i m_i.
//
// Gap.Eval computes the gap at any Theta, with alpha chosen by the loss, and its gradients.
// BestGap takes alpha from a solution on the set. The functions after it compute parts of G for
// the solvers.

// Gap is the duality gap of a model on a set at a given Theta, as a function of the
// set's features and labels.
type Gap struct {
	Pair   Pair // the loss and its dual variables
	Lambda float64
	// Detach leaves the dependence of alpha on features and gains out of the gradients. The
	// dependence on targets, which is the identity, stays.
	Detach bool
}

// GapValue is a gap with its parts.
type GapValue struct {
	Gap      float64             // G
	Residual Residual            // R
	Norm2    float64             // |R|^2
	Outputs  tensor.Mat[float64] // outputs f of Theta_O, [n, K]
	Alpha    tensor.Mat[float64] // [n, K]
}

// Eval returns the gap of the view's Theta_O on the view's set with labels [n, K]. It pulls back
// the gradient with respect to the features. If dlabels is not nil, Eval sets it to the
// gradient with respect to the labels.
func (g Gap) Eval(view View, labels tensor.Mat[float64], dlabels *tensor.Mat[float64]) GapValue {
	v := GapValue{Outputs: view.Outputs()}
	n, outputs := v.Outputs.Rows, v.Outputs.Cols
	if labels.Rows != n || labels.Cols != outputs || dlabels != nil && (dlabels.Rows != n || dlabels.Cols != outputs) {
		panic("convex: Gap.Eval: shapes do not fit")
	}
	if !(g.Lambda > 0) {
		panic("convex: Gap.Eval: lambda must be positive")
	}
	v.Alpha = tensor.NewMat[float64](n, outputs)
	w := tensor.NewMat[float64](n, outputs)
	terms := 0.0
	for i := range n {
		terms += g.Pair.dual(v.Alpha.Row(i), w.Row(i), labels.Row(i), v.Outputs.Row(i))
	}
	v.Residual = view.Residual(overLambda(w, g.Lambda))
	v.Norm2 = v.Residual.Norm2
	v.Gap = terms + normTerm(v.Norm2, g.Lambda)
	g.gradient(view, labels, v, w, dlabels)
	return v
}

// gradient pulls back dG/dphi and sets dlabels to dG/dy, with q_i = R phi_i:
//
//	dG/dphi_i = -R'w_i + Theta' [ dh_i/df_i - (dw_i/df_i)'q_i ]
//	dG/dy_i   = dh_i/dy_i - (dw_i/dy_i)'q_i.
func (g Gap) gradient(view View, labels tensor.Mat[float64], v GapValue, w tensor.Mat[float64], dlabels *tensor.Mat[float64]) {
	q := view.ResidualOn(v.Residual)
	df, dy := tensor.NewMat[float64](q.Rows, q.Cols), tensor.NewMat[float64](q.Rows, q.Cols)
	var through *tensor.Mat[float64] // df, unless all brackets are zero
	for i := range q.Rows {
		g.Pair.pull(df.Row(i), dy.Row(i), labels.Row(i), v.Outputs.Row(i), v.Alpha.Row(i), q.Row(i), g.Detach)
		for _, x := range df.Row(i) {
			if x != 0 {
				through = &df
			}
		}
		if dlabels != nil {
			copy(dlabels.Row(i), dy.Row(i))
		}
	}
	view.Pull(times(-1, w), v.Residual, through)
}

// overLambda returns w/lambda. With several outputs it multiplies by 1/lambda, to reproduce the
// bits of existing records.
func overLambda(w tensor.Mat[float64], lambda float64) tensor.Mat[float64] {
	if w.Cols > 1 {
		return times(1/lambda, w)
	}
	out := tensor.NewMat[float64](w.Rows, 1)
	for i, x := range w.Data {
		out.Data[i] = x / lambda
	}
	return out
}

// Bound returns sqrt(2 G / lambda), an upper bound of the distance from a Theta with gap G to
// the minimiser (Theorem 3.2).
func Bound(gap, lambda float64) float64 { return math.Sqrt(2 * gap / lambda) }

// BestGap returns the gap of Theta_O at the dual variables of a solution on the set, which
// minimise the gap. Theta(alpha) is computed from these variables, so the bound also holds for
// an inexact solution.
func BestGap(view View, s Solution) float64 {
	outputs := view.Outputs()
	c := tensor.NewMat[float64](s.C.Rows, s.C.Cols)
	terms := 0.0
	for i := range c.Rows {
		terms += s.termAt(outputs.Row(i), c.Row(i), i)
	}
	for i := range c.Data {
		c.Data[i] /= s.Lambda
	}
	distance := view.Distance(c)
	return terms + float64(s.Lambda/2*distance*distance)
}

// termAt returns the Fenchel-Young term of image i at outputs f and the solution's dual
// variables alpha. It sets w to alpha, times the gain if labels are gains.
func (s Solution) termAt(f, w []float64, i int) float64 {
	y, own := s.Labels.Values.Row(i), s.Outputs.Row(i)
	if s.Labels.Form != Gain {
		loss := targets(s.Labels.Loss)
		loss.dual(w, w, y, own)
		return loss.apart(0, f, own)
	}
	margin := marginOf(s.Labels.Loss)
	alpha, _ := margin.Slope(float64(y[0] * own[0]))
	if s.Labels.Loss == HingeLoss {
		// At the kink, the outputs do not determine alpha; the coefficients do. A gain of 0 has no
		// kink: its margin is 0, where alpha is 1.
		if alpha = 1; y[0] != 0 {
			alpha = max(0, min(1, s.Lambda*s.C.Row(i)[0]/y[0]))
		}
	}
	w[0] = float64(alpha * y[0])
	return margin.Residual(float64(y[0]*f[0]), alpha)
}

// FenchelYoung returns the sum of all h_i at outputs f for the dual variables of the outputs
// own, both [n, K]. The labels cancel; they must be targets or values.
func FenchelYoung(loss Loss, f, own tensor.Mat[float64]) float64 {
	sum := 0.0
	for i := range f.Rows {
		sum = targets(loss).apart(sum, f.Row(i), own.Row(i))
	}
	return sum
}

// SplitGap returns the gap from the sum of all h_i and |R|^2.
func SplitGap(terms, norm2, lambda float64) float64 { return terms + normTerm(norm2, lambda) }

// normTerm is (lambda/2) |R|^2.
func normTerm(norm2, lambda float64) float64 { return float64(lambda / 2 * norm2) }

// gradientTerm is the gap if alpha is -grad l at Theta. Then all h_i are zero, lambda R is the
// gradient of P, and the gap is |lambda R|^2 / (2 lambda), where norm2 is |lambda R|^2. For
// Theta = C'A with only K = A A' given, lambda R = V'A with V = lambda C - W, and norm2 is
// tr(V'K V).
func gradientTerm(norm2, lambda float64) float64 { return norm2 / (2 * lambda) }

// termsAt returns the sum of the losses at the margins y f, and the sum of all h_i for dual
// variables alpha. The second sum is the gap at Theta(alpha), where R is zero.
func termsAt(l Margin, y, f, alpha []float64) (losses, terms float64) {
	for i, a := range alpha {
		m := float64(y[i] * f[i])
		losses += l.Value(m)
		terms += l.Residual(m, a)
	}
	return losses, terms
}

// prove sets Primal, Dual and Gap from Norm2, the sum of the losses, and the absolute gap.
func (s *Solution) prove(losses, gap, lambda float64) {
	s.Primal = losses + normTerm(s.Norm2, lambda)
	s.Dual = s.Primal - gap
	s.Gap = gap / max(math.Abs(s.Primal), 1)
}
