// Package teacher trains the reference model Theta_O on the real data, once for all runs
// that share data, networks and seed:
//
//	Theta_O = argmin_Theta sum_i l(phi(x_i)'Theta, y_i) + (lambda_O/2) |Theta|^2,   lambda_O = n_O * lambda
//
// The loss is one of package convex, and the features are a space of package space. Theta_O
// is kept in method.Shared and on its disk. In an exact kernel nothing is drawn, so all seeds
// share one Theta_O on disk.
//
// The package also reads and writes the labels of sets. Two classes share one output, negative
// for class 0. With more classes, each has its own output.
//
// Results have the same bits on every machine and for any number of threads, whether they were
// computed, shared or read from disk.
package teacher
