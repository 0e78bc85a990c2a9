// Package features maps images to fixed random features: the hidden activations
// of networks with random weights that are never trained.
//
// With nets f_1 ... f_K of depth L, each a layer repeated,
//
//	FC:   h <- relu(h W + b)                      Conv: h <- average2x2(relu(conv3x3(h, W) + b))
//	phi(x) = [f_1(x), ..., f_K(x)] / sqrt(M)      W ~ N(0, 2/fan_in), b ~ N(0, 0.1^2)
//
// where M is the number of values that are concatenated; conv maps are
// flattened as [row, column, channel]. The networks are those of package nn, where
// architectures are registered, without their last linear layer, frozen, and for
// images as they are: trained networks may pad theirs. As width and number of nets grow, the
// Gram matrix phi(x)'phi(y) of the FC map tends to the NNGP kernel: from
// k = x'y/d, depth times
//
//	s = 2 k + 0.01,  k = sqrt(s_xx s_yy) (sin t + (pi - t) cos t) / (2 pi),  cos t = s_xy / sqrt(s_xx s_yy)
//
// # The same bits
//
// The features of an image, and its gradient, depend on the configuration, the
// seed and the image alone: not on the other images, the number of threads or
// the vector path. Direct and Winograd convolution differ in the last bits.
package features
