// Package data loads labelled images: MNIST, Fashion-MNIST and CIFAR-10, people's
// own, and two sets it draws itself; and brings their pixels to the scale that
// networks and kernels work on.
//
// A [Set] holds the images of the chosen classes as bytes x, in the order of the
// published files, with labels 0, 1, ... in the order the classes were asked for.
// A [Transform] maps them to the numbers z that everything else computes with,
//
//	z = (x/255 - mean_c) / sd_c              per channel c, over the training images
//	u = (C + 0.1 tr(C)/d I)^(-1/2) (z - m)   with "zca"; m, C: mean and covariance of z
//	u = (C + 0.1 tr(C)/d I)^(-1/2) v         with "norm-zca"; v: z less its own mean, over
//	                                         its norm; C: mean of v v^T
//
// and back.
//
// Identity: a Set's Digest is taken over the shape, the number of classes, and the
// images and labels themselves, the training split first. Packaging does not enter:
// whole files and a cut to the chosen classes, compressed or not, have the same
// digest; another pixel, order of images or order of classes has another.
//
// Guarantee: the same bytes give the same Set, Digest and Transform on every
// machine. Pixel sums are exact integers; where numbers are rounded, the order of
// operations is fixed and no product is fused with a sum.
package data
