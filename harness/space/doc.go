// Package space provides the feature spaces in which models are linear: the features of random
// networks, or the exact kernel of infinitely many, infinitely wide networks. It creates the
// views of package convex, and takes gradients back to the pixels.
//
//	K = A A'      inner products within a set
//	F = A Theta'  outputs of Theta_O on the set
//	A Phi'        inner products with the real images
//
// A Source is the real data of a run with the model's settings, and determines a Space. Show
// maps images into the space, Learn maps a set that is being learned, and Real returns the real
// images as a convex problem. Draws joins several spaces.
//
// To add a space, add a file that registers the space in kinds, and register its name as an
// architecture in package nn. A kernel is a kernelSpace, and its architecture has a Limit.
//
// Features of the training images and their Gram matrix are costly. They are computed on
// demand and kept in method.Shared, under keys that contain everything they depend on. Features
// are also kept on disk, if there is room. The Gram matrix of the ConvNet kernel takes so long
// that it is kept on disk, too, in parts. Features of test images are kept where only protocols
// have access.
//
// Results have the same bits on every machine and for any number of threads, whether they were
// computed, shared or read from disk.
package space
