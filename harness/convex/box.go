package convex

import (
	"context"
)

// boxGap is the relative gap to which ProjectBox solves.
const boxGap = 1e-10

// ProjectBox is Project for the hinge loss with gains y_i = 1/f_i, f = A theta,
// where Project asks for dual variables outside [0, 1]: the solution on these
// labels. As y_i f_i = 1, its dual problem is that of the nearest model to theta,
//
//	-D(alpha) = (lambda/2) |theta - (1/lambda) sum_i alpha_i y_i phi_i|^2 - (lambda/2) |theta|^2,
//
// so that the bound, with these alpha, is tight. There is one output. If the view wants
// it, it pulls back the gradient of |r|^2, row i of which is
//
//	-2 c_i r,   and 2 (r'phi_i)/(lambda f_i^2) theta more where alpha_i = 1;
//
// c_i is alpha_i y_i / lambda, and zero where alpha_i is.
//
// An image whose output is zero is left out: see hingeGains.
func ProjectBox(view View, lambda float64) (Nearest, HingeLabels, error) {
	outputs := view.Outputs()
	if outputs.Cols != 1 {
		panic("convex: ProjectBox: the hinge loss has one output")
	}
	n, f := outputs.Rows, outputs.Data
	y := hingeGains(f)
	k := view.Gram()
	labels := Labels{Form: Gain, Loss: HingeLoss, Values: oneColumn(y)}
	fit, err := Solve(context.Background(), Problem{Gram: k, Labels: labels, Lambda: lambda}, boxGap)
	if err != nil {
		return Nearest{}, HingeLabels{}, err
	}
	s := Nearest{C: fit.C}
	s.finish(view, k)
	s.Value = s.Norm2
	alpha, full := make([]float64, n), make([]float64, n)
	for i, c := range s.C.Data {
		if y[i] == 0 {
			alpha[i] = 1
			continue
		}
		alpha[i] = max(0, min(1, lambda*c*f[i]))
		// c was made from alpha = 1, and comes back to within rounding.
		if 1-alpha[i] < 1e-12 {
			alpha[i] = 1
			full[i] = 2 * (f[i] - s.Outputs.Data[i]) / (lambda * f[i] * f[i])
		}
	}
	if view.Differentiates() {
		b := oneColumn(full)
		view.Pull(times(-2, s.C), s.Residual, &b)
	}
	return s, HingeLabels{Gains: y, Alpha: alpha}, nil
}
