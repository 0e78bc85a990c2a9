package dgkip

import (
	"context"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/teacher"
	"dgkip/harness/tensor"
)

// algorithm1 is Algorithm 1 of the paper. The pair chooses the dual variables; nil means the
// loss's own.
//
//	Step 1   train Theta_O on the real data O, once
//	Step 2   initialise S: images X and label parameters q
//	         repeat:
//	Step 3   compute the dual variables alpha from the margins of S under Theta_O
//	Step 4   move X and q along the gradient of G_S(Theta_O, alpha)
func (l Learning) algorithm1(ctx context.Context, p method.Problem, name string, loss convex.Loss, pair convex.Pair, observe func(method.Step)) (*method.Distilled, error) {
	r, outputs := l.newRun(p, name), teacher.Outputs(len(p.Data.Classes))

	// Step 1.
	if err := r.train(ctx, loss); err != nil {
		return nil, err
	}
	// Step 2.
	if err := r.initialise(ctx, false); err != nil {
		return nil, err
	}
	r.learn(l.first(r.of, outputs), l.rate())
	// Steps 3 and 4, repeated: gap.eval, then a step of AdaBelief.
	r.obj = l.gap(r, loss, pair, outputs)
	return r.distill(ctx, observe)
}

// eval computes Step 3, and the gradient for Step 4. It returns the gap, stores its gradient with
// respect to q in dq, and pulls the gradient with respect to X back through the view.
func (g *gap) eval(_ context.Context, view convex.View, q, dq tensor.Mat[float64]) (float64, error) {
	g.labels.Values = g.learned.labels(g.labels.Loss, view, q)
	var dlabels *tensor.Mat[float64]
	if dq.Rows > 0 {
		dlabels = &dq
	}
	g.v = g.gap.Eval(view, g.labels.Values, dlabels) // alpha, G and dG, Theorem 3.2: convex/gap.go
	g.learned.gradient(dq)
	// d log G = dG/G. Where G is zero, so is its gradient.
	if g.log && g.v.Gap > 0 {
		view.Scale(1 / g.v.Gap)
		for i := range dq.Data {
			dq.Data[i] *= 1 / g.v.Gap
		}
	}
	return g.v.Gap, nil
}
