// Package teacher trains the convex model on the real data, once for all the runs
// that share data, networks and seed:
//
//	Theta_O = argmin_Theta sum_i l(phi(x_i)'Theta, y_i) + (lambda_O/2) |Theta|^2,   lambda_O = n_O * lambda
//
// with the loss of package convex, in a space of package space. It is kept in
// method.Shared and on its disk. In an exact kernel the key has no seed: one Theta_O on disk
// is for all. Labels of sets are read and written here, too.
//
// Two classes share one output, negative for class 0; more have an output each.
//
// Guarantee: the same bits on every machine and for every number of threads,
// whether a value was computed, shared or read from disk.
package teacher
