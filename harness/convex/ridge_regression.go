package convex

import (
	"context"
	"fmt"
	"math"

	"dgkip/harness/tensor"
)

// Ridge is kernel ridge regression on a set, as in KIP: the set's labels y_S [n, K] predict the
// labels of N real images with the loss
//
//	L = (1/N) sum_j l_j(f_j),   F = Phi Theta' [N, K],   Theta = C'A,   C = (K + s I)^-1 y_S,
//
// where the ridge is s = Jitter tr(K)/n + Fixed. KIP uses the squared loss l; the logistic and
// the softmax loss also work. The hinge loss does not, as it has no derivative at its kink.
//
// With E = l'(F), which is F - T for targets T in KIP, V = E'Phi/N [K, M], the gradient in
// Theta, and U = (K + s I)^-1 A V',
//
//	dL/dy_S = U,   dL/dA = C (V - U'A) - U Theta - (2 Jitter/n) <U, C> A,
//
// because dTheta = dC'A + C'dA with dC = (K + s I)^-1 (dy_S - (dA A' + A dA' + ds I) C). The
// last term of dL/dA comes from the jitter.
type Ridge struct{ Jitter, Fixed float64 }

// Regression is the result of a ridge regression.
type Regression struct {
	C    tensor.Mat[float64] // [n, K]
	Loss float64             // L
}

// Fit returns the model for labels y [n, K] on the set of a view, whose real images have the
// labels real. It pulls back the gradient of the loss, and sets a non-empty dy to the gradient
// with respect to y. Without a destination for the gradient in the view, dy stays as it is. It fails with ErrSingular if K + s I is not positive definite.
func (r Ridge) Fit(view View, y tensor.Mat[float64], real Labels, dy tensor.Mat[float64]) (Regression, error) {
	return view.regress(r, y, real, dy)
}

// Predict returns the loss of the model on the real images of a view, its outputs there
// [N, K], and its norm |C'A|.
func (m Regression) Predict(view View, real Labels) (loss float64, outputs tensor.Mat[float64], norm float64) {
	return view.predict(m.C, real)
}

// errors replaces the outputs f [K, rows] of the images starting at first by the derivatives of
// their losses. It returns sum plus the losses divided by n.
func (l Labels) errors(f tensor.Mat[float64], first int, sum, n float64) float64 {
	if l.Loss == HingeLoss {
		panic("convex: Ridge: the hinge loss has no derivative at its kink")
	}
	if l.Loss == SquaredLoss { // the order, output by output, reproduces existing records
		for k := range f.Rows {
			for i, x := range f.Row(k) {
				e := x - l.Values.Row(first + i)[k]
				f.Row(k)[i] = e
				sum += float64(e*e) / (2 * n)
			}
		}
		return sum
	}
	g := make([]float64, f.Rows)
	for i := range f.Cols {
		sum += kernelProblem{Labels: l}.slope(first+i, f.Column(i), g) / n
		f.SetColumn(i, g)
	}
	return sum
}

// factorise returns the factor of K + s I.
func (r Ridge) factorise(k tensor.Mat[float64]) (cholesky, error) {
	trace := 0.0
	for i := range k.Rows {
		trace += k.Row(i)[i]
	}
	l, bad := decomposeBy(context.Background(), inOrder, k, float64(r.Jitter*(trace/float64(k.Rows)))+r.Fixed, 0)
	if bad >= 0 {
		return cholesky{}, fmt.Errorf("%w at image %d of %d: the image may equal another, or its features may all be zero\nhint: raise jitter, or lower rate", ErrSingular, bad, k.Rows)
	}
	return l, nil
}

// inOrder is an inner product with a single sum, to reproduce the bits of existing sets.
func inOrder(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += float64(v * y[i])
	}
	return sum
}

// regress implements View without computing A Phi' [n, N].
func (f Features) regress(r Ridge, y tensor.Mat[float64], real Labels, dy tensor.Mat[float64]) (Regression, error) {
	n, outputs := f.A.Rows, y.Cols
	l, err := r.factorise(GramOf(f.A))
	if err != nil {
		return Regression{}, err
	}
	m := Regression{C: columns(y, n, l.solve)}
	theta := Combine(f.A, m.C)
	if f.Grad == nil {
		m.Loss = f.realErrors(theta, real, nil, nil)
		return m, nil
	}
	q := tensor.NewMat[float64](outputs, f.A.Cols) // V, and then V - U'A
	m.Loss = f.realErrors(theta, real, &q, nil)
	u := columns(Apply(f.A, q), n, l.solve)
	for i, x := range Combine(f.A, u).Data {
		q.Data[i] -= x
	}
	if dy.Rows > 0 {
		copy(dy.Data, u.Data)
	}

	// The gradient [C, -U] [V - U'A; Theta], whose terms do not cancel.
	left, right := tensor.NewMat[float32](n, 2*outputs), tensor.NewMat[float32](2*outputs, f.A.Cols)
	for i := range n {
		for j, c := range m.C.Row(i) {
			left.Row(i)[j], left.Row(i)[outputs+j] = float32(c), float32(-u.Row(i)[j])
		}
	}
	copy(right.Data, tensor.Narrow(q).Data)
	copy(right.Data[len(q.Data):], tensor.Narrow(theta).Data)
	tensor.Mul(*f.Grad, left, right, tensor.NN, false)
	if s := float32(-2 * r.Jitter / float64(n) * inOrder(m.C.Data, u.Data)); s != 0 {
		tensor.Parallel(n, func(i int) { tensor.Axpy(f.Grad.Row(i), s, f.A.Row(i), f.Grad.Row(i)) })
	}
	return m, nil
}

// predict implements View.
func (f Features) predict(c tensor.Mat[float64], real Labels) (loss float64, outputs tensor.Mat[float64], norm float64) {
	theta := Combine(f.A, c)
	outputs = tensor.NewMat[float64](f.Real.Rows, c.Cols)
	return f.realErrors(theta, real, nil, &outputs), outputs, Norm(theta)
}

// realErrors returns the loss for weights theta. If v is not nil, it adds E'Phi/N to v. If
// outputs is not nil, it sets outputs [N, K] to the model's outputs on the real images.
func (f Features) realErrors(theta tensor.Mat[float64], real Labels, v, outputs *tensor.Mat[float64]) float64 {
	const rows = 32 // few enough to stay in cache while each output reads them twice
	n, sum := float64(f.Real.Rows), 0.0
	block := make([]float64, theta.Rows*rows)
	for first := 0; first < f.Real.Rows; first += rows {
		part := f.Real.Part(first, min(first+rows, f.Real.Rows), 0, f.Real.Cols)
		e := tensor.MatOf(block[:theta.Rows*part.Rows], theta.Rows, part.Rows)
		for k := range theta.Rows {
			tensor.MulVec64(e.Row(k), part, theta.Row(k))
			for i, x := range e.Row(k) {
				if outputs != nil {
					outputs.Row(first + i)[k] = x
				}
			}
		}
		sum = real.errors(e, first, sum, 1)
		if v == nil {
			continue
		}
		for i := range e.Data {
			e.Data[i] /= n
		}
		for k := range theta.Rows {
			tensor.AddRows64(v.Row(k), part, e.Row(k))
		}
	}
	return sum / n
}

// regress implements View: with V = A Phi'E/N and U = (K + s I)^-1 V,
//
//	dL/dy_S = U,   dL/d(A Phi') = C E'/N,   dL/dK = -(U C' + C U')/2 - (Jitter/n) <U, C> I.
func (k Kernel) regress(r Ridge, y tensor.Mat[float64], real Labels, dy tensor.Mat[float64]) (Regression, error) {
	n, images, outputs := k.K.Rows, k.Reals.Cols, y.Cols
	l, err := r.factorise(k.K)
	if err != nil {
		return Regression{}, err
	}
	m := Regression{C: columns(y, n, l.solve)}
	e := k.realOutputs(m.C)
	m.Loss = real.errors(e, 0, 0, float64(images))
	for i := range e.Data {
		e.Data[i] /= float64(images)
	}
	if k.Grad == nil {
		return m, nil
	}
	v := tensor.NewMat[float64](n, outputs)
	for o := range outputs {
		of := make([]float64, n)
		tensor.MulVec64(of, k.Reals, e.Row(o))
		v.SetColumn(o, of)
	}
	u := columns(v, n, l.solve)
	if dy.Rows > 0 {
		copy(dy.Data, u.Data)
	}
	g := KernelGradient{K: tensor.NewMat[float64](n, n), Reals: tensor.NewMat[float32](n, images)}
	tensor.Mul(g.Reals, tensor.Narrow(m.C), tensor.Narrow(e), tensor.NN, false)
	inner := inOrder(u.Data, m.C.Data)
	for i := range n {
		for j := range n {
			g.K.Row(i)[j] = -(inOrder(u.Row(i), m.C.Row(j)) + inOrder(m.C.Row(i), u.Row(j))) / 2
		}
		g.K.Row(i)[i] -= float64(r.Jitter / float64(n) * inner)
	}
	*k.Grad = g
	return m, nil
}

// realOutputs returns the outputs of a model on the real images, [K, N].
func (k Kernel) realOutputs(c tensor.Mat[float64]) tensor.Mat[float64] {
	f := tensor.NewMat[float64](c.Cols, k.Reals.Cols)
	for o := range c.Cols {
		tensor.AddRows64(f.Row(o), k.Reals, c.Column(o))
	}
	return f
}

// predict implements View.
func (k Kernel) predict(c tensor.Mat[float64], real Labels) (loss float64, outputs tensor.Mat[float64], norm float64) {
	f := k.realOutputs(c)
	outputs = f.Transposed()
	loss = real.errors(f, 0, 0, float64(outputs.Rows))
	square := 0.0
	for o := range c.Cols {
		of := c.Column(o)
		for i, v := range of {
			square += float64(v * inOrder(k.K.Row(i), of))
		}
	}
	return loss, outputs, math.Sqrt(max(0, square))
}
