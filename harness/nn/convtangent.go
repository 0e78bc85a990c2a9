package nn

import "dgkip/harness/tensor"

func (s *convStage[F]) tangent(yt, xt, v []F) {
	s.xt, s.haveV, s.gainT = xt, v != nil, nil
	if yt == nil {
		return
	}
	var biasT, shiftT []F
	if v != nil {
		var w []F
		w, biasT, s.gainT, shiftT = s.split(v)
		s.convT.Set(w)
	}
	if s.norm {
		s.keepActT = tensor.Grow(&s.keepActT, s.n*s.inner())
		s.actT = s.keepActT
	}
	s.eachGroup(func(from, to int) {
		var zt []F
		if s.norm {
			zt = images(s.actT, from, to, s.inner())
		} else {
			zt = s.scratch(&s.work.a)[:(to-from)*s.inner()]
		}
		e := tensor.Epilogue[F]{Bias: biasT}
		if v != nil {
			s.convT.Forward(zt, images(s.x, from, to, s.in()), to-from, e)
			e = tensor.Epilogue[F]{Add: true}
		}
		if xt != nil {
			s.conv.Forward(zt, images(xt, from, to, s.in()), to-from, e)
		}
		ytz, act := images(yt, from, to, s.out()), images(s.act, from, to, s.inner())
		if s.norm {
			s.stats.Tangent(ytz, zt, act, s.gainT, shiftT, from)
			return
		}
		tensor.Mask(zt, zt, act)
		s.reduce(ytz, zt, to-from)
	})
}

func (s *convStage[F]) backwardTangent(dxt, dthetat, dyt []F) {
	var dw, db, dgain, dshift []F
	if dthetat != nil {
		dw, db, dgain, dshift = s.split(dthetat)
	} else if dxt == nil {
		return
	}
	again := dw != nil && s.xt != nil || dxt != nil && s.haveV
	s.eachGroup(func(from, to int) {
		dzt := s.scratch(&s.work.a)[:(to-from)*s.inner()]
		var dz []F
		if again {
			dz = s.scratch(&s.work.b)[:(to-from)*s.inner()]
		}
		s.throughNorm(dzt, dz, images(dyt, from, to, s.out()), from, to)
		if !s.norm {
			s.biasShares(db, dzt, from, to)
		}
		s.products(dxt, dw, s.conv, s.x, dzt, from, to, false)
		if s.xt != nil {
			s.products(nil, dw, s.conv, s.xt, dz, from, to, true)
		}
		if s.haveV {
			s.products(dxt, nil, s.convT, s.x, dz, from, to, true)
		}
	})
	s.sumShares(db, dgain, dshift)
}

// throughNorm sets dzt to the tangent of the gradient of the convolution's output for a
// group of images. If dz is not nil, it also computes the gradient itself again.
func (s *convStage[F]) throughNorm(dzt, dz, dyt []F, from, to int) {
	dy, act := images(s.dy, from, to, s.out()), images(s.act, from, to, s.inner())
	switch {
	case s.norm && (s.xt != nil || s.haveV):
		s.stats.BackwardTangent(dzt, dz, dyt, dy, act, images(s.actT, from, to, s.inner()), s.gainT, from)
	case s.norm: // only the incoming gradient has a tangent
		s.stats.BackwardAgain(dzt, dyt, act, from)
	default:
		s.expand(dzt, dyt, act, to-from)
		if dz != nil {
			s.expand(dz, dy, act, to-from)
		}
	}
}
