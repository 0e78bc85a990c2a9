// Package kip distils by kernel ridge regression. It learns images X_S and labels y_S from which ridge
// regression predicts the labels of the real images T.
//
// With features phi, A = phi(X_S) [n, M], B = phi(T) [N, M], K = A A' and a ridge s, AdaBelief minimises
//
//	L = (1/2N) |E|^2,   E = B Theta' - y_T,   Theta = C'A,   C = (K + s I)^-1 y_S
//
// over X_S and y_S. B Theta' is K_TS (K_SS + s I)^-1 y_S; with features it is computed without the
// n x N kernel. Targets y_T are +1 for an image's class and -1 for the others, in one column for two
// classes. convex.Ridge derives the gradients of L.
//
// # Jitter and lambda
//
// The ridge s belongs to the distillation. The published one is s = jitter tr(K)/n. A set is scored by
// another ridge regression, sum_i |f_i - y_i|^2/2 + (lambda_S/2) |Theta|^2, whose solution is
// (K + lambda_S I) C = y_S with lambda_S = n lambda. The two models are the same only if s = lambda_S.
// That is the default, jitter = 0. tr(K)/n is about 1 for fully connected networks, and smaller for
// convolutional ones, which average. So the published jitter of 1e-6 is a ridge n times smaller than
// the ridge of the score, and images are then learned for another model than the one that is scored.
//
// # Labels
//
// "learned" labels start at the targets of their class and have their own rate. "fixed" labels stay.
// "solved" labels are computed in every update: C minimises L for the current images, without a ridge,
// and y_S = K C + lambda_S C makes A'C the exact minimiser on the set (convex.Fit). Then only images are
// learned.
//
// L is a training loss, and only the small size of the set regularises it. With more features than
// real images, the labels can be fitted exactly. Solved labels come close to that within a few hundred
// updates, long after the loss on other images has begun to rise. The number of updates then serves as
// the regulariser.
//
// # Batches and new features
//
// With batch, T is a batch of real images, drawn anew in every update. Their features are rows of the
// features of all real images, which are kept. With resample, every update draws new random networks
// (RFAD). Averaged over updates, K is then the mean kernel of networks of this width, which tends to
// the kernel of the Gaussian process as the width grows. The average of L differs, because L is not
// linear in K. Such an update takes a forward pass of every real image in the batch and draws all
// weights: for 30 fully connected networks of width 1024 on 32x32 images, 320 GFLOP for a batch of 1024,
// and 157 million normal numbers. Both are proportional to nets. Sets are
// scored in the features of the run.
//
// # The exact kernel
//
// In the kernel of infinitely wide networks, K and K_ST are computed without features.
//
// Results have the same bits on every machine, for every number of threads, and after an interruption.
package kip
