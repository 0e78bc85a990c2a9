// Package tangent distils by the duality gap in tangent features: the gradients of a network's outputs
// with respect to its weights. Theta_O is the change of the weights by training on real data.
//
// # The gap
//
// Let w_a and w_b be the weights of a network after a and b steps on real data. D = w_b - w_a plays the
// part of Theta_O. At w_a an image s_i of S has the outputs z_i, with gradients g_i with respect to the
// weights. The linearised model with weights w_a + theta has the outputs z_i + <g_i, theta>. With the
// targets y_i and the cross-entropy L, the problem on S,
//
//	P(theta) = sum_i L(z_i + <g_i, theta>, y_i) + (lambda/2) |theta|^2,
//
// is convex. The published choice of dual variables, here at theta = 0, is beta_i = y_i - softmax(z_i). Its
// model is V/lambda, where
//
//	V = sum_i <beta_i, g_i> = minus the gradient at w_a of the cross-entropy summed over S,
//
// which takes one backward pass. Theorem 3.2 bounds the distance of D from the minimiser theta_S:
//
//	|D - theta_S|^2 <= |D - V/lambda|^2 + (2/lambda) sum_i KL(softmax(z_i) | softmax(z_i + <g_i, D>))
//
// The KL terms (of Fenchel and Young) vanish if beta is taken at theta = D instead. The method leaves them
// out and lowers only the first term, relative to |D|^2 and at the best lambda. With
// c = 1/lambda = <V,D>/|V|^2 it is
//
//	G = |D - c V|^2 / |D|^2 = 1 - cos^2(V, D)
//
// Since lambda must be positive, G is 1 without gradient if <V,D> is not positive. Biases, gains and
// shifts are ignored.
//
// The bound holds for the plain inner product of the weights. The method lowers the gap in another inner
// product, which gives every weight tensor l the same influence:
//
//	<u,v> = sum_l <u_l,v_l>/|D_l|^2
//
// With one tensor the two are equal. With several tensors, those that move most would dominate the plain
// G. The weighted G is zero whenever the plain G is zero, but it is not the term of the bound.
//
// # The gradient
//
// With dG/dV_l = -(2 <V,D>/(|V|^2 |D|^2)) (D_l - c V_l)/|D_l|^2, the gradient of the images is one
// tangent of the loss's gradient along dG/dV (nn's Pass.Tangent). It goes through beta, as the paper
// differentiates through alpha. With detached = true, beta is held and only the outputs have a tangent.
//
// # Gradient matching is the case of one step
//
// Let b = a + 1, without momentum, and let h be the rate. Let r be the gradient of the mean loss of one
// real batch, and s that of S. Then D = -h r and V = -n s. G does not depend on the scale of D or V, and
// their signs cancel:
//
//	G = 1 - cos^2(s, r),
//
// in the inner product weighted by 1/|r_l|^2. The gradient of S at w_a should thus point in the same
// direction as the gradient of a real batch. This is gradient matching (package dc), which sums 1 - cos over the rows of the
// weights and matches class by class, at networks trained on S. More steps replace the gradient of one
// batch by the direction of training.
//
// # Trajectories
//
// A few networks are trained on the real images once, and their weights are kept at the given ages. These
// trajectories depend on the data and the network. Runs with different seeds, numbers of images or starts
// share them. Update t uses trajectory t mod trajectories, and the pairs of successive ages in turn. An
// update sees no real image and trains no network.
package tangent

import (
	"context"
	"errors"
	"fmt"

	"dgkip/harness/augment"
	"dgkip/harness/fmath"
	"dgkip/harness/method"
)

// Tangent is the method.
type Tangent struct {
	Updates      int     `toml:"updates" min:"0"`                   // of the set
	Trajectories int     `toml:"trajectories" min:"1" max:"1000"`   // networks trained on the real images
	Ages         []int   `toml:"ages"`                              // numbers of steps after which their weights are kept
	NetRate      float64 `toml:"net_rate" min:"0"`                  // learning rate of the networks
	NetMomentum  float64 `toml:"net_momentum" min:"0" max:"0.9999"` // momentum of the networks
	NetBatch     int     `toml:"net_batch" min:"1"`                 // real images in a training step
	Start        string  `toml:"start" enum:"noise,real"`           // initial images: noise, or training images
	Rate         float64 `toml:"rate" min:"0"`                      // learning rate of the images
	Schedule     string  `toml:"schedule" enum:",cosine"`           // the rate is constant, or falls to zero like a cosine
	Detached     bool    `toml:"detached"`                          // the gradient does not go through the dual variables

	// Augment is a strategy of augment.New, or "" for none. It changes the real images
	// in the networks' training, and all of S in the same way in every update. "dsa" and
	// "flip" do not flip characters.
	Augment string `toml:"augment"`

	method.TrainedNets // width, norm, first_pad
}

func init() { method.Register(func() method.Method { return defaults() }) }

func defaults() *Tangent {
	return &Tangent{
		Updates: 1000, Trajectories: 4, Ages: []int{0, 20, 40, 80}, NetRate: 0.01, NetMomentum: 0.9, NetBatch: 64,
		Start: "real", Rate: 0.03, Schedule: "cosine", Augment: "flip", TrainedNets: method.TrainedNets{Norm: true},
	}
}

// Info implements method.Method.
func (*Tangent) Info() method.Info {
	return method.Info{
		Name: "dgkip-tangent", Title: "DGKIP (tangent)", Version: 1, Protocol: "network",
		About: "lowers the gap in tangent features, along the training of networks on real images",
	}
}

// Check implements method.Checker.
func (m *Tangent) Check() error {
	errs := []error{
		method.Positive("net_rate", m.NetRate, "0.01 is usual"),
		method.Positive("rate", m.Rate, "0.03 is usual"),
	}
	bad := len(m.Ages) < 2
	for i, age := range m.Ages {
		bad = bad || age < 0 || age > 1e6 || i > 0 && age <= m.Ages[i-1]
	}
	if bad {
		errs = append(errs, &method.BadSetting{Key: "ages", Why: fmt.Sprintf("must be two or more increasing numbers of steps, not %v", m.Ages), Hint: "[0, 20, 40, 80] is usual"})
	}
	if _, err := augment.Matching(m.Augment, false); err != nil {
		errs = append(errs, &method.BadSetting{Key: "augment", Why: err.Error()})
	}
	return errors.Join(errs...)
}

// CheckSizes implements method.SizesChecker.
func (m *Tangent) CheckSizes(z method.Sizes) error {
	return method.CheckTrained("dgkip-tangent", m.Start, m.Shape(z.Model), z)
}

// Distill implements method.Method.
func (m *Tangent) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	r, err := newRun(ctx, p, m)
	if err != nil {
		return nil, method.Stopped(ctx, p, fmt.Errorf("dgkip-tangent: %w", err))
	}
	return method.Descent{
		Name: "dgkip-tangent", Updates: m.Updates, Variables: []method.Variable{r.images},
		Gradient: r.gradient, Set: r.set, Schedule: m.share,
	}.Run(ctx, p, observe)
}

// share returns the share of the rate in the next update.
func (m *Tangent) share(update int) float64 {
	if m.Schedule == "" {
		return 1
	}
	return fmath.CosineShare(update, m.Updates, 0)
}
