package nn

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"dgkip/harness/tensor"
)

// Architecture is a kind of network. All that the program knows of one stands here:
// to add an architecture is to register it in a file of this package.
type Architecture struct {
	Name  string // as in experiments, kind = "conv"
	Title string // as in tables
	Code  int    // as in files; it never changes

	// Width, Depth and Nets are those of the published feature map.
	Width, Depth, Nets int

	// Convolves says that the rows and columns of an image count, so that it can be
	// padded, and that there is a choice of algorithms.
	Convolves bool

	// Limit names the architecture whose features, of infinitely many and infinitely
	// wide networks, this one stands for: its models see images by the inner products
	// of these, which are known without a draw. "" for the others.
	Limit string

	// Net returns the network that is trained on images of h x w pixels with c
	// channels. It may pad them.
	Net func(s Shape, h, w, c, classes int) (*Net[float32], error)
	// Features returns a network whose outputs are features, to be frozen. Both say
	// what is wrong if the images do not suit.
	Features func(s Shape, h, w, c int) (*Net[float32], error)
}

var architectures = map[string]Architecture{}

// Register adds an architecture.
func Register(a Architecture) {
	for _, b := range architectures {
		if a.Name == b.Name || a.Code == b.Code {
			panic("nn: Register: two architectures of one name or code")
		}
	}
	architectures[a.Name] = a
}

// Kinds names the architectures in alphabetical order.
func Kinds() []string { return slices.Sorted(maps.Keys(architectures)) }

// Lookup returns the architecture of a name and reports whether there is one.
func Lookup(kind string) (Architecture, bool) {
	a, ok := architectures[kind]
	return a, ok
}

// Shape describes a network apart from the images it sees and the classes it tells
// apart, in the way that experiments do.
type Shape struct {
	Kind         string // an architecture's name
	Width, Depth int
	Algo         tensor.Algorithm

	// Of networks that convolve and are trained.
	Norm     bool // with instance norm
	Doubling bool // every block has twice the channels of the one before
	FirstPad int  // padding of the first convolution; 0 for 3 on 28x28 images, else 1
}

const (
	// mostParams bounds a network's parameters: 2 GiB of float32.
	mostParams = 1 << 29
	// mostValues bounds what its layers make of an image.
	mostValues = 1 << 25
)

func (s Shape) architecture() (Architecture, error) {
	a, ok := Lookup(s.Kind)
	if !ok {
		return a, fmt.Errorf("nn: architecture %q is not known\nhint: there are %s", s.Kind, strings.Join(Kinds(), ", "))
	}
	return a, nil
}

// Convolves reports whether the rows and columns of an image count.
func (s Shape) Convolves() bool { return architectures[s.Kind].Convolves }

// Padding is that of the first convolution of a trained network on images of h x w
// pixels.
func (s Shape) Padding(h, w int) int {
	switch {
	case !s.Convolves():
		return 0
	case s.FirstPad > 0:
		return s.FirstPad
	case h == 28 && w == 28:
		return 3 // to 32x32, so that three poolings lose nothing
	}
	return 1
}

// Net returns the network of a shape for images of h x w pixels with c channels. It
// refuses networks beyond all memory.
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

// bounded refuses a network beyond all memory.
func bounded(n *Net[float32]) (*Net[float32], error) {
	between, inside := n.Values()
	if values := between + inside; n.Params() > mostParams || values > mostValues {
		return nil, fmt.Errorf("nn: a network of %d parameters and %d values an image is too large: at most %d and %d are allowed\nhint: a smaller width or first padding makes it so", n.Params(), values, mostParams, mostValues)
	}
	return n, nil
}

// Features returns one network of the shape's feature map, for images of h x w
// pixels with c channels. It refuses what Net does.
func (s Shape) Features(h, w, c int) (*Net[float32], error) {
	a, err := s.architecture()
	if err != nil {
		return nil, err
	}
	n, err := a.Features(s, h, w, c)
	if err != nil {
		return nil, err
	}
	return bounded(n)
}

// Numbers is the form in which a distilled set carries a shape, for images of h x w
// pixels: the architecture's code, width, depth, norm and first padding.
func (s Shape) Numbers(h, w int) []float64 {
	norm := 0.0
	if s.Norm && s.Convolves() {
		norm = 1
	}
	return []float64{float64(architectures[s.Kind].Code), float64(s.Width), float64(s.Depth), norm, float64(s.Padding(h, w))}
}

// mostPad and mostDepth bound networks that a set describes, beside their memory.
const mostPad, mostDepth = 64, 16

// ShapeOf returns the shape that numbers describe.
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
	return Shape{}, fmt.Errorf("nn: %v describes no network\nhint: they are the kind (%s), width, depth (1 to %d), norm (0 or 1) and the first padding (1 to %d where there are convolutions)", numbers, codes(), mostDepth, mostPad)
}

// codes lists the codes of the architectures.
func codes() string {
	var list []string
	for _, kind := range Kinds() {
		list = append(list, fmt.Sprintf("%d for %s", architectures[kind].Code, kind))
	}
	return strings.Join(list, ", ")
}
