package convex

import (
	"context"
	"fmt"

	"dgkip/harness/tensor"
)

// leastGap is the relative gap to which Least solves. It is small because the gradient is
// exact only at the minimum. The softmax loss on sets that softmaxNewton does not suit is solved
// to roughGap by a first-order method, so that its gradient is less exact.
const leastGap, roughGap = 1e-8, 1e-4

// Least returns the model in the span of the features A that minimises the regularised
// loss on the N real images,
//
//	V = (1/N) P_O(C'A) = (1/N) [ sum_j l_j(C'A phi_j) + (lambda/2) tr C'K C ],
//
// with the labels and lambda of the real problem. Theorem 3.2, with the roles of the two
// problems exchanged, bounds the distance from Theta_O:
//
//	|C'A - Theta_O|^2 <= (2/lambda) (N V - D_O),   D_O the real problem's dual value.
//
// Least also pulls back the gradient of V. Because C minimises V, C can be held constant in this
// gradient, whose row i is
//
//	sum_k c_ik [ (1/N) sum_j l'_jk phi_j + (lambda/N) (C'A)_k ].
//
// With K = L L', Least calls Solve on the features L^-1 A Phi'. The solution is z = L'C.
func Least(ctx context.Context, view View, labels Labels, lambda float64) (Nearest, error) {
	k, cross := view.Gram(), view.Cross()
	n, images := cross.Rows, cross.Cols
	if labels.Loss != LogisticLoss && labels.Loss != SoftmaxLoss {
		return Nearest{}, fmt.Errorf("convex: the real loss is solved for the logistic and the softmax loss, not for the %s loss", labels.Loss)
	}
	l, err := factorise(k)
	if err != nil {
		return Nearest{}, err
	}
	b := tensor.NewMat[float32](images, n) // (L^-1 A Phi')'
	tensor.Parallel(images, func(j int) {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(cross.Row(i)[j])
		}
		for i, v := range l.forward(x) {
			b.Row(j)[i] = float32(v)
		}
	})
	tol := leastGap
	if labels.Loss == SoftmaxLoss && !softmaxNewtonSuits(images, n, labels.Values.Cols) {
		tol = roughGap
	}
	fit, err := Solve(ctx, Problem{Features: b, Labels: labels, Lambda: lambda}, tol)
	if err != nil {
		return Nearest{}, err
	}
	s := Nearest{C: columns(fit.Weights.Transposed(), n, l.backward)}
	s.finish(view, k)
	s.Value = fit.Primal / float64(images)
	e, inSpan := slopes(labels, fit.Outputs), times(lambda/float64(images), s.C)
	view.PullReal(s.C, times(1/float64(images), e), &inSpan)
	return s, nil
}

// slopes returns the derivatives [K, N] of the losses at outputs f [N, K].
func slopes(labels Labels, f tensor.Mat[float64]) tensor.Mat[float64] {
	out := tensor.NewMat[float64](f.Cols, f.Rows)
	p := make([]float64, f.Cols)
	for j := range f.Rows {
		y := labels.Values.Row(j)
		if labels.Form == Gain {
			a, _ := marginOf(labels.Loss).Slope(float64(y[0] * f.Row(j)[0]))
			out.Row(0)[j] = -float64(a * y[0])
			continue
		}
		targets(labels.Loss).mean(p, f.Row(j))
		for k := range p {
			out.Row(k)[j] = p[k] - y[k]
		}
	}
	return out
}
