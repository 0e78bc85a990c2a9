// Package space makes views of images, in which models are linear (package convex): the
// features of random networks, or the exact kernel of infinitely many, infinitely wide ones,
// and the way back to the pixels.
//
//	K = A A'      inner products of a set
//	F = A Theta'  outputs of Theta_O on it
//	A Phi'        inner products with the real images
//
// A Source is the real data of a run with its networks, and has a Space: Show shows images,
// Learn a set that is being learned, and Real the real images as a problem to solve. Draws
// joins several. A new space is a file of this package that adds itself to kinds, and one of
// package nn that registers its name as an architecture. A kernel is a kernelSpace, whose
// architecture has a Limit. Features of networks with other weights than drawn ones are a
// featureSpace of features.Of.
//
// What is costly, the features of the training images and their Gram matrix, is
// computed when it is first asked for and kept in method.Shared, under a key that
// holds all it depends on; features are kept on its disk as well, where there is room for
// them. The kernel of ConvNets takes so long that its Gram matrix is kept there, too, some
// rows at a time. Features of test images are kept apart, in what only protocols share.
//
// Guarantee: the same bits on every machine and for every number of threads,
// whether a value was computed, shared or read from disk.
package space
