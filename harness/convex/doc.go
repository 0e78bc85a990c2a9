// Package convex is about convex models on fixed features: K outputs
// F = Theta phi(x), minimising
//
//	P(Theta) = sum_i l_i(F_i) + (lambda/2) |Theta|^2
//
// (Frobenius; Theta is [K, M], and K = 1 for two classes), their duals, the gap
// between the two, and what the gap bounds.
//
// # The gap
//
// The paper's Theorem 3.2 stands in gap.go, to be read first: Gap for any Theta, with
// gradients, BestGap for a solution's dual variables. Rho and NewInterval, in bounds.go,
// turn it into bounds of outputs and of the test error, Lemmas 3.3 and 3.4.
//
// A set is seen through a View: of stored features, or of a kernel, which knows them by
// their inner products alone.
//
// # Losses and labels
//
// Labels have a form. With gains y, real numbers, a loss is one of the margin m = y f,
// and dual variables alpha_i are in [0, 1]:
//
//	logistic   L(m) = log(1 + e^-m)    L*(-a) = a log a + (1-a) log(1-a)
//	hinge      L(m) = max(0, 1-m)      L*(-a) = -a
//
// With targets p or values y, which may be any real numbers, they are
//
//	logistic   l(f) = log(1 + e^f) - p f            alpha = p - sigma(f)
//	softmax    l(f) = log sum_k e^f_k - p'f         alpha = p - softmax(f)
//	squared    l(f) = |f - y|^2 / 2                 alpha = y - f
//
// Another loss of the margin is a Margin, and another kind of label a Pair.
//
// # Solving
//
// Solve finds the model of a Problem, by the method that suits its size, and returns it
// with a proof of its quality, the relative gap (P - D) / max(|P|, 1). solve.go says
// which method that is.
//
// # Solved labels
//
// For fixed features A [n, M] and any coefficients C, labels exist that make C'A
// the exact minimiser on the set; for the projection, C = (A A')^-1 A Theta', the
// bound is tight. See Project, Fit and Nearest. Least is the model in the span that is
// best on real images.
//
// Guarantee: the same bits on every machine and for every number of threads. Sums
// over features run in float64 in a fixed order, except where a comment says
// float32.
package convex
