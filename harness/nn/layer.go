package nn

import "dgkip/harness/tensor"

// layer is one step of a network. It holds only shapes; a stage holds values.
type layer[F tensor.Float] interface {
	in() int  // values of an input image
	out() int // values of an output image
	// inside is the number of values of an image that are kept within the layer.
	inside() int
	// tensors describes the parameters, with offsets from the layer's first one.
	tensors() []Tensor
	stage(w *workspace[F]) stage[F]
}

// stage is a layer at work in a Pass. It keeps its arguments without a copy, so they must
// not change until the last call that uses them.
//
// The methods are called in the order below. Each may be repeated before the next one. A
// nil result is not computed; a nil direction is zero.
type stage[F tensor.Float] interface {
	// forward sets y to the layer's output for n images. If keep is false, no other
	// method may follow.
	forward(y, x, theta []F, n int, keep bool)
	// backward sets dx and dtheta to the gradients of <dy, y>. It may overwrite those
	// values of dy that it does not need.
	backward(dx, dtheta, dy []F)
	// tangent sets yt to the derivative of y along (xt, v). If xt and v are nil, yt is
	// nil too.
	tangent(yt, xt, v []F)
	// backwardTangent sets dxt and dthetat to the derivatives of backward's results
	// along (xt, v) and dyt.
	backwardTangent(dxt, dthetat, dyt []F)
}

// workspace is memory that the stages of a Pass share, for the activations of a group of
// images.
type workspace[F tensor.Float] struct{ a, b []F }
