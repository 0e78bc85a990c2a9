package convex

import (
	"context"
	"math"

	"dgkip/harness/fmath"
	"dgkip/harness/tensor"
)

// primalNewton solves for a large set with fewer features than images, using matrices [M, M].
// Its dual problem would be singular but for lambda, so coordinate ascent converges slowly.
type primalNewton struct {
	Features tensor.Mat[float32] // [n, M]
	Labels   []float64           // gains y
	Loss     Loss                // LogisticLoss or HingeLoss
	Lambda   float64
}

// primalSuits reports whether primalNewton suits a loss on n images with m features. For the
// hinge loss the method of multipliers is faster from about n/7 features on. With n = 3,000,
// it takes twice as long at m = 256, but only a third as long at m = 1,024.
func primalSuits(loss Loss, n, m int) bool {
	switch {
	case m <= 0 || m >= n || m > maxPrimal:
		return false
	case loss == HingeLoss:
		return 8*m <= n || n > maxGram
	}
	return loss == LogisticLoss
}

// solve runs Newton's method in the weights for the logistic loss. For the hinge loss it runs
// the interior-point method, inverting its systems D + H with H of rank M by Woodbury's
// identity. A step takes 3 n M^2 + M^3/3 operations and 8 n M + 24 M^2 bytes, for weighted
// and the Cholesky factor.
func (t primalNewton) solve(search *search) (Solution, error) {
	search.limit = min(search.limit, interiorLimit)
	if t.Loss == LogisticLoss {
		return t.newton(search)
	}
	return newBox(lowRank{t, search.ctx}, len(t.Labels)).follow(search)
}

// weighted returns sum_i d_i phi_i phi_i' + lambda I. The result is unusable once ctx is done.
// Woodbury's identity subtracts nearly equal numbers, for which float32 is not enough. So each
// scaled feature is split into two float32, high and low, whose products are exact; products
// of two low parts are left out.
func (t primalNewton) weighted(ctx context.Context, d []float64) tensor.Mat[float64] {
	n, m := t.Features.Rows, t.Features.Cols
	high, low := tensor.NewMat[float32](m, n), tensor.NewMat[float32](m, n)
	const block = 48
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
	// Blocks are short, so that a cancelled context ends the loop soon.
	for from := 0; from < m && ctx.Err() == nil; from += block {
		to := min(m, from+block)
		tensor.Cross64(h.Part(from, to, 0, to), high.Part(from, to, 0, n), high.Part(0, to, 0, n))
		tensor.Cross64(mixed.Part(from, to, 0, m), high.Part(from, to, 0, n), low)
		for i := from; i < to; i++ {
			for j := range i {
				h.Data[j*h.Stride+i] = h.Data[i*h.Stride+j]
			}
		}
	}
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
func (t primalNewton) combine(w []float64) []float64 {
	return Combine(t.Features, oneColumn(w)).Data
}

func (t primalNewton) outputs(theta []float64) []float64 { return dots(t.Features, theta) }

// newton minimises P in the weights; the gradient of P proves the gap, see gradientTerm.
func (t primalNewton) newton(search *search) (Solution, error) {
	n, m := t.Features.Rows, t.Features.Cols
	theta, f := make([]float64, m), make([]float64, n)
	w, d := make([]float64, n), make([]float64, n)
	for steps := 0; ; steps++ {
		losses := 0.0
		for i, y := range t.Labels {
			margin := float64(y * f[i])
			a := fmath.Sigmoid(-margin)
			losses += fmath.Softplus(-margin)
			w[i] = -float64(y * a)
			d[i] = float64(y*y) * float64(a*fmath.Sigmoid(margin))
		}
		g := t.combine(w)
		for j := range g {
			g[j] += float64(t.Lambda * theta[j])
		}
		s := Solution{Weights: oneRow(theta), Outputs: oneColumn(f), Norm2: dot64(theta, theta), Sweeps: float64(steps)}
		s.prove(losses, gradientTerm(dot64(g, g), t.Lambda), t.Lambda)
		if over, err := search.over(s); over {
			return s, err
		}
		l, bad := decompose(search.ctx, t.weighted(search.ctx, d), 0, 1e-15)
		if err := search.ctx.Err(); err != nil {
			return s, err
		}
		if bad >= 0 {
			return s, search.failed(s)
		}
		step := l.solve(g)
		length := t.length(theta, f, step, t.outputs(step))
		for j, x := range step {
			theta[j] -= float64(length * x)
		}
		f = t.outputs(theta)
	}
}

// length returns the step length along -step that nearly minimises P, at most 1. Outputs are
// linear in the length, so trying one is cheap.
func (t primalNewton) length(theta, f, step, df []float64) float64 {
	along, square := dot64(theta, step), dot64(step, step)
	slope := func(length float64) float64 {
		sum := float64(t.Lambda * (float64(length*square) - along))
		for i, y := range t.Labels {
			margin := float64(y * (f[i] - float64(length*df[i])))
			sum += float64(float64(y*df[i]) * fmath.Sigmoid(-margin))
		}
		return sum
	}
	return leastAlong(slope)
}

// leastAlong returns the approximate minimiser in (0, 1] of a convex function, given its slope.
func leastAlong(slope func(length float64) float64) float64 {
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

// lowRank is H = Z'Z/lambda, where the columns of Z are y_i phi_i.
type lowRank struct {
	primalNewton
	ctx context.Context
}

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
// and repeats this once for the remaining residual.
func (h lowRank) plus(d []float64) (func([]float64) []float64, bool) {
	inverse := make([]float64, len(d))
	for i, x := range d {
		inverse[i] = float64(h.Labels[i]*h.Labels[i]) / x
	}
	l, bad := decompose(h.ctx, h.weighted(h.ctx, inverse), 0, 1e-15)
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

func (h lowRank) at(a []float64, steps int) Solution {
	theta := h.combine(h.signed(a))
	for j := range theta {
		theta[j] /= h.Lambda
	}
	f := h.outputs(theta)
	s := Solution{Weights: oneRow(theta), Outputs: oneColumn(f), Norm2: dot64(theta, theta), Sweeps: float64(steps)}
	losses, gap := termsAt(Hinge{}, h.Labels, f, a)
	s.prove(losses, gap, h.Lambda)
	return s
}
