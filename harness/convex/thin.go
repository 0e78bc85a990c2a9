package convex

import (
	"context"
	"fmt"
	"math"

	"dgkip/harness/fmath"
	"dgkip/harness/tensor"
)

// Thin is a large set with fewer features than images, on which the dual variables
// are too many and steps in one of them at a time creep: lambda is all that keeps
// their problem from being singular. It is solved with matrices [M, M].
type Thin struct {
	Features tensor.Mat[float32] // [n, M]
	Labels   []float64           // gains y
	Loss     Loss                // LogisticLoss or HingeLoss
	Lambda   float64
}

// ThinSolution is a solution with the proof of its quality, as Fitted.
type ThinSolution struct {
	Theta   []float64 // [M]
	Outputs []float64 // [n]
	Norm2   float64

	Primal, Dual, Gap float64
	Sweeps            float64 // steps of Newton's method, or of the interior-point method
}

// Solve minimises until the relative gap is at most tol: by Newton's method in the
// weights for the logistic loss, and by the interior-point method for the hinge,
// whose systems D + H, H of the rank M, are inverted by Woodbury's identity. A step
// takes 3 n M^2 + M^3/3 operations and 8 n M bytes.
func (t Thin) Solve(ctx context.Context, tol float64) (ThinSolution, error) {
	n, m := t.Features.Rows, t.Features.Cols
	if n == 0 || m == 0 || len(t.Labels) != n {
		panic("convex: Thin.Solve: shapes do not fit")
	}
	switch {
	case !(t.Lambda > 0):
		return ThinSolution{}, fmt.Errorf("convex: lambda is %v, and must be positive", t.Lambda)
	case !(tol > 0):
		return ThinSolution{}, fmt.Errorf("convex: the gap to reach is %v, and must be positive", tol)
	}
	switch t.Loss {
	case LogisticLoss:
		return t.newton(ctx, tol)
	case HingeLoss:
		return t.interior(ctx, tol)
	}
	return ThinSolution{}, fmt.Errorf("convex: Thin is not for the %s loss", t.Loss)
}

// weighted returns sum_i d_i phi_i phi_i' + lambda I. The scaled features are split
// into two float32 each, high and low, whose products are exact; only those of two
// low parts are left out. Woodbury's identity takes the difference of numbers that
// nearly agree, for which float32 alone is not enough.
func (t Thin) weighted(d []float64) tensor.Mat[float64] {
	n, m := t.Features.Rows, t.Features.Cols
	high, low := tensor.NewMat[float32](m, n), tensor.NewMat[float32](m, n)
	const block = 64
	tensor.Parallel((m+block-1)/block, func(b int) {
		for i := range n {
			root := math.Sqrt(d[i])
			row := t.Features.Row(i)
			for j := b * block; j < min(m, (b+1)*block); j++ {
				x := float64(root * float64(row[j]))
				h := float32(x)
				high.Data[j*high.Stride+i], low.Data[j*low.Stride+i] = h, float32(x-float64(h))
			}
		}
	})
	h, mixed := tensor.NewMat[float64](m, m), tensor.NewMat[float64](m, m)
	tensor.Gram64(h, high)
	tensor.Cross64(mixed, high, low)
	for j := range m {
		row := h.Row(j)
		for k := range m {
			row[k] += mixed.Row(j)[k] + mixed.Row(k)[j]
		}
		row[j] += t.Lambda
	}
	return h
}

// combine returns sum_i w_i phi_i.
func (t Thin) combine(w []float64) []float64 {
	out := make([]float64, t.Features.Cols)
	tensor.AddRows64(out, t.Features, w)
	return out
}

func (t Thin) outputs(theta []float64) []float64 {
	f := make([]float64, t.Features.Rows)
	tensor.MulVec64(f, t.Features, theta)
	return f
}

// settle fills in what the others have in common.
func (s *ThinSolution) settle(losses, gap, lambda float64) {
	s.Norm2 = dot64(s.Theta, s.Theta)
	s.Primal = losses + float64(lambda/2*s.Norm2)
	s.Dual = s.Primal - gap
	s.Gap = gap / max(math.Abs(s.Primal), 1)
}

func (t Thin) unsolved(s ThinSolution, tol float64) error {
	if math.IsNaN(s.Gap) {
		return fmt.Errorf("convex: the features hold NaN or infinity")
	}
	return fmt.Errorf("convex: %s loss on %d images: relative gap %.2g after %v steps, wanted %.2g", t.Loss, t.Features.Rows, s.Gap, s.Sweeps, tol)
}

// newton minimises P in the weights. Its gradient g gives the proof: at the dual
// variables alpha_i = sigma(-m_i) the gap is |g|^2/(2 lambda).
func (t Thin) newton(ctx context.Context, tol float64) (ThinSolution, error) {
	n, m := t.Features.Rows, t.Features.Cols
	s := ThinSolution{Theta: make([]float64, m), Outputs: make([]float64, n)}
	w, d := make([]float64, n), make([]float64, n)
	for {
		losses := 0.0
		for i, f := range s.Outputs {
			y := t.Labels[i]
			margin := float64(y * f)
			a := fmath.Sigmoid(-margin)
			losses += fmath.Softplus(-margin)
			w[i] = -float64(y * a)
			d[i] = float64(y*y) * float64(a*fmath.Sigmoid(margin))
		}
		g := t.combine(w)
		for j := range g {
			g[j] += float64(t.Lambda * s.Theta[j])
		}
		s.settle(losses, dot64(g, g)/(2*t.Lambda), t.Lambda)
		if s.Gap <= tol {
			return s, nil
		}
		if s.Sweeps == interiorLimit || math.IsNaN(s.Gap) {
			return s, t.unsolved(s, tol)
		}
		if err := ctx.Err(); err != nil {
			return s, err
		}
		l, bad := decompose(t.weighted(d), 0, 1e-15)
		if bad >= 0 {
			return s, t.unsolved(s, tol)
		}
		step := l.solve(g)
		df := t.outputs(step)
		length := t.search(s, step, df)
		for j, x := range step {
			s.Theta[j] -= float64(length * x)
		}
		s.Outputs = t.outputs(s.Theta)
		s.Sweeps++
	}
}

// search returns the length along -step, at most 1, where P is least, to within a
// little: P is convex, its slope along the line known, and outputs are linear.
func (t Thin) search(s ThinSolution, step, df []float64) float64 {
	along, square := dot64(s.Theta, step), dot64(step, step)
	slope := func(length float64) float64 {
		sum := float64(t.Lambda * (float64(length*square) - along))
		for i, y := range t.Labels {
			margin := float64(y * (s.Outputs[i] - float64(length*df[i])))
			sum += float64(float64(y*df[i]) * fmath.Sigmoid(-margin))
		}
		return sum
	}
	if slope(1) <= 0 {
		return 1
	}
	lo, hi := 0.0, 1.0
	for range 30 {
		mid := (lo + hi) / 2
		if slope(mid) > 0 {
			hi = mid
		} else {
			lo = mid
		}
		if hi-lo < 0.05*lo {
			break
		}
	}
	if lo == 0 {
		return hi
	}
	return lo
}

// lowRank is H = Z'Z/lambda, the columns of Z being y_i phi_i.
type lowRank struct{ Thin }

func (h lowRank) apply(a []float64) []float64 {
	f := h.outputs(h.combine(h.signed(a)))
	for i, y := range h.Labels {
		f[i] = float64(y*f[i]) / h.Lambda
	}
	return f
}

func (h lowRank) signed(a []float64) []float64 {
	w := make([]float64, len(a))
	for i, x := range a {
		w[i] = float64(h.Labels[i] * x)
	}
	return w
}

// plus solves (D + Z'Z/lambda) x = b as
//
//	x = u - D^-1 Z' (lambda I + Z D^-1 Z')^-1 Z u,   u = D^-1 b,
//
// and once more for what is left of b.
func (h lowRank) plus(d []float64) (func([]float64) []float64, bool) {
	inverse := make([]float64, len(d))
	for i, x := range d {
		inverse[i] = float64(h.Labels[i]*h.Labels[i]) / x
	}
	l, bad := decompose(h.weighted(inverse), 0, 1e-15)
	once := func(b []float64) []float64 {
		u := make([]float64, len(b))
		for i, x := range b {
			u[i] = x / d[i]
		}
		f := h.outputs(l.solve(h.combine(h.signed(u))))
		for i, y := range h.Labels {
			u[i] -= float64(y*f[i]) / d[i]
		}
		return u
	}
	return func(b []float64) []float64 {
		x := once(b)
		left := h.apply(x)
		for i := range left {
			left[i] = b[i] - left[i] - float64(d[i]*x[i])
		}
		for i, v := range once(left) {
			x[i] += v
		}
		return x
	}, bad < 0
}

// interior solves the hinge loss in its dual variables.
func (t Thin) interior(ctx context.Context, tol float64) (ThinSolution, error) {
	h := lowRank{t}
	b := newBox(h, len(t.Labels))
	for step := 0; ; step++ {
		s := ThinSolution{Theta: t.combine(h.signed(b.a)), Sweeps: float64(step)}
		for j := range s.Theta {
			s.Theta[j] /= t.Lambda
		}
		s.Outputs = t.outputs(s.Theta)
		losses, gap := 0.0, 0.0
		for i, a := range b.a {
			m := float64(t.Labels[i] * s.Outputs[i])
			losses += Hinge{}.Value(m)
			gap += Hinge{}.Residual(m, a)
		}
		s.settle(losses, gap, t.Lambda)
		if s.Gap <= tol {
			return s, nil
		}
		if step == interiorLimit || math.IsNaN(s.Gap) {
			return s, t.unsolved(s, tol)
		}
		if err := ctx.Err(); err != nil {
			return s, err
		}
		if !b.step() {
			return s, t.unsolved(s, tol)
		}
	}
}
