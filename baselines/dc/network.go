package dc

import (
	"context"
	"errors"
	"fmt"

	"dgkip/harness/method"
	"dgkip/harness/nn"
	"dgkip/harness/rng"
)

// network is the network at which gradients are matched. It is trained between updates.
type network struct {
	net      *nn.Net[float32]
	theta    []float32 // after the last training, or as drawn
	next     []float32 // weights during a training
	training *nn.Training[float32]
	begun    bool // a training is in progress
}

func newNetwork(net *nn.Net[float32], data nn.Data[float32], recipe nn.Recipe) network {
	n := network{net: net, theta: make([]float32, net.Params()), next: make([]float32, net.Params())}
	n.training = nn.NewTraining(net, n.next, data, recipe, rng.Stream(0))
	return n
}

// train trains the network, or continues an interrupted training.
func (n *network) train(ctx context.Context, stream *rng.Rand) error {
	if !n.begun {
		copy(n.next, n.theta)
		n.training.Reset(n.next, stream)
		n.begun = true
	}
	if err := n.training.Run(ctx, nil); err != nil {
		return err
	}
	n.begun = false
	if err := nn.Finite(n.next); err != nil {
		return fmt.Errorf("%w\nhint: %s", err, divergenceHint)
	}
	n.theta, n.next = n.next, n.theta
	return nil
}

// savedNetwork is the network in a checkpoint.
type savedNetwork struct {
	Theta    []float32
	Training []byte // nil unless a training is in progress
}

// MarshalBinary saves the weights and the training in progress.
func (n *network) MarshalBinary() ([]byte, error) {
	s := savedNetwork{Theta: n.theta}
	if n.begun {
		var err error
		if s.Training, err = n.training.MarshalBinary(); err != nil {
			return nil, err
		}
	}
	return method.Encode(s)
}

// UnmarshalBinary restores what MarshalBinary saved.
func (n *network) UnmarshalBinary(data []byte) error {
	var s savedNetwork
	if err := method.Decode(data, &s); err != nil {
		return err
	}
	if copy(n.theta, s.Theta) != len(n.theta) {
		return errors.New("dc: a saved network of another size")
	}
	if n.begun = s.Training != nil; !n.begun {
		return nil
	}
	n.training.Reset(n.next, rng.Stream(0))
	return n.training.UnmarshalBinary(s.Training)
}
