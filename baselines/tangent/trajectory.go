package tangent

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
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
	digest, err := space.Of(p).Digest()
	if err != nil {
		return nil, err
	}
	out := make([]trajectory, m.Trajectories)
	for k := range out {
		if p.Phase != nil {
			p.Phase("training on real images", float64(k)/float64(len(out)))
		}
		key := fmt.Sprintf("tangent v%d %+v ages %v rate %v momentum %v batch %d augment %s of %q %d classes %s number %d",
			version, m.Shape(p.Model), m.Ages, m.NetRate, m.NetMomentum, m.NetBatch, strategy, p.Data.Name, len(p.Data.Classes), digest, k)
		t, err := p.Shared.Do(key, func() (any, error) { return kept(ctx, p, key, k, m, net, strategy) })
		if err != nil {
			return nil, err
		}
		out[k] = t.(trajectory)
	}
	return out, nil
}

// kept returns a trajectory from the disk, or computes and saves it.
func kept(ctx context.Context, p method.Problem, key string, k int, m *Tangent, net *nn.Net[float32], strategy augment.Strategy) (trajectory, error) {
	disk := p.Shared.Disk()
	if disk != nil {
		t := make(trajectory, len(m.Ages))
		read := func(from io.Reader) error {
			for i := range t {
				t[i] = make([]float32, net.Params())
				if err := binary.Read(from, binary.LittleEndian, t[i]); err != nil {
					return err
				}
			}
			return nil
		}
		if disk.Load(key, read) {
			return t, nil
		}
	}
	t, err := train(ctx, p.Data, k, m, net, strategy)
	if err != nil || disk == nil {
		return t, err
	}
	disk.Save(key, 4*int64(len(t))*int64(net.Params()), func(to io.Writer) error {
		for _, w := range t {
			if err := binary.Write(to, binary.LittleEndian, w); err != nil {
				return err
			}
		}
		return nil
	})
	return t, nil
}

// train trains network k up to the last age.
func train(ctx context.Context, data *method.Data, k int, m *Tangent, net *nn.Net[float32], strategy augment.Strategy) (trajectory, error) {
	images := data.Train
	stream := func(what string) *rng.Rand { return rng.Stream(0, "tangent", data.Name, strconv.Itoa(k), what) }
	theta := make([]float32, net.Params())
	net.InitUniform(theta, stream("weights"))
	var t trajectory
	if m.Ages[0] == 0 {
		t = append(t, slices.Clone(theta))
	}
	of := nn.Data[float32]{
		N: images.Len(), X: images.X, Targets: method.OneHot(images.Labels, len(data.Classes)), Augment: strategy.Training(images.H, images.W, images.C),
	}
	last := m.Ages[len(m.Ages)-1]
	// An epoch has at least one step, so last epochs are enough.
	training, err := nn.NewTraining(net, theta, of, nn.Recipe{Epochs: last, Batch: m.NetBatch, Rate: m.NetRate, Momentum: m.NetMomentum}, stream("order"))
	if err != nil {
		return nil, err
	}
	age := 0
	err = training.Run(ctx, func(nn.Step) bool {
		age++
		if slices.Contains(m.Ages, age) {
			t = append(t, slices.Clone(theta))
		}
		return age < last
	})
	if err != nil {
		return nil, err
	}
	if err := nn.Finite(theta); err != nil {
		return nil, fmt.Errorf("%w\nhint: choose a lower net_rate", err)
	}
	return t, nil
}
