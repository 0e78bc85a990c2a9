package convex

import (
	"context"
	"math"
	"testing"

	"dgkip/harness/fmath"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// towards is a search for the gap tol in at most limit steps.
func towards(tol float64, limit int) *search {
	return &search{ctx: context.Background(), tol: tol, limit: limit}
}

// exactly solves a problem on a small set in float64.
func exactly(gram tensor.Mat[float64], labels Labels, lambda, tol float64) (Solution, error) {
	return Solve(context.Background(), Problem{Gram: gram, Labels: labels, Lambda: lambda}, tol)
}

func gainsOf(loss Loss, y []float64) Labels {
	return Labels{Form: Gain, Loss: loss, Values: oneColumn(y)}
}

// near fails if got differs from want by more than tol times the largest entry.
func near(t *testing.T, name string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", name, len(got), len(want))
	}
	worst, scale := 0.0, 0.0
	for i, w := range want {
		worst, scale = max(worst, math.Abs(got[i]-w)), max(scale, math.Abs(w))
	}
	if !(worst <= tol*scale) {
		t.Errorf("%s: off by %.2g of the largest entry", name, worst/scale)
	}
}

func widen(v []float32) []float64 {
	w := make([]float64, len(v))
	for i, x := range v {
		w[i] = float64(x)
	}
	return w
}

// problem is a random problem with one output and labels of both signs.
type problem struct {
	phi           tensor.Mat[float32]
	theta, labels []float64
	lambda        float64
}

func draw(r *rng.Rand) problem {
	n, m := 1+r.IntN(9), 2+r.IntN(20)
	p := problem{phi: tensor.NewMat[float32](n, m), lambda: math.Pow(10, 2*r.Float64()-2)}
	r.FillNormal(p.phi.Data, 0, 1)
	for range m {
		p.theta = append(p.theta, 2*r.Normal64())
	}
	for range n {
		p.labels = append(p.labels, r.Normal64())
	}
	return p
}

// minimise minimises sum_i loss_i(phi_i'theta) + lambda/2 |theta|^2 by full Newton steps,
// independently of the package's solvers. slope and curve return the derivatives of loss i.
func minimise(t *testing.T, a tensor.Mat[float32], lambda float64, slope, curve func(i int, f float64) float64) []float64 {
	t.Helper()
	n := a.Rows
	k := GramOf(a)
	c := make([]float64, n) // theta = A'c
	for range 500 {
		f := make([]float64, n)
		g := make([]float64, n) // slope + lambda c, zero at the minimiser
		worst := 0.0
		for i := range f {
			for j := range c {
				f[i] += k.Data[i*n+j] * c[j]
			}
			g[i] = slope(i, f[i]) + lambda*c[i]
			worst = max(worst, math.Abs(g[i]))
		}
		if worst < 1e-13 {
			break
		}
		// Solve (D K + lambda I) step = g by elimination, with D the curvatures.
		m := make([][]float64, n)
		for i := range m {
			m[i] = make([]float64, n+1)
			for j := range c {
				m[i][j] = curve(i, f[i]) * k.Data[i*n+j]
			}
			m[i][i] += lambda
			m[i][n] = g[i]
		}
		for i := range m {
			p := i
			for q := i; q < n; q++ {
				if math.Abs(m[q][i]) > math.Abs(m[p][i]) {
					p = q
				}
			}
			m[i], m[p] = m[p], m[i]
			for q := i + 1; q < n; q++ {
				for j := n; j >= i; j-- {
					m[q][j] -= m[q][i] / m[i][i] * m[i][j]
				}
			}
		}
		step := make([]float64, n)
		for i := n - 1; i >= 0; i-- {
			step[i] = m[i][n]
			for j := i + 1; j < n; j++ {
				step[i] -= m[i][j] * step[j]
			}
			step[i] /= m[i][i]
		}
		for i := range c {
			c[i] -= step[i]
		}
	}
	return Combine(a, oneColumn(c)).Data
}

func distance(a, b []float64) float64 {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	return math.Sqrt(square(d))
}

// many is a random problem with K outputs.
type many struct {
	phi            tensor.Mat[float32]
	theta, targets tensor.Mat[float64]
	lambda         float64
}

func drawMany(r *rng.Rand) many {
	n, m, k := 1+r.IntN(7), 8+r.IntN(20), 2+r.IntN(4)
	p := many{phi: tensor.NewMat[float32](n, m), theta: normals(r, k, m, 1), targets: normals(r, n, k, 1), lambda: math.Pow(10, 2*r.Float64()-2)}
	r.FillNormal(p.phi.Data, 0, 0.5)
	return p
}

// manyForms are the label forms of losses with several outputs.
var manyForms = map[Loss]Form{SoftmaxLoss: Target, SquaredLoss: Value}

// slope32 is the central difference of f with respect to x, for steps of about h.
func slope32(x *float32, h float32, f func() float64) float64 {
	was := *x
	defer func() { *x = was }()
	*x = was + h
	a, up := *x, f()
	*x = was - h
	b, down := *x, f()
	return (up - down) / (float64(a) - float64(b))
}

func slope64(x *float64, h float64, f func() float64) float64 {
	was := *x
	defer func() { *x = was }()
	*x = was + h
	up := f()
	*x = was - h
	return (up - f()) / (2 * h)
}

func largest(m tensor.Mat[float32]) float64 {
	most := 1e-9
	for _, x := range m.Data {
		most = max(most, math.Abs(float64(x)))
	}
	return most
}

// classes returns features and labels of k overlapping classes.
func classes(r *rng.Rand, n, m, k int) (tensor.Mat[float32], []int) {
	a := tensor.NewMat[float32](n, m)
	r.FillNormal(a.Data, 0, float32(1/math.Sqrt(float64(m))))
	labels := make([]int, n)
	for i := range labels {
		labels[i] = r.IntN(k)
		for j := labels[i]; j < m; j += k {
			a.Row(i)[j] += float32(1 / math.Sqrt(float64(m)))
		}
	}
	return a, labels
}

func hot(labels []int, k int) tensor.Mat[float64] {
	p := tensor.NewMat[float64](len(labels), k)
	for i, y := range labels {
		p.Row(i)[y] = 1
	}
	return p
}

var losses = []Loss{LogisticLoss, HingeLoss, SquaredLoss, SoftmaxLoss}

// forms are the label forms of all losses.
var forms = map[Loss]Form{LogisticLoss: Gain, HingeLoss: Gain, SquaredLoss: Value, SoftmaxLoss: Target}

func normals(r *rng.Rand, rows, cols int, sd float64) tensor.Mat[float64] {
	m := tensor.NewMat[float64](rows, cols)
	for i := range m.Data {
		m.Data[i] = sd * r.Normal64()
	}
	return m
}

// drawSet returns a random set and its features. If alike, the second half of the rows repeats
// the first.
func drawSet(r *rng.Rand, loss Loss, n, m int, scale float64, alike bool) (Problem, tensor.Mat[float32]) {
	a := tensor.NewMat[float32](n, m)
	r.FillNormal(a.Data, 0, float32(1/math.Sqrt(float64(m))))
	for i := n / 2; alike && i < n; i++ {
		copy(a.Row(i), a.Row(i-n/2))
	}
	outputs := 1
	if loss == SquaredLoss || loss == SoftmaxLoss {
		outputs = 1 + r.IntN(5)
	}
	s := Problem{Gram: GramOf(a), Labels: Labels{Form: Gain, Loss: loss, Values: normals(r, n, outputs, scale)}, Lambda: math.Pow(10, -6*r.Float64())}
	switch {
	case loss == SquaredLoss:
		s.Labels.Form = Value
	case loss == SoftmaxLoss, loss == LogisticLoss && r.IntN(2) == 0:
		s.Labels.Form = Target
	}
	return s, a
}

// value is the loss at outputs f by definition.
func value(l Labels, f tensor.Mat[float64]) float64 {
	sum := 0.0
	for i := range f.Rows {
		y, f := l.Values.Row(i), f.Row(i)
		switch {
		case l.Loss == HingeLoss:
			sum += max(0, 1-y[0]*f[0])
		case l.Loss == SquaredLoss:
			for k := range f {
				sum += (f[k] - y[k]) * (f[k] - y[k]) / 2
			}
		case l.Loss == SoftmaxLoss:
			sum += probabilities(make([]float64, len(f)), f)
			for k := range f {
				sum -= y[k] * f[k]
			}
		case l.Form == Target:
			sum += fmath.Softplus(f[0]) - y[0]*f[0]
		default:
			sum += fmath.Softplus(-y[0] * f[0])
		}
	}
	return sum
}
