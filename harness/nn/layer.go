package nn

import "dgkip/harness/tensor"

// layer is one step of a network. It holds shapes; values are in a stage.
type layer[F tensor.Float] interface {
	in() int  // values of an input image
	out() int // values of an output image
	// inside is how many values of an image are kept within the layer.
	inside() int
	// tensors describes the parameters, with offsets from the layer's first one.
	tensors() []Tensor
	// flops is the nominal number of operations of the forward pass on an image.
	flops() float64
	stage(w *workspace[F]) stage[F]
}

// stage is a layer at work in a Pass. Arguments are kept, not copied, and must
// hold their values until the last call that follows from them.
//
// The four methods are called in their order, each after any number of calls of
// the ones before. A nil result is not wanted; a nil direction is zero.
type stage[F tensor.Float] interface {
	// forward sets y to the layer's output for n images. Without keep no other
	// method may follow.
	forward(y, x, theta []F, n int, keep bool)
	// backward sets dx and dtheta to the gradients of <dy, y>. It may overwrite
	// dy at places that do not matter to it.
	backward(dx, dtheta, dy []F)
	// tangent sets yt to the derivative of y along (xt, v). Where xt and v are nil,
	// so is yt.
	tangent(yt, xt, v []F)
	// backwardTangent sets dxt and dthetat to the derivatives of what backward
	// computes, along (xt, v) and dyt.
	backwardTangent(dxt, dthetat, dyt []F)
}

// workspace is the memory that the stages of a Pass share: activations of a group of
// images.
type workspace[F tensor.Float] struct{ a, b []F }
