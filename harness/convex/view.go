package convex

import (
	"math"

	"dgkip/harness/tensor"
)

// View gives access to a set with features A [n, M], a model Theta_O, and real images with
// features Phi [N, M]. It also takes gradients with respect to A. There are two views: Features
// stores A, and Kernel holds only inner products. Without a destination for the gradient, Pull,
// PullReal and Scale do nothing.
type View interface {
	Gram() tensor.Mat[float64]                                      // K = A A', [n, n]
	Outputs() tensor.Mat[float64]                                   // F = A Theta_O', [n, K]
	Cross() tensor.Mat[float32]                                     // A Phi', [n, N]
	Residual(c tensor.Mat[float64]) Residual                        // R = Theta_O - C'A for C [n, K]
	ResidualOn(r Residual) tensor.Mat[float64]                      // A R', [n, K]
	Distance(c tensor.Mat[float64]) float64                         // |R|, the Frobenius norm
	Pull(u tensor.Mat[float64], r Residual, v *tensor.Mat[float64]) // sets the gradient in phi_i to u_i'R + v_i'Theta_O
	// PullReal sets the gradient in phi_i to u_i'(E Phi + S'A), for U [n, K] and E [K, N].
	// S [n, K] is optional; U S' must be symmetric.
	PullReal(u, e tensor.Mat[float64], s *tensor.Mat[float64])
	Scale(by float64) // multiplies the gradient

	// regress implements Ridge.Fit, and predict implements Regression.Predict.
	regress(r Ridge, y tensor.Mat[float64], real Labels, dy tensor.Mat[float64]) (Regression, error)
	predict(c tensor.Mat[float64], real Labels) (loss float64, outputs tensor.Mat[float64], norm float64)
}

// Residual is R = Theta_O - C'A.
type Residual struct {
	Weights tensor.Mat[float64] // [K, M]; empty for a kernel
	C       tensor.Mat[float64] // [n, K]
	Norm2   float64             // |R|^2
}

// Features is a view of stored features.
type Features struct {
	A     tensor.Mat[float32]  // [n, M]
	Theta tensor.Mat[float64]  // Theta_O, [K, M]; may be empty
	Real  tensor.Mat[float32]  // Phi, [N, M]; may be empty
	Grad  *tensor.Mat[float32] // destination of the gradient in A, [n, M]; may be nil
}

// Gram implements View.
func (f Features) Gram() tensor.Mat[float64] { return GramOf(f.A) }

// Outputs implements View.
func (f Features) Outputs() tensor.Mat[float64] { return Apply(f.A, f.Theta) }

// Residual implements View. Without Theta, Norm2 is NaN.
func (f Features) Residual(c tensor.Mat[float64]) Residual {
	if f.Theta.Rows == 0 {
		return Residual{C: c, Norm2: math.NaN()}
	}
	r := Residual{Weights: subtractSpan(f.Theta, f.A, c), C: c}
	r.Norm2 = frobenius2(r.Weights)
	return r
}

// ResidualOn implements View.
func (f Features) ResidualOn(r Residual) tensor.Mat[float64] { return Apply(f.A, r.Weights) }

// Distance implements View.
func (f Features) Distance(c tensor.Mat[float64]) float64 {
	return Distance(f.Theta, Combine(f.A, c))
}

// Pull implements View. It uses r.Weights, because large terms would cancel in the inner
// products.
func (f Features) Pull(u tensor.Mat[float64], r Residual, v *tensor.Mat[float64]) {
	switch {
	case f.Grad == nil:
	case v == nil:
		outer(*f.Grad, u, r.Weights, nil, nil)
	default:
		outer(*f.Grad, u, r.Weights, v, &f.Theta)
	}
}

// Cross implements View. It computes in float32.
func (f Features) Cross() tensor.Mat[float32] {
	cross := tensor.NewMat[float32](f.A.Rows, f.Real.Rows)
	tensor.Mul(cross, f.A, f.Real, tensor.NT, false)
	return cross
}

// PullReal implements View.
func (f Features) PullReal(u, e tensor.Mat[float64], s *tensor.Mat[float64]) {
	if f.Grad == nil {
		return
	}
	w := spanOf(e, f.Real)
	if s != nil {
		for k, v := range Combine(f.A, *s).Data {
			w.Data[k] += v
		}
	}
	outer(*f.Grad, u, w, nil, nil)
}

// Scale implements View.
func (f Features) Scale(by float64) {
	if f.Grad == nil {
		return
	}
	tensor.Parallel(f.Grad.Rows, func(i int) { scale32(f.Grad.Row(i), by) })
}

func scale32(x []float32, by float64) {
	for i, v := range x {
		x[i] = float32(float64(v) * by)
	}
}

// Kernel is a view through inner products of features. Its gradients are with respect to these
// products. Pull with dphi_i = u_i'(Theta_O - C'A) + v_i'Theta_O gives
//
//	dF = U + V,   dK = -(U C')/2,
//
// where U C' is symmetric, as for any function of F and K. PullReal gives d(A Phi') = U E.
type Kernel struct {
	K     tensor.Mat[float64] // [n, n]
	F     tensor.Mat[float64] // [n, K]; empty if Reals covers only some of the real images
	Norm2 float64             // |Theta_O|^2
	Reals tensor.Mat[float32] // A Phi', [n, N]; may be empty
	Grad  *KernelGradient     // destination of the gradient; may be nil
}

// KernelGradient is the gradient with respect to the fields of a Kernel.
type KernelGradient struct {
	K     tensor.Mat[float64] // [n, n], symmetric
	F     tensor.Mat[float64] // [n, K]; empty after PullReal
	Reals tensor.Mat[float32] // [n, N]; empty after Pull
}

// Gram implements View.
func (k Kernel) Gram() tensor.Mat[float64] { return k.K }

// Outputs implements View.
func (k Kernel) Outputs() tensor.Mat[float64] { return k.F }

// Residual implements View: |Theta_O - C'A|^2 = |Theta_O|^2 - 2 tr C'F + tr C'K C. Without F,
// Norm2 is NaN.
func (k Kernel) Residual(c tensor.Mat[float64]) Residual {
	r := Residual{C: c, Norm2: math.NaN()}
	if k.F.Rows == 0 {
		return r
	}
	kc := multiply(k.K, c)
	sum := 0.0
	for i, x := range c.Data {
		sum += float64(x * (float64(2*k.F.Data[i]) - kc.Data[i]))
	}
	r.Norm2 = max(0, k.Norm2-sum)
	return r
}

// ResidualOn implements View.
func (k Kernel) ResidualOn(r Residual) tensor.Mat[float64] {
	out := multiply(k.K, r.C)
	for i, f := range k.F.Data {
		out.Data[i] = f - out.Data[i]
	}
	return out
}

// Distance implements View.
func (k Kernel) Distance(c tensor.Mat[float64]) float64 { return math.Sqrt(k.Residual(c).Norm2) }

// Pull implements View.
func (k Kernel) Pull(u tensor.Mat[float64], r Residual, v *tensor.Mat[float64]) {
	if k.Grad == nil {
		return
	}
	f := times(1, u)
	if v != nil {
		for i, x := range v.Data {
			f.Data[i] += x
		}
	}
	*k.Grad = KernelGradient{K: symmetric(-0.5, u, r.C), F: f}
}

// Cross implements View.
func (k Kernel) Cross() tensor.Mat[float32] { return k.Reals }

// PullReal implements View.
func (k Kernel) PullReal(u, e tensor.Mat[float64], s *tensor.Mat[float64]) {
	if k.Grad == nil {
		return
	}
	g := KernelGradient{K: tensor.NewMat[float64](u.Rows, u.Rows), Reals: tensor.NewMat[float32](u.Rows, e.Cols)}
	tensor.Mul(g.Reals, tensor.Narrow(u), tensor.Narrow(e), tensor.NN, false)
	if s != nil {
		g.K = symmetric(0.5, u, *s)
	}
	*k.Grad = g
}

// Scale implements View.
func (k Kernel) Scale(by float64) {
	if k.Grad == nil {
		return
	}
	for _, m := range []tensor.Mat[float64]{k.Grad.K, k.Grad.F} {
		for i := range m.Data {
			m.Data[i] *= by
		}
	}
	scale32(k.Grad.Reals.Data, by)
}

// symmetric returns (a/2)(U C' + C U').
func symmetric(a float64, u, c tensor.Mat[float64]) tensor.Mat[float64] {
	out := tensor.NewMat[float64](u.Rows, u.Rows)
	for i := range out.Rows {
		for j := range out.Cols {
			out.Row(i)[j] = a / 2 * (dot64(u.Row(i), c.Row(j)) + dot64(c.Row(i), u.Row(j)))
		}
	}
	return out
}
