package nn

import (
	"math"

	"dgkip/harness/rng"
)

// InitUniform draws weights and biases uniformly from within 1/sqrt(inputs of an
// output), PyTorch's default. Gains are one and shifts zero. Parameters are drawn
// in their order, from one word of the stream each.
func (n *Net[F]) InitUniform(theta []F, stream *rng.Rand) {
	n.draw(theta, "nn: Net.InitUniform: wrong number of parameters", func(t Tensor) F {
		bound := 1 / math.Sqrt(float64(t.FanIn))
		return F(float64(2*bound*stream.Float64()) - bound)
	})
}

// InitNormal draws weights from N(0, 2/inputs of an output) and biases from
// N(0, 0.1^2). Gains are one and shifts zero. Parameters are drawn in their
// order, from one word of the stream each.
func (n *Net[F]) InitNormal(theta []F, stream *rng.Rand) {
	n.draw(theta, "nn: Net.InitNormal: wrong number of parameters", func(t Tensor) F {
		sd := 0.1
		if t.Weight() {
			sd = math.Sqrt(2 / float64(t.FanIn))
		}
		return F(sd * stream.Normal64())
	})
}

func (n *Net[F]) draw(theta []F, message string, next func(Tensor) F) {
	if len(theta) != n.Params() {
		panic(message)
	}
	for _, t := range n.list {
		part := theta[t.Offset:][:t.Len]
		for i := range part {
			switch t.Kind {
			case Gain:
				part[i] = 1
			case Shift:
				part[i] = 0
			default:
				part[i] = next(t)
			}
		}
	}
}
