package convex

import (
	"context"
	"math"

	"dgkip/harness/fmath"
	"dgkip/harness/tensor"
)

// primalNewton is a large set with fewer features than images, on which the dual variables
// are too many and steps in one of them at a time creep: lambda is all that keeps
// their problem from being singular. It is solved with matrices [M, M].
type primalNewton struct {
	Features tensor.Mat[float32] // [n, M]
	Labels   []float64           // gains y
	Loss     Loss                // LogisticLoss or HingeLoss
	Lambda   float64
}

// primalSuits reports whether it suits a loss on n images with m features. For the hinge the
// method of multipliers is faster from about n/7 features on: with n = 3,000 it takes twice
// the time at m = 256, and a third of it at m = 1,024.
func primalSuits(loss Loss, n, m int) bool {
	switch {
	case m <= 0 || m >= n || m > maxPrimal:
		return false
	case loss == HingeLoss:
		return 8*m <= n || n > MaxGram
	}
	return loss == LogisticLoss
}

// solve runs Newton's method in the weights for the logistic loss, and the
// interior-point method for the hinge, whose systems D + H, H of the rank M, are
// inverted by Woodbury's identity. A step takes 3 n M^2 + M^3/3 operations and
// 8 n M + 24 M^2 bytes: see weighted, and the factor of what that returns.
func (t primalNewton) solve(search *search) (Solution, error) {
	search.limit = min(search.limit, interiorLimit)
	if t.Loss == LogisticLoss {
		return t.newton(search)
	}
	return newBox(lowRank{t, search.ctx}, len(t.Labels)).follow(search)
}

// weighted returns sum_i d_i phi_i phi_i' + lambda I, or nothing useful once ctx is
// done. The scaled features are split into two float32 each, high and low, whose
// products are exact; only those of two low parts are left out. Woodbury's identity
// takes the difference of numbers that nearly agree, for which float32 alone is not
// enough.
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
	// In blocks of rows, which take no longer than people wait.
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

// newton minimises P in the weights, with the gradient of P as the proof: see
// gradientTerm.
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

// length returns that along -step, at most 1, where P is least, to within a
// little: P is convex, its slope along the line known, and outputs are linear.
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

// leastAlong returns where a convex function with this slope is least, to within a little,
// and at most 1.
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

// lowRank is H = Z'Z/lambda, the columns of Z being y_i phi_i.
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
// and once more for what is left of b.
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
