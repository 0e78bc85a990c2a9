package nn

import (
	"sync"

	"dgkip/harness/tensor"
)

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

// workspace is the memory that the stages of a Pass share.
type workspace[F tensor.Float] struct {
	// a and b hold activations of a group of images.
	a, b []F

	mu    sync.Mutex
	desks []*desk[F]
}

// desk is the working memory of one task.
type desk[F tensor.Float] struct {
	big   [3][]F // an image's activations
	small [8][]F // a value per channel
}

// take returns a desk that no other task uses, for images of the given number of
// values and channels.
func (w *workspace[F]) take(values, ch int) *desk[F] {
	w.mu.Lock()
	var d *desk[F]
	if k := len(w.desks); k > 0 {
		d, w.desks = w.desks[k-1], w.desks[:k-1]
	}
	w.mu.Unlock()
	if d == nil {
		d = new(desk[F])
	}
	for i := range d.big {
		d.big[i] = tensor.Grow(&d.big[i], values)
	}
	for i := range d.small {
		d.small[i] = tensor.Grow(&d.small[i], ch)
	}
	return d
}

func (w *workspace[F]) give(d *desk[F]) {
	w.mu.Lock()
	w.desks = append(w.desks, d)
	w.mu.Unlock()
}
