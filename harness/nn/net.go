package nn

import (
	"slices"

	"dgkip/harness/tensor"
)

// Kind is the role of a tensor of parameters.
type Kind int

const (
	ConvWeight   Kind = iota // [3, 3, in, out]
	LinearWeight             // [in, out]
	Bias                     // [out]
	Gain                     // [out], multiplied in after an instance norm
	Shift                    // [out], added after an instance norm
)

// Tensor describes a part theta[Offset:][:Len] of a network's parameters.
//
// The last index of a weight is the output. The weights of output o are therefore column o
// of the matrix [Len/Outputs, Outputs]: Offset+o and every Outputs-th value after it.
// tensor.ColDot computes the inner products of all such columns of two weights at once.
type Tensor struct {
	Name   string
	Kind   Kind
	Shape  []int
	Offset int
	Len    int
	FanIn  int // inputs of an output; 0 for Gain and Shift
}

// Outputs returns the size of the last index, the output.
func (t Tensor) Outputs() int { return t.Shape[len(t.Shape)-1] }

// Weight reports whether the tensor has two or more dimensions.
func (t Tensor) Weight() bool { return t.Kind == ConvWeight || t.Kind == LinearWeight }

// Net is a network without its parameters. It never changes, and several goroutines may use
// it.
type Net[F tensor.Float] struct {
	layers  []layer[F]
	offsets []int // of each layer's parameters, and the end of the last
	list    []Tensor
}

// build joins layers into a network.
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

// Body returns the network without its last layer. Its outputs are the inputs of the last
// layer, and its parameters are the first parameters of the network.
func (n *Net[F]) Body() *Net[F] { return build(n.layers[:len(n.layers)-1]...) }

// Inputs returns the number of values of an input image.
func (n *Net[F]) Inputs() int { return n.layers[0].in() }

// Classes returns the number of outputs.
func (n *Net[F]) Classes() int { return n.layers[len(n.layers)-1].out() }

// Params returns the number of parameters.
func (n *Net[F]) Params() int { return n.offsets[len(n.layers)] }

// Tensors describes the parameters in order.
func (n *Net[F]) Tensors() []Tensor { return slices.Clone(n.list) }

// Values returns how many values a pass keeps of an image: between the layers (the image
// and the outputs included), and inside layers.
func (n *Net[F]) Values() (between, inside int) {
	between = n.Inputs()
	for _, l := range n.layers {
		between += l.out()
		inside += l.inside()
	}
	return between, inside
}

// part returns layer i's part of a vector of parameters, or nil for nil.
func (n *Net[F]) part(theta []F, i int) []F {
	if theta == nil || n.offsets[i] == n.offsets[i+1] {
		return nil
	}
	return theta[n.offsets[i]:n.offsets[i+1]]
}

// firstWithParams returns the first layer that has parameters. The layers before it are
// linear.
func (n *Net[F]) firstWithParams() int {
	return slices.IndexFunc(n.offsets, func(at int) bool { return at > 0 }) - 1
}
