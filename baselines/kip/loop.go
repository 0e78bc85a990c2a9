package kip

import (
	"context"
	"math"
	"slices"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/optim"
	"dgkip/harness/rng"
	"dgkip/harness/teacher"
	"dgkip/harness/tensor"
)

// run is a distillation under way.
type run struct {
	*KIP
	src    *source
	exact  *exact            // in place of src's features, in an exact kernel
	begin  *method.Distilled // the initial images
	lambda float64           // lambda_S

	phi, dphi  tensor.Mat[float32]
	images, dx []float32
	labels     tensor.Mat[float64] // learned or fixed, [n, k]; none if solved
	dlabels    tensor.Mat[float64] // none unless learned
	zero       tensor.Mat[float64] // [k, M], if solved
	variables  []method.Variable
	model      model // on the images as they are
}

// Distill implements method.Method.
func (m *KIP) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	r, err := m.newRun(ctx, p)
	if err != nil {
		return nil, method.Stopped(ctx, p, err)
	}
	return method.Descent{
		Name: "kip", Updates: m.Updates, Variables: r.variables,
		Eval: r.eval, Gradient: r.gradient, Set: r.set, Metrics: r.metrics,
	}.Run(ctx, p, observe)
}

func (m *KIP) newRun(ctx context.Context, p method.Problem) (*run, error) {
	src, err := newSource(ctx, p, m)
	if err != nil {
		return nil, err
	}
	begin, err := method.Start(p, m.Start, rng.Stream(p.Seed, "kip", "start"))
	if err != nil {
		return nil, err
	}
	n := begin.Len()
	r := &run{
		KIP: m, src: src, begin: begin, lambda: float64(n) * m.Lambda,
		phi: tensor.NewMat[float32](n, src.dim()), dphi: tensor.NewMat[float32](n, src.dim()),
	}
	move, err := optim.NewVariable("images", slices.Clone(begin.Images), optim.NewAdaBelief[float32], optim.AdaBeliefConfig{LR: m.Rate})
	if err != nil {
		return nil, err
	}
	r.images, r.dx, r.variables = move.X, move.Grad, append(r.variables, move)
	if p.Model.Exact() {
		if r.exact, err = newExact(ctx, p, m, r.images); err != nil {
			return nil, err
		}
	}
	if m.Labels == "solved" {
		r.zero = tensor.NewMat[float64](src.targets.Cols, src.dim())
	} else {
		r.labels = teacher.Signs(begin.Of, len(begin.Classes))
	}
	if m.Labels == "learned" {
		relabel, err := optim.NewVariable("labels", r.labels.Data, optim.NewAdaBelief[float64], optim.AdaBeliefConfig{LR: m.LabelRate})
		if err != nil {
			return nil, err
		}
		r.dlabels = tensor.MatOf(relabel.Grad, n, r.labels.Cols)
		r.variables = append(r.variables, relabel)
	}
	return r, nil
}

// eval takes the model on the images as they are, and gradients if they are wanted:
// those in the labels, and in the images' features.
func (r *run) eval(ctx context.Context, update int, gradient bool) (float64, error) {
	if r.exact != nil {
		var err error
		r.model, err = r.exact.eval(r, update, gradient)
		return r.model.Loss, err
	}
	if err := r.src.draw(ctx, update); err != nil {
		return 0, err
	}
	r.src.pass.Forward(r.phi, r.images)
	dphi := &r.dphi
	if !gradient {
		dphi = nil
	}
	var err error
	if r.Labels == "solved" {
		r.model, err = solve(r.phi, r.src.phi, r.lambda, r.src.y, r.zero, dphi)
	} else {
		r.model, err = r.ridge().fit(r.phi, r.src.phi, r.labels, r.src.y, dphi, r.dlabels)
	}
	return r.model.Loss, err
}

func (r *run) ridge() ridge {
	if r.Jitter == 0 {
		return ridge{Fixed: r.lambda}
	}
	return ridge{Jitter: r.Jitter}
}

// gradient carries that in the features on to the images.
func (r *run) gradient(context.Context, int) (float64, error) {
	if r.exact != nil {
		r.exact.pass.Back(r.dx)
		return 0, nil
	}
	r.src.pass.Backward(r.dx, r.dphi)
	return 0, nil
}

// metrics makes a line of the trace.
func (r *run) metrics() map[string]float64 {
	var loss, norm float64
	var outputs tensor.Mat[float64]
	labels := r.src.labels
	if r.exact != nil {
		loss, outputs, norm = r.exact.known(r.model)
	} else {
		phi, targets, of := r.src.known()
		outputs = tensor.NewMat[float64](targets.Rows, targets.Cols)
		loss, norm, labels = r.model.errors(phi, targets, nil, &outputs), convex.Norm(r.model.Theta), of
	}
	line := map[string]float64{
		"train_loss": loss,
		"train_acc":  1 - float64(teacher.Errors(outputs, labels))/float64(len(labels)),
		"norm":       norm,
	}
	least, most := math.Inf(1), math.Inf(-1)
	for _, y := range r.model.Labels.Data {
		least, most = min(least, y), max(most, y)
	}
	line["label_min"], line["label_max"] = least, most
	return line
}

// set returns the set as it stands.
func (r *run) set() *method.Distilled {
	d := r.begin.With(r.images, nil)
	teacher.SetLabels(d, convex.Labels{Form: convex.Value, Loss: convex.SquaredLoss, Values: r.model.Labels})
	return d
}
