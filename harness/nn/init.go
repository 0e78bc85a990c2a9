package nn

import (
	"math"

	"dgkip/harness/rng"
)

// InitUniform draws weights and biases uniformly within 1/sqrt(fan-in), PyTorch's default.
// Gains are one and shifts zero. Weights and biases are drawn in order, each from one word of
// the stream.
func (n *Net[F]) InitUniform(theta []F, stream *rng.Rand) {
	n.init(theta, func(_ Kind, scale float64) float64 { return float64(2*scale*stream.Float64()) - scale })
}

// InitLecun draws weights from normal distributions truncated at two standard deviations,
// scaled to variance 1/fan-in after truncation. Biases and shifts are zero, gains one.
func (n *Net[F]) InitLecun(theta []F, stream *rng.Rand) {
	const cut = 0.8796256610342398 // the standard deviation of a standard normal truncated at 2
	n.init(theta, func(kind Kind, scale float64) float64 {
		if kind == Bias {
			return 0
		}
		z := stream.Normal64()
		for !(z >= -2 && z <= 2) {
			z = stream.Normal64()
		}
		return float64(z * (scale / cut))
	})
}

// init sets gains to one, shifts to zero, and weights and biases to what draw returns for the
// scale 1/sqrt(fan-in).
func (n *Net[F]) init(theta []F, draw func(kind Kind, scale float64) float64) {
	if len(theta) != n.Params() {
		panic("nn: wrong number of parameters")
	}
	for _, t := range n.list {
		part, scale := theta[t.Offset:][:t.Len], 1/math.Sqrt(float64(t.FanIn))
		for i := range part {
			switch t.Kind {
			case Gain:
				part[i] = 1
			case Shift:
				part[i] = 0
			default:
				part[i] = F(draw(t.Kind, scale))
			}
		}
	}
}
