// Package frepo is neural feature regression with pooling (FRePo). It learns images and labels from
// which ridge regression predicts the labels of real images. The features are those of networks that
// are being trained on the set.
//
// # The loss
//
// Let phi be the input of a network's last layer. A = phi(X) are the features of the set's images X
// [n, ...], with labels Y [n, C], and K = A A'. B = phi(T) are the features of a batch of N real
// images, with targets t that are one-hot minus 1/C. For fixed weights, an update lowers
//
//	L = (1/2N) |B A' (K + s I)^-1 Y - t|^2 - (1/n) sum_j min(y_j(1) - y_j(2), 1/C)
//
// with the ridge s = jitter tr(K)/n. The first term is the loss of package kip, in trained features,
// and has the same gradients. In the second term y_j(1) and y_j(2) are the largest and the second value
// of label j. It pushes the largest value ahead by up to 1/C.
//
// With mirror, the regression sees each image twice: as it is, and mirrored with the same label. n then
// counts both in the first term, but not in the second. LAMB changes X and Y. The length of a step is
// its rate times the norm of X or Y. The rate falls like a cosine.
//
// # The pool
//
// A pool of networks begins with random weights. Every update uses one of them, drawn at random. That
// network then takes a step of Adam on the current set, with the loss (1/2n) sum_i |f(x_i) - y_i|^2.
// After a number of updates, its life, a new network replaces it. So L is lowered in networks of all
// ages, and no gradient goes back through a training. Initial ages are spread over a life, unless it is
// shorter than the pool, so that networks are not all replaced at once, although all weights are random
// at first.
//
// A pool of one network with a life of one update draws a new network for every update. With fixed
// labels and no margin, this is the loss of RFAD with a single network.
//
// A checkpoint holds all networks with the averages of their Adam, 12 bytes for each weight: 190 MB for
// ten networks of 128, 256 and 512 channels.
package frepo

import (
	"context"
	"errors"
	"fmt"

	"dgkip/harness/fmath"
	"dgkip/harness/method"
	"dgkip/harness/nn"
)

// FRePo is the method.
type FRePo struct {
	Updates  int     `toml:"updates" min:"0"`             // of the set
	Batch    int     `toml:"batch" min:"1"`               // real images in an update
	Rate     float64 `toml:"rate" min:"0"`                // learning rate of LAMB on images and labels: the length of a step relative to their norm
	Floor    float64 `toml:"rate_floor" min:"0" max:"1"`  // the share of the rate at the end; it falls like a cosine
	Labels   string  `toml:"labels" enum:"learned,fixed"` // labels are learned by LAMB, or stay the classes
	Margin   bool    `toml:"margin"`                      // the loss asks learned labels for a margin of 1/C
	Mirror   bool    `toml:"mirror"`                      // the regression also sees mirror images, if images are in colour and not characters
	Jitter   float64 `toml:"jitter" min:"0"`              // ridge relative to the mean of K's diagonal
	Start    string  `toml:"start" enum:"real,noise"`     // initial images: training images, or noise
	Pool     int     `toml:"pool" min:"1" max:"1000"`     // networks at a time
	Life     int     `toml:"life" min:"1" max:"1000000"`  // updates that use a network before it is replaced
	NetRate  float64 `toml:"net_rate" min:"0"`            // learning rate of Adam on a network
	NetBatch int     `toml:"net_batch" min:"1"`           // images of the set in a step of a network
	Doubling bool    `toml:"doubling"`                    // every block of a conv network has twice the channels of the one before

	method.TrainedNets // width, norm, first_pad
}

func init() { method.Register(func() method.Method { return defaults() }) }

func defaults() *FRePo {
	return &FRePo{
		Updates: 500000, Batch: 1024, Rate: 3e-4, Floor: 0.1, Labels: "learned", Margin: true, Mirror: true, Jitter: 1e-6,
		Start: "real", Pool: 10, Life: 102, NetRate: 3e-4, NetBatch: 1000, Doubling: true,
	}
}

// Info implements method.Method.
func (*FRePo) Info() method.Info {
	return method.Info{
		Name: "frepo", Title: "FRePo", Version: 1, Protocol: "squared",
		About:    "learns a set from which ridge regression predicts real labels, in the features of networks trained on it",
		Citation: "Y. Zhou, E. Nezhadarya, J. Ba: Dataset Distillation using Neural Feature Regression. NeurIPS 2022, arXiv:2206.00719",
		Deviations: []string{
			"the last set counts; the original keeps the set with the highest test accuracy, so its published numbers are the best of about fifty",
			"all draws come from streams of the run's seed; the original does not seed the choice of a network",
			"the kernel and its solution are computed in double precision; the original's in single",
			"every real batch is a new draw of different images; the original shuffles a stream in a window of 16,384",
			"only colour images are mirrored; the original mirrors all but MNIST and Fashion-MNIST, and CIFAR-100 only for one image per class",
			"networks have the width that the experiment sets; the original's have 128 channels in the first block",
			"networks have no batch norm, which the original has for CIFAR-100",
			"the evaluation takes 5,000 steps for 101 to 500 images, and 10,000 for more; the original takes 20,000 for 200 images and 40,000 for 2,000 or more",
			"images are whitened only with preprocess = \"zca\"; the original whitens colour images",
		},
	}
}

// Check implements method.Checker.
func (m *FRePo) Check() error {
	return errors.Join(
		method.Positive("rate", m.Rate, "3e-4 is usual"),
		method.Positive("jitter", m.Jitter, "1e-6 is usual"),
		method.Positive("net_rate", m.NetRate, "3e-4 is usual"),
	)
}

// shape returns the shape of the pool's networks.
func (m *FRePo) shape(of method.Model) nn.Shape {
	s := m.Shape(of)
	s.Doubling = m.Doubling
	return s
}

// CheckSizes implements method.SizesChecker.
func (m *FRePo) CheckSizes(z method.Sizes) error {
	return method.CheckTrained("frepo", m.Start, m.shape(z.Model), z)
}

// batch returns the number of real images in an update, out of train.
func (m *FRePo) batch(train int) int { return min(m.Batch, max(1, train)) }

// Distill implements method.Method.
func (m *FRePo) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	r, err := newRun(p, m)
	if err != nil {
		return nil, method.Stopped(ctx, p, fmt.Errorf("frepo: %w", err))
	}
	return method.Descent{
		Name: "frepo", Updates: m.Updates, Variables: r.variables, Prepare: r.prepare, Gradient: r.gradient,
		Keep: []method.Part{r.pool}, Set: r.set, Schedule: m.share, Hint: "choose a lower rate, or a lower net_rate for the networks",
	}.Run(ctx, p, observe)
}

// share returns the share of the rate in the next update.
func (m *FRePo) share(update int) float64 {
	return fmath.CosineShare(update, m.Updates, m.Floor)
}
