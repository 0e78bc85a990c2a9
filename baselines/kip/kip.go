package kip

import (
	"errors"
	"fmt"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/space"
	"dgkip/harness/teacher"
)

// KIP is the method; its fields are its settings.
type KIP struct {
	Updates   int     `toml:"updates" min:"0"`                    // of the set
	Rate      float64 `toml:"rate" min:"0"`                       // of AdaBelief on the images
	Labels    string  `toml:"labels" enum:"learned,fixed,solved"` // AdaBelief learns them, they stay as the classes, or every update solves for them
	LabelRate float64 `toml:"label_rate" min:"0"`                 // of AdaBelief on the labels
	Start     string  `toml:"start" enum:"real,noise"`            // training images, or noise
	Batch     int     `toml:"batch" min:"0"`                      // real images in an update; 0, or as many as there are, for all
	Jitter    float64 `toml:"jitter" min:"0"`                     // ridge over the mean of K's diagonal; 0 for lambda_S
	Lambda    float64 `toml:"lambda"`                             // of the model that scores the set, for each image
	Resample  bool    `toml:"resample,omitzero"`                  // new networks for every update
	Nets      int     `toml:"nets,omitzero" min:"0" max:"4096"`   // how many those are; 0 for the number that score the set
}

func init() { method.Register(func() method.Method { return defaults() }) }

func defaults() *KIP {
	return &KIP{
		Updates: 500, Rate: 0.01, Labels: "learned", LabelRate: 0.01, Start: "real",
		Lambda: teacher.DefaultLambda,
	}
}

// Info implements method.Method.
func (*KIP) Info() method.Info {
	return method.Info{
		Name: "kip", Title: "KIP", Version: 1, Protocol: "features",
		About: "kernel ridge regression on the set predicts the real labels; with resample, in features drawn anew",
		Citation: "T. Nguyen, Z. Chen, J. Lee: Dataset Meta-Learning from Kernel Ridge-Regression. ICLR 2021, arXiv:2011.00050; " +
			"for resample N. Loo, R. Hasani, A. Amini, D. Rus: Efficient Dataset Distillation using Random Feature Approximation. NeurIPS 2022, arXiv:2210.12067",
		Deviations: []string{
			"the kernel is that of the experiment's random features, unless its model is an exact kernel; the original's is of infinitely wide networks",
			"the ridge is that of the model which scores the set; the original has 1e-6 times the mean of the kernel's diagonal, jitter = 1e-6",
			"AdaBelief on images and labels, in place of Adam for KIP",
			"all images of the set are learned in every update, with all real images unless batch says otherwise; the original draws batches of both",
			"no whitening unless the experiment asks for it, and no augmentation",
			"targets are +1 and -1, one output for two classes; the originals' are one-hot vectors less their mean",
			"with resample, the squared loss in place of RFAD's Platt-scaled cross-entropy, and networks of the experiment's width",
		},
	}
}

// Check implements method.Checker.
func (m *KIP) Check() error {
	errs := []error{method.Positive("rate", m.Rate, "0.01 is usual"), method.PositiveLambda(m.Lambda)}
	bad := func(key, why, hint string) {
		errs = append(errs, &method.BadSetting{Key: key, Why: why, Hint: hint})
	}
	if m.Labels == "learned" {
		errs = append(errs, method.Positive("label_rate", m.LabelRate, "labels = \"fixed\" keeps the labels as they are"))
	}
	switch {
	case m.Labels == "solved" && m.Resample:
		bad("labels", "is \"solved\", for features that the next update would replace", "use labels = \"learned\" with resample")
	case m.Labels == "solved" && m.Batch > 0:
		bad("batch", "is for labels that are learned or fixed; labels are solved from all real images", "use batch = 0")
	}
	if m.Resample && m.Batch == 0 {
		bad("batch", "is 0, with which every update would compute the features of all real images", "1024 is usual with resample")
	}
	if !m.Resample && m.Nets > 0 {
		bad("nets", "is for resample = true", "the experiment's model says how many networks make the features")
	}
	return errors.Join(errs...)
}

// CheckSizes implements method.SizesChecker.
func (m *KIP) CheckSizes(s method.Sizes) error {
	if err := teacher.CheckLoss(convex.SquaredLoss, s.Classes); err != nil {
		return fmt.Errorf("kip: %w", err)
	}
	if err := method.CheckLambda(m.Lambda, s); err != nil {
		return fmt.Errorf("kip: %w", err)
	}
	if err := method.CheckStart("kip", m.Start, s); err != nil {
		return err
	}
	if n := s.IPC * s.Classes; m.Labels == "solved" && s.Train > 0 && n > s.Train {
		return fmt.Errorf("ipc %d: kip: labels of %d images cannot be solved from %d real ones\nhint: lower ipc, or use labels = \"learned\"", s.IPC, n, s.Train)
	}
	if m.Resample {
		if err := s.Model.CheckDrawn("resample", true); err != nil {
			return fmt.Errorf("kip: %w", err)
		}
	}
	if err := s.Model.CheckFeatures(s); err != nil {
		return fmt.Errorf("kip: %w", err)
	}
	return nil
}

// Flops implements method.Counter.
func (m *KIP) Flops(s method.Sizes) float64 {
	s.Model = m.model(s.Model)
	dim, n, k := float64(space.Dim(s.Model, s.H, s.W)), float64(s.IPC*s.Classes), float64(teacher.Outputs(s.Classes))
	s.Train = m.size(s.Train) // a pass is beside the batch alone
	batch, flops := float64(s.Train), space.PassFlops(s)
	if dim == 0 { // no features, but inner products
		return flops + 4*batch*n*(k+1)
	}
	flops += 4*batch*dim*k + n*dim*(n+10*k)
	if m.Labels == "solved" {
		flops += 2 * batch * dim * n
	}
	if m.Resample {
		flops += batch * space.Flops(s.Model, s.H, s.W, s.C)
	}
	return flops
}

// model describes the networks that make the features of an update.
func (m *KIP) model(of method.Model) method.Model {
	if m.Resample && m.Nets > 0 {
		of.Nets = m.Nets
	}
	return of
}

// size is the number of real images in an update, of the given number.
func (m *KIP) size(train int) int {
	if m.Batch == 0 {
		return train
	}
	return min(m.Batch, train)
}
