package convex

import (
	"dgkip/harness/fmath"
	"dgkip/harness/tensor"
)

// Pair is a loss of the K outputs f of an image with its label y, paired with the choice
// of dual variables alpha at f. It gives the gap its terms h. See Gains and Labels.Pair.
type Pair interface {
	// dual sets alpha, and the weight w of the image's features in lambda
	// Theta(alpha). It returns their Fenchel-Young term h.
	dual(alpha, w, y, f []float64) float64
	// pull sets df to dh/df - (dw/df)'q and dy to dh/dy - (dw/dy)'q, where q = R phi. The
	// caller makes dG/dphi = -R'w + Theta'df of it. Where alpha is detached, it is a
	// constant, but for its dependence on targets.
	pull(df, dy, y, f, alpha, q []float64, detached bool)
}

// Gains is the pair of a loss of the margin y f, with one output and a real gain y.
func Gains(l Margin) Pair { return gains{l} }

type gains struct{ Margin }

func (l gains) dual(alpha, w, y, f []float64) float64 {
	m := float64(y[0] * f[0])
	alpha[0], _ = l.Slope(m)
	w[0] = alpha[0] * y[0]
	return l.Residual(m, alpha[0])
}

func (l gains) pull(df, dy, y, f, alpha, q []float64, detached bool) {
	m := float64(y[0] * f[0])
	_, da := l.Slope(m)
	h, inA := l.ResidualSlopes(m, alpha[0]) // dh/dm and dh/dalpha with the other fixed
	dw := alpha[0]                          // dw/dy
	if !detached {
		// dh/df = y (dh/dm + dh/dalpha dalpha/dm), and dw/df = y dalpha/dm y.
		df[0] = -(y[0] * da * y[0]) * q[0]
		h += float64(inA * da)
		dw += float64(y[0] * f[0] * da)
	}
	df[0] += float64(h * y[0])
	dy[0] = float64(h*f[0]) - float64(q[0]*dw)
}

// targets is a loss whose labels p are real targets, and which is A(f) - p'f but for
// terms in p alone. Its dual variables are p - mean(f), mean = grad A, at which the
// Fenchel-Young term is zero. They are feasible by construction: the conjugate of the
// softmax loss, sum_k s_k log s_k for s = p - alpha, asks for s in the simplex, and
// softmax(f) is, whatever p is.
type targets Loss

// mean sets p to sigma(f), softmax(f) or f. p may be f.
func (l targets) mean(p, f []float64) {
	switch Loss(l) {
	case LogisticLoss:
		p[0] = fmath.Sigmoid(f[0])
	case SoftmaxLoss:
		probabilities(p, f)
	default:
		copy(p, f)
	}
}

// curve replaces v by the derivative of mean at f along v.
func (l targets) curve(v, f []float64) {
	switch Loss(l) {
	case LogisticLoss:
		v[0] *= fmath.Sigmoid(f[0]) * fmath.Sigmoid(-f[0])
	case SoftmaxLoss:
		p := make([]float64, len(f))
		probabilities(p, f)
		along := dot64(p, v)
		for k := range v {
			v[k] = p[k] * (v[k] - along)
		}
	}
}

// apart adds to a sum the Fenchel-Young term at outputs f for the dual variables that
// belong to the outputs own: half the squared distance, or the relative entropy of the
// probabilities, p being those of own, sum_k p_k (log p_k - log softmax(f)_k).
func (l targets) apart(sum float64, f, own []float64) float64 {
	switch Loss(l) {
	case LogisticLoss:
		return sum + Logistic{}.Residual(f[0], fmath.Sigmoid(-own[0]))
	case SoftmaxLoss:
		// By logarithms, which are known: those of small probabilities are not.
		p := make([]float64, len(own))
		lo, lf, term := probabilities(p, own), probabilities(p, f), 0.0
		for k, v := range own {
			term += float64(fmath.Exp(v-lo) * ((v - lo) - (f[k] - lf)))
		}
		return sum + max(0, term)
	}
	for k, x := range f {
		d := x - own[k]
		sum += float64(d * d / 2)
	}
	return sum
}

func (l targets) dual(alpha, w, y, f []float64) float64 {
	l.mean(alpha, f)
	for k, p := range y {
		alpha[k] = p - alpha[k]
	}
	copy(w, alpha)
	return 0
}

func (l targets) pull(df, dy, _, f, _, q []float64, detached bool) {
	for k, x := range q {
		dy[k] = -x
	}
	if !detached {
		copy(df, q)
		l.curve(df, f)
	}
}

// TargetsWith returns the labels of a loss, targets or values, whose dual variables at
// outputs f are alpha: mean(f) + alpha, all [n, K].
func TargetsWith(loss Loss, f, alpha tensor.Mat[float64]) tensor.Mat[float64] {
	p := tensor.NewMat[float64](alpha.Rows, alpha.Cols)
	for i := range p.Rows {
		row := p.Row(i)
		targets(loss).mean(row, f.Row(i))
		for k, x := range alpha.Row(i) {
			row[k] += x
		}
	}
	return p
}
