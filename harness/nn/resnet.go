package nn

import "dgkip/harness/tensor"

func init() {
	Register(Architecture{
		Name: "res", Title: "ResNet", Code: 4, Convolves: true, OnlyTrained: true,
		Width: 128, Depth: 3, Nets: 8,
		Net: ConvNet[float32],
	})
}

// residual returns the layer y = x + f(x) after a block of a residual network.
func residual[F tensor.Float](shape convShape, norm bool, block string) layer[F] {
	first := convBlock[F]{convShape: shape, norm: norm}
	second := first
	first.name, second.name = block+".skip1", block+".skip2"
	return &skip[F]{build[F](&first, &second)}
}

// skip adds its input to the outputs of the network f, which have the same size.
type skip[F tensor.Float] struct{ f *Net[F] }

func (l *skip[F]) in() int  { return l.f.Inputs() }
func (l *skip[F]) out() int { return l.f.Classes() }

// inside returns the values of f without its input.
func (l *skip[F]) inside() int {
	between, inside := l.f.Values()
	return between - l.in() + inside
}

func (l *skip[F]) tensors() []Tensor { return l.f.Tensors() }

func (l *skip[F]) stage(*workspace[F]) stage[F] { return &skipStage[F]{l.f.NewPass()} }

// skipStage is skip at work: a pass through f, to whose results the direct path is added.
type skipStage[F tensor.Float] struct{ pass *Pass[F] }

func (s *skipStage[F]) forward(y, x, theta []F, n int, keep bool) {
	s.pass.forward(theta, x, n, keep)
	tensor.Axpy(y, 1, x, s.pass.logits())
}

func (s *skipStage[F]) backward(dx, dtheta, dy []F) {
	copy(s.pass.outputGrad(), dy)
	s.pass.backward(0, Grad[F]{Theta: dtheta, X: dx})
	if dx != nil {
		tensor.Axpy(dx, 1, dy, dx)
	}
}

func (s *skipStage[F]) tangent(yt, xt, v []F) {
	ft := s.pass.forwardTangent(Grad[F]{Theta: v, X: xt})
	switch {
	case xt != nil:
		tensor.Axpy(yt, 1, xt, ft)
	case yt != nil:
		copy(yt, ft)
	}
}

func (s *skipStage[F]) backwardTangent(dxt, dthetat, dyt []F) {
	copy(s.pass.outputGradTangent(), dyt)
	s.pass.backwardTangent(Grad[F]{Theta: dthetat, X: dxt})
	if dxt != nil {
		tensor.Axpy(dxt, 1, dyt, dxt)
	}
}
