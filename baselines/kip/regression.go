package kip

import (
	"dgkip/harness/convex"
	"dgkip/harness/tensor"
)

// ridge is the ridge s = Jitter tr(K)/n + Fixed.
type ridge struct{ Jitter, Fixed float64 }

// of returns the ridge for a kernel.
func (r ridge) of(k tensor.Mat[float64]) float64 {
	trace := 0.0
	for i := range k.Rows {
		trace += k.Row(i)[i]
	}
	return float64(r.Jitter*(trace/float64(k.Rows))) + r.Fixed
}

// model is what a regression on a set has found.
type model struct {
	C      tensor.Mat[float64] // [n, k]
	Theta  tensor.Mat[float64] // C'A, [k, M]; none in an exact kernel
	Labels tensor.Mat[float64] // y_S, [n, k]
	Loss   float64             // (1/2N) |E|^2
}

// fit takes the model that labels y [n, k] give on features A [n, M], and its loss
// on the real features B [N, M] with targets [N, k]. Where dA is given, it sets it
// to the loss's gradient in A, and dy, where that has any rows, to that in y.
func (r ridge) fit(a, b tensor.Mat[float32], y, targets tensor.Mat[float64], dA *tensor.Mat[float32], dy tensor.Mat[float64]) (model, error) {
	n, outputs := a.Rows, y.Cols
	k := tensor.NewMat[float64](n, n)
	tensor.Gram64(k, a)
	l, err := factorise(k, r.of(k))
	if err != nil {
		return model{}, err
	}
	m := model{C: l.solve(y), Labels: y}
	m.Theta = convex.Combine(a, m.C)
	if dA == nil {
		m.Loss = m.errors(b, targets, nil, nil)
		return m, nil
	}
	q := tensor.NewMat[float64](outputs, a.Cols) // V, and then V - U'A
	m.Loss = m.errors(b, targets, &q, nil)
	u := l.solve(convex.Apply(a, q))
	for i, x := range convex.Combine(a, u).Data {
		q.Data[i] -= x
	}
	if dy.Rows > 0 {
		copy(dy.Data, u.Data)
	}

	// [C, -U] [V - U'A; Theta], of terms that do not cancel.
	left, right := tensor.NewMat[float32](n, 2*outputs), tensor.NewMat[float32](2*outputs, a.Cols)
	inner := 0.0
	for i := range n {
		for j, c := range m.C.Row(i) {
			v := u.Row(i)[j]
			left.Row(i)[j], left.Row(i)[outputs+j] = float32(c), float32(-v)
			inner += float64(c * v)
		}
	}
	copy(right.Data, tensor.Narrow(q).Data)
	copy(right.Data[len(q.Data):], tensor.Narrow(m.Theta).Data)
	tensor.Mul(*dA, left, right, tensor.NN, false)
	if s := float32(-2 * r.Jitter / float64(n) * inner); s != 0 {
		tensor.Parallel(n, func(i int) { tensor.Axpy(dA.Row(i), s, a.Row(i), dA.Row(i)) })
	}
	return m, nil
}

// Fit returns the loss of the regression whose ridge is jitter tr(K)/n, as fit does for its
// model: on features a with labels y, over real features b with targets, with the gradients
// da and, where it has any rows, dy.
func Fit(jitter float64, a, b tensor.Mat[float32], y, targets tensor.Mat[float64], da *tensor.Mat[float32], dy tensor.Mat[float64]) (loss float64, err error) {
	m, err := ridge{Jitter: jitter}.fit(a, b, y, targets, da, dy)
	return m.Loss, err
}

// solve is fit with the labels that are best for A: of all C the one of least loss,
// and y = K C + lambda C. zero is a matrix of zeros, [k, M].
func solve(a, b tensor.Mat[float32], lambda float64, targets, zero tensor.Mat[float64], dA *tensor.Mat[float32]) (model, error) {
	s, err := convex.Fit(convex.Features{A: a, Theta: zero, Real: b, Grad: dA}, targets)
	if err != nil {
		return model{}, err
	}
	if dA != nil { // the metric is twice the loss
		tensor.Parallel(dA.Rows, func(i int) {
			row := dA.Row(i)
			for j := range row {
				row[j] *= 0.5
			}
		})
	}
	return model{C: s.C, Theta: convex.Combine(a, s.C), Labels: s.Labels(convex.SquaredLoss, lambda).Values, Loss: s.Value / 2}, nil
}

// rows is how many rows of real features are worked on at a time: few enough to
// stay in a cache while each output reads them twice.
const rows = 32

// errors returns (1/2N) |E|^2. Where they are given it adds E'B/N to v, and sets outputs,
// [N, k], to those of the model.
func (m model) errors(b tensor.Mat[float32], targets tensor.Mat[float64], v, outputs *tensor.Mat[float64]) float64 {
	n, sum := float64(b.Rows), 0.0
	var e [rows]float64
	for first := 0; first < b.Rows; first += rows {
		part := b.Part(first, min(first+rows, b.Rows), 0, b.Cols)
		for k := range m.Theta.Rows {
			e := e[:part.Rows]
			tensor.MulVec64(e, part, m.Theta.Row(k))
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
