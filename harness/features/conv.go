package features

import "dgkip/harness/tensor"

// convNet is one ConvNet: layers of 3x3 convolution, ReLU and 2x2 average.
type convNet struct{ layers []convLayer }

// convLayer is one layer for input maps of h x w pixels.
type convLayer struct {
	h, w    int
	in, out int
	conv    *tensor.Conv[float32]
	bias    []float32
}

func newConv(cfg Config, weights func(layer, fanIn int, w, b []float32)) *convNet {
	c := &convNet{}
	h, w, in := cfg.H, cfg.W, cfg.C
	for l := range cfg.Depth {
		wt, bias := make([]float32, 9*in*cfg.Width), make([]float32, cfg.Width)
		weights(l, 9*in, wt, bias)
		c.layers = append(c.layers, convLayer{h, w, in, cfg.Width, tensor.NewConv(wt, in, cfg.Width, cfg.Algorithm), bias})
		h, w, in = h/2, w/2, cfg.Width
	}
	return c
}

// group is small enough for a group's maps to stay in the last-level cache, and
// large enough to read the weights seldom: 14 maps of 16x16 pixels are four
// blocks of Winograd tiles.
func (c *convNet) group() int { return 14 }

func (c *convNet) flops() float64 {
	f := 0.0
	for _, l := range c.layers {
		f += 18 * float64(l.h*l.w*l.in*l.out)
	}
	return f
}

func (l *convLayer) pixels() int { return l.h * l.w * l.out }
func (l *convLayer) pooled() int { return (l.h / 2) * (l.w / 2) * l.out }
func (l *convLayer) bits() int   { return tensor.BitsLen(l.h, l.w, l.out) }

func (c *convNet) features(phi []float32, stride int, x []float32, n int, scale float32, s *state) {
	wk, s := borrow(s, len(c.layers))
	defer works.Put(wk)
	for i := range c.layers {
		l := &c.layers[i]
		e := tensor.Epilogue[float32]{Bias: l.bias, ReLU: true}
		bits := grow(&s.bits[i], n*l.bits())
		y, pitch, factor := grow(&wk.turns[i%2], n*l.pooled()), l.pooled(), float32(0.25)
		if i == len(c.layers)-1 {
			y, pitch, factor = phi, stride, 0.25*scale
		}
		pool := func(img int, big []float32) {
			tensor.PoolBits(y[img*pitch:][:l.pooled()], bits[img*l.bits():][:l.bits()], big, l.h, l.w, l.out, factor)
		}
		if i == 0 {
			// The first layer has the largest maps and the cheapest sums: an
			// image at a time, so that its map stays near the core.
			one := grow(&wk.one, l.pixels())
			for img := range n {
				l.conv.Forward(one, x[img*l.h*l.w*l.in:][:l.h*l.w*l.in], 1, l.h, l.w, e)
				pool(img, one)
			}
		} else {
			big := grow(&wk.big, n*l.pixels())
			l.conv.Forward(big, x, n, l.h, l.w, e)
			for img := range n {
				pool(img, big[img*l.pixels():][:l.pixels()])
			}
		}
		x = y
	}
}

func (c *convNet) backward(dx, dphi []float32, stride, n int, scale float32, s *state) {
	wk, s := borrow(s, len(c.layers))
	defer works.Put(wk)
	for i := len(c.layers) - 1; i >= 0; i-- {
		l := &c.layers[i]
		pitch, factor := l.pooled(), float32(0.25)
		if i == len(c.layers)-1 {
			pitch, factor = stride, 0.25*scale
		}
		unpool := func(img int, big []float32) {
			tensor.UnpoolBits(big, dphi[img*pitch:][:l.pooled()], s.bits[i][img*l.bits():][:l.bits()], l.h, l.w, l.out, factor)
		}
		if i == 0 {
			one := grow(&wk.one, l.pixels())
			for img := range n {
				unpool(img, one)
				l.conv.BackwardInput(dx[img*l.h*l.w*l.in:][:l.h*l.w*l.in], one, 1, l.h, l.w, false)
			}
			return
		}
		big := grow(&wk.big, n*l.pixels())
		for img := range n {
			unpool(img, big[img*l.pixels():][:l.pixels()])
		}
		dphi = grow(&wk.turns[i%2], n*l.h*l.w*l.in)
		l.conv.BackwardInput(dphi, big, n, l.h, l.w, false)
	}
}
