package convex

import (
	"context"
	"fmt"
	"math"

	"dgkip/harness/tensor"
)

var Debug bool

// wide is the state of an interior-point method like that of box, for the dual
// variables of the hinge loss on a large Gram matrix K in float32.
type wide struct {
	Dual
	a, s, z, w []float64 // a + s = 1; z and w are the multipliers of a, s >= 0
	products   int       // with K
}

// largeHinge maximises the dual of the hinge loss. Each step solves
//
//	(H + diag(z/a + w/s)) da = 1 - H a + mu/a - mu/s,   H_ij = y_i y_j K_ij / lambda,
//
// by conjugate gradients in float64. What makes them few is a Cholesky factor in
// float32 of that matrix for the variables that are not yet held at an end of
// their range by a large z/a or w/s. The factor takes as much memory as K at most.
func (d Dual) largeHinge(ctx context.Context, tol float64, maxProducts int) (Certificate, error) {
	n := len(d.Labels)
	b := wide{Dual: d, a: make([]float64, n), s: make([]float64, n), z: make([]float64, n), w: make([]float64, n)}
	for i := range b.a {
		b.a[i], b.s[i] = 0.5, 0.5
	}
	h := b.times(b.a)
	for i, v := range h {
		start := max(1, math.Abs(v-1)) / 10
		b.z[i], b.w[i] = max(v-1, 0)+start, max(1-v, 0)+start
	}
	for {
		// Only the variables tell: theta is theta(alpha).
		proof := ascent{Dual: d, alpha: b.a}
		proof.f = make([]float64, n)
		for i, v := range h {
			if y := d.Labels[i]; y != 0 {
				proof.f[i] = v / y
			}
		}
		c := proof.certify()
		c.Sweeps = float64(b.products)
		if Debug { println(b.products, int(c.Primal*1000), int(c.Dual*1000)) }
		switch {
		case c.Gap <= tol:
			proof.refresh()
			if c = proof.certify(); c.Gap <= tol {
				c.Sweeps = float64(b.products)
				return c, nil
			}
			return c, fmt.Errorf("convex: hinge: relative gap %.2g, wanted %.2g", c.Gap, tol)
		case math.IsNaN(c.Gap):
			return c, fmt.Errorf("convex: the features hold NaN or infinity")
		case b.products >= maxProducts:
			return c, fmt.Errorf("convex: hinge: relative gap %.2g after %d sweeps, wanted %.2g", c.Gap, b.products, tol)
		}
		if err := b.step(ctx, h); err != nil {
			if ctx.Err() != nil {
				return c, err
			}
			return c, fmt.Errorf("convex: hinge: relative gap %.2g after %d sweeps, wanted %.2g: %w", c.Gap, b.products, tol, err)
		}
		h = b.times(b.a)
	}
}

// times returns H v.
func (b *wide) times(v []float64) []float64 {
	b.products++
	u := make([]float64, len(v))
	for i, x := range v {
		u[i] = float64(x*b.Labels[i]) / b.Lambda
	}
	u = dots(b.Gram, u)
	for i := range u {
		u[i] = float64(u[i] * b.Labels[i])
	}
	return u
}

// step makes a step of the predictor and the corrector, as box.step; h is H a.
func (b *wide) step(ctx context.Context, h []float64) error {
	n := len(b.a)
	mu := 0.0
	diag := make([]float64, n)
	for i := range diag {
		mu += float64(b.a[i]*b.z[i]) + float64(b.s[i]*b.w[i])
		diag[i] = b.z[i]/b.a[i] + b.w[i]/b.s[i]
	}
	mu /= float64(2 * n)
	prec, err := b.precondition(ctx, diag)
	if err != nil {
		return err
	}
	var da []float64
	dz, dw := make([]float64, n), make([]float64, n)
	ea, es := make([]float64, n), make([]float64, n)
	solve := func(mu float64) (err error) {
		rhs := make([]float64, n)
		for i := range rhs {
			rhs[i] = 1 - h[i] + (mu-ea[i])/b.a[i] - (mu-es[i])/b.s[i]
		}
		da, err = b.direction(ctx, prec, diag, rhs)
		for i, d := range da {
			dz[i] = (mu-ea[i]-float64(b.z[i]*d))/b.a[i] - b.z[i]
			dw[i] = (mu-es[i]+float64(b.w[i]*d))/b.s[i] - b.w[i]
		}
		return err
	}
	if err := solve(0); err != nil {
		return err
	}
	path := box{a: b.a, s: b.s, z: b.z, w: b.w}
	t := path.longest(da, dz, dw)
	after := 0.0
	for i, d := range da {
		after += float64((b.a[i]+float64(t*d))*(b.z[i]+float64(t*dz[i]))) + float64((b.s[i]-float64(t*d))*(b.w[i]+float64(t*dw[i])))
	}
	central := after / float64(2*n) / mu
	for i, d := range da {
		ea[i], es[i] = float64(d*dz[i]), -float64(d*dw[i])
	}
	if err := solve(mu * central * central * central); err != nil {
		return err
	}
	t = min(1, 0.99*path.longest(da, dz, dw))
	for i, d := range da {
		b.a[i] += float64(t * d)
		b.s[i] = 1 - b.a[i]
		b.z[i] += float64(t * dz[i])
		b.w[i] += float64(t * dw[i])
		if !(b.a[i] > 0 && b.s[i] > 0 && b.z[i] > 0 && b.w[i] > 0) {
			return fmt.Errorf("float64 leaves no room for another step")
		}
	}
	return nil
}

// direction solves (H + diag) x = rhs to a thousandth.
func (b *wide) direction(ctx context.Context, prec func([]float64) []float64, diag, rhs []float64) ([]float64, error) {
	n := len(rhs)
	x, r := make([]float64, n), append([]float64(nil), rhs...)
	p := prec(r)
	size := dot64(r, p)
	enough := 1e-6 * size
	for range 100 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		q := b.times(p)
		for i := range q {
			q[i] += float64(diag[i] * p[i])
		}
		a := size / dot64(p, q)
		for i := range x {
			x[i] += float64(a * p[i])
			r[i] -= float64(a * q[i])
		}
		v := prec(r)
		next := dot64(r, v)
		if !(next > enough) {
			return x, nil
		}
		for i := range p {
			p[i] = v[i] + float64(next/size*p[i])
		}
		size = next
	}
	return x, nil // a step in this direction is one all the same
}

// precondition returns an approximate inverse of H + diag: that of the part in
// float32 for the variables whose diagonal term is at most a hundred times that of H,
// and of the diagonal for the rest.
func (b *wide) precondition(ctx context.Context, diag []float64) (func([]float64) []float64, error) {
	n := len(diag)
	root := make([]float64, n)
	var in []int
	for i, d := range diag {
		own := float64(b.Labels[i]*b.Labels[i]) * float64(b.Gram.Row(i)[i]) / b.Lambda
		root[i] = 1 / math.Sqrt(own+d)
		if d <= 100*own {
			in = append(in, i)
		}
	}
	if Debug { println("factor", len(in)) }
	m := tensor.NewMat[float32](len(in), len(in))
	var l cholesky32
	for jitter := 1e-6; ; jitter *= 10 {
		tensor.Parallel(len(in), func(p int) {
			i := in[p]
			scale := float64(root[i]*b.Labels[i]) / b.Lambda
			row, from := m.Row(p), b.Gram.Row(i)
			for q, j := range in[:p] {
				row[q] = float32(scale * float64(from[j]) * float64(root[j]*b.Labels[j]))
			}
			row[p] = float32(1 + jitter)
		})
		ok, err := false, error(nil)
		if l, ok, err = decompose32(ctx, m); err != nil {
			return nil, err
		}
		if ok {
			break
		}
		if jitter > 0.01 {
			return nil, fmt.Errorf("the Gram matrix is not positive semidefinite")
		}
	}
	return func(r []float64) []float64 {
		out, part := make([]float64, n), make([]float64, len(in))
		for i, x := range r {
			out[i] = float64(float64(root[i]*root[i]) * x)
		}
		for p, i := range in {
			part[p] = float64(root[i] * r[i])
		}
		for p, x := range l.solve(part) {
			out[in[p]] = float64(root[in[p]] * x)
		}
		return out
	}, nil
}

// factorBlock is the number of columns that decompose32 works on at a time.
const factorBlock = 192

// cholesky32 is a factor in float32, and the inverses of its diagonal blocks.
type cholesky32 struct {
	l       tensor.Mat[float32]
	inverse []tensor.Mat[float64]
}

// decompose32 factorises m, of which it reads and replaces the lower triangle and
// the blocks on the diagonal. Nearly all is left to products of matrices. It says
// whether the factor exists.
func decompose32(ctx context.Context, m tensor.Mat[float32]) (cholesky32, bool, error) {
	n := m.Rows
	c := cholesky32{l: m}
	part := func(r0, r1, c0, c1 int) tensor.Mat[float32] {
		return tensor.Mat[float32]{Rows: r1 - r0, Cols: c1 - c0, Stride: m.Stride, Data: m.Data[min(len(m.Data), r0*m.Stride+c0):]}
	}
	copied := func(a tensor.Mat[float32], sign float32) tensor.Mat[float32] {
		out := tensor.NewMat[float32](a.Rows, a.Cols)
		for i := range a.Rows {
			for j, x := range a.Row(i) {
				out.Data[i*out.Stride+j] = sign * x
			}
		}
		return out
	}
	for from := 0; from < n; from += factorBlock {
		if err := ctx.Err(); err != nil {
			return c, false, err
		}
		to := min(n, from+factorBlock)
		if from > 0 {
			tensor.Mul(part(from, n, from, to), part(from, n, 0, from), copied(part(from, to, 0, from), -1), tensor.NT, true)
		}
		size := to - from
		block := tensor.NewMat[float64](size, size)
		for i := range size {
			for j, x := range m.Row(from + i)[from : from+i+1] {
				block.Row(i)[j] = float64(x)
			}
		}
		l, bad := decompose(block, 0, 0)
		if bad >= 0 {
			return c, false, nil
		}
		inverse := tensor.NewMat[float64](size, size)
		tensor.Parallel(size, func(j int) {
			unit := make([]float64, size)
			unit[j] = 1
			setColumn(inverse, j, l.forward(unit))
		})
		c.inverse = append(c.inverse, inverse)
		if to < n {
			tensor.Mul(part(to, n, from, to), copied(part(to, n, from, to), 1), narrow(inverse), tensor.NT, false)
		}
	}
	return c, true, nil
}

// solve returns the solution x of L L' x = b.
func (c cholesky32) solve(b []float64) []float64 {
	n := len(b)
	x := append([]float64(nil), b...)
	left := func(from, to int) tensor.Mat[float32] {
		return tensor.Mat[float32]{Rows: to - from, Cols: from, Stride: c.l.Stride, Data: c.l.Data[from*c.l.Stride:]}
	}
	for k, inverse := range c.inverse {
		from := k * factorBlock
		to := min(n, from+factorBlock)
		known := make([]float64, to-from)
		tensor.MulVec64(known, left(from, to), x[:from])
		for i := range known {
			known[i] = x[from+i] - known[i]
		}
		for i := range known {
			x[from+i] = dot64(inverse.Row(i)[:i+1], known[:i+1])
		}
	}
	for k := len(c.inverse) - 1; k >= 0; k-- {
		from := k * factorBlock
		to := min(n, from+factorBlock)
		out := make([]float64, to-from)
		for i, y := range x[from:to] {
			for j, v := range c.inverse[k].Row(i)[:i+1] {
				out[j] -= float64(v * y)
			}
		}
		if from > 0 {
			tensor.AddRows64(x[:from], left(from, to), out)
		}
		for i, v := range out {
			x[from+i] = -v
		}
	}
	return x
}
