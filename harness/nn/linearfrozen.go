package nn

import (
	"slices"
	"sync"

	"dgkip/harness/tensor"
)

// linearFrozen is the frozen form of a linear layer with ReLU. It keeps its weights only in
// packed form. The weights of the backward pass are packed when they are first needed.
type linearFrozen struct {
	inputs, outputs int
	weights         *tensor.Packed
	bias            []float32
	once            sync.Once
	back            *tensor.Packed
}

func (l *linear[F]) freeze(theta []float32) frozen {
	if !l.relu {
		panic("nn: Net.Freeze: a linear layer without ReLU has no frozen form")
	}
	k := l.inputs * l.outputs
	return &linearFrozen{
		inputs: l.inputs, outputs: l.outputs,
		weights: tensor.Pack(tensor.MatOf(theta[:k], l.inputs, l.outputs), tensor.NN),
		bias:    slices.Clone(theta[k:]), // do not keep the weights alive
	}
}

// together is twelve full register tiles.
func (l *linearFrozen) together() int { return 168 }

func (l *linearFrozen) forward(x []float32, n int, k *kept, _ *turns) []float32 {
	k.y = tensor.Grow(&k.y, n*l.outputs)
	tensor.MulPacked(tensor.MatOf(k.y, n, l.outputs), tensor.MatOf(x, n, l.inputs), l.weights, l.bias, true)
	return k.y
}

func (l *linearFrozen) backward(dx, dy []float32, n int, k *kept) {
	l.once.Do(func() { l.back = l.weights.Transposed() })
	tensor.Mask(dy, dy, k.y[:n*l.outputs])
	tensor.MulPacked(tensor.MatOf(dx, n, l.inputs), tensor.MatOf(dy, n, l.outputs), l.back, nil, false)
}
