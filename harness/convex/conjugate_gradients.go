package convex

import (
	"dgkip/harness/tensor"
)

// conjugateGradients solves the squared loss on a large set from its Gram matrix: it minimises
//
//	sum_i |f_i - y_i|^2 / 2 + (lambda/2) |Theta|^2,   Theta = C'A.
type conjugateGradients struct {
	Gram    tensor.Mat[float32] // [n, n]
	Targets tensor.Mat[float64] // [n, K]
	Lambda  float64
}

// solve runs conjugate gradients for all outputs in parallel, in the inner product
// <u, v> = u'K v. There the residual r = y - f - lambda c and the gradient of P have the same
// norm, so every step yields its gap: see gradientTerm. It needs six arrays of [n, K]
// besides the matrix, and reads the matrix once per step.
func (p conjugateGradients) solve(search *search) (Solution, error) {
	n, outputs := p.Gram.Rows, p.Targets.Cols
	// One row per output.
	c, f := tensor.NewMat[float64](outputs, n), tensor.NewMat[float64](outputs, n)
	left := p.Targets.Transposed()
	kLeft := manyDots(search.ctx, p.Gram, left)
	dir, kDir := times(1, left), times(1, kLeft)
	size := make([]float64, outputs)
	for k := range size {
		size[k] = dot64(left.Row(k), kLeft.Row(k))
	}
	for steps := 0; ; steps++ {
		fit := p.certify(c, f, size)
		if fit.Gap <= search.tol {
			// Updates have accumulated rounding errors in outputs and residuals, so both are
			// computed again before the gap is certified.
			copy(f.Data, manyDots(search.ctx, p.Gram, c).Data)
			for k := range outputs {
				for i, x := range f.Row(k) {
					left.Row(k)[i] = p.Targets.Data[i*p.Targets.Stride+k] - x - float64(p.Lambda*c.Row(k)[i])
				}
			}
			kLeft = manyDots(search.ctx, p.Gram, left)
			copy(dir.Data, left.Data)
			copy(kDir.Data, kLeft.Data)
			for k := range size {
				size[k] = dot64(left.Row(k), kLeft.Row(k))
			}
			fit = p.certify(c, f, size)
		}
		fit.Sweeps = float64(steps)
		if over, err := search.over(fit); over {
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
		kLeft = manyDots(search.ctx, p.Gram, left)
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

// certify returns the solution with coefficients C' and outputs F', both with one row per
// output. size holds the squared norms r'K r of the residuals.
func (p conjugateGradients) certify(c, f tensor.Mat[float64], size []float64) Solution {
	fit := Solution{C: c.Transposed(), Outputs: f.Transposed(), Norm2: max(0, inner(c, f))}
	losses, gap := 0.0, 0.0
	for k, s := range size {
		gap += gradientTerm(max(0, s), p.Lambda)
		for i, x := range f.Row(k) {
			e := x - p.Targets.Data[i*p.Targets.Stride+k]
			losses += float64(e * e / 2)
		}
	}
	fit.prove(losses, gap, p.Lambda)
	return fit
}
