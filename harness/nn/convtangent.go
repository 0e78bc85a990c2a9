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
		s.convT.set(w, &s.convBlock)
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
			s.convT.Forward(zt, images(s.x, from, to, s.in()), to-from, s.h, s.w, e)
			e = tensor.Epilogue[F]{Add: true}
		}
		if xt != nil {
			s.conv.Forward(zt, images(xt, from, to, s.in()), to-from, s.h, s.w, e)
		}
		s.eachImage(from, to, func(img int, d *desk[F]) {
			zi, yi := images(zt, img-from, img-from+1, s.inner()), images(yt, img, img+1, s.out())
			act := images(s.act, img, img+1, s.inner())
			if s.norm {
				s.stats.tangent(yi, zi, act, s.gainT, shiftT, img, d)
				return
			}
			tensor.Mask(zi, zi, act)
			reduce(s.convShape, yi, zi)
		})
	})
}

func (s *convStage[F]) backwardTangent(dxt, dthetat, dyt []F) {
	var dw, db, dgain, dshift []F
	if dthetat != nil {
		dw, db, dgain, dshift = s.split(dthetat)
	} else if dxt == nil {
		return
	}
	moved := s.xt != nil || s.haveV // else R{backward} is backward of dyt
	again := dw != nil && s.xt != nil || dxt != nil && s.haveV
	shares := s.newShares(db)
	s.eachGroup(func(from, to int) {
		dzt := s.scratch(&s.work.a)[:(to-from)*s.inner()]
		var dz []F
		if again {
			dz = s.scratch(&s.work.b)[:(to-from)*s.inner()]
		}
		s.eachImage(from, to, func(img int, d *desk[F]) {
			i := img - from
			s.backwardTangentImage(images(dzt, i, i+1, s.inner()), images(dz, i, i+1, s.inner()), dyt, shares, img, moved, d)
		})
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

// backwardTangentImage is backwardImage for the tangent: it sets dzt, and dz
// again where it is given. Without moved only the gradient that comes in has a
// tangent, and the backward pass is linear in it.
func (s *convStage[F]) backwardTangentImage(dzt, dz, dyt, shares []F, img int, moved bool, d *desk[F]) {
	dy, act := images(s.dy, img, img+1, s.out()), images(s.act, img, img+1, s.inner())
	dyt = images(dyt, img, img+1, s.out())
	switch {
	case s.norm && moved:
		s.stats.backwardTangent(dzt, dz, dyt, dy, act, images(s.actT, img, img+1, s.inner()), s.gainT, img, d)
	case s.norm:
		s.stats.backward(dzt, dyt, act, d.small[3], d.small[4], img, d)
	default:
		expand(s.convShape, dzt, dyt, act)
		s.biasShare(shares, dzt, img)
		if dz != nil {
			expand(s.convShape, dz, dy, act)
		}
	}
}
