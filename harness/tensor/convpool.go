package tensor

import "sync"

// This file computes convolution, ReLU and 2x2 average pooling in one step, for the layers
// of fixed networks. It keeps only one bit per value for the backward pass.

// maps holds memory for feature maps between convolution and pooling.
var maps = sync.Pool{New: func() any { return new([]float32) }}

// fewChannels is the number of channels below which a feature map is much larger than
// its input and cheap to compute. Such maps are computed one image at a time, to stay in
// the cache.
const fewChannels = 8

// ForwardPool sets y to the 2x2 averages of the ReLU of c's convolution of n images x of
// h x w pixels. It stores what BackwardPool needs in bits, BitsLen for each image.
func ForwardPool(c *Conv[float32], y []float32, bits []byte, x []float32, n, h, w int, bias []float32) {
	e := Epilogue[float32]{Bias: bias, ReLU: true}
	c.eachPool(n, h, w, func(img, n int, big []float32) {
		c.Forward(big, part(x, img, n, h*w*c.in), n, h, w, e)
		PoolBits(part(y, img, n, (h/2)*(w/2)*c.out), part(bits, img, n, BitsLen(h, w, c.out)), big, n, h, w, c.out, 0.25)
	})
}

// BackwardPool applies the adjoint of ForwardPool to dy and stores the result in dx. bits
// come from ForwardPool.
func BackwardPool(c *Conv[float32], dx, dy []float32, bits []byte, n, h, w int) {
	c.eachPool(n, h, w, func(img, n int, big []float32) {
		UnpoolBits(big, part(dy, img, n, (h/2)*(w/2)*c.out), part(bits, img, n, BitsLen(h, w, c.out)), n, h, w, c.out, 0.25)
		c.BackwardInput(part(dx, img, n, h*w*c.in), big, n, h, w, false)
	})
}

// eachPool calls do with groups of images that are computed together, and with memory
// for their feature maps.
func (c *Conv[F]) eachPool(n, h, w int, do func(img, n int, big []float32)) {
	step := n
	if c.in < fewChannels {
		step = 1
	}
	m := maps.Get().(*[]float32)
	defer maps.Put(m)
	big := Grow(m, step*h*w*c.out)
	for img := 0; img < n; img += step {
		do(img, step, big)
	}
}

// part returns the values of images img ... img+n-1, each of the given size.
func part[T any](x []T, img, n, size int) []T { return x[img*size:][:n*size] }
