// Package frepo is neural feature regression with pooling: a set from whose images and
// labels ridge regression, in the features of networks in training on it, predicts the
// labels of real images.
//
// # The loss
//
// phi is what the last layer of a network sees, A = phi(X) of the set's images X [n, ...] with
// their labels Y [n, C], B = phi(T) of a batch of N real images, whose targets t are one-hot
// less 1/C, and K = A A'. The network is held in an update, which lowers
//
//	L = (1/2N) |B A' (K + s I)^-1 Y - t|^2 - (1/n) sum_j min(y_j(1) - y_j(2), 1/C)
//
// with the ridge s = jitter tr(K)/n. The first term is that of package kip, in features that
// training has made, and has its gradients there. The second, of the largest and the second
// value of each label, keeps the largest ahead by 1/C and no more. With mirror the
// regression sees each image twice, as it is and its mirror image with the same label: n
// counts both in the first term and not in the second. LAMB changes X and Y, each by its rate
// times its length in every update, at a rate that falls like a cosine.
//
// # The pool
//
// A pool of networks begins with random weights. Every update takes one of them at random.
// Afterwards that network takes a step of Adam on the set as it is then, with the loss
// (1/2n) sum_i |f(x_i) - y_i|^2, or, having served often enough, makes way for a
// new one. So L is lowered in networks of all ages on the way through their training on the
// set, and no gradient goes back through a training. Ages begin spread over a life, so that
// networks do not all end at once; weights are random at first at every age.
//
// A pool of one with a life of one update is a new network in every update: with fixed
// labels and no margin that is the loss of RFAD with a single network.
//
// A checkpoint holds all networks with the averages of their Adam, 12 bytes a weight: 190 MB
// for ten of 128, 256 and 512 channels.
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
	Rate     float64 `toml:"rate" min:"0"`                // of LAMB on images and labels: a step over their length
	Floor    float64 `toml:"rate_floor" min:"0" max:"1"`  // the share of the rate that it falls to, like a cosine
	Labels   string  `toml:"labels" enum:"learned,fixed"` // LAMB learns them, or they stay as the classes
	Margin   bool    `toml:"margin"`                      // learned labels are asked for a margin of 1/C
	Mirror   bool    `toml:"mirror"`                      // the regression sees mirror images, too, where images are in colour and no characters
	Jitter   float64 `toml:"jitter" min:"0"`              // ridge over the mean of K's diagonal
	Start    string  `toml:"start" enum:"real,noise"`     // training images, or noise
	Pool     int     `toml:"pool" min:"1" max:"1000"`     // networks at a time
	Life     int     `toml:"life" min:"1" max:"1000000"`  // updates that a network serves in; it has made a step after each but the last
	NetRate  float64 `toml:"net_rate" min:"0"`            // of Adam on a network
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
		About:    "ridge regression on the set predicts real labels, in the features of networks in training on it",
		Citation: "Y. Zhou, E. Nezhadarya, J. Ba: Dataset Distillation using Neural Feature Regression. NeurIPS 2022, arXiv:2206.00719",
		Deviations: []string{
			"the set is that of the last update; the original keeps the one of the highest accuracy on test images along the way, so that its published numbers are the best of some fifty looks at them",
			"all draws come from streams of the run's seed; the original does not seed the choice of a network",
			"the kernel and its solution are computed in double precision; the original's in single",
			"real batches are different images drawn anew; the original's come from a stream shuffled in a window of 16,384",
			"images are mirrored in colour alone; the original mirrors all but MNIST and Fashion-MNIST, and, of CIFAR-100, one image a class alone",
			"networks have no batch norm, which the original has for CIFAR-100",
			"images are whitened only where the experiment asks for it, preprocess = \"zca\"; the original whitens those in colour",
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

// net returns the networks of the pool.
func (m *FRePo) net(of method.Model, h, w, c, classes int) (*nn.Net[float32], error) {
	s := m.Shape(of)
	s.Doubling = m.Doubling
	return s.Net(h, w, c, classes)
}

// CheckSizes implements method.SizesChecker.
func (m *FRePo) CheckSizes(z method.Sizes) error {
	_, err := m.net(z.Model, z.H, z.W, z.C, z.Classes)
	if err != nil {
		err = fmt.Errorf("frepo: %w", err)
	}
	return errors.Join(method.CheckStart("frepo", m.Start, z), err)
}

// Flops implements method.Counter. The step of a network is no part of an update.
func (m *FRePo) Flops(z method.Sizes) float64 {
	classes := max(2, z.Classes)
	net, err := m.net(z.Model, z.H, z.W, z.C, classes)
	if err != nil || z.IPC < 1 {
		return 0
	}
	all, _ := net.Body().Flops()
	n, batch := float64(z.IPC*classes), float64(m.batch(z.Train))
	if m.Mirror && z.C == 3 {
		n *= 2
	}
	dim, k := float64(net.Body().Classes()), float64(classes)
	return all*(batch+2*n) + dim*(4*batch*k+n*(n+10*k))
}

// batch is the number of real images in an update, of the given number.
func (m *FRePo) batch(train int) int { return min(m.Batch, max(1, train)) }

// Distill implements method.Method.
func (m *FRePo) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	r, err := newRun(p, m)
	if err != nil {
		return nil, method.Stopped(ctx, p, fmt.Errorf("frepo: %w", err))
	}
	return method.Descent{
		Name: "frepo", Updates: m.Updates, Variables: r.variables, Prepare: r.prepare, Gradient: r.gradient,
		Keep: []method.Part{r.pool}, Set: r.set, Schedule: m.share, Hint: "a lower rate, or net_rate for the networks, keeps it stable",
	}.Run(ctx, p, observe)
}

// share is the share of the rate in the update that follows some.
func (m *FRePo) share(update int) float64 {
	return m.Floor + float64((1-m.Floor)*fmath.CosineShare(update, m.Updates))
}
