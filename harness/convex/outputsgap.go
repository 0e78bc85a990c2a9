package convex

import (
	"dgkip/harness/tensor"
)

// SoftmaxGap is the duality gap of a model with K outputs on a synthetic set, for
// the softmax loss log sum_k e^f_k - p'f with real targets p, at the dual
// variables B_i = p_i - softmax(f_i). At these the Fenchel-Young terms are zero,
// and
//
//	G = (lambda/2) |Theta - B'A/lambda|^2.
//
// The conjugate asks for p_i - B_i in the simplex; softmax(f_i) is, whatever the
// targets are.
type SoftmaxGap struct {
	Lambda float64
	// Detach leaves B's dependence on the features out of their gradient. That on
	// the targets is the identity, and stays.
	Detach bool
}

// SquaredGap is SoftmaxGap for the squared loss |f - y|^2/2, with B_i = y_i - f_i.
type SquaredGap struct {
	Lambda float64
	Detach bool
}

// SoftmaxGapValue is a SoftmaxGap or a SquaredGap and what it is made of.
type SoftmaxGapValue struct {
	Gap      float64
	Residual tensor.Mat[float64] // R = Theta - B'A/lambda, [K, M]
	Norm2    float64             // |R|^2
	Outputs  tensor.Mat[float64] // [n, K]
	Alpha    tensor.Mat[float64] // B, [n, K]
}

// Bound returns that of the gap.
func (v SoftmaxGapValue) Bound(lambda float64) float64 { return Bound(v.Gap, lambda) }

// Eval returns the gap at theta [K, M] for features phi [n, M] and targets [n, K].
// Where dphi and dtargets are given, it sets them to the gap's gradients.
func (g SoftmaxGap) Eval(phi tensor.Mat[float32], theta, targets tensor.Mat[float64], dphi *tensor.Mat[float32], dtargets *tensor.Mat[float64]) SoftmaxGapValue {
	return outputsGap(g.Lambda, g.Detach, softmaxLink, phi, theta, targets, dphi, dtargets)
}

// Eval is that of SoftmaxGap.
func (g SquaredGap) Eval(phi tensor.Mat[float32], theta, targets tensor.Mat[float64], dphi *tensor.Mat[float32], dtargets *tensor.Mat[float64]) SoftmaxGapValue {
	return outputsGap(g.Lambda, g.Detach, nil, phi, theta, targets, dphi, dtargets)
}

// softmaxLink sets p to softmax(f), and v to its derivative along v.
func softmaxLink(p, f, v []float64) {
	Probabilities(p, f)
	mean := dot64(p, v)
	for k := range v {
		v[k] = p[k] * (v[k] - mean)
	}
}

// outputsGap is the gap for dual variables B_i = p_i - link(f_i); without a link,
// p_i - f_i. With q_i = R phi_i and the derivative H_i of the link its gradients
// are
//
//	dG/dphi_i = -R'B_i + Theta' H_i q_i,   dG/dp_i = -q_i.
func outputsGap(lambda float64, detach bool, link func(p, f, v []float64), phi tensor.Mat[float32], theta, targets tensor.Mat[float64], dphi *tensor.Mat[float32], dtargets *tensor.Mat[float64]) SoftmaxGapValue {
	n, outputs := phi.Rows, theta.Rows
	if theta.Cols != phi.Cols || outputs == 0 || targets.Rows != n || targets.Cols != outputs ||
		dphi != nil && (dphi.Rows != n || dphi.Cols != phi.Cols) || dtargets != nil && (dtargets.Rows != n || dtargets.Cols != outputs) {
		panic("convex: Eval: shapes do not fit")
	}
	if !(lambda > 0) {
		panic("convex: Eval: lambda must be positive")
	}
	v := SoftmaxGapValue{Outputs: outputsAt(phi, theta), Alpha: tensor.NewMat[float64](n, outputs)}
	p, none := make([]float64, outputs), make([]float64, outputs)
	for i := range n {
		copy(p, v.Outputs.Row(i))
		if link != nil {
			link(p, p, none)
		}
		for k, y := range targets.Row(i) {
			v.Alpha.Row(i)[k] = y - p[k]
		}
	}
	v.Residual = subtractSpan(theta, phi, times(1/lambda, v.Alpha))
	v.Norm2 = frobenius2(v.Residual)
	v.Gap = float64(lambda / 2 * v.Norm2)
	if dphi == nil && dtargets == nil {
		return v
	}
	q := outputsAt(phi, v.Residual)
	if dtargets != nil {
		for i := range n {
			copy(dtargets.Row(i), times(-1, tensor.MatOf(q.Row(i), 1, outputs)).Data)
		}
	}
	if dphi == nil {
		return v
	}
	if detach {
		outer(*dphi, times(-1, v.Alpha), v.Residual, nil, nil)
		return v
	}
	for i := 0; link != nil && i < n; i++ {
		link(p, v.Outputs.Row(i), q.Row(i))
	}
	outer(*dphi, times(-1, v.Alpha), v.Residual, &q, &theta)
	return v
}
