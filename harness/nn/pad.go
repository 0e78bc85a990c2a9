package nn

import "dgkip/harness/tensor"

// pad puts by rows and columns of zeros around an image.
type pad[F tensor.Float] struct{ h, w, ch, by int }

func (l *pad[F]) in() int                      { return l.h * l.w * l.ch }
func (l *pad[F]) out() int                     { return (l.h + 2*l.by) * (l.w + 2*l.by) * l.ch }
func (l *pad[F]) tensors() []Tensor            { return nil }
func (l *pad[F]) flops() float64               { return 0 }
func (l *pad[F]) stage(*workspace[F]) stage[F] { return &padStage[F]{pad: *l} }

type padStage[F tensor.Float] struct {
	pad[F]
	n int
}

// eachRow calls do with the places of every image row in the small and in the
// padded images.
func (s *padStage[F]) eachRow(do func(small, big int)) {
	wide := (s.w + 2*s.by) * s.ch
	for r := range s.n * s.h {
		img, row := r/s.h, r%s.h
		do(r*s.w*s.ch, img*s.out()+(row+s.by)*wide+s.by*s.ch)
	}
}

func (s *padStage[F]) forward(y, x, _ []F, n int, _ bool) {
	s.n = n
	clear(y)
	s.eachRow(func(small, big int) { copy(y[big:], x[small:][:s.w*s.ch]) })
}

func (s *padStage[F]) backward(dx, _, dy []F) {
	if dx != nil {
		s.eachRow(func(small, big int) { copy(dx[small:], dy[big:][:s.w*s.ch]) })
	}
}

// Both passes are linear and have no parameters: their tangents are themselves.

func (s *padStage[F]) tangent(yt, xt, _ []F) {
	if yt != nil {
		s.forward(yt, xt, nil, s.n, true)
	}
}

func (s *padStage[F]) backwardTangent(dxt, _, dyt []F) { s.backward(dxt, nil, dyt) }
