package nn

import (
	"cmp"

	"dgkip/harness/tensor"
)

// convShape is the shape of a convBlock: images of h x w pixels, channels of the
// input and of the output, and whether pooling follows.
type convShape struct {
	h, w, inCh, outCh int
	pool              bool
	stripRows         int // even; 0 means by stripValues
}

func (s convShape) in() int    { return s.h * s.w * s.inCh }
func (s convShape) inner() int { return s.h * s.w * s.outCh }

func (s convShape) out() int {
	if s.pool {
		return (s.h / 2) * (s.w / 2) * s.outCh
	}
	return s.inner()
}

// strip is a few rows of an image: their shape, and their places in the image's
// activations and in its output.
type strip struct {
	convShape
	from, to, yFrom, yTo int
}

// stripValues is about how many values a strip has: few enough for three or four
// arrays to stay in the core's own cache, many enough for calls not to count.
const stripValues = 1 << 15

// strips calls do with the strips of an image from the top. They hold whole rows
// of pooled pixels.
func (s convShape) strips(do func(s strip)) {
	values := s.w * s.outCh
	step := cmp.Or(s.stripRows, max(2, stripValues/values&^1))
	for top := 0; top < s.h; {
		bottom := top + step
		if bottom+1 >= s.h { // a single row left over is no strip
			bottom = s.h
		}
		t := strip{convShape: s, from: top * values, to: bottom * values}
		t.h = bottom - top
		t.yFrom, t.yTo = t.from, t.to
		if s.pool {
			t.yFrom = top / 2 * (s.w / 2) * s.outCh
			t.yTo = t.yFrom + t.out()
		}
		do(t)
		top = bottom
	}
}

// reduce sets the output y of an image to its activations u, pooled.
func reduce[F tensor.Float](s convShape, y, u []F) {
	if s.pool {
		tensor.Pool(y, u, 1, s.h, s.w, s.outCh)
	} else {
		copy(y, u)
	}
}

// expand sets du to the gradient of an image before the ReLU, where its output
// has gradient dy and u has the sign of the activations.
func expand[F tensor.Float](s convShape, du, dy, u []F) {
	if s.pool {
		tensor.Unpool(du, dy, u, 1, s.h, s.w, s.outCh)
	} else {
		tensor.Mask(du, dy, u)
	}
}
