// Package kip distils data by kernel ridge regression: images X_S and labels y_S
// such that the regression on them predicts the labels of the real images T.
//
// With features phi, A = phi(X_S) [n, M], B = phi(T) [N, M], K = A A' and a ridge s,
//
//	minimise L = (1/2N) |E|^2,   E = B Theta' - y_T,   Theta = C'A,   C = (K + s I)^-1 y_S
//
// by AdaBelief on X_S and y_S: KIP. B Theta' is K_TS (K_SS + s I)^-1 y_S, computed
// without the n x N kernel where there are features. Targets y_T are +1 for an image's
// class and -1 for others, one column of them for two classes. The gradients of L are with
// convex.Ridge.
//
// # Jitter and lambda
//
// The ridge s belongs to the distillation; the published one is s = jitter tr(K)/n.
// The model that a set is scored by is a ridge regression of its own,
// sum_i |f_i - y_i|^2/2 + (lambda_S/2) |Theta|^2, for which (K + lambda_S I) C = y_S
// with lambda_S = n lambda. The two are the same model only if s = lambda_S, which
// jitter = 0 stands for, the default. tr(K)/n is about 1 for fully connected networks,
// and less for convolutional ones, which average: the published jitter of 1e-6 is a
// ridge n times smaller than that of the score, and images are then made for another
// model than the one that is scored.
//
// # Labels
//
// "learned" labels start at the class's targets and move at their own rate, "fixed"
// ones stay. "solved" takes C that minimises L for the images as they are, which
// leaves no ridge in it, and the labels y_S = K C + lambda_S C, with which A'C is
// the exact minimiser on the set (package convex, Fit). Only images are learned then.
//
// L is a loss on the training labels that nothing regularises but the smallness of
// the set. With more features than real images they can be fitted exactly, and
// solved labels come near that within a few hundred updates, long after the loss on
// other images has begun to rise: the number of updates is then what regularises.
//
// # Batches and fresh features
//
// With batch, T is that many real images, drawn anew for every update; their
// features come from those of all real images, which are kept. With resample every
// update has features of fresh random networks, RFAD: the kernel K, averaged over
// updates, is then that of networks as wide as these, drawn without end, and tends to
// their Gaussian process's with the width. The loss, which is not linear in K, has
// another average. An update then takes a forward pass for every real image of the
// batch, and the drawing of all weights: for 30 fully connected networks of width 1024
// on 32x32 images these are 650 GFLOP for a batch of 1024, and 157 million normal
// numbers, which take about as long. Both shrink with nets. The features that score
// the set are those of the run, as ever.
//
// # The exact kernel
//
// In the kernel of infinitely wide networks K and K_ST take the place of features. An update
// goes beside the real images of its batch.
//
// Guarantee: the same bits on every machine and for every number of threads,
// interrupted or not.
package kip
