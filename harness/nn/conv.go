package nn

import "dgkip/harness/tensor"

// convBlock is a 3x3 convolution with zero padding 1 and bias, then instance norm if norm
// is set, ReLU, and 2x2 average pooling if pool is set.
type convBlock[F tensor.Float] struct {
	convShape
	name string
	norm bool
	algo tensor.Algorithm // set by tests only
}

// convShape is the shape of a convBlock: images of h x w pixels, input and output channels,
// and whether pooling follows.
type convShape struct {
	h, w, inCh, outCh int
	pool              bool
}

func (s convShape) in() int    { return s.h * s.w * s.inCh }
func (s convShape) inner() int { return s.h * s.w * s.outCh }

func (s convShape) out() int {
	if s.pool {
		return (s.h / 2) * (s.w / 2) * s.outCh
	}
	return s.inner()
}

// inside returns the number of activations before pooling.
func (l *convBlock[F]) inside() int  { return l.inner() }
func (l *convBlock[F]) weights() int { return 9 * l.inCh * l.outCh }

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
		stats: tensor.InstanceNorm[F]{H: l.h, W: l.w, Ch: l.outCh, Pool: l.pool},
		conv:  l.newConv(), convT: l.newConv(),
	}
}

// newConv returns the block's convolution, without weights.
func (l *convBlock[F]) newConv() *tensor.Conv[F] {
	return tensor.NewConv[F](l.h, l.w, l.inCh, l.outCh, l.algo)
}

// groupValues is the number of activations that are processed at a time. The output of a
// convolution is then still in the cache when it is normalised, masked or multiplied.
// Groups depend only on the shape, so that sums over images always have the same order.
const groupValues = 1 << 20

type convStage[F tensor.Float] struct {
	convBlock[F]
	work  *workspace[F]
	group int
	stats tensor.InstanceNorm[F]

	n           int
	x, dy, xt   []F
	conv, convT *tensor.Conv[F] // with the weights, and with their direction
	haveV       bool
	gainT       []F // nil without a norm or a direction of the parameters
	act         []F // the activations, or the centred values before the norm
	actT        []F // the tangent of act, if there is a norm
	keepAct     []F
	keepActT    []F
	shares      []F // each image's share of the bias gradient
}

// split cuts a vector of parameters into its parts.
func (s *convStage[F]) split(theta []F) (w, bias, gain, shift []F) {
	k, c := s.weights(), s.outCh
	w, bias = theta[:k], theta[k:][:c]
	if s.norm {
		gain, shift = theta[k+c:][:c], theta[k+2*c:][:c]
	}
	return w, bias, gain, shift
}

// images returns the values of images [from, to) of x, or nil if x is nil.
func images[F tensor.Float](x []F, from, to, size int) []F {
	if x == nil {
		return nil
	}
	return x[from*size : to*size]
}

// eachGroup calls do with the bounds of each group of images.
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
	s.conv.Set(w)
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
		s.conv.Forward(z, images(x, from, to, s.in()), to-from, tensor.Epilogue[F]{Bias: bias, ReLU: !s.norm})
		if s.norm {
			s.stats.Forward(yz, z, from)
		} else {
			s.reduce(yz, z, to-from)
		}
	})
}

// reduce sets the outputs y of n images to the activations act, pooled if pool is set.
func (s *convStage[F]) reduce(y, act []F, n int) {
	tensor.Reduce(y, act, n, s.h, s.w, s.outCh, s.pool)
}

// expand sets dz to the gradient of n images before the ReLU. dy is the gradient of the
// outputs, and act has the sign of the activations.
func (s *convStage[F]) expand(dz, dy, act []F, n int) {
	tensor.Expand(dz, dy, act, n, s.h, s.w, s.outCh, s.pool)
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

// biasShares stores each image's share of the bias gradient for a group, unless db is nil.
func (s *convStage[F]) biasShares(db, dz []F, from, to int) {
	if db != nil {
		s.shares = tensor.Grow(&s.shares, s.n*s.outCh)
		tensor.ColSums(images(s.shares, from, to, s.outCh), dz, to-from, s.outCh)
	}
}

// products turns dz, the gradient of the output of a group's convolution c of images x, into
// the gradients of the input and of the weights. Either may be nil. add is set if other
// products came before.
func (s *convStage[F]) products(dx, dw []F, c *tensor.Conv[F], x, dz []F, from, to int, add bool) {
	if dw != nil {
		tensor.ConvBackwardWeights(dw, images(x, from, to, s.in()), dz, to-from, s.h, s.w, s.inCh, s.outCh, add || from > 0)
	}
	if dx != nil {
		c.BackwardInput(images(dx, from, to, s.in()), dz, to-from, add)
	}
}

// sumShares adds the images' shares of the gradients of bias, gain and shift in order. A
// bias before an instance norm has no effect, so its gradient is zero.
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
