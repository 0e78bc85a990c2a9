// Package dsa is dataset condensation with differentiable Siamese augmentation: gradient matching, as
// in package dc, on augmented images.
//
// Every update draws one operation A of a strategy for every class (package augment). A changes the
// real batch and the synthetic images in the same way. The distance then compares
//
//	grad_theta L(theta, A R_c)  and  grad_theta L(theta, A S_c)
//
// and its gradient with respect to S_c goes back through the adjoint of A. The training of the networks
// between the updates also augments images, each with its own parameters.
package dsa

import (
	"context"
	"errors"
	"fmt"

	"dgkip/baselines/dc"
	"dgkip/harness/augment"
	"dgkip/harness/method"
)

// DSA is the method.
type DSA struct {
	dc.Settings

	// Augment is a strategy of augment.New. "dsa" uses all operations, but flip only
	// if the images are not characters (mnist, or own data marked so).
	Augment string `toml:"augment"`
}

func init() { method.Register(func() method.Method { return defaults() }) }

func defaults() *DSA {
	m := &DSA{Settings: dc.Defaults(), Augment: "dsa"}
	m.Start = "real"
	return m
}

// Info implements method.Method.
func (m *DSA) Info() method.Info {
	return method.Info{
		Name: "dsa", Title: "DSA", Version: 1, Protocol: "network", SoftLabels: m.Labels == "learned",
		About:    "dc with augmentation: in every matching step the same for real and synthetic images",
		Citation: "B. Zhao, H. Bilen: Dataset Condensation with Differentiable Siamese Augmentation. ICML 2021, arXiv:2102.08259",
		Deviations: append(dc.Deviations(),
			"augmentations are drawn from streams of the run's seed; the original's are seeded by the clock",
			"sets are scored without augmentation for 300 epochs unless [eval.network] sets augment = \"dsa\" and epochs = 1000, as in the original"),
	}
}

// Check implements method.Checker.
func (m *DSA) Check() error {
	err := m.Settings.Check()
	if m.Augment == "" {
		return errors.Join(err, &method.BadSetting{Key: "augment", Why: "must name a strategy", Hint: "for no augmentation, use the method dc"})
	}
	if _, wrong := augment.Matching(m.Augment, false); wrong != nil {
		err = errors.Join(err, &method.BadSetting{Key: "augment", Why: wrong.Error()})
	}
	return err
}

// CheckSizes implements method.SizesChecker.
func (m *DSA) CheckSizes(z method.Sizes) error { return m.CheckSizesOf("dsa", z) }

// Distill implements method.Method.
func (m *DSA) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	strategy, err := augment.Matching(m.Augment, p.Data.Characters)
	if err != nil {
		return nil, fmt.Errorf("dsa: augment %w", err)
	}
	return dc.Condense(ctx, p, "dsa", m.Settings, strategy, observe)
}
