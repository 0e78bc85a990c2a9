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
// Guarantee: results are a function of the arguments' bits. They depend neither
// on GOMAXPROCS nor on what a Pass was used for before, and a training that was
// interrupted and resumed ends in the same bits.
package nn
