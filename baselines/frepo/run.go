package frepo

import (
	"context"
	"math"
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

// run is a distillation in progress. Random numbers come from streams named by the update.
type run struct {
	m         *FRePo
	p         method.Problem
	mirror    bool
	begin     *method.Distilled // the initial images
	images    *optim.Variable[float32]
	labels    *optim.Variable[float64] // [n, C]; constant if labels are fixed
	variables []method.Variable
	pool      *pool
	regress   *regression

	x, y   []float32           // copy of the set that a network is trained on
	reals  []float32           // real images of an update
	wanted tensor.Mat[float64] // targets of the real images
}

func newRun(p method.Problem, m *FRePo) (*run, error) {
	train, classes := p.Data.Train, len(p.Data.Classes)
	r := &run{m: m, p: p, mirror: m.Mirror && train.C == 3 && !p.Data.Characters}
	net, err := m.shape(p.Model).Net(train.H, train.W, train.C, classes)
	if err != nil {
		return nil, err
	}
	if r.begin, err = method.Start(p, m.Start, rng.Stream(p.Seed, "frepo", "start")); err != nil {
		return nil, err
	}
	r.images = optim.NewVariable("images", slices.Clone(r.begin.Images), optim.LAMB(m.Rate, 0.9, 0.999))
	r.labels = optim.NewVariable("labels", firstLabels(r.begin.Of, classes), optim.LAMB(m.Rate, 0.9, 0.999))
	r.variables = []method.Variable{r.images}
	if m.Labels == "learned" {
		r.variables = append(r.variables, r.labels)
	}
	r.pool = newPool(net, m.Pool, m.Life, m.NetRate, p.Seed)
	r.regress = &regression{body: net.Body(), parts: net.Body().NewParts(), jitter: m.Jitter}
	r.wanted = tensor.NewMat[float64](m.batch(train.Len()), classes)
	return r, nil
}

// centred sets row to the target of a class: one-hot minus 1/C.
func centred(row []float64, class int) {
	for k := range row {
		row[k] = -1 / float64(len(row))
	}
	row[class]++
}

// firstLabels returns the initial labels: centred targets over sqrt(C/10).
func firstLabels(of []int, classes int) []float64 {
	y := tensor.NewMat[float64](len(of), classes)
	for i, class := range of {
		centred(y.Row(i), class)
	}
	for i := range y.Data {
		y.Data[i] /= math.Sqrt(float64(classes) / 10)
	}
	return y.Data
}

func (r *run) stream(update int, purpose string) *rng.Rand {
	return rng.Stream(r.p.Seed, "frepo", purpose, strconv.Itoa(update))
}

// prepare trains the network of the last update for one step on the current set.
func (r *run) prepare(_ context.Context, update int) error {
	if update == 0 {
		return nil
	}
	n, size, k := r.begin.Len(), r.begin.Size(), r.wanted.Cols
	x, y := r.images.X, tensor.Grow(&r.y, n*k)
	for i, v := range r.labels.X {
		y[i] = float32(v)
	}
	if drawn := r.m.NetBatch; drawn < n {
		x = tensor.Grow(&r.x, drawn*size)
		of := slices.Clone(y)
		for i, j := range r.stream(update, "train").Perm(n)[:drawn] {
			copy(x[i*size:][:size], r.images.X[j*size:][:size])
			copy(y[i*k:][:k], of[j*k:][:k])
		}
		y, n = y[:drawn*k], drawn
	}
	return r.pool.trainOrReplace(update-1, x, y, n)
}

// gradient sets the gradients of L with respect to images and labels, and returns L.
func (r *run) gradient(_ context.Context, update int) (float64, error) {
	r.draw(update)
	theta := r.pool.theta(update)[:r.regress.body.Params()]
	loss, err := r.loss(r.regress, theta)
	if r.m.Labels == "learned" && r.m.Margin {
		loss += margin(tensor.MatOf(r.labels.X, r.begin.Len(), r.wanted.Cols), r.labels.Grad)
	}
	return loss, err
}

// draw draws the real images of an update.
func (r *run) draw(update int) {
	train := r.p.Data.Train
	r.reals = r.reals[:0]
	for i, j := range r.stream(update, "real").Perm(train.Len())[:r.wanted.Rows] {
		r.reals = append(r.reals, train.At(j)...)
		centred(r.wanted.Row(i), train.Labels[j])
	}
}

// loss sets the gradients of the first term of L, and returns the term. See regression.loss.
func (r *run) loss(g *regression, theta []float32) (float64, error) {
	n, k := r.begin.Len(), r.wanted.Cols
	if !r.mirror {
		return g.loss(theta, r.images.X, tensor.MatOf(r.labels.X, n, k), r.reals, r.wanted, r.images.Grad, tensor.MatOf(r.labels.Grad, n, k))
	}
	half, d := len(r.images.X), r.begin
	x, dx := tensor.Grow(&g.x, 2*half), tensor.Grow(&g.dx, 2*half)
	copy(x, r.images.X)
	augment.Apply(augment.Flip(), x[half:], r.images.X, n, d.H, d.W, d.C)
	y, dy := tensor.MatOf(slices.Repeat(r.labels.X, 2), 2*n, k), tensor.NewMat[float64](2*n, k)
	loss, err := g.loss(theta, x, y, r.reals, r.wanted, dx, dy)
	if err != nil {
		return 0, err
	}
	augment.Apply(augment.Flip(), r.images.Grad, dx[half:], n, d.H, d.W, d.C)
	tensor.Axpy(r.images.Grad, 1, dx[:half], r.images.Grad)
	for i := range r.labels.Grad {
		r.labels.Grad[i] = dy.Data[i] + dy.Data[n*k+i]
	}
	return loss, nil
}

// margin returns the second term of L, -(1/n) sum_j min(y_j(1) - y_j(2), 1/C), for labels y [n, C]. It
// adds the gradient to dy.
func margin(y tensor.Mat[float64], dy []float64) (loss float64) {
	n, most := float64(y.Rows), 1/float64(y.Cols)
	for i := range y.Rows {
		row, first, second := y.Row(i), 0, 1
		for k, v := range row {
			switch {
			case v > row[first]:
				first, second = k, first
			case k != first && v > row[second]:
				second = k
			}
		}
		ahead := row[first] - row[second]
		loss -= min(ahead, most) / n
		if ahead < most {
			dy[i*y.Cols+first] -= 1 / n
			dy[i*y.Cols+second] += 1 / n
		}
	}
	return loss
}

func (r *run) set() *method.Distilled {
	d := r.begin.With(r.images.X, nil)
	y := tensor.MatOf(r.labels.X, d.Len(), len(d.Classes))
	teacher.SetLabels(d, convex.Values(y))
	return d
}

// regression is ridge regression in the features of a network. Its memory grows to the largest batch and
// is reused.
type regression struct {
	body   *nn.Net[float32]
	parts  *nn.Parts[float32]
	jitter float64

	x, dx    []float32 // with mirror images
	a, b, da []float32 // features of the set and of real images, and the gradient of a
}

// loss returns (1/2N) |B A' (K + s I)^-1 Y - t|^2 in the features at the weights theta, for the set x
// with labels y and real images with targets t. It sets dx and dy to the gradients.
func (g *regression) loss(theta, x []float32, y tensor.Mat[float64], reals []float32, t tensor.Mat[float64], dx []float32, dy tensor.Mat[float64]) (float64, error) {
	b := g.features(&g.b, theta, reals, t.Rows)
	a := g.features(&g.a, theta, x, y.Rows)
	da := tensor.MatOf(tensor.Grow(&g.da, len(a.Data)), a.Rows, a.Cols)
	m, err := convex.Ridge{Jitter: g.jitter}.Fit(convex.Features{A: a, Real: b, Grad: &da}, y, convex.Values(t), dy)
	if err != nil {
		return 0, err
	}
	g.parts.Pull(dx, da.Data)
	return m.Loss, nil
}

// features returns the features of n images.
func (g *regression) features(buf *[]float32, theta, x []float32, n int) tensor.Mat[float32] {
	out := tensor.MatOf(tensor.Grow(buf, n*g.body.Classes()), n, g.body.Classes())
	g.parts.Outputs(out.Data, theta, x, n)
	return out
}
