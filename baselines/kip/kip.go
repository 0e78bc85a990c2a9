package kip

import (
	"cmp"
	"errors"
	"fmt"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/teacher"
)

// KIP is the method. Its fields are its settings.
type KIP struct {
	Updates   int     `toml:"updates" min:"0"`                    // of the set
	Rate      float64 `toml:"rate" min:"0"`                       // learning rate of AdaBelief on the images
	Labels    string  `toml:"labels" enum:"learned,fixed,solved"` // labels are learned by AdaBelief, stay the classes, or are solved for in every update
	LabelRate float64 `toml:"label_rate" min:"0"`                 // learning rate of AdaBelief on the labels
	Start     string  `toml:"start" enum:"real,noise"`            // initial images: training images, or noise
	Batch     int     `toml:"batch" min:"0"`                      // real images in an update; 0 means all
	Jitter    float64 `toml:"jitter" min:"0"`                     // ridge relative to the mean of K's diagonal; 0 means lambda_S
	Lambda    float64 `toml:"lambda" min:"1e-14" max:"1e6"`       // regularisation per image of the model that scores the set
	Resample  bool    `toml:"resample,omitzero"`                  // draw new networks in every update
	Nets      int     `toml:"nets,omitzero" min:"0" max:"4096"`   // number of these networks; 0 means as many as score the set
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
		About: "kernel ridge regression on the set predicts the real labels; with resample, in new features in every update",
		Citation: "T. Nguyen, Z. Chen, J. Lee: Dataset Meta-Learning from Kernel Ridge-Regression. ICLR 2021, arXiv:2011.00050; " +
			"for resample N. Loo, R. Hasani, A. Amini, D. Rus: Efficient Dataset Distillation using Random Feature Approximation. NeurIPS 2022, arXiv:2210.12067",
		Deviations: []string{
			"the kernel comes from the random features of the experiment, unless its model is an exact kernel; the original uses infinitely wide networks",
			"the ridge equals lambda_S of the model that scores the set; in the original it is 1e-6 times the mean of the kernel's diagonal (jitter = 1e-6)",
			"AdaBelief replaces KIP's Adam on images and labels",
			"every update moves all images of the set, and uses all real images unless batch is set; the original draws batches of both",
			"no whitening unless the experiment asks for it, and no augmentation",
			"targets are +1 and -1, with one output for two classes; the original uses one-hot vectors minus their mean",
			"with resample, the loss is squared and networks have the width of the experiment; RFAD uses a Platt-scaled cross-entropy",
			"with resample, labels are learned unless labels = \"fixed\"; RFAD's are fixed by default",
			"with resample, the ridge equals lambda_S; RFAD's is 5e-3 times the mean of K's diagonal (jitter = 5e-3), after adding 0.01 to K",
			"with resample, the images' rate is 0.01 and the batch is a setting; RFAD's rate is 0.001, with four batches of 1,280 images",
			"with resample, only pixels are learned, and the last set counts; RFAD also learns a linear map of the pixels, and keeps the set with the lowest loss on held-out images",
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
	} else {
		errs = append(errs, method.NoEffect("label_rate", m.LabelRate, fmt.Sprintf("labels = %q", m.Labels), 0, defaults().LabelRate))
	}
	switch {
	case m.Labels == "solved" && m.Resample:
		bad("labels", "is \"solved\", but with resample the next update replaces the features", "use labels = \"learned\" with resample")
	case m.Labels == "solved" && m.Jitter > 0:
		bad("jitter", "has no effect with labels = \"solved\", which uses no ridge", "leave out jitter")
	case m.Labels == "solved" && m.Batch > 0:
		bad("batch", "cannot be used with labels = \"solved\", which uses all real images", "use batch = 0")
	}
	if m.Resample && m.Batch == 0 {
		bad("batch", "is 0, so every update would compute new features of all real images", "1024 is usual with resample")
	}
	if !m.Resample && m.Nets > 0 {
		bad("nets", "needs resample = true", "without it, the model of the experiment sets the number of networks")
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
	if n := s.IPC * s.Classes; m.Labels == "solved" && s.Train > 0 && n >= s.Train {
		return fmt.Errorf("kip: %d images fit the labels of %d real ones exactly, so solved labels leave no gradient\nhint: lower ipc, or use labels = \"learned\"", n, s.Train)
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

// model returns the networks whose features an update uses.
func (m *KIP) model(of method.Model) method.Model {
	if m.Resample && m.Nets > 0 {
		of.Nets = m.Nets
	}
	return of
}

// size returns the number of real images in an update, out of train.
func (m *KIP) size(train int) int {
	return min(cmp.Or(m.Batch, train), train)
}
