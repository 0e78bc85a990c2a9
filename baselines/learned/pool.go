package learned

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/nn"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// Networks are trained as protocol "network" trains them before it lowers the rate. The rate is a
// setting of the method.
const (
	batch    = 256
	momentum = 0.9
	decay    = 5e-4
)

// pool holds the networks in training on the set.
type pool struct {
	m        *Learned
	net      *nn.Net[float32]
	seed     uint64
	training *nn.Training[float32] // of one network at a time
	theta    []float32             // weights of that network
	nets     []network
}

// network is a network of the pool.
type network struct {
	Age      int    // epochs of training, plus its initial age
	Turn     int    // number of its last turn; before the first turn, minus the number of the network
	Training []byte // its state

	theta  []float32           // weights
	real   tensor.Mat[float32] // features of real images; none before their first use after a turn
	labels convex.Labels       // of these images
}

// newPool returns networks with random weights that will be trained on the data. Their initial ages
// are spread over a life.
func newPool(m *Learned, net *nn.Net[float32], data nn.Data[float32], seed uint64) (*pool, error) {
	p := &pool{m: m, net: net, seed: seed, theta: make([]float32, net.Params()), nets: make([]network, m.Pool)}
	recipe := nn.Recipe{Epochs: m.Life, Batch: batch, Rate: m.NetRate, Momentum: momentum, Decay: decay}
	p.training = nn.NewTraining(net, p.theta, data, recipe, rng.Stream(seed))
	for k := range p.nets {
		p.nets[k] = network{Age: k * (m.Life / m.Pool), Turn: -k}
		if err := p.fresh(&p.nets[k]); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// fresh gives a network new weights.
func (p *pool) fresh(one *network) error {
	turn := strconv.Itoa(one.Turn)
	p.net.InitUniform(p.theta, rng.Stream(p.seed, "learned", "weights", turn))
	p.training.Reset(p.theta, rng.Stream(p.seed, "learned", "training", turn))
	return p.keep(one)
}

// keep saves the training in progress in a network.
func (p *pool) keep(one *network) (err error) {
	one.theta = append(one.theta[:0], p.theta...)
	one.real = tensor.Mat[float32]{}
	one.Training, err = p.training.MarshalBinary()
	return err
}

// turn trains the next network, or replaces it at the end of its life. The first turn has number 1.
func (p *pool) turn(number int) error {
	one := &p.nets[(number-1)%len(p.nets)]
	one.Turn = number
	if one.Age+p.m.Epochs > p.m.Life {
		one.Age = 0
		return p.fresh(one)
	}
	if err := p.training.UnmarshalBinary(one.Training); err != nil {
		return err
	}
	if err := p.train(p.m.Epochs); err != nil {
		return err
	}
	one.Age += p.m.Epochs
	return p.keep(one)
}

// train continues the training in progress for some epochs.
func (p *pool) train(epochs int) error {
	if epochs == 0 {
		return nil
	}
	err := p.training.Run(context.Background(), func(s nn.Step) bool {
		if s.Last {
			epochs--
		}
		return epochs > 0
	})
	if err != nil {
		return err
	}
	if err := nn.Finite(p.theta); err != nil {
		return fmt.Errorf("%w\nhint: choose a lower net_rate", err)
	}
	return nil
}

// MarshalBinary saves all networks.
func (p *pool) MarshalBinary() ([]byte, error) { return method.Encode(p.nets) }

// UnmarshalBinary restores what MarshalBinary saved.
func (p *pool) UnmarshalBinary(data []byte) error {
	var nets []network
	if err := method.Decode(data, &nets); err != nil {
		return err
	}
	for i := range nets {
		if err := p.training.UnmarshalBinary(nets[i].Training); err != nil {
			return err
		}
		nets[i].theta = slices.Clone(p.theta)
	}
	p.nets = nets
	return nil
}
