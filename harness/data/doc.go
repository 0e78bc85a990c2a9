// Package data loads labelled images and transforms them for networks and kernels. It knows MNIST,
// Fashion-MNIST, CIFAR-10 and two datasets that it draws itself, and reads your own images.
//
// A [Set] holds the images of the chosen classes as bytes x, in the order of the published files.
// Its labels are 0, 1, ... in the order in which the classes were requested. A [Transform] maps the
// bytes to the numbers z or u that networks and kernels use, and back:
//
//	z = (x/255 - mean_c) / sd_c              per channel c, over the training images
//	u = (C + 0.1 tr(C)/d I)^(-1/2) (z - m)   with "zca"; m, C: mean and covariance of z
//	u = (C + 0.1 tr(C)/d I)^(-1/2) v         with "norm-zca"; v: z minus its own mean, divided
//	                                         by its norm; C: mean of v v^T
//
// A Set's Digest covers the shape, the number of classes, and all images and labels, first of the
// training split and then of the test split. It does not depend on packaging: whole files and files
// with the chosen classes only, compressed or not, have the same digest. Any change to a pixel, to
// the order of images or to the order of classes changes it.
//
// The same bytes give the same Set, Digest and Transform on every machine. Sums over pixels are
// exact integers. Where numbers are rounded, the order of operations is fixed, and no product is
// fused with a sum.
package data
