// Package nn holds the small networks that data sets are distilled with, their
// first derivatives, and the tangents of both passes.
//
// A network f is a list of layers over one flat vector of parameters theta. A
// [Pass] computes the loss L(theta, x, p), the mean cross-entropy of the images
// x with soft targets p, then its gradients by the backward pass, and then, by
// Pearlmutter's trick, their derivative along a direction (theta', x', p'):
// with R{g} = d/de g(theta + e theta', x + e x', p + e p') at e = 0, every line of
// the forward and of the backward pass is differentiated once, as in
//
//	y = x W     R{y} = R{x} W + x W'        dx = dy W^T     R{dx} = R{dy} W^T + dy W'^T
//
// so that R{grad L} costs about twice a gradient and no Hessian is formed. For
// theta' = v alone it is the gradient of <grad_theta L, v> in theta, x and p at
// once, which is all that gradient matching and unrolled gradient descent need.
//
// A network of fixed random weights, of which only the outputs and their gradient in
// the images are wanted, is frozen: a [Frozen] prepares weights once and keeps bits
// where a Pass keeps activations. Layers have both forms, side by side, which share
// their shapes, weights and operation counts but not their calls of package tensor:
// a frozen layer reads packed weights, joins pooling with the convolution, and adds
// its bias last. Package features makes its maps of them.
//
// Guarantee: results are a function of the arguments' bits. They depend neither
// on GOMAXPROCS nor on what a Pass was used for before, and a training that was
// interrupted and resumed ends in the same bits.
//
// # Architectures
//
// An [Architecture] states its name, its defaults, the images it can be built for,
// its trained network and the network of its feature map. Experiments, methods,
// scorings and tables know architectures by what is registered here alone. To add
// one, write a file like convnet.go; new kinds of layers need a stage, and a frozen
// form where they are to make features.
package nn
