// Package dc is dataset condensation by gradient matching. It learns images on which the gradient
// of a network's loss points in the same direction as on the real data.
//
// Let theta be the weights, L the cross-entropy, R_c a real batch of class c, and S_c all synthetic
// images of the class with their targets. The distance is
//
//	r = grad_theta L(theta, R_c)    s = grad_theta L(theta, S_c)
//	D = sum over outputs o of all weights with two dimensions or more of
//	    1 - <r_o, s_o> / (||r_o|| ||s_o|| + 1e-6)
//
// where r_o is the part of a weight's gradient that belongs to output o. Biases, gains and shifts
// are left out. The images follow -grad D by gradient descent with momentum, and so do the logits
// of their targets if labels are learned. With v = dD/ds,
//
//	grad_{X,P} D = grad_{X,P} <s, v>
//
// is one tangent of the loss's gradient along v (nn's Pass.Tangent).
//
// An iteration draws a new network and takes it through outer steps. Each step matches gradients
// once. Between the steps, the network is trained on S for inner epochs:
//
//	for every iteration: draw theta; for step = 1 ... outer:
//	    (from the second step on) train theta on S for inner epochs
//	    match all classes at theta and update S
//
// One such step counts as an update, so a run has iterations x outer updates. The time of an
// update excludes the training before it.
//
// The loops depend on the number of images per class, as in the original:
//
//	images   1   10   20   30   40   50 and more
//	outer    1   10   20   30   40   50
//	inner    1   50   25   20   15   10
//
// In between, outer is the number of images, and inner is interpolated.
package dc

import (
	"cmp"
	"context"
	"errors"
	"math"

	"dgkip/harness/augment"
	"dgkip/harness/method"
)

// DC is the method.
type DC struct{ Settings }

// Settings are the settings of gradient matching, with or without augmentation.
type Settings struct {
	Iterations int     `toml:"iterations" min:"0"`            // new networks
	Outer      int     `toml:"outer" min:"0"`                 // updates with each network; 0 for the number of images per class
	Inner      int     `toml:"inner" min:"0"`                 // epochs of training between updates; 0 to choose by the number of images per class
	RealBatch  int     `toml:"real_batch" min:"1"`            // real images of each class in an update
	Start      string  `toml:"start" enum:"noise,real"`       // initial images: noise, or training images
	Rate       float64 `toml:"rate" min:"0"`                  // learning rate of the images; 0 for 0.1, or 0.01 with fc networks
	Momentum   float64 `toml:"momentum" min:"0" max:"0.9999"` // momentum of the images
	Labels     string  `toml:"labels" enum:"learned,fixed"`   // labels are learned as logits, or stay the classes
	LabelRate  float64 `toml:"label_rate" min:"0"`            // learning rate of label logits; 0 for the images' rate
	Margin     float64 `toml:"margin" min:"0"`                // initial logit of an image's class; the other logits are 0
	NetRate    float64 `toml:"net_rate" min:"0"`              // learning rate of the networks
	NetBatch   int     `toml:"net_batch" min:"1"`             // synthetic images in a step of training

	method.TrainedNets // width, norm, first_pad
}

// Defaults returns the usual settings.
func Defaults() Settings {
	return Settings{
		Iterations: 1000, RealBatch: 256, Start: "noise", Momentum: 0.5,
		Labels: "learned", Margin: 4, NetRate: 0.01, NetBatch: 256, TrainedNets: method.TrainedNets{Norm: true},
	}
}

func init() { method.Register(func() method.Method { return &DC{Defaults()} }) }

// Deviations lists the deviations of gradient matching, with or without augmentation.
func Deviations() []string {
	return []string{
		"labels are learned as logits unless labels = \"fixed\"; the original's are fixed",
		"the loops are interpolated for numbers of images that the original does not list",
		"networks have the width that the experiment sets; the original's have 128 channels",
		"the evaluation's rate falls exactly halfway and its momentum is kept; the original starts a new optimiser there",
	}
}

// Info implements method.Method.
func (m *DC) Info() method.Info {
	return method.Info{
		Name: "dc", Title: "DC", Version: 1, Protocol: "network", SoftLabels: m.Labels == "learned",
		About:      "learns images that give a network's weights the same gradient direction as real images",
		Citation:   "B. Zhao, K. R. Mopuri, H. Bilen: Dataset Condensation with Gradient Matching. ICLR 2021, arXiv:2006.05929",
		Deviations: Deviations(),
	}
}

// Distill implements method.Method.
func (m *DC) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	return Condense(ctx, p, "dc", m.Settings, augment.Strategy{}, observe)
}

// Check implements method.Checker.
func (s Settings) Check() error {
	err := method.Positive("net_rate", s.NetRate, "0.01 is usual")
	if usual := Defaults(); !s.learnsLabels() {
		err = errors.Join(err, method.NoEffect("label_rate", s.LabelRate, "labels = \"fixed\"", usual.LabelRate), method.NoEffect("margin", s.Margin, "labels = \"fixed\"", usual.Margin))
	}
	return err
}

// CheckSizes implements method.SizesChecker.
func (m *DC) CheckSizes(z method.Sizes) error { return m.CheckSizesOf("dc", z) }

// CheckSizesOf returns an error if the named method cannot run on data of these sizes.
func (s Settings) CheckSizesOf(name string, z method.Sizes) error {
	return method.CheckTrained(name, s.Start, s.Shape(z.Model), z)
}

func (s Settings) learnsLabels() bool { return s.Labels == "learned" }

// rates returns the learning rates of images and of label logits.
func (s Settings) rates(m method.Model) (images, labels float64) {
	usual := 0.1
	if !m.Shape().Convolves() {
		usual = 0.01
	}
	images = cmp.Or(s.Rate, usual)
	return images, cmp.Or(s.LabelRate, images)
}

// epochs are the inner epochs of the original, by the number of images per class.
var epochs = []struct{ ipc, inner int }{{1, 1}, {10, 50}, {20, 25}, {30, 20}, {40, 15}, {50, 10}}

// loops returns the number of updates with each network, and the number of training epochs between
// them.
func (s Settings) loops(ipc int) (outer, inner int) {
	last := epochs[len(epochs)-1]
	outer, inner = min(ipc, last.ipc), last.inner
	for i, b := range epochs[1:] {
		if a := epochs[i]; ipc < b.ipc {
			part := float64(ipc-a.ipc) / float64(b.ipc-a.ipc)
			inner = a.inner + int(math.Round(part*float64(b.inner-a.inner)))
			break
		}
	}
	return cmp.Or(s.Outer, outer), cmp.Or(s.Inner, inner)
}
