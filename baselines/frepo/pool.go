package frepo

import (
	"errors"
	"fmt"
	"strconv"

	"dgkip/harness/method"
	"dgkip/harness/nn"
	"dgkip/harness/optim"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// pool holds the networks in training on the set.
type pool struct {
	net  *nn.Net[float32]
	pass *nn.Pass[float32]
	seed uint64
	life int     // updates that use a network
	rate float64 // of Adam
	nets []network
	grad []float32 // gradient of the network in training
	part []float32 // gradient for a part of its batch
	b    []float32 // gradient of the loss with respect to the network's outputs
}

// network is a network of the pool. Its age is the number of updates that have used it, plus its initial
// age.
type network struct {
	weights *optim.Variable[float32]
	age     int
}

// newPool returns networks with random weights. Their initial ages are spread over a life.
func newPool(net *nn.Net[float32], size, life int, rate float64, seed uint64) *pool {
	p := &pool{
		net: net, pass: net.NewPass(), seed: seed, life: life, rate: rate,
		grad: make([]float32, net.Params()), part: make([]float32, net.Params()),
	}
	for k := range size {
		one := p.fresh("start", strconv.Itoa(k))
		one.age = k * (life / size)
		p.nets = append(p.nets, one)
	}
	return p
}

// fresh returns a new network. name identifies the stream of its weights.
func (p *pool) fresh(name ...string) network {
	theta := make([]float32, p.net.Params())
	p.net.InitLecun(theta, rng.Stream(p.seed, append([]string{"frepo", "weights"}, name...)...))
	v := optim.NewVariable("weights of a network", theta, optim.Adam(p.rate, 0.9, 0.999))
	v.Grad = p.grad
	return network{weights: v}
}

// chosen returns the number of the network that the next update uses.
func (p *pool) chosen(update int) int {
	return rng.Stream(p.seed, "frepo", "network", strconv.Itoa(update)).IntN(len(p.nets))
}

// theta returns the weights of that network.
func (p *pool) theta(update int) []float32 { return p.nets[p.chosen(update)].weights.X }

// trainOrReplace trains the network of an update for one step on the set, n images x with labels y.
// At the end of its life it replaces the network instead.
func (p *pool) trainOrReplace(update int, x, y []float32, n int) error {
	one := &p.nets[p.chosen(update)]
	if one.age++; one.age >= p.life {
		*one = p.fresh(strconv.Itoa(update))
		return nil
	}
	p.gradient(one.weights.X, x, y, n)
	if err := one.weights.Check(); err != nil {
		return fmt.Errorf("%w: the training on the set diverged\nhint: choose a lower net_rate", err)
	}
	one.weights.Step(1)
	return nil
}

// together is the number of images that go through a network at a time, to limit memory.
const together = 128

// gradient sets the gradient of (1/2n) sum_i |f(x_i) - y_i|^2 with respect to the weights theta.
func (p *pool) gradient(theta, x, y []float32, n int) {
	size, k := p.net.Inputs(), p.net.Classes()
	for from := 0; from < n; from += together {
		to := min(n, from+together)
		b := tensor.Grow(&p.b, (to-from)*k)
		for i, f := range p.pass.Outputs(theta, x[from*size:to*size], to-from) {
			b[i] = (f - y[from*k+i]) / float32(n)
		}
		p.pass.Linear(b)
		if from == 0 {
			p.pass.Gradient(nn.Grad[float32]{Theta: p.grad})
			continue
		}
		p.pass.Gradient(nn.Grad[float32]{Theta: p.part})
		tensor.Axpy(p.grad, 1, p.part, p.grad)
	}
}

// savedNetwork is a network in a checkpoint.
type savedNetwork struct {
	Age     int
	Weights []byte // with the averages of Adam
}

// MarshalBinary saves all networks.
func (p *pool) MarshalBinary() ([]byte, error) {
	var all []savedNetwork
	for _, one := range p.nets {
		weights, err := one.weights.MarshalBinary()
		if err != nil {
			return nil, err
		}
		all = append(all, savedNetwork{one.age, weights})
	}
	return method.Encode(all)
}

// UnmarshalBinary restores what MarshalBinary saved.
func (p *pool) UnmarshalBinary(data []byte) error {
	var all []savedNetwork
	if err := method.Decode(data, &all); err != nil {
		return err
	}
	if len(all) != len(p.nets) {
		return errors.New("frepo: a saved pool of another size")
	}
	for i, saved := range all {
		if err := p.nets[i].weights.UnmarshalBinary(saved.Weights); err != nil {
			return err
		}
		p.nets[i].age = saved.Age
	}
	return nil
}
