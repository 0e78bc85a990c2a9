package nn

import (
	"slices"

	"dgkip/harness/tensor"
)

// convBlock is a 3x3 convolution with zero padding 1 and bias, instance norm if
// norm is set, ReLU, and average pooling of 2x2 pixels if pool is set.
type convBlock[F tensor.Float] struct {
	convShape
	name string
	norm bool
	algo tensor.Algorithm
}

// inside counts the activations before pooling.
func (l *convBlock[F]) inside() int    { return l.inner() }
func (l *convBlock[F]) weights() int   { return 9 * l.inCh * l.outCh }
func (l *convBlock[F]) flops() float64 { return 2 * float64(l.h*l.w) * float64(l.weights()) }

func (l *convBlock[F]) tensors() []Tensor {
	fan := 9 * l.inCh
	t := []Tensor{
		{Name: l.name + ".conv.weight", Kind: ConvWeight, Shape: []int{3, 3, l.inCh, l.outCh}, FanIn: fan},
		{Name: l.name + ".conv.bias", Kind: Bias, Shape: []int{l.outCh}, FanIn: fan},
	}
	if l.norm {
		t = append(t,
			Tensor{Name: l.name + ".norm.gain", Kind: Gain, Shape: []int{l.outCh}},
			Tensor{Name: l.name + ".norm.shift", Kind: Shift, Shape: []int{l.outCh}})
	}
	return t
}

func (l *convBlock[F]) stage(w *workspace[F]) stage[F] {
	return &convStage[F]{convBlock: *l, work: w, stats: norm[F]{convShape: l.convShape},
		group: max(1, groupValues/max(l.in(), l.inner()))}
}

// groupValues is how many activations are worked through at a time. What a
// convolution wrote is then still in the cache when it is normalised, masked or
// multiplied. Groups depend on the shape alone, so that sums over images are
// always formed in the same order.
const groupValues = 1 << 20

type convStage[F tensor.Float] struct {
	convBlock[F]
	work  *workspace[F]
	group int
	stats norm[F]

	n           int
	x, dy, xt   []F
	conv, convT filter[F] // by the weights, and by their direction
	haveV       bool
	gainT       []F // nil where there is none
	act         []F // the activations; centred before the norm where there is one
	actT        []F // the tangent of act, where there is a norm
	keepAct     []F
	keepActT    []F
	biasShares  []F
}

// filter is a convolution that knows for which weights it was prepared.
type filter[F tensor.Float] struct {
	*tensor.Conv[F]
	w []F
}

// set prepares the convolution for w. Gradients of many batches are often taken
// at the same weights, and a comparison is much cheaper than the preparation.
// (Equality takes the two zeros for one; sums start at +0, so that the sign of a
// zero weight does not show.)
func (f *filter[F]) set(w []F, l *convBlock[F]) {
	if f.Conv != nil && slices.Equal(w, f.w) {
		return
	}
	f.w = append(f.w[:0], w...)
	if f.Conv == nil {
		f.Conv = tensor.NewConv(f.w, l.inCh, l.outCh, l.algo)
	} else {
		f.Conv.Set(f.w)
	}
}

// split returns the parts of a vector of parameters.
func (s *convStage[F]) split(theta []F) (w, bias, gain, shift []F) {
	k, c := s.weights(), s.outCh
	w, bias = theta[:k], theta[k:][:c]
	if s.norm {
		gain, shift = theta[k+c:][:c], theta[k+2*c:][:c]
	}
	return w, bias, gain, shift
}

// images returns values of images [from, to) of x, size each, or nil.
func images[F tensor.Float](x []F, from, to, size int) []F {
	if x == nil {
		return nil
	}
	return x[from*size : to*size]
}

// eachGroup calls do with the bounds of every group of images.
func (s *convStage[F]) eachGroup(do func(from, to int)) {
	for from := 0; from < s.n; from += s.group {
		do(from, min(s.n, from+s.group))
	}
}

// eachImage calls do, in parallel, with the images of a group.
func (s *convStage[F]) eachImage(from, to int, do func(img int, d *desk[F])) {
	tensor.Parallel(to-from, func(i int) {
		d := s.work.take(s.inner(), s.outCh)
		do(from+i, d)
		s.work.give(d)
	})
}

// scratch returns memory for the activations of a group.
func (s *convStage[F]) scratch(buf *[]F) []F {
	*buf = tensor.Grow(buf, min(s.n, s.group)*s.inner())
	return *buf
}

func (s *convStage[F]) forward(y, x, theta []F, n int, keep bool) {
	s.n, s.x = n, x
	w, bias, gain, shift := s.split(theta)
	s.conv.set(w, &s.convBlock)
	if s.norm {
		s.stats.gain, s.stats.shift = gain, shift
		s.stats.reserve(n)
	}
	s.act = nil
	if keep {
		s.keepAct = tensor.Grow(&s.keepAct, n*s.inner())
		s.act = s.keepAct
	}
	s.eachGroup(func(from, to int) {
		z := images(s.act, from, to, s.inner())
		if z == nil {
			z = s.scratch(&s.work.a)[:(to-from)*s.inner()]
		}
		s.conv.Forward(z, images(x, from, to, s.in()), to-from, s.h, s.w, tensor.Epilogue[F]{Bias: bias, ReLU: !s.norm})
		s.eachImage(from, to, func(img int, d *desk[F]) {
			zi, yi := images(z, img-from, img-from+1, s.inner()), images(y, img, img+1, s.out())
			if s.norm {
				s.stats.forward(yi, zi, img, d)
			} else {
				reduce(s.convShape, yi, zi)
			}
		})
	})
}

func (s *convStage[F]) backward(dx, dtheta, dy []F) {
	s.dy = dy
	var dw, db, dgain, dshift []F
	if dtheta != nil {
		dw, db, dgain, dshift = s.split(dtheta)
	} else if dx == nil && !s.norm {
		return
	}
	shares := s.newShares(db)
	s.eachGroup(func(from, to int) {
		dz := s.scratch(&s.work.a)[:(to-from)*s.inner()]
		s.eachImage(from, to, func(img int, d *desk[F]) {
			s.backwardImage(images(dz, img-from, img-from+1, s.inner()), shares, img, d)
		})
		s.products(dx, dw, s.conv, s.x, dz, from, to, false)
	})
	s.sumShares(db, dgain, dshift)
}

// backwardImage sets dz to the gradient of the convolution's output for an image,
// and notes the image's shares of the gradients of bias, gain and shift.
func (s *convStage[F]) backwardImage(dz, shares []F, img int, d *desk[F]) {
	dy, act := images(s.dy, img, img+1, s.out()), images(s.act, img, img+1, s.inner())
	if s.norm {
		s.stats.backward(dz, dy, act, s.stats.row(s.stats.a, img), s.stats.row(s.stats.b, img), img, d)
		return
	}
	expand(s.convShape, dz, dy, act)
	s.biasShare(shares, dz, img)
}

// newShares returns memory for the images' shares of the bias's gradient, nil if
// that is not wanted.
func (s *convStage[F]) newShares(db []F) []F {
	if db == nil || s.norm {
		return nil
	}
	s.biasShares = tensor.Grow(&s.biasShares, s.n*s.outCh)
	return s.biasShares
}

func (s *convStage[F]) biasShare(shares, dz []F, img int) {
	if share := images(shares, img, img+1, s.outCh); share != nil {
		clear(share)
		tensor.ColSum(share, dz, s.outCh)
	}
}

// products turns the gradient dz of a group's convolution c of images x into
// those of its input and of its weights, where they are wanted. add says whether
// other products came before.
func (s *convStage[F]) products(dx, dw []F, c filter[F], x, dz []F, from, to int, add bool) {
	if dw != nil {
		tensor.ConvBackwardWeights(dw, images(x, from, to, s.in()), dz, to-from, s.h, s.w, s.inCh, s.outCh, add || from > 0)
	}
	if dx != nil {
		c.BackwardInput(images(dx, from, to, s.in()), dz, to-from, s.h, s.w, add)
	}
}

// sumShares adds the images' shares of the gradients of bias, gain and shift, in
// their order. A bias before an instance norm changes nothing.
func (s *convStage[F]) sumShares(db, dgain, dshift []F) {
	if db == nil {
		return
	}
	k := s.n * s.outCh
	clear(db)
	if !s.norm {
		tensor.ColSum(db, s.biasShares[:k], s.outCh)
		return
	}
	clear(dgain)
	clear(dshift)
	tensor.ColSum(dgain, s.stats.dgain[:k], s.outCh)
	tensor.ColSum(dshift, s.stats.dshift[:k], s.outCh)
}
