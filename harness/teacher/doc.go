// Package teacher trains the convex model on the real data, once for all the runs
// that share data, random features and seed:
//
//	Theta_O = argmin_Theta sum_i l(phi(x_i)'Theta, y_i) + (lambda_O/2) |Theta|^2,   lambda_O = n_O * lambda
//
// with the loss of package convex, on the features of package features or in a kernel
// of package nngp. Shown is images as either of them shows a model. What is
// costly, the features of the training images, their Gram matrix and Theta_O, is
// computed when it is first asked for and kept in method.Shared, under a key that
// holds all it depends on; Theta_O, which is small, on its disk as well, and
// features where there is room for them. In an exact kernel the key has no seed: one
// Theta_O on disk is for all. The kernel of ConvNets takes so long that its Gram matrix is
// kept there, too, some rows at a time. Features of test images are kept apart, in what only
// protocols share.
//
// Two classes share one output, negative for class 0; more have an output each.
//
// Guarantee: the same bits on every machine and for every number of threads,
// whether a value was computed, shared or read from disk.
package teacher
