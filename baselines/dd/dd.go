// Package dd is dataset distillation by unrolled gradient descent. It learns images, labels and
// learning rates. A few steps of plain gradient descent on them, from given weights, must lead to a
// network that does well on the real data.
//
// Let L be the cross-entropy and B a real batch. Step k sees slot s(k), with images X_s and targets
// P_s. The problem is
//
//	w_{k+1} = w_k - r_k g_k,  g_k = grad_w L(w_k, X_s(k), P_s(k)),  k = 0 ... K-1
//	minimise L(w_K, B)  over X, P and r,  r_k = softplus(rho_k),  P = softmax(Z)
//
// by Adam on X, rho and Z. The derivative v_k = dL(w_K, B)/dw_k is carried back through the steps,
// from v_K = grad_w L(w_K, B):
//
//	d/dr_k = -<v_{k+1}, g_k>      d/dX_s, d/dP_s  -=  r_k grad_{X,P} <g_k, v_{k+1}>
//	v_k = v_{k+1} - r_k H_k v_{k+1}
//
// One tangent of the loss's gradient along v_{k+1} (nn's Pass.Tangent) gives the inner product,
// both gradients and H_k v_{k+1}.
//
// # Steps and slots
//
// There are K = steps x epochs inner steps for any number of images. Each step has its own rate. The
// IPC images of every class are dealt into min(steps, IPC) slots: image j of a class goes to slot
// j mod slots. Every slot thus contains all classes, and the slots differ by at most one image per
// class. Step k sees slot k mod slots.
//
// With 10 steps, IPC 1 gives one slot that all steps see. IPC 10 gives ten slots of one image per
// class, as in the original. IPC 50 gives five images per class in each slot.
//
// # Memory
//
// The backward sweep needs all weights w_k. Ten steps in three epochs take 148 MB for a
// convolutional network of width 256 on 32x32 images, and 651 MB for a fully connected network of
// width 1024.
package dd

import (
	"cmp"
	"fmt"

	"dgkip/harness/method"
)

// DD is the method. Its fields are its settings.
type DD struct {
	Iterations int     `toml:"iterations" min:"0"`                // updates of the set
	Steps      int     `toml:"steps" min:"1" max:"10000"`         // inner steps of descent in an epoch
	Epochs     int     `toml:"epochs" min:"1" max:"10000"`        // how often the steps are repeated
	Batch      int     `toml:"batch" min:"1"`                     // real images in an update
	Start      string  `toml:"start" enum:"noise,real"`           // initial images: noise, or training images
	Init       string  `toml:"init" enum:"fixed,random"`          // weights: the same in all updates, or new ones
	Nets       int     `toml:"nets" min:"1" max:"1000"`           // new networks in an update
	FirstRate  float64 `toml:"first_rate" min:"1e-12" max:"1000"` // r_k before the first update
	Rate       float64 `toml:"rate" min:"0"`                      // learning rate of images and rho
	Halvings   int     `toml:"halvings" min:"0" max:"100"`        // halvings of the learning rates, at equal intervals
	Labels     string  `toml:"labels" enum:"learned,fixed"`       // labels are learned as logits, or stay the classes
	LabelRate  float64 `toml:"label_rate" min:"0"`                // learning rate of label logits
	Margin     float64 `toml:"margin" min:"0"`                    // initial logit of an image's class; the other logits are 0

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
		About:    "learns images, labels and rates for a few steps of gradient descent, by differentiating through the steps",
		Citation: "T. Wang, J.-Y. Zhu, A. Torralba, A. A. Efros: Dataset Distillation. arXiv:1811.10959, 2018",
		Deviations: []string{
			"two classes have two outputs and the cross-entropy; the original has one output",
			"labels are learned as logits unless labels = \"fixed\"; the original's are fixed",
			"with fewer images per class than steps, the steps see the images in turn",
			"networks are the experiment's instead of LeNet and AlexCifarNet, with weights uniform within 1/sqrt(fan-in) instead of Xavier's",
			"iterations counts updates for any number of training images; the original runs 400 epochs",
			"Adam's rate is constant unless halvings is set; the original halves it every 40 epochs",
		},
	}
}

// mostSteps is the largest number of inner steps, and mostWeights the largest number of weights in
// all of them, which take 16 GiB. The gradient goes back through every step.
const mostSteps, mostWeights = 100_000, 1 << 32

// Check implements method.Checker.
func (m *DD) Check() error {
	err := cmp.Or(method.Positive("first_rate", m.FirstRate, "0.02 is usual"), method.Positive("rate", m.Rate, "0.01 is usual"))
	if m.learnsLabels() {
		err = cmp.Or(err, method.Positive("label_rate", m.LabelRate, "for labels that stay the classes, set labels = \"fixed\""))
	} else {
		err = cmp.Or(err, method.NoEffect("label_rate", m.LabelRate, "labels = \"fixed\"", 0, defaults().LabelRate), method.NoEffect("margin", m.Margin, "labels = \"fixed\"", defaults().Margin))
	}
	if m.Steps*m.Epochs > mostSteps {
		err = cmp.Or(err, error(&method.BadSetting{Key: "epochs", Why: fmt.Sprintf("= %d times steps = %d is %d training steps in an update; at most %d are allowed", m.Epochs, m.Steps, m.Steps*m.Epochs, mostSteps), Hint: "30 steps are usual"}))
	}
	if m.Nets > 1 && m.Init != "random" {
		err = cmp.Or(err, error(&method.BadSetting{Key: "nets", Why: "above 1 needs init = \"random\"", Hint: "with fixed weights there is only one network"}))
	}
	return err
}

// CheckSizes implements method.SizesChecker.
func (m *DD) CheckSizes(s method.Sizes) error {
	if err := method.CheckTrained("dd", m.Start, m.Shape(s.Model), s); err != nil {
		return err
	}
	net, err := m.Shape(s.Model).Net(s.H, s.W, s.C, s.Classes)
	if err == nil && m.Steps*m.Epochs*net.Params() > mostWeights {
		err = fmt.Errorf("dd: %d inner steps keep %d weights each; at most %d in all are allowed\nhint: lower steps, epochs or width", m.Steps*m.Epochs, net.Params(), mostWeights)
	}
	return err
}

func (m *DD) learnsLabels() bool { return m.Labels == "learned" }
