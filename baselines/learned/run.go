package learned

import (
	"context"
	"slices"
	"strconv"

	"dgkip/harness/augment"
	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/nn"
	"dgkip/harness/optim"
	"dgkip/harness/rng"
	"dgkip/harness/teacher"
	"dgkip/harness/tensor"
)

// run is a distillation in progress. Random numbers come from streams named by the update or turn.
type run struct {
	m         *Learned
	p         method.Problem
	strategy  augment.Strategy
	begin     *method.Distilled // the initial images
	images    *optim.Variable[float32]
	variables []method.Variable        // images and labels, as updates change them
	labels    *optim.Variable[float64] // [n, K]
	targets   []float32                // of the networks' training, [n, C]
	pool      *pool
	body      *nn.Net[float32]
	parts     *nn.Parts[float32]

	x, dx, reals, a, da []float32
}

func newRun(p method.Problem, m *Learned) (*run, error) {
	train, classes := p.Data.Train, len(p.Data.Classes)
	r := &run{m: m, p: p}
	var err error
	if r.strategy, err = augment.Matching(m.Augment, p.Data.Characters); err != nil {
		return nil, err
	}
	if r.begin, err = method.Start(p, m.Start, r.stream("start", 0)); err != nil {
		return nil, err
	}
	net, err := m.shape(p.Model).Net(train.H, train.W, train.C, classes)
	if err != nil {
		return nil, err
	}
	r.body = net.Body()
	r.parts = r.body.NewParts()
	r.images = optim.NewVariable("images", slices.Clone(r.begin.Images), optim.AdaBelief(m.Rate, 0.9, 0.999))
	r.labels = optim.NewVariable("labels", teacher.Signs(r.begin.Of, classes).Data, optim.AdaBelief(m.Rate, 0.9, 0.999))
	r.variables = []method.Variable{r.images, r.labels}
	if m.Colours {
		if r.variables[0], err = newColoured(p, r.images, r.begin); err != nil {
			return nil, err
		}
	}
	r.targets = make([]float32, r.begin.Len()*classes)
	data := nn.Data[float32]{N: r.begin.Len(), X: r.images.X, Targets: r.targets, Augment: r.strategy.Training(train.H, train.W, train.C)}
	r.pool, err = newPool(m, net, data, p.Seed)
	return r, err
}

func (r *run) stream(purpose string, number int) *rng.Rand {
	return rng.Stream(r.p.Seed, "learned", purpose, strconv.Itoa(number))
}

// y returns the labels, [n, K].
func (r *run) y() tensor.Mat[float64] {
	return tensor.MatOf(r.labels.X, r.begin.Len(), teacher.Outputs(len(r.begin.Classes)))
}

// prepare gives a network its turn if it is due, and computes features of real images if the network
// of the next update has none.
func (r *run) prepare(_ context.Context, update int) error {
	if update > 0 && update%r.m.Every == 0 {
		copy(r.targets, teacher.SoftTargets(r.y(), len(r.begin.Classes), 2))
		if err := r.pool.turn(update / r.m.Every); err != nil {
			return err
		}
	}
	r.chosen(update)
	return nil
}

// chosen returns the network of an update, with features of real images.
func (r *run) chosen(update int) *network {
	one := &r.pool.nets[update%len(r.pool.nets)]
	if one.real.Rows > 0 {
		return one
	}
	train := r.p.Data.Train
	drawn := r.stream("real", one.Turn).Perm(train.Len())[:r.m.batch(train.Len())]
	r.reals = r.reals[:0]
	of := make([]int, len(drawn))
	for i, j := range drawn {
		r.reals = append(r.reals, train.At(j)...)
		of[i] = train.Labels[j]
	}
	one.real = tensor.NewMat[float32](len(drawn), r.body.Classes())
	r.parts.Outputs(one.real.Data, one.theta[:r.body.Params()], r.reals, len(drawn))
	classes := len(r.begin.Classes)
	one.labels = teacher.RealLabels(of, classes, r.m.loss(classes))
	return one
}

// gradient sets the gradients of L with respect to images and labels, and returns L.
func (r *run) gradient(_ context.Context, update int) (float64, error) {
	one, d, n := r.chosen(update), r.begin, r.begin.Len()
	draw := r.strategy.Draw(r.stream("augment", update), d.H, d.W)
	x, dx := tensor.Grow(&r.x, len(r.images.X)), tensor.Grow(&r.dx, len(r.images.X))
	augment.Apply(draw, x, r.images.X, n, d.H, d.W, d.C)
	dim := r.body.Classes()
	a, da := tensor.MatOf(tensor.Grow(&r.a, n*dim), n, dim), tensor.MatOf(tensor.Grow(&r.da, n*dim), n, dim)
	r.parts.Outputs(a.Data, one.theta[:r.body.Params()], x, n)
	y := r.y()
	m, err := convex.Ridge{Jitter: r.m.Jitter}.Fit(convex.Features{A: a, Real: one.real, Grad: &da}, y, one.labels, tensor.MatOf(r.labels.Grad, n, y.Cols))
	if err != nil {
		return 0, err
	}
	r.parts.Pull(dx, da.Data)
	augment.Adjoint(draw, r.images.Grad, dx, n, d.H, d.W, d.C)
	return m.Loss, nil
}

// set returns the current set, with the labels of the regression.
func (r *run) set() *method.Distilled {
	d := r.begin.With(r.images.X, nil)
	teacher.SetLabels(d, convex.Values(r.y()))
	return d
}
