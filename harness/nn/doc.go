// Package nn provides the small networks used for distillation, their first derivatives,
// and the tangents of the forward and backward pass.
//
// A network f is a list of layers over one flat vector of parameters theta. A [Pass]
// computes the loss L(theta, x, p): the mean cross-entropy of the images x with soft
// targets p. Its backward pass computes the gradients. Pearlmutter's trick gives their
// derivative along a direction (theta', x', p'), written
// R{g} = d/de g(theta + e theta', x + e x', p + e p') at e = 0. It differentiates every line
// of the forward and of the backward pass once, as in
//
//	y = x W     R{y} = R{x} W + x W'        dx = dy W^T     R{dx} = R{dy} W^T + dy W'^T
//
// R{grad L} costs about two gradients, and no Hessian is formed. For theta' = v alone,
// R{grad L} is the gradient of <grad_theta L, v> with respect to theta, x and p. This is
// all that gradient matching and unrolled gradient descent need.
//
// A feature map is a network of fixed random weights. It needs only outputs and their
// gradient with respect to the images, and uses a [Frozen]. A Frozen prepares the weights
// once and, in convolutions, keeps bits where a Pass keeps activations. The two forms of a layer share
// shapes and weights, but call different functions of package tensor: a
// frozen layer reads packed weights, fuses pooling with the convolution, and adds its bias
// last. Package features builds its maps from frozen networks.
//
// Guarantee: results depend only on the bits of the arguments. They do not depend on
// GOMAXPROCS or on earlier uses of a Pass. A training that was interrupted and resumed
// ends with the same bits.
//
// # Architectures
//
// An [Architecture] states its name, its defaults, the images it accepts, its trained
// network and the network of its feature map. Experiments, methods, protocols and tables
// take all this from the registration. To add an architecture, write a file like
// convnet.go. A new kind of layer needs a stage, and also a frozen form if it computes
// features.
package nn
