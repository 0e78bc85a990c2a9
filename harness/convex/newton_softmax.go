package convex

import (
	"context"
	"math"

	"dgkip/harness/tensor"
)

// softmaxNewton solves the softmax loss with fewer features than images, as primalNewton does
// for the other losses. Newton's method in the weights subtracts steps V with H V = grad P,
//
//	(H V)_k = sum_i u_ik phi_i + lambda V_k,   u_i = (diag(p_i) - p_i p_i') V phi_i,
//
// computed by conjugate gradients. The preconditioner is the diagonal block of H for each class,
// sum_i p_ik (1 - p_ik) phi_i phi_i' + lambda I, in K matrices [M, M]. On shifts that are equal
// for all classes, H is only lambda. As grad P contains no such shift but the preconditioner
// would add one, lessMean subtracts the mean over classes from its result.
type softmaxNewton storedSoftmax

// softmaxNewtonSuits reports whether softmaxNewton suits n images, m features and this many
// classes. The preconditioner takes 16 K M^2 bytes and K M^3 operations.
func softmaxNewtonSuits(n, m, classes int) bool { return m > 0 && m < n && m <= 512 && classes <= 100 }

func (t softmaxNewton) solve(search *search) (Solution, error) {
	search.limit = min(search.limit, interiorLimit)
	n, m := t.Features.Rows, t.Features.Cols
	theta, f := tensor.NewMat[float64](t.Classes, m), tensor.NewMat[float64](n, t.Classes)
	for steps := 0; ; steps++ {
		p, slopes, losses := t.at(f)
		g := t.combine(slopes, theta)
		s := Solution{Weights: theta, Outputs: f, Norm2: frobenius2(theta), Sweeps: float64(steps)}
		s.prove(losses, gradientTerm(frobenius2(g), t.Lambda), t.Lambda)
		if over, err := search.over(s); over {
			return s, err
		}
		step, ok := t.newton(search, p, g)
		if err := search.ctx.Err(); err != nil {
			return s, err
		}
		if !ok {
			return s, search.failed(s)
		}
		df := Apply(t.Features, step)
		length := leastAlong(func(length float64) float64 { return t.slope(length, theta, f, step, df) })
		tensor.Axpy(theta.Data, -length, step.Data, theta.Data)
		f = Apply(t.Features, theta)
	}
}

// at returns the class probabilities at outputs f, the derivatives of the losses, and the sum
// of the losses.
func (t softmaxNewton) at(f tensor.Mat[float64]) (p, slopes tensor.Mat[float64], losses float64) {
	p, slopes = tensor.NewMat[float64](f.Rows, f.Cols), tensor.NewMat[float64](f.Rows, f.Cols)
	for i, y := range t.Labels {
		losses += probabilities(p.Row(i), f.Row(i)) - f.Row(i)[y]
		copy(slopes.Row(i), p.Row(i))
		slopes.Row(i)[y]--
	}
	return p, slopes, losses
}

// combine returns W'Phi + lambda V.
func (t softmaxNewton) combine(w, v tensor.Mat[float64]) tensor.Mat[float64] {
	out := Combine(t.Features, w)
	tensor.Axpy(out.Data, t.Lambda, v.Data, out.Data)
	return out
}

// newton returns an approximation of H^-1 g. It reports false if H is not positive definite
// numerically.
func (t softmaxNewton) newton(search *search, p, g tensor.Mat[float64]) (tensor.Mat[float64], bool) {
	const precision, most = 0.1, 500
	ctx := search.ctx
	blocks, ok := t.blocks(ctx, p)
	if !ok {
		return g, false
	}
	precondition := func(r tensor.Mat[float64]) tensor.Mat[float64] {
		z := tensor.NewMat[float64](r.Rows, r.Cols)
		tensor.Parallel(len(blocks), func(k int) { copy(z.Row(k), blocks[k].solve(r.Row(k))) })
		lessMean(z)
		return z
	}
	hessian := func(v tensor.Mat[float64]) tensor.Mat[float64] {
		u := Apply(t.Features, v)
		for i := range u.Rows {
			of, mean := u.Row(i), dot64(p.Row(i), u.Row(i))
			for k, x := range p.Row(i) {
				of[k] = float64(x * (of[k] - mean))
			}
		}
		return t.combine(u, v)
	}
	x, r := tensor.NewMat[float64](g.Rows, g.Cols), times(1, g)
	z := precondition(r)
	d, rz := z, dot64(r.Data, z.Data)
	enough := precision * precision * frobenius2(g)
	for range most {
		search.tick()
		if ctx.Err() != nil || frobenius2(r) <= enough {
			break
		}
		h := hessian(d)
		a := rz / dot64(d.Data, h.Data)
		if !(a > 0) || math.IsInf(a, 0) {
			return x, false
		}
		tensor.Axpy(x.Data, a, d.Data, x.Data)
		tensor.Axpy(r.Data, -a, h.Data, r.Data)
		z = precondition(r)
		before := rz
		rz = dot64(r.Data, z.Data)
		tensor.Axpy(z.Data, rz/before, d.Data, z.Data)
		d = z
	}
	return x, true
}

// blocks returns the Cholesky factors of the preconditioner, one per class. It returns false if ctx
// ends or a matrix cannot be factorised. Float32 matrices suffice, because errors affect only the speed
// of convergence; decompose raises pivots that rounding made too small.
func (t softmaxNewton) blocks(ctx context.Context, p tensor.Mat[float64]) ([]cholesky, bool) {
	n, m := t.Features.Rows, t.Features.Cols
	scaled, gram := tensor.NewMat[float32](m, n), tensor.NewMat[float32](m, m)
	of, wide := make([]cholesky, t.Classes), make([]tensor.Mat[float64], t.Classes)
	for k := range of {
		root := make([]float32, n)
		for i := range root {
			x := p.Row(i)[k]
			root[i] = float32(math.Sqrt(float64(x * (1 - x))))
		}
		tensor.Parallel(m, func(j int) {
			to := scaled.Row(j)
			for i, x := range root {
				to[i] = x * t.Features.Row(i)[j]
			}
		})
		tensor.Gram(gram, scaled)
		if ctx.Err() != nil {
			return nil, false
		}
		wide[k] = tensor.Widen(gram)
	}
	bad := make([]int, len(of))
	tensor.Parallel(len(of), func(k int) { of[k], bad[k] = decompose(ctx, wide[k], t.Lambda, 1e-6) })
	for _, row := range bad {
		if row >= 0 {
			return nil, false
		}
	}
	return of, true
}

// slope returns the derivative of P along -V for the step V, at theta - t V with t the length:
//
//	lambda (t |V|^2 - <Theta, V>) - sum_i l'(F_i - t V phi_i)'V phi_i.
func (t softmaxNewton) slope(length float64, theta, f, step, df tensor.Mat[float64]) float64 {
	sum := float64(t.Lambda * (float64(length*frobenius2(step)) - dot64(theta.Data, step.Data)))
	there := tensor.NewMat[float64](f.Rows, f.Cols)
	tensor.Axpy(there.Data, -length, df.Data, f.Data)
	_, slopes, _ := t.at(there)
	for i := range slopes.Rows {
		sum -= dot64(slopes.Row(i), df.Row(i))
	}
	return sum
}

// lessMean subtracts its mean from each column.
func lessMean(z tensor.Mat[float64]) {
	for j := range z.Cols {
		mean := 0.0
		for k := range z.Rows {
			mean += z.Row(k)[j] / float64(z.Rows)
		}
		for k := range z.Rows {
			z.Row(k)[j] -= mean
		}
	}
}
