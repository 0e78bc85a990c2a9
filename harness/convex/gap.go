package convex

import (
	"math"

	"dgkip/harness/fmath"
	"dgkip/harness/tensor"
)

// Gap is the duality gap of a model on a synthetic set at a given theta, as a
// function of the set's features and labels.
type Gap struct {
	Loss   Margin
	Lambda float64
	// Targets reads the labels as real targets p of the logistic loss
	// log(1+e^f) - p f in place of gains y; the dual variable is p - sigma(f).
	Targets bool
	// Detach leaves alpha's dependence on features and labels out of the
	// gradients.
	Detach bool
}

// GapValue is a gap and what it is made of.
type GapValue struct {
	Gap      float64
	Residual []float64 // r = theta - theta(alpha), [M]
	Norm2    float64   // |r|^2
	Outputs  []float64 // f_i
	Alpha    []float64 // in target form p_i - sigma(f_i)
}

// Bound returns sqrt(2 G / lambda), which the distance of a theta with a gap from
// the minimiser does not exceed, by strong convexity. It is the Frobenius distance
// where there are several outputs.
func Bound(gap, lambda float64) float64 { return math.Sqrt(2 * gap / lambda) }

// Bound returns that of the gap.
func (v GapValue) Bound(lambda float64) float64 { return Bound(v.Gap, lambda) }

// Eval returns the gap at theta [M] for features phi [n, M] and labels [n]. Where
// dphi and dlabels are given, it sets them to the gap's gradients.
func (g Gap) Eval(phi tensor.Mat[float32], theta, labels []float64, dphi *tensor.Mat[float32], dlabels []float64) GapValue {
	n := phi.Rows
	if len(theta) != phi.Cols || len(labels) != n || dphi != nil && (dphi.Rows != n || dphi.Cols != phi.Cols) || dlabels != nil && len(dlabels) != n {
		panic("convex: Gap.Eval: shapes do not fit")
	}
	if !(g.Lambda > 0) {
		panic("convex: Gap.Eval: lambda must be positive")
	}
	v := GapValue{Outputs: dots(phi, theta), Alpha: make([]float64, n)}
	coef := make([]float64, n)  // of phi_i in lambda theta(alpha)
	dcoef := make([]float64, n) // its derivative in f_i
	terms := 0.0
	for i, f := range v.Outputs {
		y := labels[i]
		if g.Targets {
			s := fmath.Sigmoid(f)
			v.Alpha[i] = y - s
			coef[i], dcoef[i] = y-s, -s*fmath.Sigmoid(-f)
			continue
		}
		m := float64(y * f)
		a, da := g.Loss.Slope(m)
		v.Alpha[i] = a
		coef[i], dcoef[i] = a*y, y*da*y
		terms += g.Loss.Residual(m, a)
	}
	scaled := make([]float64, n)
	for i, c := range coef {
		scaled[i] = c / g.Lambda
	}
	v.Residual = subtractRows(theta, phi, scaled)
	v.Norm2 = square(v.Residual)
	v.Gap = terms + float64(g.Lambda/2*v.Norm2)
	if dphi == nil && dlabels == nil {
		return v
	}
	g.gradient(phi, theta, labels, v, coef, dcoef, dphi, dlabels)
	return v
}

// gradient is
//
//	dG/dphi_i = -coef_i r - (dcoef_i/df_i) (r'phi_i) theta + h'(m_i) y_i theta
//	dG/dy_i   = -(r'phi_i) dcoef_i/dy_i + h'(m_i) f_i
//
// where h is the loss's residual, zero for the logistic loss.
func (g Gap) gradient(phi tensor.Mat[float32], theta, labels []float64, v GapValue, coef, dcoef []float64, dphi *tensor.Mat[float32], dlabels []float64) {
	n := phi.Rows
	along := dots(phi, v.Residual)
	ofR, ofTheta := make([]float64, n), make([]float64, n)
	for i, f := range v.Outputs {
		y, a := labels[i], v.Alpha[i]
		ofR[i] = -coef[i]
		if !g.Detach {
			ofTheta[i] = -dcoef[i] * along[i]
		}
		if g.Targets {
			if dlabels != nil {
				dlabels[i] = -along[i]
			}
			continue
		}
		m := float64(y * f)
		_, da := g.Loss.Slope(m)
		// h(m) = L(m) + L*(-a(m)) + a(m) m; its derivative in a is zero where a
		// is the loss's own slope.
		h := g.Loss.Derivative(m) + a
		dcoefY := a
		if !g.Detach {
			h += float64(residualInA(g.Loss, m, a) * da)
			dcoefY += float64(y * f * da)
		}
		ofTheta[i] += float64(h * y)
		if dlabels != nil {
			dlabels[i] = float64(h*f) - float64(along[i]*dcoefY)
		}
	}
	if dphi != nil {
		b, t := oneColumn(ofTheta), oneRow(theta)
		outer(*dphi, oneColumn(ofR), oneRow(v.Residual), &b, &t)
	}
}

// residualInA is the derivative in a of L(m) + L*(-a) + a m.
func residualInA(l Margin, m, a float64) float64 {
	if _, ok := l.(Logistic); ok {
		return 0 // a is sigma(-m), where the residual is least
	}
	return m - 1
}
