package dgkip

import (
	"context"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/teacher"
	"dgkip/harness/tensor"
)

// Distill implements method.Method.
func (m *LR) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	return m.algorithm1(ctx, p, "dgkip-lr", convex.LogisticLoss, nil, observe)
}

// Distill implements method.Method.
func (m *SVM) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	return m.algorithm1(ctx, p, "dgkip-svm", convex.HingeLoss, convex.Gains(convex.Hinge{Temperature: m.Temperature}), observe)
}

// Distill implements method.Method.
func (m *Softmax) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	return m.algorithm1(ctx, p, "dgkip-softmax", convex.SoftmaxLoss, nil, observe)
}

// algorithm1 is Algorithm 1 of the paper, for the dual variables of a pair; nil stands for
// the loss's own.
func (l Learning) algorithm1(ctx context.Context, p method.Problem, name string, loss convex.Loss, pair convex.Pair, observe func(method.Step)) (*method.Distilled, error) {
	r, outputs := l.newRun(p, name), teacher.Outputs(len(p.Data.Classes))

	// Step 1. Train on O: Theta_O, once.
	if err := r.train(ctx, loss); err != nil {
		return nil, err
	}
	// Step 2. Initialise S: its images, and what is learned of its labels.
	if err := r.initialise(ctx, false); err != nil {
		return nil, err
	}
	if err := r.learn(l.first(r.of, outputs), l.rate()); err != nil {
		return nil, err
	}
	// Repeat Steps 3 and 4: gap.eval, and a step of AdaBelief along its gradient.
	r.obj = l.gap(r, loss, pair, outputs)
	return r.distill(ctx, observe)
}

// eval does Steps 3 and 4 at S as a view shows it: the dual variables alpha at the outputs
// of Theta_O, the gap G_S(Theta_O, alpha), and its gradient in features and labels.
func (g *gap) eval(_ context.Context, view convex.View, q, dq tensor.Mat[float64]) (scale float64, err error) {
	g.labels.Values = g.learned.labels(g.labels.Loss, view, q)
	var dlabels *tensor.Mat[float64]
	if dq.Rows > 0 {
		dlabels = &dq
	}
	g.v = g.gap.Eval(view, g.labels.Values, dlabels) // Theorem 3.2: convex/gap.go
	if dlabels != nil {
		g.learned.gradient(dq)
	}
	// The gradient of log G is that of G over G. Where G is zero so is its gradient.
	if g.log && g.v.Gap > 0 {
		return 1 / g.v.Gap, nil
	}
	return 1, nil
}

// gap is the objective: G or its logarithm, with labels in the unit that is asked for.
func (l Learning) gap(r *run, loss convex.Loss, pair convex.Pair, outputs int) *gap {
	o := &gap{
		norm: r.norm, log: l.Objective == "log-gap",
		labels: convex.Labels{Form: convex.Gain, Loss: loss}, learned: l.units(r, outputs),
	}
	if l.targets(outputs) {
		o.labels.Form = convex.Target
	}
	if pair == nil {
		pair = o.labels.Pair()
	}
	// Dual variables that are learned do not depend on the features.
	o.gap = convex.Gap{Pair: pair, Lambda: r.lambda, Detach: l.Alpha == "detached" || l.Labels == "dual"}
	return o
}
