package nn

import (
	"math"

	"dgkip/harness/rng"
)

// InitUniform draws weights and biases uniformly within 1/sqrt(fan-in), PyTorch's default.
// Gains are one and shifts zero. Weights and biases are drawn in order, each from one word of
// the stream.
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

// InitLecun draws weights from normal distributions truncated at two standard deviations,
// scaled to variance 1/fan-in after truncation. Biases and shifts are zero, gains one.
func (n *Net[F]) InitLecun(theta []F, stream *rng.Rand) {
	if len(theta) != n.Params() {
		panic("nn: Net.InitLecun: wrong number of parameters")
	}
	const cut = 0.8796256610342398 // the standard deviation of a standard normal truncated at 2
	for _, t := range n.list {
		part, sd := theta[t.Offset:][:t.Len], 1/math.Sqrt(float64(t.FanIn))/cut
		for i := range part {
			switch {
			case t.Weight():
				z := stream.Normal64()
				for !(z >= -2 && z <= 2) {
					z = stream.Normal64()
				}
				part[i] = F(float64(z * sd))
			case t.Kind == Gain:
				part[i] = 1
			default:
				part[i] = 0
			}
		}
	}
}
