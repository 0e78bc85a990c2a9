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

// Solution is the model that solved labels give on a set: theta_S = A'c.
type Solution struct {
	C       []float64 // [n]
	Outputs []float64 // f_S on the set, [n]
	Value   float64   // the metric
	// Residual is theta - theta_S, [M], and Norm2 its squared norm: the squared
	// deviation of the model.
	Residual []float64
	Norm2    float64
}

// Project returns the projection of theta [M] onto the span of the rows of A,
// which minimises the Parameter metric. Where dA is given, it sets it to the
// metric's gradient, row i of which is -2 c_i r.
func Project(a tensor.Mat[float32], theta []float64, dA *tensor.Mat[float32]) (Solution, error) {
	if len(theta) != a.Cols || dA != nil && (dA.Rows != a.Rows || dA.Cols != a.Cols) {
		panic("convex: Project: shapes do not fit")
	}
	k := GramOf(a)
	l, err := factorise(k)
	if err != nil {
		return Solution{}, err
	}
	s := Solution{C: l.solve(dots(a, theta))}
	s.finish(a, k, theta)
	s.Value = s.Norm2
	if dA != nil {
		outer(*dA, scaled(-2, s.C), s.Residual, nil, nil)
	}
	return s, nil
}

// Fit returns the model in the span of the rows of A that minimises the
// Prediction metric (1/N) |f - Phi A'c|^2 for the outputs f [N] of theta on the
// real features Phi [N, M]. Where dA is given, it sets it to the metric's
// gradient, row i of which is -(2/N) c_i Phi'e with e = f - Phi A'c.
func Fit(a, phi tensor.Mat[float32], theta, f []float64, dA *tensor.Mat[float32]) (Solution, error) {
	if len(theta) != a.Cols || phi.Cols != a.Cols || len(f) != phi.Rows || phi.Rows == 0 || dA != nil && (dA.Rows != a.Rows || dA.Cols != a.Cols) {
		panic("convex: Fit: shapes do not fit")
	}
	n := a.Rows
	cross := tensor.NewMat[float32](phi.Rows, n)
	tensor.Mul(cross, phi, a, tensor.NT, false)
	h := tensor.NewMat[float64](n, n)
	rhs := make([]float64, n)
	tensor.Parallel(n, func(i int) {
		for r := range phi.Rows {
			row := cross.Row(r)
			x := float64(row[i])
			for j := range i + 1 {
				h.Data[i*n+j] += x * float64(row[j])
			}
			rhs[i] += float64(x * f[r])
		}
	})
	l, err := factorise(h)
	if err != nil {
		return Solution{}, err
	}
	s := Solution{C: l.solve(rhs)}
	s.finish(a, GramOf(a), theta)
	e := make([]float64, phi.Rows)
	for r := range e {
		e[r] = f[r]
		for i, c := range s.C {
			e[r] -= float64(c * float64(cross.Row(r)[i]))
		}
	}
	s.Value = square(e) / float64(phi.Rows)
	if dA != nil {
		zero := make([]float64, phi.Cols)
		g := subtractRows(zero, phi, e) // -Phi'e
		outer(*dA, scaled(2/float64(phi.Rows), s.C), g, nil, nil)
	}
	return s, nil
}

// finish fills what both metrics have in common.
func (s *Solution) finish(a tensor.Mat[float32], k tensor.Mat[float64], theta []float64) {
	s.Outputs = make([]float64, a.Rows)
	for i := range s.Outputs {
		for j, c := range s.C {
			s.Outputs[i] += float64(k.Data[i*k.Stride+j] * c)
		}
	}
	s.Residual = subtractRows(theta, a, s.C)
	s.Norm2 = square(s.Residual)
}

func scaled(a float64, x []float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = a * v
	}
	return y
}

// The labels below make theta_S = A'c the exact minimiser on the set, whatever
// the coefficients c are; f = A A'c are its outputs there.

// LogisticTargets returns real targets p_i = sigma(f_i) + lambda c_i for the loss
// log(1+e^f) - p f.
func (s Solution) LogisticTargets(lambda float64) []float64 {
	p := make([]float64, len(s.C))
	for i, c := range s.C {
		p[i] = fmath.Sigmoid(s.Outputs[i]) + float64(lambda*c)
	}
	return p
}

// SquaredTargets returns targets y_i = f_i + lambda c_i for the loss (f-y)^2/2.
func (s Solution) SquaredTargets(lambda float64) []float64 {
	y := make([]float64, len(s.C))
	for i, c := range s.C {
		y[i] = s.Outputs[i] + float64(lambda*c)
	}
	return y
}

// HingeGains returns gains y_i = 1/f_i and dual variables
// alpha_i = lambda c_i f_i for the hinge loss, clipped to [0, 1], and how many
// were clipped. With none clipped theta_S is the minimiser on the set; with some
// the minimiser is another, and must be solved for.
func (s Solution) HingeGains(lambda float64) (y, alpha []float64, clipped int) {
	y, alpha = make([]float64, len(s.C)), make([]float64, len(s.C))
	for i, c := range s.C {
		f := s.Outputs[i]
		y[i] = 1 / f
		a := lambda * c * f
		alpha[i] = max(0, min(1, a))
		if alpha[i] != a {
			clipped++
		}
	}
	return y, alpha, clipped
}
