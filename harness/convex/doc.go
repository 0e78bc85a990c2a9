// Package convex solves convex models on fixed features. With K outputs F = Theta phi(x),
// a model minimises
//
//	P(Theta) = sum_i l_i(F_i) + (lambda/2) |Theta|^2
//
// (Frobenius norm; Theta is [K, M], and K = 1 for two classes). The package also computes the
// duality gap of any Theta, and the error bounds that follow from it.
//
// # The gap
//
// Read gap.go first: it derives the paper's Theorem 3.2. Gap computes the gap of any Theta and
// its gradients; BestGap uses a solution's dual variables. In bounds.go, Rho and NewInterval
// bound outputs and the test error (Lemmas 3.3 and 3.4).
//
// A View gives access to a set, either through stored features or through a kernel, which
// holds only their inner products.
//
// # Losses and labels
//
// Labels come in three forms. With gains y, which are real numbers, the loss depends on the
// margin m = y f, and dual variables alpha_i are in [0, 1]:
//
//	logistic   L(m) = log(1 + e^-m)    L*(-a) = a log a + (1-a) log(1-a)
//	hinge      L(m) = max(0, 1-m)      L*(-a) = -a
//
// With targets p or values y, which may be any real numbers, the losses are
//
//	logistic   l(f) = log(1 + e^f) - p f            alpha = p - sigma(f)
//	softmax    l(f) = log sum_k e^f_k - p'f         alpha = p - softmax(f)
//	squared    l(f) = |f - y|^2 / 2                 alpha = y - f
//
// To add a loss of the margin, implement Margin, and extend marginOf, Labels.check,
// kernelProblem.slope, kernelProblem.descend and Problem.solve, which switch on Loss. To add a
// form of labels, implement Pair in this package, as its methods are unexported, and extend
// Labels.Pair, Labels.check, Labels.For, kernelProblem.slope, Solution.termAt and slopes.
//
// # Solving
//
// Solve picks a method by the size of the Problem. Its result includes a proof of quality,
// the relative gap (P - D) / max(|P|, 1). Solvers on a Gram matrix in float32 prove it for the
// rounded matrix: see Solution.Gap.
//
// # Solved labels
//
// For fixed features A [n, M] and any coefficients C, some labels make C'A the exact
// minimiser on the set (for the hinge loss, not always). For the projection,
// C = (A A')^-1 A Theta', the bound is tight. See Project, Fit and Nearest. Least returns the
// model in the span with the least real loss.
//
// Results have the same bits on every machine and for every number of threads. Sums over
// features run in float64 in a fixed order, except where a comment mentions float32.
package convex
