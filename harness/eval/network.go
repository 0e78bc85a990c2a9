// Package eval implements the protocols that score distilled sets on test images. README.md lists them.
package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"dgkip/harness/augment"
	"dgkip/harness/method"
	"dgkip/harness/nn"
	"dgkip/harness/rng"
	"dgkip/harness/teacher"
)

// CheckSizes implements method.SizesChecker.
func (n *Network) CheckSizes(s method.Sizes) error {
	if _, err := n.Net(s.Model, s.H, s.W, s.C, s.Classes); err != nil {
		return fmt.Errorf("[eval.network] %w", err)
	}
	return nil
}

// Network trains new networks of the cell's kind, or of another kind, on the distilled set by SGD with
// momentum and weight decay. The score is the mean accuracy after the last epoch. Augmentation does not
// affect test images. The learning rate falls to a tenth halfway. The original code of dataset
// condensation lowers it one epoch later and then restarts the optimiser.
//
// Soft labels, which may be any numbers, are used unchanged. Other labels first become
// distributions over the classes: logits by the softmax, targets by clipping to [0, 1], and gains
// and values by their sign or largest entry. Portable labels, if the set has them, take precedence:
// see teacher.SoftTargets.
type Network struct {
	Nets      int     `toml:"nets" min:"1" max:"1000"`       // networks to train, whose accuracies are averaged
	TraceNets int     `toml:"trace_nets" min:"1" max:"1000"` // networks for scores during distillation
	Epochs    int     `toml:"epochs" min:"0"`                // epochs per network
	Batch     int     `toml:"batch" min:"1"`                 // images per step
	Rate      float64 `toml:"rate" min:"0"`                  // learning rate
	Momentum  float64 `toml:"momentum" min:"0" max:"0.9999"` // of SGD
	Decay     float64 `toml:"decay" min:"0"`                 // weight decay

	Kind               string `toml:"kind,omitzero"`                   // kind of the networks, such as "res"; empty means the cell's
	Depth              int    `toml:"depth,omitzero" min:"0" max:"16"` // blocks; 0 means the cell's, or the default of another kind
	method.TrainedNets        // width, norm, first_pad

	// Augment is a strategy of augment.New. Sets of DSA are scored with "dsa" and 1000 epochs,
	// and digits of DC with "dc".
	Augment string `toml:"augment,omitzero"`
}

// Check implements method.Checker.
func (n *Network) Check() error {
	err := method.Positive("rate", n.Rate, "0.01 is usual")
	if n.Kind != "" {
		err = errors.Join(err, (method.Model{Kind: n.Kind}).Check())
	}
	if _, wrong := augment.New(n.Augment, false); wrong != nil {
		err = errors.Join(err, &method.BadSetting{Key: "augment", Why: wrong.Error()})
	}
	return err
}

func init() {
	method.RegisterProtocol(func() method.Protocol {
		return &Network{Nets: 5, TraceNets: 1, Epochs: 300, Batch: 256, Rate: 0.01, Momentum: 0.9, Decay: 5e-4, TrainedNets: method.TrainedNets{Norm: true}}
	})
}

// Info implements method.Protocol.
func (n *Network) Info() method.ProtocolInfo {
	family := method.Network
	if n.Augment != "" {
		family = method.NetworkAug
	}
	return method.ProtocolInfo{Name: "network", Title: "Trained network", Version: 1, Family: family, About: "new networks trained on the set by SGD"}
}

// Net returns the network that is trained.
func (n *Network) Net(m method.Model, h, w, c, classes int) (*nn.Net[float32], error) {
	if n.Kind != "" && n.Kind != m.Kind {
		m, _ = method.DefaultModel(n.Kind)
	}
	m.Depth = cmp.Or(n.Depth, m.Depth)
	return n.Shape(m).Net(h, w, c, classes)
}

func (n *Network) recipe() nn.Recipe {
	return nn.Recipe{Epochs: n.Epochs, Batch: n.Batch, Rate: n.Rate, Momentum: n.Momentum, Decay: n.Decay, Drops: []float64{0.5}}
}

// Score implements method.Protocol.
func (n *Network) Score(ctx context.Context, t method.Trial, observe func(method.Step)) (*method.Scores, error) {
	classes := len(t.Data.Classes)
	net, err := n.Net(t.Model, t.Test.H, t.Test.W, t.Test.C, classes)
	if err != nil {
		return nil, err
	}
	data, err := trainingData(t, classes)
	if err != nil {
		return nil, err
	}
	if err := augmented(&data, n.Augment, t); err != nil {
		return nil, fmt.Errorf("[eval.network] augment %w", err)
	}
	batches := (data.N + n.Batch - 1) / n.Batch
	all := networks{protocol: "network", trial: t, net: net, count: n.Nets, steps: n.Epochs * batches, observe: observe}
	if !t.Final {
		all.count = n.TraceNets
	}
	theta := make([]float32, net.Params())
	return all.score(ctx, func(stream func(...string) *rng.Rand) (training, []float32) {
		net.InitUniform(theta, stream("init"))
		return descending{nn.NewTraining(net, theta, data, n.recipe(), stream("order")), batches}, theta
	})
}

// descending is the training of a network by SGD.
type descending struct {
	*nn.Training[float32]
	batches int
}

func (d descending) run(ctx context.Context, more func(step int, loss float64) bool) error {
	return d.Training.Run(ctx, func(s nn.Step) bool { return more(s.Epoch*d.batches+s.Batch+1, s.Loss) })
}

// augmented sets data.Augment to the named strategy, if any. Like the authors of FRePo, "frepo" does
// not flip grey images.
func augmented(data *nn.Data[float32], name string, t method.Trial) error {
	strategy, err := augment.New(name, t.Data.Characters || name == "frepo" && t.Test.C == 1)
	data.Augment = strategy.Training(t.Test.H, t.Test.W, t.Test.C)
	return err
}

// trainingData returns the set with its labels for the cross-entropy: see Network.
func trainingData(t method.Trial, classes int) (nn.Data[float32], error) {
	if t.Set.Whole {
		train := t.Data.Train
		return nn.Data[float32]{N: train.Len(), X: train.X, Targets: method.OneHot(train.Labels, classes)}, nil
	}
	d := t.Set
	if err := checkSet(t); err != nil {
		return nn.Data[float32]{}, err
	}
	out := nn.Data[float32]{N: d.Len(), X: d.Images, Targets: slices.Clone(d.Labels)}
	if l, ok := teacher.TravelLabels(d); ok {
		out.Targets = teacher.SoftTargets(l.Values, classes, 1)
		return out, nil
	}
	k := d.LabelWidth()
	row := func(i int) []float32 { return d.Labels[i*k:][:k] }
	switch d.Kind {
	case method.Hard, method.Soft:
	case method.Logits:
		nn.Softmax(out.Targets, out.Targets, k)
	case method.Target:
		if classes != 2 {
			return out, fmt.Errorf("labels with a single probability fit two classes, not %d", classes)
		}
		out.Targets = make([]float32, 2*d.Len())
		for i := range d.Len() {
			p := min(max(row(i)[0], 0), 1)
			out.Targets[2*i], out.Targets[2*i+1] = 1-p, p
		}
	default: // gain, value
		of := make([]int, d.Len())
		for i := range of {
			for j, v := range row(i) {
				if k == 1 && v > 0 {
					of[i] = 1
				} else if v > row(i)[of[i]] {
					of[i] = j
				}
			}
		}
		out.Targets = method.OneHot(of, classes)
	}
	return out, nil
}
