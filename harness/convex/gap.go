package convex

import (
	"math"

	"dgkip/harness/tensor"
)

// The duality gap, here and nowhere else. With a loss l of the margin m_i = y_i f_i,
// f_i = theta'phi_i, a set S has the primal and the dual problem
//
//	P(theta) = sum_i l(m_i) + (lambda/2) |theta|^2
//	D(alpha) = -sum_i l*(-alpha_i) - (1/(2 lambda)) sum_ij alpha_i alpha_j y_i y_j k_ij
//
// and the paper's Theorem 3.2 says, for every Theta_O and all feasible alpha,
//
//	|Theta_O - Theta_S*|^2 <= (2/lambda) G,   G = P(Theta_O) - D(alpha).
//
// (The paper prints D without the first minus, and leaves out a square of |theta_O|
// where it spells the gap out for logistic regression.)
//
// P - D is the difference of two large numbers. Inserting
// alpha_i m_i = theta'(alpha_i y_i phi_i) makes of it a sum of terms that are never
// negative, in which nothing cancels:
//
//	G = sum_i h_i + (lambda/2) |R|^2
//	h_i = l(m_i) + l*(-alpha_i) + alpha_i m_i
//	R = Theta_O - Theta(alpha),   Theta(alpha) = (1/lambda) sum_i w_i phi_i',   w_i = alpha_i y_i
//
// h_i is a Fenchel-Young term: zero only where -alpha_i is a slope of l at m_i.
//
// With K outputs Theta is [K, M], |R| the Frobenius norm, and phi_i the same for all
// of them. Labels that are targets in place of gains have alpha_i = -grad l(f_i),
// without a y: w_i = alpha_i, and alpha_i'f_i stands for alpha_i m_i.
//
// Gap.Eval is the gap at any Theta, with alpha chosen by the loss, and its gradients;
// BestGap takes alpha from a solution on the set. What follows them are the parts of G
// alone, as solvers need them.

// Gap is the duality gap of a model on a set at a given Theta, as a function of the
// set's features and labels.
type Gap struct {
	Pair   Pair // the loss, and which dual variables it takes
	Lambda float64
	// Detach leaves the dependence of alpha on features and gains out of the
	// gradients. That on targets is the identity, and stays.
	Detach bool
}

// GapValue is a gap and what it is made of.
type GapValue struct {
	Gap      float64             // G
	Residual Residual            // R
	Norm2    float64             // |R|^2
	Outputs  tensor.Mat[float64] // f of Theta_O, [n, K]
	Alpha    tensor.Mat[float64] // [n, K]
}

// Eval returns the gap at Theta_O on the set that a view shows, with labels [n, K]. It
// pulls back the gradient in the features, and sets dlabels, where it is given, to that in
// the labels.
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
	through := false // alpha: or else it is a constant in the features
	for i := range q.Rows {
		g.Pair.pull(df.Row(i), dy.Row(i), labels.Row(i), v.Outputs.Row(i), v.Alpha.Row(i), q.Row(i), g.Detach)
		for _, x := range df.Row(i) {
			through = through || x != 0
		}
		if dlabels != nil {
			copy(dlabels.Row(i), dy.Row(i))
		}
	}
	if !through {
		view.Pull(times(-1, w), v.Residual, nil)
		return
	}
	view.Pull(times(-1, w), v.Residual, &df)
}

// overLambda returns w/lambda. With several outputs it multiplies by 1/lambda: results
// on disk have these bits.
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

// Bound returns sqrt(2 G / lambda), the most that a Theta with the gap G can be away
// from the minimiser (Theorem 3.2).
func Bound(gap, lambda float64) float64 { return math.Sqrt(2 * gap / lambda) }

// BestGap returns the gap of Theta_O at the dual variables of a solution on the set: no
// others give a smaller one. Theta(alpha) is computed from them, so that the bound holds
// however well the problem was solved.
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

// termAt returns the Fenchel-Young term at outputs f of the solution's dual variables
// of image i, and sets w to these, times the gain where there is one.
func (s Solution) termAt(f, w []float64, i int) float64 {
	y, own := s.Labels.Values.Row(i), s.Outputs.Row(i)
	if s.Labels.Form != Gain {
		loss := targets(s.Labels.Loss)
		loss.dual(w, w, y, own)
		return loss.apart(0, f, own)
	}
	margin := MarginOf(s.Labels.Loss)
	alpha, _ := margin.Slope(float64(y[0] * own[0]))
	if s.Labels.Loss == HingeLoss && y[0] != 0 {
		// At the kink only the coefficients know it.
		alpha = max(0, min(1, s.Lambda*s.C.Row(i)[0]/y[0]))
	}
	w[0] = float64(alpha * y[0])
	return margin.Residual(float64(y[0]*f[0]), alpha)
}

// FenchelYoung returns the sum of all h_i at outputs f, for the dual variables that
// belong to the outputs own, both [n, K]. It is for targets, which drop out.
func FenchelYoung(loss Loss, f, own tensor.Mat[float64]) float64 {
	sum := 0.0
	for i := range f.Rows {
		sum = targets(loss).apart(sum, f.Row(i), own.Row(i))
	}
	return sum
}

// SplitGap returns the gap, given the sum of all h_i and |R|^2.
func SplitGap(terms, norm2, lambda float64) float64 { return terms + normTerm(norm2, lambda) }

// normTerm is (lambda/2) |R|^2.
func normTerm(norm2, lambda float64) float64 { return float64(lambda / 2 * norm2) }

// gradientTerm is the gap where alpha is -grad l at Theta itself. All h_i are zero then,
// lambda R is the gradient of P, and (lambda/2) |R|^2 = |lambda R|^2 / (2 lambda). For
// Theta = C'A, known by K = A A' alone, lambda R = V'A with V = lambda C - W, and
// |lambda R|^2 = tr(V'K V).
func gradientTerm(norm2, lambda float64) float64 { return norm2 / (2 * lambda) }

// termsAt returns the sum of the losses of the margins y f, and that of all h_i for dual
// variables alpha. At Theta(alpha), where R is zero, the latter is the gap.
func termsAt(l Margin, y, f, alpha []float64) (losses, terms float64) {
	for i, a := range alpha {
		m := float64(y[i] * f[i])
		losses += l.Value(m)
		terms += l.Residual(m, a)
	}
	return losses, terms
}

// prove completes a solution whose Norm2 is known, from the sum of its losses and
// its gap: P, D = P - G, and the gap relative to P.
func (s *Solution) prove(losses, gap, lambda float64) {
	s.Primal = losses + normTerm(s.Norm2, lambda)
	s.Dual = s.Primal - gap
	s.Gap = gap / max(math.Abs(s.Primal), 1)
}
