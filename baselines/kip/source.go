package kip

import (
	"context"
	"strconv"

	"dgkip/harness/features"
	"dgkip/harness/method"
	"dgkip/harness/rng"
	"dgkip/harness/teacher"
	"dgkip/harness/tensor"
)

// source has the features of an update: of the set, by its pass, and of the real
// images that the loss is taken over.
type source struct {
	problem method.Problem
	model   method.Model
	batch   int  // real images in an update
	fresh   bool // networks, for every update

	targets tensor.Mat[float64] // of all real images, [N, k]
	all     tensor.Mat[float32] // their features, [N, M]; none where networks are fresh

	// Of the update drawn last.
	pass   *features.Pass
	phi    tensor.Mat[float32] // [batch, M]
	y      tensor.Mat[float64]
	labels []int
}

func newSource(ctx context.Context, p method.Problem, m *KIP) (*source, error) {
	train := p.Data.Train
	s := &source{
		problem: p, model: m.model(p.Model), batch: m.size(train.Len()), fresh: m.Resample,
		targets: teacher.Signs(train.Labels, len(p.Data.Classes)),
	}
	s.y, s.labels = s.targets, train.Labels
	if p.Model.Exact() {
		return s, nil
	}
	if !s.fresh {
		all := teacher.Of(p)
		fm, err := all.Map()
		if err != nil {
			return nil, err
		}
		s.pass = fm.NewPass()
		if s.all, err = all.Features(ctx); err != nil {
			return nil, err
		}
		s.phi = s.all
	}
	if s.fresh || s.batch < train.Len() {
		s.phi = tensor.NewMat[float32](s.batch, s.dim())
	}
	return s, nil
}

// dim is the number of features.
func (s *source) dim() int {
	return teacher.Dim(s.model, s.problem.Data.Train.H, s.problem.Data.Train.W)
}

// draw makes the features of an update. They are a function of the seed and the
// update alone.
func (s *source) draw(ctx context.Context, update int) error {
	train, at := s.problem.Data.Train, strconv.Itoa(update)
	chosen := make([]int, train.Len())
	for i := range chosen {
		chosen[i] = i
	}
	if s.batch < train.Len() {
		chosen = batch(s.problem.Seed, update, train.Len(), s.batch)
		s.y, s.labels = tensor.NewMat[float64](s.batch, s.targets.Cols), make([]int, s.batch)
		for i, j := range chosen {
			copy(s.y.Row(i), s.targets.Row(j))
			s.labels[i] = train.Labels[j]
		}
		if !s.fresh {
			tensor.Parallel(s.batch, func(i int) { copy(s.phi.Row(i), s.all.Row(chosen[i])) })
		}
	}
	if !s.fresh {
		return nil
	}
	fm, err := features.New(teacher.Config(s.model, train.H, train.W, train.C), s.problem.Seed, "kip", "features", s.problem.Data.Name, at)
	if err != nil {
		return err
	}
	s.pass = fm.NewPass()
	images := make([]float32, 0, s.batch*train.Size())
	for _, j := range chosen {
		images = append(images, train.At(j)...)
	}
	return fm.Features(ctx, s.phi, images, nil)
}

// batch returns the real images of an update, size of n.
func batch(seed uint64, update, n, size int) []int {
	return rng.Stream(seed, "kip", "batch", strconv.Itoa(update)).Perm(n)[:size]
}

// known returns the features, targets and labels that a model is described by: of
// all real images where there are any, or else of the update's.
func (s *source) known() (tensor.Mat[float32], tensor.Mat[float64], []int) {
	if s.fresh {
		return s.phi, s.y, s.labels
	}
	return s.all, s.targets, s.problem.Data.Train.Labels
}
