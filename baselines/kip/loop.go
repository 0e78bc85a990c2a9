package kip

import (
	"context"
	"slices"
	"strconv"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/optim"
	"dgkip/harness/rng"
	"dgkip/harness/space"
	"dgkip/harness/teacher"
	"dgkip/harness/tensor"
)

// run is a distillation in progress.
type run struct {
	*KIP
	problem method.Problem
	targets tensor.Mat[float64] // of all real images, [N, k]
	begin   *method.Distilled   // the initial images
	lambda  float64             // lambda_S
	pass    space.Pass          // with resample, of the current update

	images, dx []float32
	labels     tensor.Mat[float64] // learned or fixed, [n, k]; empty if solved
	dlabels    tensor.Mat[float64] // empty unless labels are learned
	variables  []method.Variable

	// These belong to the current images.
	at    int // updates so far
	model convex.Regression
	given tensor.Mat[float64] // the labels of the model
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
	begin, err := method.Start(p, m.Start, rng.Stream(p.Seed, "kip", "start"))
	if err != nil {
		return nil, err
	}
	r := &run{
		KIP: m, problem: p, begin: begin, lambda: float64(begin.Len()) * m.Lambda,
		targets: teacher.Signs(p.Data.Train.Labels, len(p.Data.Classes)),
	}
	move := optim.NewVariable("images", slices.Clone(begin.Images), optim.AdaBelief(m.Rate, 0.9, 0.999))
	r.images, r.dx, r.variables = move.X, move.Grad, append(r.variables, move)
	if !m.Resample {
		if r.pass, err = space.Of(p).Space().Learn(ctx, r.images, nil, true); err != nil {
			return nil, err
		}
	}
	if m.Labels != "solved" {
		r.labels = teacher.Signs(begin.Of, len(begin.Classes))
	}
	if m.Labels == "learned" {
		labels := optim.NewVariable("labels", r.labels.Data, optim.AdaBelief(m.LabelRate, 0.9, 0.999))
		r.dlabels = tensor.MatOf(labels.Grad, begin.Len(), r.labels.Cols)
		r.variables = append(r.variables, labels)
	}
	return r, nil
}

// eval fits the model on the current images and returns its loss. If gradient is true, it also computes
// the gradients with respect to the labels and the features of the images.
func (r *run) eval(ctx context.Context, update int, gradient bool) (float64, error) {
	r.at = update
	batch := r.batch(update)
	_, targets := r.real(batch)
	if r.Resample {
		if err := r.draw(ctx, update, batch); err != nil {
			return 0, err
		}
		batch = nil // all real images in the pass are the batch
	}
	view := r.pass.View(update, gradient, batch)
	if r.Labels != "solved" {
		var err error
		r.model, err = r.ridge().Fit(view, r.labels, convex.Values(targets), r.dlabels)
		r.given = r.labels
		return r.model.Loss, err
	}
	s, err := convex.Fit(view, targets)
	if err != nil {
		return 0, err
	}
	view.Scale(0.5) // Fit minimises twice the loss
	r.model, r.given = convex.Regression{C: s.C, Loss: s.Value / 2}, s.Labels(convex.SquaredLoss, r.lambda).Values
	return r.model.Loss, nil
}

func (r *run) ridge() convex.Ridge {
	if r.Jitter == 0 {
		return convex.Ridge{Fixed: r.lambda}
	}
	return convex.Ridge{Jitter: r.Jitter}
}

// batch returns the real images of an update, or nil for all. They depend on the seed and the update
// only.
func (r *run) batch(update int) []int {
	n := r.problem.Data.Train.Len()
	if size := r.size(n); size < n {
		return rng.Stream(r.problem.Seed, "kip", "batch", strconv.Itoa(update)).Perm(n)[:size]
	}
	return nil
}

// real returns the classes and targets of a batch of real images, or of all if batch is nil.
func (r *run) real(batch []int) (of []int, targets tensor.Mat[float64]) {
	all := r.problem.Data.Train.Labels
	if batch == nil {
		return all, r.targets
	}
	targets = tensor.NewMat[float64](len(batch), r.targets.Cols)
	tensor.GatherRows(targets, r.targets, batch)
	for _, i := range batch {
		of = append(of, all[i])
	}
	return of, targets
}

// draw draws networks for an update and computes the features of its real images.
func (r *run) draw(ctx context.Context, update int, batch []int) (err error) {
	of, data := space.Of(r.problem), *r.problem.Data
	if batch != nil {
		all := data.Train
		data.Train.X, data.Train.Labels = nil, nil
		for _, i := range batch {
			data.Train.X, data.Train.Labels = append(data.Train.X, all.At(i)...), append(data.Train.Labels, all.Labels[i])
		}
	}
	of.Data, of.Model, of.Shared, of.Phase = &data, r.KIP.model(of.Model), new(method.Shared), nil // shared by the set and the batch
	of.Draw = []string{"kip", "features", data.Name, strconv.Itoa(update)}
	r.pass, err = of.Space().Learn(ctx, r.images, nil, true)
	return err
}

// gradient propagates the gradient from the features to the images.
func (r *run) gradient(context.Context, int) (float64, error) {
	r.pass.Back(r.dx)
	return 0, nil
}

// metrics returns a line of the trace. It refers to all real images or, with resample, to the last batch.
func (r *run) metrics() map[string]float64 {
	of, targets := r.real(nil)
	if r.Resample {
		of, targets = r.real(r.batch(r.at))
	}
	loss, outputs, norm := r.model.Predict(r.pass.Whole(), convex.Values(targets))
	return map[string]float64{
		"train_loss": loss,
		"train_acc":  1 - float64(teacher.Errors(outputs, of))/float64(len(of)),
		"norm":       norm,
		"label_min":  slices.Min(r.given.Data),
		"label_max":  slices.Max(r.given.Data),
	}
}

func (r *run) set() *method.Distilled {
	d := r.begin.With(r.images, nil)
	teacher.SetLabels(d, convex.Values(r.given))
	return d
}
