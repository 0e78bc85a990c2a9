package convex

import (
	"dgkip/harness/fmath"
	"dgkip/harness/tensor"
)

// Metric says in which sense the model on a synthetic set comes near theta.
type Metric string

const (
	// Parameter is |theta - theta_S|^2.
	Parameter Metric = "parameter"
	// Prediction is the mean squared difference of outputs on the real data.
	Prediction Metric = "prediction"
)

// Solution is the model that solved labels give on a set: Theta_S = C'A, row k of
// which is the weight vector of output k.
type Solution struct {
	C       tensor.Mat[float64] // [n, K]
	Outputs tensor.Mat[float64] // of Theta_S on the set, A A'C, [n, K]
	Value   float64             // the metric
	// Residual is Theta - Theta_S, [K, M], and Norm2 its squared Frobenius norm:
	// the squared deviation of the model.
	Residual tensor.Mat[float64]
	Norm2    float64
}

// Project returns the projection of the rows of theta [K, M] onto the span of
// the rows of A, which minimises the Parameter metric. Where dA is given, it sets
// it to the metric's gradient, row i of which is -2 sum_k c_ik r_k.
func Project(a tensor.Mat[float32], theta tensor.Mat[float64], dA *tensor.Mat[float32]) (Solution, error) {
	if theta.Cols != a.Cols || theta.Rows == 0 || dA != nil && (dA.Rows != a.Rows || dA.Cols != a.Cols) {
		panic("convex: Project: shapes do not fit")
	}
	k := GramOf(a)
	l, err := factorise(k)
	if err != nil {
		return Solution{}, err
	}
	s := Solution{C: columns(outputsAt(a, theta), a.Rows, l.solve)}
	s.finish(a, k, theta)
	s.Value = s.Norm2
	if dA != nil {
		outer(*dA, times(-2, s.C), s.Residual, nil, nil)
	}
	return s, nil
}

// Fit returns the model in the span of the rows of A that minimises the
// Prediction metric (1/N) |F - Phi A'C|^2 (Frobenius) for the outputs F [N, K] of
// theta [K, M] on the real features Phi [N, M]. Where dA is given, it sets it to
// the metric's gradient, row i of which is -(2/N) sum_k c_ik (Phi'E)_k with
// E = F - Phi A'C.
func Fit(a, phi tensor.Mat[float32], theta, f tensor.Mat[float64], dA *tensor.Mat[float32]) (Solution, error) {
	n, outputs := a.Rows, theta.Rows
	if theta.Cols != a.Cols || outputs == 0 || phi.Cols != a.Cols || f.Rows != phi.Rows || f.Cols != outputs || phi.Rows == 0 || dA != nil && (dA.Rows != n || dA.Cols != a.Cols) {
		panic("convex: Fit: shapes do not fit")
	}
	cross := tensor.NewMat[float32](n, phi.Rows) // A Phi'
	tensor.Mul(cross, a, phi, tensor.NT, false)
	l, err := factorise(GramOf(cross))
	if err != nil {
		return Solution{}, err
	}
	// The errors E, by rows: E'.
	e := tensor.NewMat[float64](outputs, phi.Rows)
	s := Solution{C: tensor.NewMat[float64](n, outputs)}
	for k := range outputs {
		out := column(f, k)
		c := l.solve(dots(cross, out))
		setColumn(s.C, k, c)
		copy(e.Row(k), subtractRows(out, cross, c))
	}
	s.finish(a, GramOf(a), theta)
	s.Value = frobenius2(e) / float64(phi.Rows)
	if dA != nil {
		outer(*dA, times(-2/float64(phi.Rows), s.C), spanOf(e, phi), nil, nil)
	}
	return s, nil
}

// spanOf returns E Phi [K, M] for E [K, N]. One row is computed in float64; for
// more the product runs in float32, whose errors of 1e-6 of the largest terms
// are those of the gradients of the features too.
func spanOf(e tensor.Mat[float64], phi tensor.Mat[float32]) tensor.Mat[float64] {
	out := tensor.NewMat[float64](e.Rows, phi.Cols)
	if e.Rows == 1 {
		tensor.AddRows64(out.Data, phi, e.Row(0))
		return out
	}
	product := tensor.NewMat[float32](e.Rows, phi.Cols)
	tensor.Mul(product, narrow(e), phi, tensor.NN, false)
	for i, x := range product.Data {
		out.Data[i] = float64(x)
	}
	return out
}

// finish fills what both metrics have in common.
func (s *Solution) finish(a tensor.Mat[float32], k, theta tensor.Mat[float64]) {
	s.Outputs = multiply(k, s.C)
	s.Residual = subtractSpan(theta, a, s.C)
	s.Norm2 = frobenius2(s.Residual)
}

// The labels below make Theta_S = C'A the exact minimiser on the set, whatever
// the coefficients C are; F = A A'C are its outputs there.

// LogisticTargets returns real targets p_i = sigma(f_i) + lambda c_i for the loss
// log(1+e^f) - p f. It is for one output.
func (s Solution) LogisticTargets(lambda float64) []float64 {
	c, f := s.one()
	p := make([]float64, len(c))
	for i := range p {
		p[i] = fmath.Sigmoid(f[i]) + float64(lambda*c[i])
	}
	return p
}

// SquaredTargets returns targets Y = F + lambda C for the loss |f-y|^2/2, [n, K].
func (s Solution) SquaredTargets(lambda float64) tensor.Mat[float64] {
	y := tensor.NewMat[float64](s.C.Rows, s.C.Cols)
	for i := range y.Data {
		y.Data[i] = s.Outputs.Data[i] + float64(lambda*s.C.Data[i])
	}
	return y
}

// SoftmaxTargets returns real targets P = softmax(F) + lambda C, by rows, for the
// loss log sum_k e^f_k - p'f, [n, K].
func (s Solution) SoftmaxTargets(lambda float64) tensor.Mat[float64] {
	p := tensor.NewMat[float64](s.C.Rows, s.C.Cols)
	for i := range p.Rows {
		Probabilities(p.Row(i), s.Outputs.Row(i))
		for k, c := range s.C.Row(i) {
			p.Row(i)[k] += float64(lambda * c)
		}
	}
	return p
}

// HingeGains returns gains y_i = 1/f_i and dual variables
// alpha_i = lambda c_i f_i for the hinge loss, clipped to [0, 1], and how many
// were clipped. It is for one output. With none clipped theta_S is the minimiser
// on the set; with some the minimiser is another, and must be solved for.
func (s Solution) HingeGains(lambda float64) (y, alpha []float64, clipped int) {
	c, f := s.one()
	y, alpha = make([]float64, len(c)), make([]float64, len(c))
	for i := range y {
		y[i] = 1 / f[i]
		a := lambda * c[i] * f[i]
		alpha[i] = max(0, min(1, a))
		if alpha[i] != a {
			clipped++
		}
	}
	return y, alpha, clipped
}

// one returns coefficients and outputs of a solution with one output.
func (s Solution) one() (c, f []float64) {
	if s.C.Cols != 1 {
		panic("convex: these labels are for one output")
	}
	return s.C.Data, s.Outputs.Data
}
