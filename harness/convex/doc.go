// Package convex is about convex models on fixed features: f(x) = phi(x)'theta
// minimising
//
//	P(theta) = sum_i l_i(phi_i'theta) + (lambda/2) |theta|^2,
//
// its dual, the gap between the two, and what the gap bounds.
//
// # Pairs of losses
//
// In margin form, m = y f with a real gain y, the dual variables are alpha_i in
// [0, 1] and
//
//	logistic   L(m) = log(1 + e^-m)    L*(-a) = a log a + (1-a) log(1-a)
//	hinge      L(m) = max(0, 1-m)      L*(-a) = -a
//
// # The gap
//
// At any theta and any feasible alpha the gap P - D is a sum of terms that are
// never negative, in which nothing cancels:
//
//	G = sum_i [ L(m_i) + L*(-alpha_i) + alpha_i m_i ] + (lambda/2) |r|^2,
//	r = theta - (1/lambda) sum_i alpha_i y_i phi_i,
//
// and |theta - theta*| <= sqrt(2 G / lambda) for the minimiser theta*.
//
// # Solved labels
//
// For fixed features A [n, M] labels exist that make the projection A'c,
// c = (A A')^-1 A theta, of theta onto the span of the rows the exact minimiser:
// there the bound is tight. See Labels.
//
// Guarantee: the same bits on every machine and for every number of threads.
// Sums over features run in float64 in a fixed order.
package convex
