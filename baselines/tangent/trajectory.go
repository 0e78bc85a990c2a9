package tangent

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"dgkip/harness/augment"
	"dgkip/harness/method"
	"dgkip/harness/nn"
	"dgkip/harness/rng"
	"dgkip/harness/space"
)

// version is part of the key of trajectories. Raise it when they change.
const version = 1

// trajectory holds the weights of a network in training on the real images, at every age.
type trajectory [][]float32

// trajectories returns the trajectories of a run. All runs on the same images and networks share them.
func trajectories(ctx context.Context, p method.Problem, m *Tangent, net *nn.Net[float32], strategy augment.Strategy) ([]trajectory, error) {
	digest, out := space.Of(p).Digest(), make([]trajectory, m.Trajectories)
	for k := range out {
		if p.Phase != nil {
			p.Phase("training on real images", float64(k)/float64(len(out)))
		}
		key := fmt.Sprintf("tangent v%d %+v ages %v rate %v momentum %v batch %d augment %s of %q %d classes %s number %d",
			version, m.Shape(p.Model), m.Ages, m.NetRate, m.NetMomentum, m.NetBatch, strategy, p.Data.Name, len(p.Data.Classes), digest, k)
		t, err := method.Do(p.Shared, key, func() (trajectory, error) {
			t := make(trajectory, len(m.Ages))
			for i := range t {
				t[i] = make([]float32, net.Params())
			}
			return t, method.OnDisk(p.Shared.Disk(), key, t, func() error { return t.train(ctx, p.Data, k, m, net, strategy) })
		})
		if err != nil {
			return nil, err
		}
		out[k] = t
	}
	return out, nil
}

// train trains network k up to the last age, and sets its weights at every age.
func (t trajectory) train(ctx context.Context, data *method.Data, k int, m *Tangent, net *nn.Net[float32], strategy augment.Strategy) error {
	images := data.Train
	stream := func(what string) *rng.Rand { return rng.Stream(0, "tangent", data.Name, strconv.Itoa(k), what) }
	theta := make([]float32, net.Params())
	net.InitUniform(theta, stream("weights"))
	age := 0
	keep := func() {
		if i := slices.Index(m.Ages, age); i >= 0 {
			copy(t[i], theta)
		}
	}
	keep()
	of := nn.Data[float32]{
		N: images.Len(), X: images.X, Targets: method.OneHot(images.Labels, len(data.Classes)), Augment: strategy.Training(images.H, images.W, images.C),
	}
	last := m.Ages[len(m.Ages)-1]
	// An epoch has at least one step, so last epochs are enough.
	training := nn.NewTraining(net, theta, of, nn.Recipe{Epochs: last, Batch: m.NetBatch, Rate: m.NetRate, Momentum: m.NetMomentum}, stream("order"))
	err := training.Run(ctx, func(nn.Step) bool {
		age++
		keep()
		return age < last
	})
	if err != nil {
		return err
	}
	if err := nn.Finite(theta); err != nil {
		return fmt.Errorf("%w\nhint: choose a lower net_rate", err)
	}
	return nil
}
