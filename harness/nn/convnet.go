package nn

import (
	"cmp"
	"errors"
	"fmt"

	"dgkip/harness/tensor"
)

// ConvConfig describes a convolutional network: Depth blocks of 3x3 convolution,
// instance norm, ReLU and average pooling of 2x2 pixels, then a linear layer.
type ConvConfig struct {
	In, H, W int  // channels and size of an image, laid out [h, w, channel]
	Width    int  // channels of a block; 0 means 128
	Depth    int  // blocks; 0 means 3
	Norm     bool // with instance norm
	Residual bool // every block is followed by y = x + f(x), f being two more convolutions with instance norm and ReLU
	Doubling bool // every block has twice the channels of the one before
	Classes  int  // outputs; 0 means 2
	FirstPad int  // zero padding of the first convolution; 0 means 1
	Algo     tensor.Algorithm
}

func init() {
	Register(Architecture{
		Name: "conv", Title: "ConvNet", Code: 1, Convolves: true,
		Width: 256, Depth: 3, Nets: 8,
		Net: func(s Shape, h, w, c, classes int) (*Net[float32], error) {
			return ConvNet[float32](s.conv(h, w, c, classes))
		},
	})
	Register(Architecture{Name: "nngp-conv", Title: "NNGP (ConvNet)", Code: 3, Limit: "conv"})
	Register(Architecture{Name: "ntk-conv", Title: "NTK (ConvNet)", Code: 5, Limit: "conv"})
}

func (s Shape) conv(h, w, c, classes int) ConvConfig {
	return ConvConfig{
		In: c, H: h, W: w, Width: s.Width, Depth: s.Depth, Norm: s.Norm, Doubling: s.Doubling,
		Classes: classes, FirstPad: s.Padding(h, w), Algo: s.Algo,
	}
}

// ConvNet returns the network that c describes.
func ConvNet[F tensor.Float](c ConvConfig) (*Net[F], error) {
	c.Width, c.Depth, c.Classes, c.FirstPad = cmp.Or(c.Width, 128), cmp.Or(c.Depth, 3), cmp.Or(c.Classes, 2), cmp.Or(c.FirstPad, 1)
	var layers []layer[F]
	if min(c.In, c.H, c.W, c.Width, c.Depth, c.Classes, c.FirstPad) < 1 {
		return nil, errors.New("nn: sizes of a convolutional network must be positive")
	}
	h, w, in := c.H, c.W, c.In
	if by := c.FirstPad - 1; by > 0 {
		layers = append(layers, &pad[F]{h: h, w: w, ch: in, by: by})
		h, w = h+2*by, w+2*by
	}
	width := c.Width
	for i := range c.Depth {
		if min(h, w) < 2 {
			return nil, fmt.Errorf("nn: images of %dx%d pixels are too small for %d blocks that halve them; at most %d fit", c.H, c.W, c.Depth, i)
		}
		layers = append(layers, &convBlock[F]{
			convShape: convShape{h: h, w: w, inCh: in, outCh: width, pool: true},
			name:      fmt.Sprintf("block%d", i+1), norm: c.Norm, algo: c.Algo,
		})
		h, w, in = h/2, w/2, width
		if c.Residual {
			layers = append(layers, residual[F](h, w, width, c, fmt.Sprintf("block%d", i+1)))
		}
		if c.Doubling {
			width *= 2
		}
	}
	return build(append(layers, &linear[F]{name: "linear", inputs: h * w * in, outputs: c.Classes})...), nil
}
