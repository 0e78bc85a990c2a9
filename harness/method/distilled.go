package method

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// LabelKind is the meaning of the labels of a distilled set.
type LabelKind string

const (
	Hard   LabelKind = "hard"   // [n, classes], one-hot
	Soft   LabelKind = "soft"   // [n, classes], targets of the cross-entropy; any reals
	Logits LabelKind = "logits" // [n, classes], the targets are their softmax
	Gain   LabelKind = "gain"   // [n, 1], y in the margin y f; class 0 is negative
	Target LabelKind = "target" // [n, 1], p in softplus(f) - p f, the probability of class 1
	Value  LabelKind = "value"  // [n, classes], or [n, 1] for two classes; y in (f - y)^2/2
)

var labelKinds = []LabelKind{Hard, Soft, Logits, Gain, Target, Value}

// Array is a named array that a method stores with its images.
type Array struct {
	Shape []int
	Data  []float64
}

// Distilled is a distilled set, complete enough to train on it or to score it.
type Distilled struct {
	H, W, C int
	Images  []float32 // [n, h, w, c], normalised
	Labels  []float32 // [n, k]; see Kind
	Kind    LabelKind
	Loss    string   // the convex loss that the labels were learned for, or ""; see package convex
	Of      []int    // [n], the class of every image
	Classes []string // names of the classes
	Prep    Preprocessing
	Extra   map[string]Array // further results, such as learned rates; may be nil
	Notes   []string         // remarks for readers, such as "the bound is trivial"

	// Whole reports that the set is the training set itself. It then has no images.
	Whole bool
}

// Len returns the number of images.
func (d *Distilled) Len() int { return len(d.Of) }

// Size returns the number of values of an image.
func (d *Distilled) Size() int { return d.H * d.W * d.C }

// LabelWidth returns the number of values of a label.
func (d *Distilled) LabelWidth() int {
	if d.Len() == 0 {
		return 0
	}
	return len(d.Labels) / d.Len()
}

// OneHot returns hard labels for the given classes.
func OneHot(of []int, classes int) []float32 {
	labels := make([]float32, len(of)*classes)
	for i, y := range of {
		labels[i*classes+y] = 1
	}
	return labels
}

// Clone returns a deep copy.
func (d *Distilled) Clone() *Distilled {
	c := *d
	c.Images, c.Labels, c.Of = slices.Clone(d.Images), slices.Clone(d.Labels), slices.Clone(d.Of)
	c.Extra, c.Notes = maps.Clone(d.Extra), slices.Clone(d.Notes)
	for k, a := range c.Extra {
		c.Extra[k] = Array{slices.Clone(a.Shape), slices.Clone(a.Data)}
	}
	return &c
}

// With returns a copy with new images and, unless logits is nil, with logits as labels.
func (d *Distilled) With(images, logits []float32) *Distilled {
	c := d.Clone()
	copy(c.Images, images)
	if logits != nil {
		c.Kind, c.Labels = Logits, slices.Clone(logits)
	}
	return c
}

// FirstLogits returns the initial logits for learned labels: margin for the class of an image, and 0
// for all other classes.
func (d *Distilled) FirstLogits(margin float64) []float32 {
	logits := OneHot(d.Of, len(d.Classes))
	for i := range logits {
		logits[i] *= float32(margin)
	}
	return logits
}

// Fits returns an error if the set does not fit the data, or does not have ipc images per class on
// average. With ipc 0 any number of images is allowed.
func (d *Distilled) Fits(data *Data, ipc int) error {
	if err := d.Check(); err != nil || d.Whole {
		return err
	}
	if real := data.Train; d.H != real.H || d.W != real.W || d.C != real.C || len(d.Classes) != len(data.Classes) {
		return fmt.Errorf("distilled set: %d classes of %dx%dx%d images, but the data has %d of %dx%dx%d", len(d.Classes), d.H, d.W, d.C, len(data.Classes), real.H, real.W, real.C)
	}
	if want := ipc * len(d.Classes); want > 0 && d.Len() != want {
		return fmt.Errorf("distilled set: it has %d images, but ipc %d with %d classes needs %d", d.Len(), ipc, len(d.Classes), want)
	}
	return nil
}

// Check returns an error if the set contradicts itself.
func (d *Distilled) Check() error {
	if len(d.Classes) < 1 {
		return errors.New("distilled set: no classes")
	}
	if d.Whole {
		if d.Len() > 0 {
			return errors.New("distilled set: a set that is the whole training set must have no images")
		}
		return nil
	}
	if err := (Images{H: d.H, W: d.W, C: d.C, X: d.Images, Labels: d.Of}).Check(len(d.Classes)); err != nil {
		return fmt.Errorf("distilled set: %w", err)
	}
	if d.Len() == 0 {
		return errors.New("distilled set: no images")
	}
	if !slices.Contains(labelKinds, d.Kind) {
		return fmt.Errorf("distilled set: unknown kind of labels %q", d.Kind)
	}
	want := []int{len(d.Classes)}
	switch {
	case d.Kind == Gain, d.Kind == Target:
		want = []int{1}
	case d.Kind == Value && len(d.Classes) == 2:
		want = append(want, 1)
	}
	if len(d.Labels)%d.Len() != 0 || !slices.Contains(want, d.LabelWidth()) {
		return fmt.Errorf("distilled set: %d label values for %d images of kind %q and %d classes", len(d.Labels), d.Len(), d.Kind, len(d.Classes))
	}
	for i, v := range d.Labels {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("distilled set: label of image %d is %v", i/d.LabelWidth(), v)
		}
	}
	if p := d.Prep; len(p.Mean) != len(p.Std) || len(p.Mean) != 0 && len(p.Mean) != d.C {
		return fmt.Errorf("distilled set: %d means and %d deviations for %d channels", len(p.Mean), len(p.Std), d.C)
	}
	return nil
}
