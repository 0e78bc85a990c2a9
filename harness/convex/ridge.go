package convex

import (
	"context"
	"fmt"
	"math"

	"dgkip/harness/tensor"
)

// Ridge is the squared loss on a large set, given by its Gram matrix: minimise
//
//	sum_i |f_i - y_i|^2 / 2 + (lambda/2) |Theta|^2,   Theta = C'A.
type Ridge struct {
	Gram    tensor.Mat[float32] // [n, n]
	Targets tensor.Mat[float64] // [n, K]
	Lambda  float64
}

// Solve runs conjugate gradients, for all outputs side by side, until the
// relative duality gap is at most tol. In the inner product <u, v> = u'K v the
// squared norm of the residual r = y - f - lambda c is 2 lambda times the gap,
// so that each step comes with its proof. It needs six arrays of [n, K] beside
// the matrix, which it reads once a step.
func (p Ridge) Solve(ctx context.Context, tol float64, maxIterations int) (Fitted, error) {
	n, outputs := p.Gram.Rows, p.Targets.Cols
	if n == 0 || p.Gram.Cols != n || p.Targets.Rows != n || outputs == 0 {
		panic("convex: Ridge.Solve: shapes do not fit")
	}
	if !(p.Lambda > 0) {
		return Fitted{}, fmt.Errorf("convex: lambda is %v, and must be positive", p.Lambda)
	}
	if !(tol > 0) {
		return Fitted{}, fmt.Errorf("convex: the gap to reach is %v, and must be positive", tol)
	}
	// Rows are outputs here.
	c, f := tensor.NewMat[float64](outputs, n), tensor.NewMat[float64](outputs, n)
	left := transposed(p.Targets)
	kLeft := manyDots(p.Gram, left)
	dir, kDir := times(1, left), times(1, kLeft)
	size := make([]float64, outputs)
	for k := range size {
		size[k] = dot64(left.Row(k), kLeft.Row(k))
	}
	certify := func(steps int) Fitted {
		fit := Fitted{C: transposed(c), Outputs: transposed(f), Sweeps: float64(steps), Norm2: max(0, inner(c, f))}
		gap := 0.0
		for k, s := range size {
			gap += max(0, s) / (2 * p.Lambda)
			for i, x := range f.Row(k) {
				e := x - p.Targets.Data[i*p.Targets.Stride+k]
				fit.Primal += float64(e * e / 2)
			}
		}
		if math.IsNaN(size[0]) {
			gap = math.NaN()
		}
		fit.settle(p.Lambda, gap)
		return fit
	}
	for steps := 0; ; steps++ {
		fit := certify(steps)
		if fit.Gap <= tol {
			// Outputs and residuals have been updated step by step: the proof
			// counts only with those computed anew.
			f = manyDots(p.Gram, c)
			for k := range outputs {
				for i, x := range f.Row(k) {
					left.Row(k)[i] = p.Targets.Data[i*p.Targets.Stride+k] - x - float64(p.Lambda*c.Row(k)[i])
				}
			}
			kLeft = manyDots(p.Gram, left)
			dir, kDir = times(1, left), times(1, kLeft)
			for k := range size {
				size[k] = dot64(left.Row(k), kLeft.Row(k))
			}
			if fit = certify(steps); fit.Gap <= tol {
				return fit, nil
			}
		}
		if math.IsNaN(fit.Gap) || math.IsInf(fit.Gap, 0) {
			return fit, fmt.Errorf("convex: the features or the targets hold NaN or infinity")
		}
		if steps == maxIterations {
			return fit, fmt.Errorf("convex: squared loss: relative gap %.2g after %d steps, wanted %.2g", fit.Gap, maxIterations, tol)
		}
		if err := ctx.Err(); err != nil {
			return fit, err
		}
		for k, s := range size {
			if !(s > 0) {
				continue // this output is done
			}
			d, kd, r := dir.Row(k), kDir.Row(k), left.Row(k)
			a := s / (float64(p.Lambda*dot64(d, kd)) + dot64(kd, kd))
			for i, x := range d {
				c.Row(k)[i] += float64(a * x)
				f.Row(k)[i] += float64(a * kd[i])
				r[i] -= float64(a * (float64(p.Lambda*x) + kd[i]))
			}
		}
		kLeft = manyDots(p.Gram, left)
		for k, s := range size {
			if !(s > 0) {
				continue
			}
			size[k] = dot64(left.Row(k), kLeft.Row(k))
			b := size[k] / s
			for i, x := range left.Row(k) {
				dir.Row(k)[i] = x + float64(b*dir.Row(k)[i])
				kDir.Row(k)[i] = kLeft.Row(k)[i] + float64(b*kDir.Row(k)[i])
			}
		}
	}
}

// manyDots returns V A' [K, n] for V [K, M], reading A from memory once.
func manyDots(a tensor.Mat[float32], v tensor.Mat[float64]) tensor.Mat[float64] {
	out := tensor.NewMat[float64](v.Rows, a.Rows)
	const rows = 64
	for from := 0; from < a.Rows; from += rows {
		n := min(rows, a.Rows-from)
		part := tensor.Mat[float32]{Rows: n, Cols: a.Cols, Stride: a.Stride, Data: a.Data[from*a.Stride:]}
		for k := range v.Rows {
			tensor.MulVec64(out.Row(k)[from:from+n], part, v.Row(k))
		}
	}
	return out
}

func transposed(m tensor.Mat[float64]) tensor.Mat[float64] {
	out := tensor.NewMat[float64](m.Cols, m.Rows)
	for i := range m.Rows {
		setColumn(out, i, m.Row(i))
	}
	return out
}
