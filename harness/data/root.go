package data

import (
	"context"
	"math"

	"dgkip/harness/fmath"
)

// inverseRoot returns a^(-1/2) for a symmetric [d, d] matrix with all eigenvalues
// at least low > 0. a is left alone.
func inverseRoot(ctx context.Context, a []float64, d int, low float64) ([]float64, error) {
	t, err := reduce(ctx, append([]float64(nil), a...), d)
	if err != nil {
		return nil, err
	}
	f, err := t.inverseRoot(ctx, low)
	if err != nil {
		return nil, err
	}
	// A^(-1/2) = Q F Q^T. F is symmetric, so that its rows serve as columns: the
	// first pass makes F Q^T row by row, the second Q times that column by column.
	err = rows(ctx, (d+7)/8, func(q int) { t.reflect(f, 8*q, 1, d) })
	if err == nil {
		err = rows(ctx, (d+7)/8, func(q int) { t.reflect(f, 8*q, d, 1) })
	}
	return f, err
}

// tridiagonal is a symmetric matrix T with Q T Q^T = A, where Q is the product of
// the reflections 1 - scale[k] v_k v_k^T, and v_k stands in row k of v from
// column k+1 on.
type tridiagonal struct {
	d         int
	diag, off []float64
	scale     []float64
	v         []float64 // [d, d]
}

// reduce brings a to tridiagonal form by Householder reflections, in its place.
func reduce(ctx context.Context, a []float64, d int) (*tridiagonal, error) {
	t := &tridiagonal{d: d, diag: make([]float64, d), off: make([]float64, d), scale: make([]float64, d), v: a}
	// The rank-two update of a step, A - v w^T - w v^T, waits until the next step
	// reads the matrix anyway.
	v, w, p := make([]float64, d), make([]float64, d), make([]float64, d)
	for k := range d {
		row := a[k*d : (k+1)*d]
		update(row[k:], v[k:], w[k:], v[k], w[k])
		t.diag[k] = row[k]
		if k == d-1 {
			break
		}
		x := row[k+1:]
		t.off[k], t.scale[k] = reflection(x)
		if t.scale[k] == 0 {
			clear(x)
		}
		step := func(i int) {
			r := a[i*d+k+1 : (i+1)*d]
			update(r, v[k+1:], w[k+1:], v[i], w[i])
			p[i] = mul(t.scale[k], dot(r, x))
		}
		// The update of a row reads v and w, which are replaced only after.
		if n := d - k - 1; n < 200 {
			for i := k + 1; i < d; i++ {
				step(i)
			}
		} else if err := rows(ctx, n, func(i int) { step(k + 1 + i) }); err != nil {
			return nil, err
		}
		half := mul(mul(0.5, t.scale[k]), dot(p[k+1:], x))
		for i, vi := range x {
			v[k+1+i] = vi
			w[k+1+i] = p[k+1+i] - mul(half, vi)
		}
	}
	return t, nil
}

// update subtracts vi w + wi v from a row.
func update(row, v, w []float64, vi, wi float64) {
	v, w = v[:len(row)], w[:len(row)]
	for k := range row {
		row[k] -= float64(vi*w[k]) + float64(wi*v[k])
	}
}

// reflection replaces x by the v of the reflection 1 - scale v v^T that maps x to
// (norm, 0, ..., 0).
func reflection(x []float64) (norm, scale float64) {
	rest := dot(x[1:], x[1:])
	if rest == 0 {
		return x[0], 0
	}
	norm = math.Sqrt(mul(x[0], x[0]) + rest)
	if x[0] > 0 {
		norm = -norm
	}
	x[0] -= norm
	return norm, 2 / (mul(x[0], x[0]) + rest)
}

// inverseRoot returns T^(-1/2) by the trapezoid rule in u on
//
//	T^(-1/2) = (2/pi) integral of e^u (T + e^(2u))^(-1) du over all u,
//
// whose error falls as exp(-pi^2/step). The eigenvalues of T lie between low and
// the largest sum of a row.
func (t *tridiagonal) inverseRoot(ctx context.Context, low float64) ([]float64, error) {
	const step, margin = 0.35, 25 // errors about 1e-12 and 1e-11
	d, high := t.d, low
	for i := range d {
		r := math.Abs(t.diag[i]) + math.Abs(t.off[i])
		if i > 0 {
			r += math.Abs(t.off[i-1])
		}
		high = max(high, r)
	}
	first := float64(0.5*fmath.Log(low)) - margin
	n := int((float64(0.5*fmath.Log(high))+margin-first)/step) + 1
	nodes := make([]node, n)
	for k := range nodes {
		nodes[k] = t.node(first + mul(step, float64(k)))
	}
	f := make([]float64, d*d)
	err := rows(ctx, d, func(j int) {
		row := f[j*d:]
		for _, nd := range nodes {
			// Up its column, an inverse's elements have the ratios of the
			// eliminations, and soon vanish beside the diagonal.
			g := mul(nd.weight*step*2/math.Pi, nd.diag[j])
			least := mul(g, 1e-25)
			for i := j; ; i-- {
				row[i] += g
				if i == 0 {
					break
				}
				g = mul(nd.ratio[i-1], g)
				if math.Abs(g) <= least {
					break
				}
			}
		}
	})
	for i := range d {
		for k := i + 1; k < d; k++ {
			f[i*d+k] = f[k*d+i]
		}
	}
	return f, err
}

// node is the inverse of T + s at a node of the rule: its diagonal, and the ratio
// of element i to element i+1 in every column that begins below.
type node struct {
	weight      float64
	diag, ratio []float64
}

func (t *tridiagonal) node(u float64) node {
	d := t.d
	e := fmath.Exp(u)
	s := mul(e, e)
	nd := node{e, make([]float64, d), make([]float64, d)}
	// Eliminating from the top leaves pivots; from the bottom, others.
	pivot := t.diag[0] + s
	for i := range d {
		if i > 0 {
			pivot = t.diag[i] + s + mul(nd.ratio[i-1], t.off[i-1])
		}
		nd.ratio[i] = -t.off[i] / pivot
		nd.diag[i] = pivot
	}
	pivot = t.diag[d-1] + s
	for i := d - 1; i >= 0; i-- {
		if i < d-1 {
			pivot = t.diag[i] + s - mul(t.off[i], t.off[i])/pivot
		}
		nd.diag[i] = 1 / (nd.diag[i] + pivot - (t.diag[i] + s))
	}
	return nd
}

// reflect multiplies eight vectors from number j on by Q: those of f whose element
// i is at j*d + i (over = 1) or at i*d + j (over = d).
func (t *tridiagonal) reflect(f []float64, j, over, across int) {
	d := t.d
	m := min(8, d-j)
	x := make([][8]float64, d)
	for i := range x {
		for c := range m {
			x[i][c] = f[i*over+(j+c)*across]
		}
	}
	for k := d - 2; k >= 0; k-- {
		if t.scale[k] == 0 {
			continue
		}
		v := t.v[k*d+k+1 : (k+1)*d]
		y := x[k+1:][:len(v)]
		var s0, s1, s2, s3, s4, s5, s6, s7 float64
		for i, u := range v {
			z := &y[i]
			s0 += float64(u * z[0])
			s1 += float64(u * z[1])
			s2 += float64(u * z[2])
			s3 += float64(u * z[3])
			s4 += float64(u * z[4])
			s5 += float64(u * z[5])
			s6 += float64(u * z[6])
			s7 += float64(u * z[7])
		}
		b := t.scale[k]
		s0, s1, s2, s3 = b*s0, b*s1, b*s2, b*s3
		s4, s5, s6, s7 = b*s4, b*s5, b*s6, b*s7
		for i, u := range v {
			z := &y[i]
			z[0] -= float64(u * s0)
			z[1] -= float64(u * s1)
			z[2] -= float64(u * s2)
			z[3] -= float64(u * s3)
			z[4] -= float64(u * s4)
			z[5] -= float64(u * s5)
			z[6] -= float64(u * s6)
			z[7] -= float64(u * s7)
		}
	}
	for i := range x {
		for c := range m {
			f[i*over+(j+c)*across] = x[i][c]
		}
	}
}
