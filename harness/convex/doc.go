// Package convex is about convex models on fixed features: K outputs
// F = Theta phi(x), minimising
//
//	P(Theta) = sum_i l_i(F_i) + (lambda/2) |Theta|^2
//
// (Frobenius; Theta is [K, M], and K = 1 for two classes), their duals, the gap
// between the two, and what the gap bounds.
//
// # Pairs of losses
//
// In margin form, m = y f with a real gain y, the dual variables are alpha_i in
// [0, 1] and
//
//	logistic   L(m) = log(1 + e^-m)    L*(-a) = a log a + (1-a) log(1-a)
//	hinge      L(m) = max(0, 1-m)      L*(-a) = -a
//
// With targets p, which may be any real numbers, they are B_i and
//
//	logistic   l(f) = log(1 + e^f) - p f            B = p - sigma(f)
//	softmax    l(f) = log sum_k e^f_k - p'f         B = p - softmax(f)
//	squared    l(f) = |f - p|^2 / 2                 B = p - f
//
// # The gap
//
// At any Theta and any feasible dual variables the gap P - D is a sum of terms that
// are never negative, in which nothing cancels (Fenchel and Young):
//
//	G = sum_i [ L(m_i) + L*(-alpha_i) + alpha_i m_i ] + (lambda/2) |r|^2,
//	r = theta - (1/lambda) sum_i alpha_i y_i phi_i,
//
// and |Theta - Theta*| <= sqrt(2 G / lambda) for the minimiser Theta*. See Gap,
// SoftmaxGap and SquaredGap; Rho and NewInterval turn that into bounds of outputs
// and of the test error.
//
// # Solving
//
// All solvers return a proof, the relative gap (P - D) / max(|P|, 1):
//
//	Set      small sets, any loss and labels, to 1e-8: Newton's method, and an
//	         interior-point method for the hinge
//	Dual     the logistic and the hinge loss on a large Gram matrix in float32
//	Ridge    the squared loss on the same
//	Thin     the logistic and the hinge loss on more images than features
//	Softmax  many classes on stored features, without a Gram matrix
//
// # Solved labels
//
// For fixed features A [n, M] and any coefficients C, labels exist that make C'A
// the exact minimiser on the set; for the projection, C = (A A')^-1 A Theta', the
// bound is tight. See Project, Fit and Solution; ProjectBox keeps to the box of the
// hinge's dual variables.
//
// Guarantee: the same bits on every machine and for every number of threads. Sums
// over features run in float64 in a fixed order, except where a comment says
// float32.
package convex
