package nn

import "dgkip/harness/tensor"

// A residual network has the blocks of a ConvNet, each followed by
//
//	y = x + f(x)
//
// where f is two more convolutions of the same width, each with instance norm and ReLU.
func init() {
	Register(Architecture{
		Name: "res", Title: "ResNet", Code: 4, Convolves: true,
		Width: 128, Depth: 3, Nets: 8,
		Net: func(s Shape, h, w, c, classes int) (*Net[float32], error) {
			config := s.conv(h, w, c)
			config.Norm, config.Doubling, config.Classes, config.FirstPad = s.Norm, s.Doubling, classes, s.Padding(h, w)
			return ResNet[float32](config)
		},
	})
}

// ResNet returns the residual network with the blocks of the convolutional network c.
func ResNet[F tensor.Float](c ConvConfig) (*Net[F], error) {
	c = c.withDefaults()
	layers, outputs, err := resBlocks[F](c)
	if err != nil {
		return nil, err
	}
	return build(append(layers, &linear[F]{name: "linear", inputs: outputs, outputs: c.Classes})...), nil
}

// resBlocks returns the layers before the linear layer, and the number of values that the last
// of them outputs.
func resBlocks[F tensor.Float](c ConvConfig) (layers []layer[F], outputs int, err error) {
	blocks, outputs, err := convBlocks[F](c)
	for _, l := range blocks {
		layers = append(layers, l)
		b, ok := l.(*convBlock[F])
		if !ok { // the padding
			continue
		}
		same := convBlock[F]{convShape: convShape{h: b.h / 2, w: b.w / 2, inCh: b.outCh, outCh: b.outCh}, norm: c.Norm, algo: c.Algo}
		first, second := same, same
		first.name, second.name = b.name+".skip1", b.name+".skip2"
		layers = append(layers, &skip[F]{build[F](&first, &second)})
	}
	return layers, outputs, err
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

func (l *skip[F]) flops() float64 {
	all, _ := l.f.Flops()
	return all
}

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
