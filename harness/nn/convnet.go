package nn

import (
	"errors"
	"fmt"

	"dgkip/harness/tensor"
)

func init() {
	Register(Architecture{
		Name: "conv", Title: "ConvNet", Code: 1, Convolves: true,
		Width: 256, Depth: 3, Nets: 8,
		Net: ConvNet[float32],
	})
	Register(Architecture{Name: "nngp-conv", Title: "NNGP (ConvNet)", Code: 3, Limit: "conv"})
	Register(Architecture{Name: "ntk-conv", Title: "NTK (ConvNet)", Code: 5, Limit: "conv"})
}

// ConvNet returns a convolutional network for images of h x w pixels with c channels: Depth
// blocks of 3x3 convolution, instance norm, ReLU and average pooling of 2x2 pixels, then a
// linear layer. In a residual network every block is followed by y = x + f(x), f being two
// more convolutions with instance norm and ReLU.
func ConvNet[F tensor.Float](s Shape, h, w, c, classes int) (*Net[F], error) {
	var layers []layer[F]
	if min(c, h, w, s.Width, s.Depth, classes) < 1 {
		return nil, errors.New("sizes of a convolutional network must be positive")
	}
	image, width := fmt.Sprintf("%dx%d", h, w), s.Width
	if by := s.Padding(h, w) - 1; by > 0 {
		layers = append(layers, &pad[F]{h: h, w: w, ch: c, by: by})
		h, w = h+2*by, w+2*by
	}
	for i := range s.Depth {
		if min(h, w) < 2 {
			return nil, fmt.Errorf("images of %s pixels are too small for %d blocks that halve them; at most %d fit", image, s.Depth, i)
		}
		name := fmt.Sprintf("block%d", i+1)
		layers = append(layers, &convBlock[F]{
			convShape: convShape{h: h, w: w, inCh: c, outCh: width, pool: true}, name: name, norm: s.Norm,
		})
		h, w, c = h/2, w/2, width
		if s.Kind == "res" {
			layers = append(layers, residual[F](convShape{h: h, w: w, inCh: c, outCh: c}, s.Norm, name))
		}
		if s.Doubling {
			width *= 2
		}
	}
	return build(append(layers, &linear[F]{name: "linear", inputs: h * w * c, outputs: classes})...), nil
}
