package method

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"

	"dgkip/harness/nn"
)

// Images are labelled images, normalised, laid out [n, h, w, c].
type Images struct {
	H, W, C int
	X       []float32 // [n, h, w, c]
	Labels  []int     // [n], classes counted from 0
}

// Len returns the number of images.
func (s Images) Len() int { return len(s.Labels) }

// Size returns the number of values of an image.
func (s Images) Size() int { return s.H * s.W * s.C }

// At returns image i. It does not copy.
func (s Images) At(i int) []float32 { n := s.Size(); return s.X[i*n:][:n] }

// ByClass returns the indices of the images of every class, in order.
func (s Images) ByClass(classes int) [][]int {
	of := make([][]int, classes)
	for i, y := range s.Labels {
		of[y] = append(of[y], i)
	}
	return of
}

// Check returns an error if the images do not fit the number of classes.
func (s Images) Check(classes int) error {
	if s.H < 1 || s.W < 1 || s.C < 1 || len(s.X) != s.Len()*s.Size() {
		return fmt.Errorf("%d values are not %d images of %dx%dx%d", len(s.X), s.Len(), s.H, s.W, s.C)
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

// Data is a dataset as methods see it. It has no test images.
type Data struct {
	Name    string   // as in results
	Classes []string // names, in the order of labels
	Prep    Preprocessing
	Train   Images

	Characters bool // images must not be mirrored
}

// Members returns the indices of the training images of every class. It returns an error if a class
// has none.
func (d *Data) Members() ([][]int, error) {
	of := d.Train.ByClass(len(d.Classes))
	for class, members := range of {
		if len(members) == 0 {
			return nil, fmt.Errorf("class %s of %s has no training images\nhint: choose other classes", d.Classes[class], d.Name)
		}
	}
	return of, nil
}

// Preprocessing describes how pixel values in [0, 1] become the values that a network sees:
// x = (pixel - Mean)/Std in each channel, or Whiten(pixels) if that is given.
type Preprocessing struct {
	Name      string    // standard, zca or norm-zca
	Mean, Std []float32 // [c]

	// Whiten maps pixels to images, and Restore is its inverse. Both are nil if Mean and
	// Std suffice.
	Restore, Whiten func(x []float32) []float32 `json:"-"`
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

// Normalise returns the images of pixel values.
func (p Preprocessing) Normalise(pixels []float32) []float32 {
	if p.Whiten != nil {
		return p.Whiten(pixels)
	}
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

// Model describes the networks of a cell of an experiment.
type Model struct {
	Kind  string `toml:"kind" required:"true"`      // an architecture of package nn
	Width int    `toml:"width" min:"1" max:"65536"` // channels of a block, or hidden units
	Depth int    `toml:"depth" min:"1" max:"16"`    // blocks, or hidden layers
	Nets  int    `toml:"nets" min:"1" max:"4096"`   // number of networks that compute the features

	Weight float64 `toml:"weight,omitzero" min:"0.01" max:"10"` // in an exact kernel, the standard deviation of a weight, times sqrt(fan_in); 0 means sqrt 2
	Bias   float64 `toml:"bias,omitzero" min:"0.01" max:"10"`   // in an exact kernel, the standard deviation of a bias; 0 means 0.1
}

// Models returns the names of models that need no settings: one for each architecture.
func Models() []string { return nn.Kinds() }

// ModelTitle returns the title of a model of Models in tables, or "" for other names.
func ModelTitle(name string) string {
	a, _ := nn.Lookup(name)
	return a.Title
}

// DefaultModel returns the model of a kind with its default settings, the feature map of the
// paper. It reports whether the kind is known.
func DefaultModel(kind string) (Model, bool) {
	a, ok := nn.Lookup(kind)
	if !ok {
		return Model{}, false
	}
	return Model{Kind: kind, Width: a.Width, Depth: a.Depth, Nets: a.Nets}, true
}

// Check implements Checker.
func (m Model) Check() error {
	if _, ok := nn.Lookup(m.Kind); !ok {
		return &BadSetting{Key: "kind", Why: fmt.Sprintf("is %q, which is not one of %s", m.Kind, strings.Join(nn.Kinds(), ", "))}
	}
	for _, x := range []struct {
		key   string
		value float64
	}{{"weight", m.Weight}, {"bias", m.Bias}} {
		if x.value != 0 && !m.Exact() {
			return &BadSetting{Key: x.key, Why: "only applies to exact kernels", Hint: "leave it out; random networks have the published standard deviations"}
		}
	}
	return nil
}

// Deviations returns the standard deviations of weights, times sqrt(fan_in), and of biases: the settings,
// or else sqrt 2 and 0.1.
func (m Model) Deviations() (weight, bias float64) {
	return cmp.Or(m.Weight, math.Sqrt2), cmp.Or(m.Bias, 0.1)
}

// CheckStored is CheckFeatures for methods that need the features themselves. An exact kernel of
// infinitely wide networks has only their inner products.
func (m Model) CheckStored(s Sizes) error {
	if m.Exact() {
		return fmt.Errorf("model kind = %q has no features, only their inner products\nhint: choose another kind", m.Kind)
	}
	return m.CheckFeatures(s)
}

// CheckDrawn returns an error if a setting draws networks anew, but the model is an exact kernel.
func (m Model) CheckDrawn(key string, value any) error {
	if !m.Exact() {
		return nil
	}
	return fmt.Errorf("%s = %v draws networks anew, but %q is an exact kernel\nhint: leave out %s, or choose another model", key, value, m.Kind, key)
}

// Exact reports whether the model is the limit of infinitely many, infinitely wide networks. Such
// a model only has the inner products of features.
func (m Model) Exact() bool { return m.Limit() != "" }

// Limit returns the architecture of the networks in the limit, or "" for a model with features.
func (m Model) Limit() string {
	a, _ := nn.Lookup(m.Kind)
	return a.Limit
}

// Shape returns the shape of one network of the model.
func (m Model) Shape() nn.Shape { return nn.Shape{Kind: m.Kind, Width: m.Width, Depth: m.Depth} }

// checkNetwork returns an error if a network of the model cannot be trained on images of these
// sizes. A trained network pads 28x28 images to 32x32; a feature map does not.
func (m Model) checkNetwork(s Sizes) error {
	if _, err := m.Shape().Net(s.H, s.W, max(1, s.C), max(2, s.Classes)); err != nil {
		return fmt.Errorf("depth %d: %w", m.Depth, err)
	}
	return nil
}

// CheckFeatures returns an error if the model has no feature map for images of these sizes.
func (m Model) CheckFeatures(s Sizes) error {
	if _, err := m.Shape().Features(s.H, s.W, max(1, s.C)); errors.Is(err, nn.ErrOnlyTrained) {
		return err
	} else if err != nil {
		hint := "\nhint: give the model a smaller depth"
		if _, err := m.Shape().Net(s.H, s.W, max(1, s.C), max(2, s.Classes)); err == nil {
			hint += "; trained networks pad such images, feature maps do not"
		}
		return fmt.Errorf("depth %d: %w%s", m.Depth, err, hint)
	}
	return nil
}
