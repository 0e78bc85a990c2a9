// Package dd is dataset distillation by unrolled gradient descent: images, labels
// and learning rates such that a few steps of plain gradient descent on them, from
// given weights, lead to a network that does well on the real data.
//
// With the cross-entropy L, the real batch B, and the images X_s and targets P_s of
// the slot s(k) that step k sees,
//
//	w_{k+1} = w_k - r_k g_k,  g_k = grad_w L(w_k, X_s(k), P_s(k)),  k = 0 ... K-1
//	minimise L(w_K, B)  over X, P and r,  r_k = softplus(rho_k),  P = softmax(Z)
//
// by Adam on X, rho and Z. The derivative is carried back through the steps as
// v_k = dL(w_K, B)/dw_k, from v_K = grad_w L(w_K, B):
//
//	d/dr_k = -<v_{k+1}, g_k>      d/dX_s, d/dP_s  -=  r_k grad_{X,P} <g_k, v_{k+1}>
//	v_k = v_{k+1} - r_k H_k v_{k+1}
//
// One tangent of the loss's gradient along v_{k+1} (nn's Pass.Tangent) holds the
// inner product, both gradients and H_k v_{k+1}.
//
// # Steps and slots
//
// There are K = steps x epochs inner steps, each with a rate of its own, however
// many images there are. IPC images of every class fill min(steps, IPC) slots in
// turn: image j of a class belongs to slot j mod slots, so that every slot has all
// classes and sizes differ by one image a class at most. Step k sees slot k mod
// slots. With 10 steps, IPC 1 is one slot that all steps see, IPC 10 is the
// original's ten steps of one image a class, and IPC 50 has five images in each.
//
// # Memory
//
// The sweep back needs all weights w_k. They are kept where they take no more than
// 1 GiB (1<<30 bytes); otherwise those before every q-th step are, with q the least
// number, up to the root of K, for which they fit together with the q-1 in between,
// which are computed again when the sweep comes to them, to the same bits. Ten
// steps in three epochs take 148 MB for a convolutional network of width 256 on
// 32x32 images, and 651 MB for a fully connected one of width 1024.
package dd

import (
	"cmp"
	"fmt"

	"dgkip/harness/method"
)

// DD is the method; its fields are its settings.
type DD struct {
	Iterations int     `toml:"iterations" min:"0"`                // updates of the set
	Steps      int     `toml:"steps" min:"1" max:"10000"`         // inner steps of descent in an epoch
	Epochs     int     `toml:"epochs" min:"1" max:"10000"`        // how often the steps are gone through
	Batch      int     `toml:"batch" min:"1"`                     // real images in an update
	Start      string  `toml:"start" enum:"noise,real"`           // what the images begin as
	Init       string  `toml:"init" enum:"fixed,random"`          // weights: the same in all updates, or fresh ones
	Nets       int     `toml:"nets" min:"1" max:"1000"`           // new networks in an update
	FirstRate  float64 `toml:"first_rate" min:"1e-12" max:"1000"` // r_k before the first update
	Rate       float64 `toml:"rate" min:"0"`                      // Adam's, for images and rho
	Halvings   int     `toml:"halvings" min:"0" max:"100"`        // of Adam's rates, at equal distances
	Labels     string  `toml:"labels" enum:"learned,fixed"`       // logits are learned, or the classes stay
	LabelRate  float64 `toml:"label_rate" min:"0"`                // Adam's, for label logits
	Margin     float64 `toml:"margin" min:"0"`                    // by which the logit of an image's class exceeds the others at first

	method.TrainedNets // width, norm, first_pad
}

func init() { method.Register(func() method.Method { return defaults() }) }

func defaults() *DD {
	return &DD{
		Iterations: 1000, Steps: 10, Epochs: 3, Batch: 1024, Start: "noise", Init: "fixed", Nets: 1,
		FirstRate: 0.02, Rate: 0.01, Labels: "learned", LabelRate: 0.01, Margin: 4, TrainedNets: method.TrainedNets{Norm: true},
	}
}

// Info implements method.Method.
func (m *DD) Info() method.Info {
	return method.Info{
		Name: "dd", Title: "DD", Version: 1, Protocol: "unrolled", SoftLabels: m.Labels == "learned",
		About:    "images, labels and rates for a few steps of gradient descent, learned through the steps",
		Citation: "T. Wang, J.-Y. Zhu, A. Torralba, A. A. Efros: Dataset Distillation. arXiv:1811.10959, 2018",
		Deviations: []string{
			"two outputs and the cross-entropy for two classes, where the original has one output",
			"labels are learned as logits unless labels = \"fixed\"; the original's are fixed",
			"with fewer images per class than steps, the steps take turns on the images there are",
			"networks of the experiment in place of LeNet and AlexCifarNet, with weights uniform within 1/sqrt(inputs) in place of Xavier's",
			"iterations is a number of updates, whatever the number of training images; the original makes 400 epochs over them",
			"Adam's rate is constant unless halvings says otherwise; the original halves it after every 40 of its epochs",
		},
	}
}

// mostSteps bounds an update's training. Its gradient goes back through every step.
const mostSteps = 100_000

// Check implements method.Checker.
func (m *DD) Check() error {
	err := cmp.Or(method.Positive("first_rate", m.FirstRate, "0.02 is usual"), method.Positive("rate", m.Rate, "0.01 is usual"))
	if m.learnsLabels() {
		err = cmp.Or(err, method.Positive("label_rate", m.LabelRate, "labels = \"fixed\" keeps the labels as they are"))
	}
	if m.Steps*m.Epochs > mostSteps {
		err = cmp.Or(err, error(&method.BadSetting{Key: "epochs", Why: fmt.Sprintf("= %d times steps = %d is %d training steps an update, and at most %d are allowed", m.Epochs, m.Steps, m.Steps*m.Epochs, mostSteps), Hint: "30 steps are usual"}))
	}
	if m.Nets > 1 && m.Init != "random" {
		err = cmp.Or(err, error(&method.BadSetting{Key: "nets", Why: "above 1 is for init = \"random\"", Hint: "fixed weights are those of one network"}))
	}
	return err
}

// CheckSizes implements method.SizesChecker.
func (m *DD) CheckSizes(s method.Sizes) error {
	if err := method.CheckStart("dd", m.Start, s); err != nil {
		return err
	}
	if _, err := m.Shape(s.Model).Net(s.H, s.W, s.C, s.Classes); err != nil {
		return fmt.Errorf("dd: %w", err)
	}
	return nil
}

func (m *DD) learnsLabels() bool { return m.Labels == "learned" }
