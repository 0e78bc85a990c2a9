package nn

import (
	"fmt"

	"dgkip/harness/tensor"
)

// Shape describes a network apart from the images it sees and the classes it tells
// apart, in the way that experiments do.
type Shape struct {
	FC           bool // fully connected, else convolutional
	Width, Depth int

	// Of convolutional networks.
	Norm     bool // with instance norm
	FirstPad int  // padding of the first convolution; 0 for 3 on 28x28 images, else 1
	Direct   bool // no Winograd
}

const (
	// mostParams bounds a network's parameters: 2 GiB of float32.
	mostParams = 1 << 29
	// mostValues bounds what its layers make of an image.
	mostValues = 1 << 25
)

// Padding is that of the first convolution on images of h x w pixels.
func (s Shape) Padding(h, w int) int {
	switch {
	case s.FC:
		return 0
	case s.FirstPad > 0:
		return s.FirstPad
	case h == 28 && w == 28:
		return 3 // to 32x32, so that three poolings lose nothing
	}
	return 1
}

// ShapedNet returns the network of a shape for images of h x w pixels with c
// channels. It refuses networks beyond all memory.
func ShapedNet[F tensor.Float](s Shape, h, w, c, classes int) (*Net[F], error) {
	var n *Net[F]
	var err error
	if s.FC {
		n, err = FCNet[F](FCConfig{In: h * w * c, Width: s.Width, Depth: s.Depth, Classes: classes})
	} else {
		algo := tensor.Auto
		if s.Direct {
			algo = tensor.Direct
		}
		n, err = ConvNet[F](ConvConfig{
			In: c, H: h, W: w, Width: s.Width, Depth: s.Depth, Norm: s.Norm, Classes: classes, FirstPad: s.Padding(h, w), Algo: algo,
		})
	}
	if err != nil {
		return nil, err
	}
	values := 0
	for i, l := range n.layers {
		values += l.out()
		if conv, ok := l.(*convBlock[F]); ok {
			values += conv.inner() // before pooling
		}
		if i == 0 {
			values += l.in()
		}
	}
	if n.Params() > mostParams || values > mostValues {
		return nil, fmt.Errorf("nn: a network of %d parameters and %d values an image is too large: at most %d and %d are allowed\nhint: a smaller width or first padding makes it so", n.Params(), values, mostParams, mostValues)
	}
	return n, nil
}
