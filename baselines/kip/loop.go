package kip

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"math"

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
	problem method.Problem
	src     *source
	of      []int
	lambda  float64 // lambda_S

	phi, dphi tensor.Mat[float32]
	images    []float32
	dx        []float32
	labels    tensor.Mat[float64] // learned or fixed, [n, k]; none if solved
	dlabels   tensor.Mat[float64] // none unless learned
	zero      tensor.Mat[float64] // [k, M], if solved
	move      *optim.AdaBelief[float32]
	relabel   *optim.AdaBelief[float64] // nil unless learned
	model     model                     // on the images as they are

	update int
	seen   bool // the observer has seen this update
}

// state is what a run needs to go on.
type state struct {
	Update        int
	Seen          bool
	Images        []float32
	Labels        []float64
	Move, Relabel []byte
}

// Distill implements method.Method.
func (m *KIP) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	r, err := m.newRun(ctx, p)
	if err != nil {
		if ctx.Err() != nil { // before anything new was made
			return nil, &method.Interrupted{Checkpoint: p.Resume, Cause: context.Cause(ctx)}
		}
		return nil, err
	}
	return r.distill(ctx, observe)
}

func (m *KIP) newRun(ctx context.Context, p method.Problem) (*run, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	src, err := newSource(ctx, p, m)
	if err != nil {
		return nil, err
	}
	images, of, err := m.start(p)
	if err != nil {
		return nil, err
	}
	n := len(of)
	r := &run{
		KIP: m, problem: p, src: src, of: of, lambda: float64(n) * m.Lambda,
		phi: tensor.NewMat[float32](n, src.dim()), dphi: tensor.NewMat[float32](n, src.dim()),
		images: images, dx: make([]float32, len(images)),
	}
	if r.move, err = optim.NewAdaBelief[float32](len(images), optim.AdaBeliefConfig{LR: m.Rate}); err != nil {
		return nil, err
	}
	if m.Labels == "solved" {
		r.zero = tensor.NewMat[float64](src.targets.Cols, src.dim())
	} else {
		r.labels = teacher.Signs(of, len(p.Data.Classes))
	}
	if m.Labels == "learned" {
		r.dlabels = tensor.NewMat[float64](n, r.labels.Cols)
		if r.relabel, err = optim.NewAdaBelief[float64](len(r.labels.Data), optim.AdaBeliefConfig{LR: m.LabelRate}); err != nil {
			return nil, err
		}
	}
	if p.Resume != nil {
		if err := r.restore(p.Resume); err != nil {
			return nil, fmt.Errorf("checkpoint of kip: %w", err)
		}
	}
	return r, nil
}

// start returns the first images and what class each stands for: random training
// images, or standard normal values in the units networks see.
func (m *KIP) start(p method.Problem) ([]float32, []int, error) {
	stream := rng.Stream(p.Seed, "kip", "start")
	if m.Start == "real" {
		d, err := method.Choose(p, stream)
		if err != nil {
			return nil, nil, err
		}
		return d.Images, d.Of, nil
	}
	d := method.Noise(p, stream)
	return d.Images, d.Of, nil
}

// distill makes the updates.
func (r *run) distill(ctx context.Context, observe func(method.Step)) (*method.Distilled, error) {
	for {
		if ctx.Err() != nil {
			state, err := r.checkpoint()
			if err != nil {
				return nil, err
			}
			return nil, &method.Interrupted{Checkpoint: state, Cause: context.Cause(ctx)}
		}
		last := r.update == r.Updates
		if err := r.fit(ctx, !last); err != nil {
			if ctx.Err() != nil {
				continue
			}
			return nil, fmt.Errorf("update %d: %w", r.update, err)
		}
		if !r.seen {
			r.seen = true
			observe(method.Step{
				Update: r.update, Of: r.Updates, Loss: r.model.Loss,
				Metrics: r.metrics, Distilled: r.set, Checkpoint: r.checkpoint,
			})
		}
		if last {
			return r.set(), nil
		}
		if ctx.Err() != nil {
			continue
		}
		r.step()
		r.update, r.seen = r.update+1, false
	}
}

// step moves images and labels along the gradients that fit took.
func (r *run) step() {
	r.src.pass.Backward(r.dx, r.dphi)
	r.move.Step(r.images, r.dx)
	if r.relabel != nil {
		r.relabel.Step(r.labels.Data, r.dlabels.Data)
	}
}

// fit takes the model on the images as they are, and gradients if they are wanted.
func (r *run) fit(ctx context.Context, gradients bool) (err error) {
	if err := r.src.draw(ctx, r.update); err != nil {
		return err
	}
	r.src.pass.Forward(r.phi, r.images)
	dphi := &r.dphi
	if !gradients {
		dphi = nil
	}
	if r.Labels == "solved" {
		r.model, err = solve(r.phi, r.src.phi, r.lambda, r.src.y, r.zero, dphi)
		return err
	}
	s := ridge{Jitter: r.Jitter}
	if r.Jitter == 0 {
		s.Fixed = r.lambda
	}
	r.model, err = s.fit(r.phi, r.src.phi, r.labels, r.src.y, dphi, r.dlabels)
	return err
}

// metrics makes a line of the trace.
func (r *run) metrics() map[string]float64 {
	phi, targets, labels := r.src.known()
	line := map[string]float64{
		"train_loss": r.model.errors(phi, targets, nil),
		"train_acc":  1 - float64(teacher.Errors(r.model.outputs(phi), labels))/float64(len(labels)),
		"norm":       teacher.Norm(r.model.Theta),
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
	t, y := r.problem.Data.Train, r.model.Labels
	d := &method.Distilled{
		H: t.H, W: t.W, C: t.C, Images: append([]float32(nil), r.images...), Of: append([]int(nil), r.of...),
		Kind: method.Value, Loss: string(convex.SquaredLoss), Classes: r.problem.Data.Classes, Prep: r.problem.Data.Prep,
		Labels: make([]float32, len(y.Data)),
		Extra: map[string]method.Array{
			teacher.ExactLabels: {Shape: []int{y.Rows, y.Cols}, Data: append([]float64(nil), y.Data...)},
		},
	}
	narrow(d.Labels, y.Data)
	return d
}

func (r *run) checkpoint() ([]byte, error) {
	s := state{Update: r.update, Seen: r.seen, Images: r.images, Labels: r.labels.Data}
	var err error
	if s.Move, err = r.move.MarshalBinary(); err != nil {
		return nil, err
	}
	if r.relabel != nil {
		if s.Relabel, err = r.relabel.MarshalBinary(); err != nil {
			return nil, err
		}
	}
	var b bytes.Buffer
	err = gob.NewEncoder(&b).Encode(s)
	return b.Bytes(), err
}

func (r *run) restore(from []byte) error {
	var s state
	if err := gob.NewDecoder(bytes.NewReader(from)).Decode(&s); err != nil {
		return err
	}
	if len(s.Images) != len(r.images) || len(s.Labels) != len(r.labels.Data) {
		return fmt.Errorf("it holds %d values of images and %d of labels, not %d and %d", len(s.Images), len(s.Labels), len(r.images), len(r.labels.Data))
	}
	if s.Update < 0 || s.Update > r.Updates {
		return fmt.Errorf("it is of update %d, and the run has %d", s.Update, r.Updates)
	}
	if err := r.move.UnmarshalBinary(s.Move); err != nil {
		return err
	}
	if r.relabel != nil {
		if err := r.relabel.UnmarshalBinary(s.Relabel); err != nil {
			return err
		}
	}
	copy(r.images, s.Images)
	copy(r.labels.Data, s.Labels)
	r.update, r.seen = s.Update, s.Seen
	return nil
}
