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

// convShape is the shape of a convBlock: images of h x w pixels, channels of the
// input and of the output, and whether pooling follows.
type convShape struct {
	h, w, inCh, outCh int
	pool              bool
	stripRows         int // of the norm; 0 for as many as suit the cache
}

func (s convShape) in() int    { return s.h * s.w * s.inCh }
func (s convShape) inner() int { return s.h * s.w * s.outCh }

func (s convShape) out() int {
	if s.pool {
		return (s.h / 2) * (s.w / 2) * s.outCh
	}
	return s.inner()
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
	return &convStage[F]{
		convBlock: *l, work: w, group: max(1, groupValues/max(l.in(), l.inner())),
		stats: tensor.InstanceNorm[F]{H: l.h, W: l.w, Ch: l.outCh, Pool: l.pool, StripRows: l.stripRows},
	}
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
	stats tensor.InstanceNorm[F]

	n           int
	x, dy, xt   []F
	conv, convT filter[F] // by the weights, and by their direction
	haveV       bool
	gainT       []F // nil where there is none
	act         []F // the activations; centred before the norm where there is one
	actT        []F // the tangent of act, where there is a norm
	keepAct     []F
	keepActT    []F
	shares      []F // of the images in the gradient of the bias
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
		s.stats.Begin(gain, shift, n)
	}
	s.act = nil
	if keep {
		s.keepAct = tensor.Grow(&s.keepAct, n*s.inner())
		s.act = s.keepAct
	}
	s.eachGroup(func(from, to int) {
		z, yz := images(s.act, from, to, s.inner()), images(y, from, to, s.out())
		if z == nil {
			z = s.scratch(&s.work.a)[:(to-from)*s.inner()]
		}
		s.conv.Forward(z, images(x, from, to, s.in()), to-from, s.h, s.w, tensor.Epilogue[F]{Bias: bias, ReLU: !s.norm})
		if s.norm {
			s.stats.Forward(yz, z, from)
		} else {
			s.reduce(yz, z, to-from)
		}
	})
}

// reduce sets the outputs y of n images to their activations u, pooled.
func (s *convStage[F]) reduce(y, u []F, n int) {
	if s.pool {
		tensor.Pool(y, u, n, s.h, s.w, s.outCh)
	} else {
		copy(y, u)
	}
}

// expand sets du to the gradient of n images before the ReLU, where their outputs
// have gradient dy and act has the sign of the activations.
func (s *convStage[F]) expand(du, dy, act []F, n int) {
	if s.pool {
		tensor.Unpool(du, dy, act, n, s.h, s.w, s.outCh)
	} else {
		tensor.Mask(du, dy, act)
	}
}

func (s *convStage[F]) backward(dx, dtheta, dy []F) {
	s.dy = dy
	var dw, db, dgain, dshift []F
	if dtheta != nil {
		dw, db, dgain, dshift = s.split(dtheta)
	} else if dx == nil && !s.norm {
		return
	}
	s.eachGroup(func(from, to int) {
		dz := s.scratch(&s.work.a)[:(to-from)*s.inner()]
		dyz, act := images(dy, from, to, s.out()), images(s.act, from, to, s.inner())
		if s.norm {
			s.stats.Backward(dz, dyz, act, from)
		} else {
			s.expand(dz, dyz, act, to-from)
			s.biasShares(db, dz, from, to)
		}
		s.products(dx, dw, s.conv, s.x, dz, from, to, false)
	})
	s.sumShares(db, dgain, dshift)
}

// biasShares notes the shares of a group's images in the gradient of the bias, unless
// db is nil because it is not wanted.
func (s *convStage[F]) biasShares(db, dz []F, from, to int) {
	if db != nil {
		s.shares = tensor.Grow(&s.shares, s.n*s.outCh)
		tensor.ColSums(images(s.shares, from, to, s.outCh), dz, to-from, s.outCh)
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
	clear(db)
	if s.norm {
		s.stats.Shares(dgain, dshift, s.n)
	} else {
		tensor.ColSum(db, s.shares[:s.n*s.outCh], s.outCh)
	}
}
