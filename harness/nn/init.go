package nn

import (
	"math"

	"dgkip/harness/rng"
)

// InitUniform draws weights and biases uniformly from within 1/sqrt(inputs of an
// output), PyTorch's default. Gains are one and shifts zero. Parameters are drawn
// in their order, from one word of the stream each.
func (n *Net[F]) InitUniform(theta []F, stream *rng.Rand) {
	if len(theta) != n.Params() {
		panic("nn: Net.InitUniform: wrong number of parameters")
	}
	for _, t := range n.list {
		part, bound := theta[t.Offset:][:t.Len], 1/math.Sqrt(float64(t.FanIn))
		for i := range part {
			switch t.Kind {
			case Gain:
				part[i] = 1
			case Shift:
				part[i] = 0
			default:
				part[i] = F(float64(2*bound*stream.Float64()) - bound)
			}
		}
	}
}
