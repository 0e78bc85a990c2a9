package convex

import (
	"context"
	"fmt"
	"math"

	"dgkip/harness/tensor"
)

// Ridge is kernel ridge regression on a set, in the sense of KIP: labels y_S [n, K] of the
// set predict the targets T [N, K] of real images with the loss
//
//	L = (1/2N) |E|^2,   E = Phi Theta' - T,   Theta = C'A,   C = (K + s I)^-1 y_S,
//
// the ridge being s = Jitter tr(K)/n + Fixed.
//
// With V = E'Phi/N [K, M], the gradient in Theta, and U = (K + s I)^-1 A V',
//
//	dL/dy_S = U,   dL/dA = C (V - U'A) - U Theta - (2 Jitter/n) <U, C> A,
//
// for V meets the factor A of Theta = C'A, and its factor C through
// dC = (K + s I)^-1 (dy_S - (dA A' + A dA' + ds I) C). The last term is that of the jitter.
type Ridge struct{ Jitter, Fixed float64 }

// Regression is a model that a regression has found.
type Regression struct {
	C    tensor.Mat[float64] // [n, K]
	Loss float64             // L
}

// Fit returns the model of labels y [n, K] on the images of a view, whose targets are those
// of its real images. It pulls back the gradient of the loss, and sets dy, where it has any
// rows, to that in y.
func (r Ridge) Fit(view View, y, targets, dy tensor.Mat[float64]) (Regression, error) {
	return view.regress(r, y, targets, dy)
}

// Predict returns the loss of the model on the real images of a view, its outputs there
// [N, K], and its norm |C'A|.
func (m Regression) Predict(view View, targets tensor.Mat[float64]) (loss float64, outputs tensor.Mat[float64], norm float64) {
	return view.predict(m.C, targets)
}

// factorise returns the factor of K + s I.
func (r Ridge) factorise(k tensor.Mat[float64]) (cholesky, error) {
	trace := 0.0
	for i := range k.Rows {
		trace += k.Row(i)[i]
	}
	l, bad := decomposeBy(context.Background(), inOrder, k, float64(r.Jitter*(trace/float64(k.Rows)))+r.Fixed, 0)
	if bad >= 0 {
		return cholesky{}, fmt.Errorf("%w at image %d of %d: it may be like another, or have no features\nhint: raise jitter, or lower rate", ErrSingular, bad, k.Rows)
	}
	return l, nil
}

// inOrder is an inner product with a single sum: sets on disk have its bits.
func inOrder(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += float64(v * y[i])
	}
	return sum
}

// regress implements View. It needs no product of the set with the real images, [n, N].
func (f Features) regress(r Ridge, y, targets, dy tensor.Mat[float64]) (Regression, error) {
	n, outputs := f.A.Rows, y.Cols
	l, err := r.factorise(GramOf(f.A))
	if err != nil {
		return Regression{}, err
	}
	m := Regression{C: columns(y, n, l.solve)}
	theta := Combine(f.A, m.C)
	if f.Grad == nil {
		m.Loss = f.realErrors(theta, targets, nil, nil)
		return m, nil
	}
	q := tensor.NewMat[float64](outputs, f.A.Cols) // V, and then V - U'A
	m.Loss = f.realErrors(theta, targets, &q, nil)
	u := columns(Apply(f.A, q), n, l.solve)
	for i, x := range Combine(f.A, u).Data {
		q.Data[i] -= x
	}
	if dy.Rows > 0 {
		copy(dy.Data, u.Data)
	}

	// [C, -U] [V - U'A; Theta], of terms that do not cancel.
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
func (f Features) predict(c, targets tensor.Mat[float64]) (loss float64, outputs tensor.Mat[float64], norm float64) {
	theta := Combine(f.A, c)
	outputs = tensor.NewMat[float64](targets.Rows, targets.Cols)
	return f.realErrors(theta, targets, nil, &outputs), outputs, Norm(theta)
}

// realErrors returns (1/2N) |E|^2 for weights theta. Where they are given it adds E'Phi/N to
// v, and sets outputs, [N, K], to those of the model.
func (f Features) realErrors(theta, targets tensor.Mat[float64], v, outputs *tensor.Mat[float64]) float64 {
	const rows = 32 // few enough to stay in a cache while each output reads them twice
	n, sum := float64(f.Real.Rows), 0.0
	var e [rows]float64
	for first := 0; first < f.Real.Rows; first += rows {
		part := f.Real.Part(first, min(first+rows, f.Real.Rows), 0, f.Real.Cols)
		for k := range theta.Rows {
			e := e[:part.Rows]
			tensor.MulVec64(e, part, theta.Row(k))
			for i := range e {
				if outputs != nil {
					outputs.Row(first + i)[k] = e[i]
				}
				e[i] -= targets.Row(first + i)[k]
				sum += float64(e[i] * e[i])
				e[i] /= n
			}
			if v != nil {
				tensor.AddRows64(v.Row(k), part, e)
			}
		}
	}
	return sum / (2 * n)
}

// regress implements View: with V = A Phi'E/N and U = (K + s I)^-1 V,
//
//	dL/dy_S = U,   dL/d(A Phi') = C E'/N,   dL/dK = -(U C' + C U')/2 - (Jitter/n) <U, C> I.
func (k Kernel) regress(r Ridge, y, targets, dy tensor.Mat[float64]) (Regression, error) {
	n, images, outputs := k.K.Rows, float64(targets.Rows), y.Cols
	l, err := r.factorise(k.K)
	if err != nil {
		return Regression{}, err
	}
	m := Regression{C: columns(y, n, l.solve)}
	v := tensor.NewMat[float64](n, outputs)
	errors := tensor.NewMat[float32](outputs, targets.Rows) // E'/N
	for o := range outputs {
		e, of := make([]float64, targets.Rows), make([]float64, n)
		tensor.AddRows64(e, k.Reals, m.C.Column(o))
		for j := range e {
			e[j] -= targets.Row(j)[o]
			m.Loss += float64(e[j]*e[j]) / (2 * images)
			e[j] /= images
			errors.Row(o)[j] = float32(e[j])
		}
		tensor.MulVec64(of, k.Reals, e)
		v.SetColumn(o, of)
	}
	if k.Grad == nil {
		return m, nil
	}
	u := columns(v, n, l.solve)
	if dy.Rows > 0 {
		copy(dy.Data, u.Data)
	}
	g := KernelGradient{K: tensor.NewMat[float64](n, n), Reals: tensor.NewMat[float32](n, targets.Rows)}
	tensor.Mul(g.Reals, tensor.Narrow(m.C), errors, tensor.NN, false)
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

// predict implements View.
func (k Kernel) predict(c, targets tensor.Mat[float64]) (loss float64, outputs tensor.Mat[float64], norm float64) {
	outputs = tensor.NewMat[float64](targets.Rows, c.Cols)
	square := 0.0
	for o := range c.Cols {
		of, out := c.Column(o), make([]float64, outputs.Rows)
		tensor.AddRows64(out, k.Reals, of)
		for j, f := range out {
			outputs.Row(j)[o] = f
			e := f - targets.Row(j)[o]
			loss += float64(e*e) / float64(2*outputs.Rows)
		}
		for i, v := range of {
			square += float64(v * inOrder(k.K.Row(i), of))
		}
	}
	return loss, outputs, math.Sqrt(max(0, square))
}
