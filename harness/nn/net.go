package nn

import (
	"errors"
	"fmt"
	"slices"

	"dgkip/harness/tensor"
)

// Kind says what a tensor of parameters is for.
type Kind int

const (
	ConvWeight   Kind = iota // [3, 3, in, out]
	LinearWeight             // [in, out]
	Bias                     // [out]
	Gain                     // [out], the factor after an instance norm
	Shift                    // [out], the summand after an instance norm
)

// Tensor describes a part theta[Offset:][:Len] of a network's parameters.
//
// The last index of a weight is the output. Row o of the weight, all that leads
// to output o, is therefore a column of the matrix [Len/Outputs, Outputs]:
// Offset+o and every Outputs-th value from there on. tensor.ColDot computes the
// inner products of all rows of two such weights at once.
type Tensor struct {
	Name   string
	Kind   Kind
	Shape  []int
	Offset int
	Len    int
	FanIn  int // inputs of an output; 0 for Gain and Shift
}

// Outputs is the number of rows over the output index.
func (t Tensor) Outputs() int { return t.Shape[len(t.Shape)-1] }

// Weight says whether the tensor has two or more dimensions.
func (t Tensor) Weight() bool { return t.Kind == ConvWeight || t.Kind == LinearWeight }

// Net is a network without its parameters. It never changes, and may be used by
// several goroutines.
type Net[F tensor.Float] struct {
	layers  []layer[F]
	offsets []int // of the layers' parameters; one more than there are layers
	list    []Tensor
}

// build joins layers to a network.
func build[F tensor.Float](layers ...layer[F]) *Net[F] {
	n := &Net[F]{layers: layers, offsets: []int{0}}
	at := 0
	for i, l := range layers {
		if i > 0 && l.in() != layers[i-1].out() {
			panic("nn: build: layers do not fit together")
		}
		for _, t := range l.tensors() {
			t.Offset, t.Len = at, 1
			for _, d := range t.Shape {
				t.Len *= d
			}
			at += t.Len
			n.list = append(n.list, t)
		}
		n.offsets = append(n.offsets, at)
	}
	return n
}

// Inputs is the number of values of an input image.
func (n *Net[F]) Inputs() int { return n.layers[0].in() }

// Classes is the number of outputs.
func (n *Net[F]) Classes() int { return n.layers[len(n.layers)-1].out() }

// Params is the number of parameters.
func (n *Net[F]) Params() int { return n.offsets[len(n.layers)] }

// Tensors describes the parameters in their order.
func (n *Net[F]) Tensors() []Tensor { return slices.Clone(n.list) }

// Flops is the nominal number of additions and multiplications in the linear and
// convolution layers of the forward pass of an image, and first the share of the
// first of them. The backward pass takes 2 all - first to the parameters, all to
// the image, 2 all to both. A tangent along the parameters takes 2 all - first
// forward, and back 2 all to the image, 4 all - 3 first to the parameters, and
// 4 all - first to both.
func (n *Net[F]) Flops() (all, first float64) {
	for _, l := range n.layers {
		f := l.flops()
		all += f
		if first == 0 {
			first = f
		}
	}
	return all, first
}

// part returns layer i's share of a vector of parameters, nil for none.
func (n *Net[F]) part(theta []F, i int) []F {
	if theta == nil || n.offsets[i] == n.offsets[i+1] {
		return nil
	}
	return theta[n.offsets[i]:n.offsets[i+1]]
}

// firstWithParams is the first layer that has parameters. The layers before it
// are linear.
func (n *Net[F]) firstWithParams() int {
	return slices.IndexFunc(n.offsets, func(at int) bool { return at > 0 }) - 1
}

// ConvConfig describes a convolutional network: Depth blocks of 3x3 convolution,
// instance norm, ReLU and average pooling of 2x2 pixels, then a linear layer.
type ConvConfig struct {
	In, H, W int  // channels and size of an image, laid out [h, w, channel]
	Width    int  // channels of a block; 0 means 128
	Depth    int  // blocks; 0 means 3
	Norm     bool // with instance norm
	Classes  int  // outputs; 0 means 2
	FirstPad int  // zero padding of the first convolution; 0 means 1
	Algo     tensor.Algorithm
}

// ConvNet returns the network that c describes.
func ConvNet[F tensor.Float](c ConvConfig) (*Net[F], error) {
	c.Width, c.Depth, c.Classes, c.FirstPad = or(c.Width, 128), or(c.Depth, 3), or(c.Classes, 2), or(c.FirstPad, 1)
	if min(c.In, c.H, c.W, c.Width, c.Depth, c.Classes, c.FirstPad) < 1 {
		return nil, errors.New("nn: sizes of a convolutional network must be positive")
	}
	var layers []layer[F]
	h, w, in := c.H, c.W, c.In
	if by := c.FirstPad - 1; by > 0 {
		layers = append(layers, &pad[F]{h: h, w: w, ch: in, by: by})
		h, w = h+2*by, w+2*by
	}
	for i := range c.Depth {
		if min(h, w) < 2 {
			return nil, fmt.Errorf("nn: images of %dx%d pixels are too small for %d blocks with pooling", c.H, c.W, c.Depth)
		}
		layers = append(layers, &convBlock[F]{
			convShape: convShape{h: h, w: w, inCh: in, outCh: c.Width, pool: true},
			name:      fmt.Sprintf("block%d", i+1), norm: c.Norm, algo: c.Algo,
		})
		h, w, in = h/2, w/2, c.Width
	}
	layers = append(layers, &linear[F]{name: "linear", inputs: h * w * in, outputs: c.Classes})
	return build(layers...), nil
}

// FCConfig describes a fully connected network: Depth hidden layers with ReLU,
// then a linear layer.
type FCConfig struct {
	In      int // values of an image
	Width   int // of a hidden layer; 0 means 1024
	Depth   int // hidden layers; 0 means 3
	Classes int // outputs; 0 means 2
}

// FCNet returns the network that c describes.
func FCNet[F tensor.Float](c FCConfig) (*Net[F], error) {
	c.Width, c.Depth, c.Classes = or(c.Width, 1024), or(c.Depth, 3), or(c.Classes, 2)
	if min(c.In, c.Width, c.Depth, c.Classes) < 1 {
		return nil, errors.New("nn: sizes of a fully connected network must be positive")
	}
	var layers []layer[F]
	in := c.In
	for i := range c.Depth {
		layers = append(layers, &linear[F]{name: fmt.Sprintf("hidden%d", i+1), inputs: in, outputs: c.Width, relu: true})
		in = c.Width
	}
	layers = append(layers, &linear[F]{name: "linear", inputs: in, outputs: c.Classes})
	return build(layers...), nil
}

// or returns x, or def if x is zero.
func or(x, def int) int {
	if x == 0 {
		return def
	}
	return x
}
