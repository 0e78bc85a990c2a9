// Package dm is distribution matching. It learns images whose mean embedding in a newly drawn network
// equals the mean embedding of the real images of their class.
//
// Every iteration draws a network psi without its last layer. For every class c it takes a real batch
// R_c, all synthetic images S_c, and an augmentation A (package augment), which changes both in the
// same way:
//
//	D_c = | 1/|R_c| sum over R_c of psi(A x) - 1/|S_c| sum over S_c of psi(A s) |^2
//
// The images follow minus the gradient of the sum of D_c by gradient descent with momentum. With e the
// second mean minus the first, the gradient of an output psi(A s) is 2 e / |S_c|. It goes back through
// psi and the adjoint of A. No network is trained, no gradient of weights is computed, and labels stay
// the classes.
package dm

import (
	"cmp"
	"context"
	"fmt"

	"dgkip/harness/augment"
	"dgkip/harness/method"
)

// DM is the method.
type DM struct {
	Iterations int     `toml:"iterations" min:"0"`            // updates, each with a new network
	RealBatch  int     `toml:"real_batch" min:"1"`            // real images of each class in an update
	Start      string  `toml:"start" enum:"noise,real"`       // initial images: training images, or noise
	Rate       float64 `toml:"rate" min:"0"`                  // learning rate of the images; 0 for 1, or 10 for 100 or more images per class
	Momentum   float64 `toml:"momentum" min:"0" max:"0.9999"` // momentum of the images

	// Augment is a strategy of augment.New, or "" for none. "dsa" uses all operations,
	// but flip only if the images are not characters.
	Augment string `toml:"augment"`

	method.TrainedNets // width, norm, first_pad
}

func init() { method.Register(func() method.Method { return defaults() }) }

func defaults() *DM {
	return &DM{
		Iterations: 20000, RealBatch: 256, Start: "real", Momentum: 0.5, Augment: "dsa",
		TrainedNets: method.TrainedNets{Norm: true},
	}
}

// Info implements method.Method.
func (m *DM) Info() method.Info {
	return method.Info{
		Name: "dm", Title: "DM", Version: 1, Protocol: "network",
		About:    "learns images whose mean embedding in new networks equals that of the real images of their class",
		Citation: "B. Zhao, H. Bilen: Dataset Condensation with Distribution Matching. WACV 2023, arXiv:2110.04181",
		Deviations: []string{
			"networks have the width that the experiment sets; the original's have 128 channels",
			"augmentations are drawn from streams of the run's seed; the original's are seeded by the clock",
			"sets are scored without augmentation for 300 epochs unless [eval.network] sets augment = \"dsa\" and epochs = 1000, as in the original",
			"the evaluation's rate falls exactly halfway and its momentum is kept; the original starts a new optimiser there",
		},
	}
}

// Check implements method.Checker.
func (m *DM) Check() error {
	if _, err := augment.Matching(m.Augment, false); err != nil {
		return &method.BadSetting{Key: "augment", Why: err.Error()}
	}
	return nil
}

// CheckSizes implements method.SizesChecker.
func (m *DM) CheckSizes(z method.Sizes) error {
	return method.CheckTrained("dm", m.Start, m.Shape(z.Model), z)
}

// Distill implements method.Method.
func (m *DM) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	r, err := newRun(p, m)
	if err != nil {
		return nil, method.Stopped(ctx, p, fmt.Errorf("dm: %w", err))
	}
	return method.Descent{
		Name: "dm", Updates: m.Iterations, Variables: []method.Variable{r.images}, Gradient: r.gradient, Set: r.set,
	}.Run(ctx, p, observe)
}

func (m *DM) rate(ipc int) float64 {
	usual := 1.0
	if ipc >= 100 {
		usual = 10
	}
	return cmp.Or(m.Rate, usual)
}
