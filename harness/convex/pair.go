package convex

import (
	"dgkip/harness/fmath"
	"dgkip/harness/tensor"
)

// Pair is a loss with its rule for choosing dual variables alpha. An image has K outputs f and
// the label y. See Gains and Labels.Pair.
type Pair interface {
	// dual sets alpha and the weight w of the image's features in lambda Theta(alpha). It
	// returns the Fenchel-Young term h.
	dual(alpha, w, y, f []float64) float64
	// pull sets df, which must be zero before, to dh/df - (dw/df)'q and dy to
	// dh/dy - (dw/dy)'q, with q = R phi, so that dG/dphi = -R'w + Theta'df. If detached, alpha is
	// held constant, except for its dependence on targets.
	pull(df, dy, y, f, alpha, q []float64, detached bool)
}

// Gains returns the pair of a loss of the margin y f, with one output and a real gain y.
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
	h, inA := l.ResidualSlopes(m, alpha[0]) // the partial derivatives dh/dm and dh/dalpha
	dw := alpha[0]                          // dw/dy
	if !detached {
		// dh/df = y (dh/dm + dh/dalpha dalpha/dm), and dw/df = y dalpha/dm y.
		df[0] = -float64(y[0] * da * y[0] * q[0])
		h += float64(inA * da)
		dw += float64(y[0] * f[0] * da)
	}
	df[0] += float64(h * y[0])
	dy[0] = float64(h*f[0]) - float64(q[0]*dw)
}

// targets is a loss A(f) - p'f with real targets p, up to a term that depends on p alone. Its
// dual variables are p - mean(f) with mean = grad A, which make the Fenchel-Young term zero.
// They are feasible for any p: the conjugate of the softmax loss, sum_k s_k log s_k with
// s = p - alpha, requires s in the simplex, and s is softmax(f).
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

// apart adds to a sum the Fenchel-Young term at outputs f for the dual variables of the outputs
// own. The term is half the squared distance |f - own|^2, or the relative entropy
// sum_k p_k (log p_k - log softmax(f)_k) with p = softmax(own).
func (l targets) apart(sum float64, f, own []float64) float64 {
	switch Loss(l) {
	case LogisticLoss:
		return sum + Logistic{}.Residual(f[0], fmath.Sigmoid(-own[0]))
	case SoftmaxLoss:
		// The logarithms are computed from the outputs, because small probabilities underflow.
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

// TargetsWith returns the targets or values mean(f) + alpha, whose dual variables at outputs f
// are alpha, all [n, K].
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
