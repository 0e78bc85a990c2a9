package convex

import (
	"context"
	"math"

	"dgkip/harness/fmath"
	"dgkip/harness/tensor"
)

// After newtonLimit steps, newton starts again with falling temperatures. It gives up after
// lastLimit further steps at temperature 1.
const newtonLimit, lastLimit = 50, 300

// hopeless is the highest temperature to start from: beyond it, float64 solves no problem.
const hopeless = 1e20

// newton minimises a smooth loss over C. Its step D solves
//
//	lambda D_i + H_i (K D)_i = -R_i
//
// for the residual R = lambda C + grad l(F) and the Hessians H_i of the losses. The method
// length finds the step length. If labels require outputs of a thousand or more, the loss looks
// as if it had kinks, and steps are short. Such problems are solved for a sequence of falling
// temperatures.
func (s kernelProblem) newton(search *search) (Solution, error) {
	c := tensor.NewMat[float64](s.Labels.Values.Rows, s.Labels.Values.Cols)
	done := func(f Solution) bool { return f.Gap <= search.tol }
	fit := s.descend(search, c, newtonLimit, 0, search.tol, done)
	if done(fit) {
		return fit, nil
	}
	if s.Labels.Loss != SquaredLoss && search.ctx.Err() == nil {
		clear(c.Data)
		steps := fit.Sweeps
		for heat := min(s.hottest(), hopeless); heat > 1; heat /= 5 {
			hot := s
			hot.heat = heat
			steps = hot.descend(search, c, newtonLimit, steps, 1e-3, func(f Solution) bool { return f.Primal-f.Dual <= heat/10 }).Sweeps
		}
		if fit = s.descend(search, c, lastLimit, steps, search.tol, done); done(fit) {
			return fit, nil
		}
	}
	if err := search.ctx.Err(); err != nil {
		return fit, err
	}
	return fit, s.unsolved(fit, search)
}

// hottest is a rough estimate of the largest outputs that the labels can require.
func (s kernelProblem) hottest() float64 {
	most := 0.0
	for i := range s.Gram.Rows {
		for _, y := range s.label(i) {
			most = max(most, math.Abs(y))
		}
	}
	sum := 0.0
	for i := range s.Gram.Rows {
		sum += s.Gram.Data[i*s.Gram.Stride+i]
	}
	return (1 + most) * sum / s.Lambda
}

// descend updates C until done returns true or limit steps have been taken. It adds to the
// given count of steps.
func (s kernelProblem) descend(search *search, c tensor.Mat[float64], limit int, steps, tol float64, done func(Solution) bool) Solution {
	for iteration := 0; ; iteration++ {
		f := multiply(s.Gram, c)
		fit, r := s.certify(c, f)
		fit.Sweeps = steps
		if done(fit) || iteration == limit || search.ctx.Err() != nil {
			return fit
		}
		if s.heat == 0 {
			search.reached(fit.Gap)
		} else {
			search.tick()
		}
		var d tensor.Mat[float64]
		ok := true
		switch s.Labels.Loss {
		case LogisticLoss, SquaredLoss:
			d, ok = s.directStep(search.ctx, f, r)
			steps++
		default:
			var products int
			d, products = s.softmaxStep(search.ctx, f, r, tol/fit.Gap)
			steps += float64(products)
		}
		if !ok || search.ctx.Err() != nil {
			return fit // the step failed or may have been cut short
		}
		t := s.length(c, f, d, multiply(s.Gram, d))
		for i, x := range d.Data {
			c.Data[i] += float64(t * x)
		}
	}
}

// length returns a length t for the step D with outputs DF = K D, such that the derivative of
// the objective,
//
//	sum_i (lambda (C + t D)_i + grad l_i(F_i + t DF_i))' DF_i,
//
// is small. The derivative increases with t. Near the minimum, t is 1. Outputs are linear in t,
// so trying a length needs no product with K.
func (s kernelProblem) length(c, f, d, df tensor.Mat[float64]) float64 {
	at, g := make([]float64, c.Cols), make([]float64, c.Cols)
	slope := func(t float64) float64 {
		sum := 0.0
		for i := range c.Rows {
			for k, x := range df.Row(i) {
				at[k] = f.Row(i)[k] + float64(t*x)
			}
			s.slope(i, at, g)
			for k, x := range df.Row(i) {
				r := g[k] + float64(s.Lambda*(c.Row(i)[k]+float64(t*d.Row(i)[k])))
				sum += float64(r * x)
			}
		}
		return sum
	}
	return searchLine(slope)
}

// searchLine returns t > 0 where an increasing slope, negative at 0, has at most half its
// initial absolute value. It tries 1 first, then doubles, and then alternates between secants
// and bisection.
func searchLine(slope func(t float64) float64) float64 {
	first := slope(0)
	small := math.Abs(first) / 2
	lo, sLo, t := 0.0, first, 1.0
	st := slope(t)
	for k := 0; st < -small && k < 100; k++ {
		lo, sLo = t, st
		t *= 2
		st = slope(t)
	}
	hi, sHi := t, st
	for k := 0; !(math.Abs(st) <= small) && k < 100; k++ {
		t = lo + (hi-lo)/2
		if secant := lo + float64((hi-lo)*(sLo/(sLo-sHi))); k%2 == 0 && secant > lo && secant < hi {
			t = secant
		}
		if st = slope(t); st < 0 {
			lo, sLo = t, st
		} else {
			hi, sHi = t, st
		}
	}
	return t
}

// directStep solves the Newton system of the logistic or the squared loss in the form
//
//	D = -S (lambda I + S K S)^-1 S^-1 R,   S^2 = the losses' curvatures,
//
// which avoids both cancellation and the inverse of K. The curvatures of the squared loss are one,
// and one step reaches its minimum. The step fails if lambda is lost in the rounding errors of K.
func (s kernelProblem) directStep(ctx context.Context, f, r tensor.Mat[float64]) (tensor.Mat[float64], bool) {
	n, heat := f.Rows, s.temperature()
	root := make([]float64, n)
	for i := range root {
		if root[i] = 1; s.Labels.Loss == SquaredLoss {
			continue
		}
		y, x := 1.0, f.Data[i]/heat
		if s.Labels.Form == Gain {
			y = s.label(i)[0]
			x *= y
		}
		// Where the curvature vanishes, any small positive root will do.
		root[i] = max(math.Abs(y)*math.Sqrt(fmath.Sigmoid(x)*fmath.Sigmoid(-x)/heat), 1e-100)
	}
	m := tensor.NewMat[float64](n, n)
	for i, a := range root {
		for j, b := range root {
			m.Data[i*m.Stride+j] = a * s.Gram.Data[i*s.Gram.Stride+j] * b
		}
	}
	system, bad := decompose(ctx, m, s.Lambda, 1e-15)
	if bad >= 0 {
		return tensor.Mat[float64]{}, false
	}
	return columns(r, n, func(left []float64) []float64 {
		for i, x := range left {
			left[i] = -x / root[i]
		}
		d := system.solve(left)
		for i, x := range root {
			d[i] *= x
		}
		return d
	}), true
}

// softmaxStep solves the Newton system with H_i = diag(s_i) - s_i s_i' for probabilities s_i. It
// runs conjugate gradients in the inner product <U, V> = tr(U'K V). There the matrix is
// symmetric, and the squared norm of the residual is 2 lambda times the gap. It stops once that
// norm has fallen by a factor of 100, or of 10/aim if that is more, where aim is the
// wanted gap divided by the present gap. It returns the step and the number of products with K.
func (s kernelProblem) softmaxStep(ctx context.Context, f, r tensor.Mat[float64], aim float64) (tensor.Mat[float64], int) {
	n, outputs := f.Rows, f.Cols
	prob := tensor.NewMat[float64](n, outputs)
	for i := range n {
		for k, x := range f.Row(i) {
			prob.Row(i)[k] = x / s.temperature()
		}
		probabilities(prob.Row(i), prob.Row(i))
	}
	d := tensor.NewMat[float64](n, outputs)
	left := times(-1, r)
	kLeft := multiply(s.Gram, left)
	p, kp := times(1, left), times(1, kLeft)
	q := tensor.NewMat[float64](n, outputs)
	size := inner(left, kLeft)
	enough := size * min(0.01, max(aim/10, 1e-8))
	steps := 0
	for size > enough && steps < 4*n && ctx.Err() == nil {
		for i := range n {
			mean := dot64(prob.Row(i), kp.Row(i))
			for k, x := range kp.Row(i) {
				q.Row(i)[k] = float64(s.Lambda*p.Row(i)[k]) + float64(prob.Row(i)[k]*(x-mean))/s.temperature()
			}
		}
		a := size / inner(q, kp)
		for j := range d.Data {
			d.Data[j] += float64(a * p.Data[j])
			left.Data[j] -= float64(a * q.Data[j])
		}
		kLeft = multiply(s.Gram, left)
		next := inner(left, kLeft)
		b := next / size
		size = next
		for j := range p.Data {
			p.Data[j] = left.Data[j] + float64(b*p.Data[j])
			kp.Data[j] = kLeft.Data[j] + float64(b*kp.Data[j])
		}
		steps++
	}
	return d, max(1, steps)
}
