package nn

import "dgkip/harness/tensor"

// linear is y = x W + b, followed by ReLU if relu is set. W is [inputs, outputs], and x has
// one row for each image.
type linear[F tensor.Float] struct {
	name            string
	inputs, outputs int
	relu            bool
}

func (l *linear[F]) in() int     { return l.inputs }
func (l *linear[F]) out() int    { return l.outputs }
func (l *linear[F]) inside() int { return 0 }

func (l *linear[F]) tensors() []Tensor {
	return []Tensor{
		{Name: l.name + ".weight", Kind: LinearWeight, Shape: []int{l.inputs, l.outputs}, FanIn: l.inputs},
		{Name: l.name + ".bias", Kind: Bias, Shape: []int{l.outputs}, FanIn: l.inputs},
	}
}

func (l *linear[F]) stage(*workspace[F]) stage[F] { return &linearStage[F]{linear: *l} }

type linearStage[F tensor.Float] struct {
	linear[F]
	n        int
	y, x, dy tensor.Mat[F]
	w        tensor.Mat[F]
	xt, v    []F // directions of the tangent
}

// split returns the weights and the bias in a vector of parameters.
func (s *linearStage[F]) split(theta []F) (w tensor.Mat[F], bias []F) {
	k := s.inputs * s.outputs
	return tensor.MatOf(theta[:k], s.inputs, s.outputs), theta[k:]
}

func (s *linearStage[F]) rowsIn(x []F) tensor.Mat[F]  { return tensor.MatOf(x, s.n, s.inputs) }
func (s *linearStage[F]) rowsOut(y []F) tensor.Mat[F] { return tensor.MatOf(y, s.n, s.outputs) }

func (s *linearStage[F]) forward(y, x, theta []F, n int, _ bool) {
	s.n = n
	s.y, s.x = s.rowsOut(y), s.rowsIn(x)
	var bias []F
	s.w, bias = s.split(theta)
	tensor.FillRows(s.y, bias)
	tensor.Mul(s.y, s.x, s.w, tensor.NN, true)
	if s.relu {
		tensor.ReLU(y, y)
	}
}

func (s *linearStage[F]) backward(dx, dtheta, dy []F) {
	s.dy = s.rowsOut(dy)
	if s.relu {
		tensor.Mask(dy, dy, s.y.Data)
	}
	if dtheta != nil {
		dw, db := s.split(dtheta)
		tensor.Mul(dw, s.x, s.dy, tensor.TN, false)
		clear(db)
		tensor.ColSum(db, dy, s.outputs)
	}
	if dx != nil {
		tensor.Mul(s.rowsIn(dx), s.dy, s.w, tensor.NT, false)
	}
}

func (s *linearStage[F]) tangent(yt, xt, v []F) {
	s.xt, s.v = xt, v
	if yt == nil {
		return
	}
	m := s.rowsOut(yt)
	if v != nil {
		vw, vb := s.split(v)
		tensor.FillRows(m, vb)
		tensor.Mul(m, s.x, vw, tensor.NN, true)
	}
	if xt != nil {
		tensor.Mul(m, s.rowsIn(xt), s.w, tensor.NN, v != nil)
	}
	if s.relu {
		tensor.Mask(yt, yt, s.y.Data)
	}
}

func (s *linearStage[F]) backwardTangent(dxt, dthetat, dyt []F) {
	m := s.rowsOut(dyt)
	if s.relu {
		tensor.Mask(dyt, dyt, s.y.Data)
	}
	if dthetat != nil {
		dw, db := s.split(dthetat)
		tensor.Mul(dw, s.x, m, tensor.TN, false)
		if s.xt != nil {
			tensor.Mul(dw, s.rowsIn(s.xt), s.dy, tensor.TN, true)
		}
		clear(db)
		tensor.ColSum(db, dyt, s.outputs)
	}
	if dxt != nil {
		tensor.Mul(s.rowsIn(dxt), m, s.w, tensor.NT, false)
		if s.v != nil {
			vw, _ := s.split(s.v)
			tensor.Mul(s.rowsIn(dxt), s.dy, vw, tensor.NT, true)
		}
	}
}
