package nn

import "dgkip/harness/tensor"

// pad surrounds an image with a border of zeros that is by pixels wide.
type pad[F tensor.Float] struct{ h, w, ch, by int }

func (l *pad[F]) in() int                      { return l.h * l.w * l.ch }
func (l *pad[F]) out() int                     { return (l.h + 2*l.by) * (l.w + 2*l.by) * l.ch }
func (l *pad[F]) inside() int                  { return 0 }
func (l *pad[F]) tensors() []Tensor            { return nil }
func (l *pad[F]) stage(*workspace[F]) stage[F] { return &padStage[F]{pad: *l} }

type padStage[F tensor.Float] struct {
	pad[F]
	n int
}

func (s *padStage[F]) forward(y, x, _ []F, n int, _ bool) {
	s.n = n
	tensor.Pad(y, x, n, s.h, s.w, s.ch, s.by)
}

func (s *padStage[F]) backward(dx, _, dy []F) {
	if dx != nil {
		tensor.Crop(dx, dy, s.n, s.h, s.w, s.ch, s.by)
	}
}

// Both passes are linear without parameters, so each is its own tangent.

func (s *padStage[F]) tangent(yt, xt, _ []F) {
	if yt != nil {
		s.forward(yt, xt, nil, s.n, true)
	}
}

func (s *padStage[F]) backwardTangent(dxt, _, dyt []F) { s.backward(dxt, nil, dyt) }
