package nn

import (
	"math"

	"dgkip/harness/rng"
)

// InitUniform draws weights and biases uniformly from within 1/sqrt(inputs of an
// output), PyTorch's default. Gains are one and shifts zero. Parameters are drawn
// in their order, from one word of the stream each.
func (n *Net[F]) InitUniform(theta []F, stream *rng.Rand) {
	n.draw(theta, "nn: Net.InitUniform: wrong number of parameters", func(t Tensor) func() F {
		bound := 1 / math.Sqrt(float64(t.FanIn))
		return func() F { return F(float64(2*bound*stream.Float64()) - bound) }
	})
}

// InitNormal draws weights from N(0, 2/inputs of an output) and biases from
// N(0, 0.1^2). Gains are one and shifts zero. Parameters are drawn in their
// order, from one word of the stream each.
func (n *Net[F]) InitNormal(theta []F, stream *rng.Rand) {
	n.draw(theta, "nn: Net.InitNormal: wrong number of parameters", func(t Tensor) func() F {
		sd := 0.1
		if t.Weight() {
			sd = math.Sqrt(2 / float64(t.FanIn))
		}
		return func() F { return F(sd * stream.Normal64()) }
	})
}

// draw fills each tensor with what the function of it returns.
func (n *Net[F]) draw(theta []F, message string, of func(Tensor) func() F) {
	if len(theta) != n.Params() {
		panic(message)
	}
	for _, t := range n.list {
		next := of(t)
		switch t.Kind {
		case Gain:
			next = func() F { return 1 }
		case Shift:
			next = func() F { return 0 }
		}
		for i := range theta[t.Offset:][:t.Len] {
			theta[t.Offset+i] = next()
		}
	}
}
