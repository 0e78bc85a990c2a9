package kip

import (
	"context"
	"math"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/teacher"
	"dgkip/harness/tensor"
)

// exact is the regression in an exact kernel, which shows the set by K and K_ST alone.
type exact struct {
	pass    teacher.Pass
	targets tensor.Mat[float64] // of all real images, [N, k]
	labels  []int
	batch   int // real images in an update
}

func newExact(ctx context.Context, p method.Problem, m *KIP, images []float32) (*exact, error) {
	train := p.Data.Train
	pass, err := teacher.Of(p).NewPass(ctx, nil, images, true)
	return &exact{pass, teacher.Signs(train.Labels, len(p.Data.Classes)), train.Labels, m.size(train.Len())}, err
}

// eval is run.eval.
func (x *exact) eval(r *run, update int, gradient bool) (m model, err error) {
	var chosen []int
	y := x.targets
	if x.batch < len(x.labels) {
		chosen = batch(r.src.problem.Seed, update, len(x.labels), x.batch)
		y = tensor.NewMat[float64](x.batch, y.Cols)
		tensor.GatherRows(y, x.targets, chosen)
	}
	view := x.pass.View(update, gradient, chosen)
	if r.Labels != "solved" {
		return r.ridge().fitKernel(view.(convex.Kernel), r.labels, y, r.dlabels)
	}
	s, err := convex.Fit(view, y)
	if err != nil {
		return m, err
	}
	if gradient {
		x.pass.Scale(0.5) // the metric is twice the loss
	}
	return model{C: s.C, Labels: s.Labels(convex.SquaredLoss, r.lambda).Values, Loss: s.Value / 2}, nil
}

// known returns the loss, the outputs on all real images and the norm of a model.
func (x *exact) known(m model) (loss float64, outputs tensor.Mat[float64], norm float64) {
	view := x.pass.Whole()
	outputs = tensor.NewMat[float64](len(x.labels), m.C.Cols)
	for k := range m.C.Cols {
		out := make([]float64, outputs.Rows)
		tensor.AddRows64(out, view.Cross(), m.C.Column(k))
		for j, f := range out {
			outputs.Row(j)[k] = f
			e := f - x.targets.Row(j)[k]
			loss += float64(e*e) / float64(2*outputs.Rows)
		}
	}
	gram, square := view.Gram(), 0.0
	for k := range m.C.Cols {
		c := m.C.Column(k)
		for i, v := range c {
			square += float64(v * dot(gram.Row(i), c))
		}
	}
	return loss, outputs, math.Sqrt(max(0, square))
}

// fitKernel is fit for a kernel: with V = K_ST E/N and U = (K + s I)^-1 V,
//
//	dL/dy_S = U,   dL/dK_ST = C E'/N,   dL/dK = -(U C' + C U')/2 - (jitter/n) <U, C> I.
func (r ridge) fitKernel(view convex.Kernel, y, targets, dy tensor.Mat[float64]) (model, error) {
	n, images, outputs := view.K.Rows, float64(targets.Rows), y.Cols
	l, err := factorise(view.K, r.of(view.K))
	if err != nil {
		return model{}, err
	}
	m := model{C: l.solve(y), Labels: y}
	v := tensor.NewMat[float64](n, outputs)
	errors := tensor.NewMat[float32](outputs, targets.Rows) // E'/N
	for k := range outputs {
		e, of := make([]float64, targets.Rows), make([]float64, n)
		tensor.AddRows64(e, view.Reals, m.C.Column(k))
		for j := range e {
			e[j] -= targets.Row(j)[k]
			m.Loss += float64(e[j]*e[j]) / (2 * images)
			e[j] /= images
			errors.Row(k)[j] = float32(e[j])
		}
		tensor.MulVec64(of, view.Reals, e)
		v.SetColumn(k, of)
	}
	if view.Grad == nil {
		return m, nil
	}
	u := l.solve(v)
	if dy.Rows > 0 {
		copy(dy.Data, u.Data)
	}
	g := convex.KernelGradient{K: tensor.NewMat[float64](n, n), Reals: tensor.NewMat[float32](n, targets.Rows)}
	tensor.Mul(g.Reals, tensor.Narrow(m.C), errors, tensor.NN, false)
	inner := dot(u.Data, m.C.Data)
	for i := range n {
		for j := range n {
			g.K.Row(i)[j] = -(dot(u.Row(i), m.C.Row(j)) + dot(m.C.Row(i), u.Row(j))) / 2
		}
		g.K.Row(i)[i] -= float64(r.Jitter / float64(n) * inner)
	}
	*view.Grad = g
	return m, nil
}
