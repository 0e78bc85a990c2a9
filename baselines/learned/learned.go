// Package learned lowers the loss, on real images, of the convex model of the set. The features come
// from networks that are being trained on the set.
//
// # The loss
//
// Let phi be the input of a network's last layer. A = phi(X) are the features of the set's images X
// [n, ...], with labels y, and K = A A'. The model of the set is ridge regression, Theta_S = A'c with
//
//	c = (K + s I)^-1 y,   s = jitter tr(K)/n.
//
// Phi are the features of a batch of B real images. For fixed weights, an update lowers
//
//	L = (1/B) sum_j l_j(<Phi_j, Theta_S>)
//
// by changing images and labels. l is the logistic loss, log(1 + e^-m) of the margin m. With three
// classes or more, y, c and Theta_S have a column for each class, and l is the softmax loss.
//
// Up to a constant and a small term, L is 1/N of the duality gap of the real problem at Theta_S. Theorem
// 3.2, with real and synthetic images exchanged, bounds the distance of Theta_S from the model Theta_O of
// all N real images by that gap:
//
//	(lambda/2) |Theta_S - Theta_O|^2 <= P_O(Theta_S) - D_O(alpha),
//	P_O(Theta) = sum_j l_j(<Phi_j, Theta>) + (lambda/2) |Theta|^2.
//
// The dual value D_O does not depend on the set, and P_O/N is the mean loss L plus the term with lambda,
// which is left out. Algorithm 1 lowers the gap of the set's problem at Theta_O instead. It would have
// to solve for Theta_O in every network and at every age.
//
// With the slopes l' of the losses, v = Phi'l'/B and u = (K + s I)^-1 A v, the gradients are
//
//	dL/dy = u,   dL/dphi_i = c_i v - u_i A'c - c_i A'u - (2 jitter/n) <u, c> phi_i
//
// (convex.Ridge). The scale of phi does not matter.
//
// # The pool
//
// A pool of networks begins with random weights. Update t uses network t mod pool. Every few updates it
// is the turn of the next network. In its turn, a network is trained on the current set for a few
// epochs, by SGD as in protocol "network" before it lowers the rate. The loss is the cross-entropy with
// the targets
//
//	p = sigma(2 y / rms(y)),   rms(y) the root mean square of all labels,
//
// or the softmax for several columns. Until its next turn the network keeps the features of one new
// batch of real images. When its life is over, a new network takes its place. Initial ages are spread
// over a life, if it is longer than the pool, so that networks are not all replaced at once. The same
// labels serve all networks, and no gradient goes back through a training.
//
// An iteration is a turn and the updates until the next one.
//
// An update flips or augments all of the set in the same way. In the training of a network every image
// has its own augmentation. Real images stay as they are.
//
// # Colours
//
// Networks with instance norm hardly see the mean colour of an image. The gradient in that colour is small,
// but AdaBelief divides by its size. Colours would therefore drift as fast as everything else changes, and
// networks without instance norm would learn from arbitrary colours. With class_colours, each class is
// therefore moved to the mean colour of its training images, before the first update and after every one.
//
// # What differs from FRePo
//
// Package frepo has the same kind of pool. Here the loss on real images is logistic, as in DGKIP, not
// squared, and there is no term for the margin of labels. AdaBelief replaces LAMB. FRePo takes a new
// batch of real images through a network in every update, which is most of its time. Here a network
// keeps the features of a batch for all its updates between two turns. Networks are trained as
// protocol "network" trains them, where FRePo uses Adam and the squared loss. By default they have
// instance norm and equal widths. FRePo's regression sees an image and its mirror image together;
// here it sees one of the two at random.
package learned

import (
	"context"
	"errors"
	"fmt"

	"dgkip/harness/augment"
	"dgkip/harness/convex"
	"dgkip/harness/fmath"
	"dgkip/harness/method"
	"dgkip/harness/nn"
	"dgkip/harness/teacher"
)

// Learned is the method.
type Learned struct {
	Updates int     `toml:"updates" min:"0"`               // of the set
	Batch   int     `toml:"batch" min:"1"`                 // real images whose features a network keeps
	Loss    string  `toml:"loss" enum:"logistic,squared"`  // on real images; logistic stands for softmax with three classes or more
	Rate    float64 `toml:"rate" min:"0"`                  // learning rate of AdaBelief on images and labels
	Floor   float64 `toml:"rate_floor" min:"0" max:"1"`    // the share of the rate at the end; it falls like a cosine
	Jitter  float64 `toml:"jitter" min:"0"`                // ridge relative to the mean of K's diagonal
	Start   string  `toml:"start" enum:"real,noise,means"` // initial images: training images, noise, or averages of the classes
	Pool    int     `toml:"pool" min:"1" max:"1000"`       // networks at a time
	Every   int     `toml:"turn_every" min:"1"`            // updates between two turns
	Epochs  int     `toml:"turn_epochs" min:"0"`           // of training on the set in a turn
	Life    int     `toml:"life" min:"1" max:"1000000"`    // epochs after which a network is replaced
	NetRate float64 `toml:"net_rate" min:"0"`              // learning rate of the networks
	// Augment is a strategy of augment.New, or "" for none. It changes all of S in the same
	// way in every update, and every image of S in the networks' training. "dsa" and "flip"
	// do not flip characters.
	Augment  string `toml:"augment"`
	Colours  bool   `toml:"class_colours,omitzero"` // each class keeps the mean colour of its training images
	Doubling bool   `toml:"doubling,omitzero"`      // every block of a conv network has twice the channels of the one before

	method.TrainedNets // width, norm, first_pad
}

// shape returns the shape of the networks in a cell.
func (m *Learned) shape(of method.Model) nn.Shape {
	s := m.Shape(of)
	s.Doubling = m.Doubling
	return s
}

func init() { method.Register(func() method.Method { return defaults() }) }

func defaults() *Learned {
	return &Learned{
		Updates: 1000, Batch: 256, Loss: "logistic", Rate: 0.01, Floor: 0.02, Jitter: 1e-6, Start: "real",
		Pool: 8, Every: 4, Epochs: 4, Life: 60, NetRate: 0.01, Augment: "flip", Colours: true, TrainedNets: method.TrainedNets{Norm: true},
	}
}

// Info implements method.Method.
func (*Learned) Info() method.Info {
	return method.Info{
		Name: "dgkip-learned", Title: "DGKIP (learned)", Version: 1, Protocol: "network",
		About: "lowers the real loss of a convex model of the set, in the features of networks trained on it",
	}
}

// Check implements method.Checker.
func (m *Learned) Check() error {
	err := errors.Join(
		method.Positive("rate", m.Rate, "0.01 is usual"),
		method.Positive("jitter", m.Jitter, "1e-6 is usual"),
		method.Positive("net_rate", m.NetRate, "0.01 is usual"),
	)
	if m.Epochs > m.Life {
		err = errors.Join(err, &method.BadSetting{Key: "turn_epochs", Why: fmt.Sprintf("must be at most life, %d, not %d: a network would be replaced before it is trained", m.Life, m.Epochs)})
	}
	if _, wrong := augment.Matching(m.Augment, false); wrong != nil {
		err = errors.Join(err, &method.BadSetting{Key: "augment", Why: wrong.Error()})
	}
	return err
}

// loss returns the loss on real images.
func (m *Learned) loss(classes int) convex.Loss {
	switch {
	case m.Loss == "squared":
		return convex.SquaredLoss
	case teacher.Outputs(classes) == 1:
		return convex.LogisticLoss
	}
	return convex.SoftmaxLoss
}

// CheckSizes implements method.SizesChecker.
func (m *Learned) CheckSizes(z method.Sizes) error {
	shape := m.shape(z.Model)
	if m.Doubling && !shape.Convolves() {
		return errors.New("dgkip-learned: doubling has no effect without convolutions\nhint: leave out doubling")
	}
	return method.CheckTrained("dgkip-learned", m.Start, shape, z)
}

// batch returns the number of real images in a batch, out of train.
func (m *Learned) batch(train int) int { return min(m.Batch, max(1, train)) }

// Distill implements method.Method.
func (m *Learned) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	r, err := newRun(p, m)
	if err != nil {
		return nil, method.Stopped(ctx, p, fmt.Errorf("dgkip-learned: %w", err))
	}
	return method.Descent{
		Name: "dgkip-learned", Updates: m.Updates, Iteration: m.Every, Variables: r.variables, Prepare: r.prepare, Gradient: r.gradient,
		Keep: []method.Part{r.pool}, Set: r.set, Schedule: m.share,
	}.Run(ctx, p, observe)
}

// share returns the share of the rate in the next update.
func (m *Learned) share(update int) float64 {
	return fmath.CosineShare(update, m.Updates, m.Floor)
}
