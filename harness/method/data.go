package method

import (
	"fmt"
	"math"
	"math/bits"
)

// Images are labelled images, normalised, laid out [n, h, w, c].
type Images struct {
	H, W, C int
	X       []float32 // [n, h, w, c]
	Labels  []int     // [n], classes counted from 0
}

// Len is the number of images.
func (s Images) Len() int { return len(s.Labels) }

// Size is the number of values of an image.
func (s Images) Size() int { return s.H * s.W * s.C }

// At returns image i, without a copy.
func (s Images) At(i int) []float32 { n := s.Size(); return s.X[i*n:][:n] }

// ByClass lists the images of every class in their order.
func (s Images) ByClass(classes int) [][]int {
	of := make([][]int, classes)
	for i, y := range s.Labels {
		of[y] = append(of[y], i)
	}
	return of
}

// Check returns what is wrong with images of the given number of classes, if anything.
func (s Images) Check(classes int) error {
	if s.H < 1 || s.W < 1 || s.C < 1 || len(s.X) != s.Len()*s.Size() {
		return fmt.Errorf("%d values do not make %d images of %dx%dx%d", len(s.X), s.Len(), s.H, s.W, s.C)
	}
	for i, y := range s.Labels {
		if y < 0 || y >= classes {
			return fmt.Errorf("image %d has label %d; there are %d classes", i, y, classes)
		}
	}
	for i, v := range s.X {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("image %d has a pixel that is %v", i/s.Size(), v)
		}
	}
	return nil
}

// Data is a dataset as methods see it: no test images.
type Data struct {
	Name    string   // as in results
	Title   string   // as in tables
	BuiltIn bool     // drawn by this program, not real
	Classes []string // names, in the order of labels
	Prep    Preprocessing
	Train   Images
}

// Preprocessing says how pixel values in [0, 1] became the values a network sees:
// x = (pixel - Mean)/Std, channel by channel, and, where Restore is given, a linear
// map of the whole image after that.
type Preprocessing struct {
	Name      string    // standard or zca
	Mean, Std []float32 // [c]

	// Restore returns images in pixel units; nil if Mean and Std suffice.
	Restore func(x []float32) []float32 `json:"-"`
}

// Pixels returns images in pixel units. Learned images may leave [0, 1].
func (p Preprocessing) Pixels(x []float32) []float32 {
	if p.Restore != nil {
		return p.Restore(x)
	}
	out := make([]float32, len(x))
	copy(out, x)
	if c := len(p.Mean); c > 0 {
		for i, v := range x {
			out[i] = float32(v*p.Std[i%c]) + p.Mean[i%c]
		}
	}
	return out
}

// Normalise applies mean and standard deviation to pixel values. It cannot
// whiten: images that a whitening network is to see must come normalised.
func (p Preprocessing) Normalise(pixels []float32) []float32 {
	out := make([]float32, len(pixels))
	c := len(p.Mean)
	for i, v := range pixels {
		out[i] = v
		if c > 0 {
			out[i] = (v - p.Mean[i%c]) / p.Std[i%c]
		}
	}
	return out
}

// Model describes the networks of an experiment's cell.
type Model struct {
	Kind  string `toml:"kind" enum:"conv,fc" required:"true"`
	Width int    `toml:"width" min:"1" max:"65536"` // channels of a block, or hidden units
	Depth int    `toml:"depth" min:"1" max:"16"`    // blocks, or hidden layers
	Nets  int    `toml:"nets" min:"1" max:"4096"`   // networks that make the features
	Algo  string `toml:"algorithm,omitzero" enum:",direct"`
}

// DefaultModel returns the networks that a kind's name stands for by itself: the
// feature maps of the paper. It reports whether there are any.
func DefaultModel(kind string) (Model, bool) {
	switch kind {
	case "conv":
		return Model{Kind: kind, Width: 256, Depth: 3, Nets: 8}, true
	case "fc":
		return Model{Kind: kind, Width: 1024, Depth: 3, Nets: 30}, true
	}
	return Model{}, false
}

// Check implements Checker.
func (m Model) Check() error {
	if m.Kind == "fc" && m.Algo != "" {
		return &BadSetting{Key: "algorithm", Why: "is for kind = \"conv\""}
	}
	return nil
}

// CheckSizes implements SizesChecker. It allows for zero padding to the next power
// of two, as is usual around 28x28 pixels.
func (m Model) CheckSizes(s Sizes) error {
	side := min(s.H, s.W)
	if m.Kind != "conv" || side < 1 {
		return nil
	}
	if blocks := max(1, bits.Len(uint(side-1))); m.Depth > blocks {
		return fmt.Errorf("depth %d: images of %dx%d pixels are too small for so many blocks, each of which halves them; at most %d fit", m.Depth, s.H, s.W, blocks)
	}
	return nil
}
