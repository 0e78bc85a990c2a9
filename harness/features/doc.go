// Package features maps images to fixed random features: the hidden activations of networks with
// random weights that are never trained.
//
// Each of the networks f_1 ... f_K repeats one layer L times:
//
//	FC:   h <- relu(h W + b)                      Conv: h <- average2x2(relu(conv3x3(h, W) + b))
//	phi(x) = [f_1(x), ..., f_K(x)] / sqrt(M)      W ~ N(0, 2/fan_in), b ~ N(0, 0.1^2)
//
// M is the total number of values; conv maps are flattened as [row, column, channel]. The
// architectures are registered in package nn. A feature map uses their networks frozen, without
// the last linear layer, and without padding of the images.
//
// As the width and number of networks grow, the Gram matrix phi(x)'phi(y) of the FC map converges
// to the NNGP kernel. This kernel starts from k = x'y/d and repeats L times
//
//	s = 2 k + 0.01,  k = sqrt(s_xx s_yy) (sin t + (pi - t) cos t) / (2 pi),  cos t = s_xy / sqrt(s_xx s_yy)
//
// # The same bits
//
// The bits of an image's features and gradient depend only on the configuration, the seed and
// the image. They do not depend on other images, the number of threads or the vector path.
package features
