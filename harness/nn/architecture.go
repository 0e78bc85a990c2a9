package nn

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Architecture is a kind of network. The program learns about an architecture only from
// its registration. To add one, register it in a file of this package.
type Architecture struct {
	Name  string // in experiments: kind = "conv"
	Title string // in tables
	Code  int    // in files; it must never change

	// Width, Depth and Nets are the defaults, as published for the feature map.
	Width, Depth, Nets int

	// Convolves reports whether the network uses the rows and columns of an image. The
	// image can then be padded.
	Convolves bool

	// Limit is set for exact kernels, which draw no networks. It names the architecture that
	// tends to the kernel, or to one near it, as networks grow wide and many. Only Name, Title
	// and Code are the kernel's own; all other fields come from that architecture, whose
	// networks are trained on sets of the kernel, and drawn to score them.
	Limit string

	// OnlyTrained reports whether networks of this kind have no random features.
	OnlyTrained bool

	// Net returns a network for images of h x w pixels with c channels, or an error if they
	// do not suit the architecture.
	Net func(s Shape, h, w, c, classes int) (*Net[float32], error)
}

var architectures = map[string]Architecture{}

// Register adds an architecture.
func Register(a Architecture) {
	for _, b := range architectures {
		if a.Name == b.Name || a.Code == b.Code {
			panic("nn: Register: two architectures have the same name or code")
		}
	}
	architectures[a.Name] = a
}

// Kinds returns the names of the architectures in alphabetical order.
func Kinds() []string { return slices.Sorted(maps.Keys(architectures)) }

// Lookup returns the architecture with a name, and whether there is one.
func Lookup(kind string) (Architecture, bool) {
	a, ok := architectures[kind]
	if of, exact := architectures[a.Limit]; exact {
		of.Name, of.Title, of.Code, of.Limit = a.Name, a.Title, a.Code, a.Limit
		a = of
	}
	return a, ok
}

// Shape describes a network as experiments do. It leaves out the images and the classes.
type Shape struct {
	Kind         string // an architecture's name
	Width, Depth int

	// Only for trained networks with convolutions:
	Norm     bool // with instance norm
	Doubling bool // every block has twice the channels of the one before
	FirstPad int  // padding of the first convolution; 0 means 3 for 28x28 images, and 1 for others
}

const (
	// mostParams is the largest number of parameters: 2 GiB of float32.
	mostParams = 1 << 29
	// mostValues is the largest number of values that the layers compute for an image.
	mostValues = 1 << 25
)

func (s Shape) architecture() (Architecture, error) {
	a, ok := Lookup(s.Kind)
	if !ok {
		return a, fmt.Errorf("architecture %q is not known\nhint: known architectures: %s", s.Kind, strings.Join(Kinds(), ", "))
	}
	return a, nil
}

// Convolves reports whether the network uses the rows and columns of an image.
func (s Shape) Convolves() bool {
	a, _ := Lookup(s.Kind)
	return a.Convolves
}

// Padding returns the padding of the first convolution of a trained network on images of
// h x w pixels.
func (s Shape) Padding(h, w int) int {
	switch {
	case !s.Convolves():
		return 0
	case s.FirstPad > 0:
		return s.FirstPad
	case h == 28 && w == 28:
		return 3 // pads to 32x32, which three poolings halve evenly
	}
	return 1
}

// Net returns the network of a shape for images of h x w pixels with c channels. It
// returns an error if the network is too large.
func (s Shape) Net(h, w, c, classes int) (*Net[float32], error) {
	a, err := s.architecture()
	if err != nil {
		return nil, err
	}
	n, err := a.Net(s, h, w, c, classes)
	if err != nil {
		return nil, err
	}
	return bounded(n)
}

// ErrOnlyTrained is the error for architectures without a feature map.
var ErrOnlyTrained = errors.New("networks of this kind have no random features and can only be trained")

// bounded returns an error if the network is too large.
func bounded(n *Net[float32]) (*Net[float32], error) {
	between, inside := n.Values()
	if values := between + inside; n.Params() > mostParams || values > mostValues {
		return nil, fmt.Errorf("a network of %d parameters and %d values an image is too large: at most %d and %d are allowed\nhint: choose a smaller width or first padding", n.Params(), values, mostParams, mostValues)
	}
	return n, nil
}

// Features returns one network of the shape's feature map, for images of h x w pixels with c
// channels: a network without its last layer, instance norm and additional padding. It returns an
// error if the network is too large.
func (s Shape) Features(h, w, c int) (*Net[float32], error) {
	a, err := s.architecture()
	if err != nil {
		return nil, err
	}
	if a.OnlyTrained {
		return nil, fmt.Errorf("%w: kind %q\nhint: choose another kind, or use it in [eval.network]", ErrOnlyTrained, s.Kind)
	}
	n, err := a.Net(Shape{Kind: s.Kind, Width: s.Width, Depth: s.Depth, FirstPad: 1}, h, w, c, 2)
	if err != nil {
		return nil, err
	}
	return bounded(n.Body())
}

// Numbers returns the shape as a distilled set stores it, for images of h x w pixels: the
// architecture's code, width, depth, norm and first padding.
func (s Shape) Numbers(h, w int) []float64 {
	norm := 0.0
	if s.Norm && s.Convolves() {
		norm = 1
	}
	return []float64{float64(architectures[s.Kind].Code), float64(s.Width), float64(s.Depth), norm, float64(s.Padding(h, w))}
}

// mostPad and mostDepth limit the networks that a set may describe.
const mostPad, mostDepth = 64, 16

// ShapeOf returns the shape that numbers describe. It is the inverse of Numbers.
func ShapeOf(numbers []int64) (Shape, error) {
	if len(numbers) == 5 {
		for _, kind := range Kinds() {
			s := Shape{Kind: kind, Width: int(numbers[1]), Depth: int(numbers[2]), Norm: numbers[3] == 1, FirstPad: int(numbers[4])}
			if int64(architectures[kind].Code) == numbers[0] && s.Width >= 1 && s.Depth >= 1 && s.Depth <= mostDepth &&
				numbers[3]>>1 == 0 && s.FirstPad <= mostPad && (s.FirstPad > 0 || !s.Convolves()) {
				return s, nil
			}
		}
	}
	return Shape{}, fmt.Errorf("%v describes no network\nhint: the numbers are the kind (%s), width, depth (1 to %d), norm (0 or 1) and the first padding (1 to %d if the network has convolutions)", numbers, codes(), mostDepth, mostPad)
}

// codes lists the codes of the architectures.
func codes() string {
	var list []string
	for _, kind := range Kinds() {
		list = append(list, fmt.Sprintf("%d for %s", architectures[kind].Code, kind))
	}
	return strings.Join(list, ", ")
}
