package tensor

import (
	"sync"

	"dgkip/harness/tensor/internal/kernel"
)

// This file computes convolution, ReLU and 2x2 average pooling in one step, for the layers
// of fixed networks. It keeps only one bit per value for the backward pass.

// maps holds memory for feature maps between convolution and pooling.
var maps = sync.Pool{New: func() any { return new([]float32) }}

// fewChannels is the number of channels below which a feature map is much larger than
// its input and cheap to compute. Such maps are computed one image at a time, to stay in
// the cache.
const fewChannels = 8

// BitsLen returns the number of bytes that ForwardPool stores for one image.
func (c *Conv[F]) BitsLen() int { return (c.h / 2) * (c.w / 2) * 4 * ((c.out + 7) / 8) }

// ForwardPool sets y to the 2x2 averages of the ReLU of c's convolution of n images x. It
// stores what BackwardPool needs in bits, BitsLen for each image.
func ForwardPool(c *Conv[float32], y []float32, bits []byte, x []float32, n int, bias []float32) {
	e := Epilogue[float32]{Bias: bias, ReLU: true}
	c.eachPool(y, bits, n, func(img int, a kernel.Pool, n int) {
		c.Forward(a.Big, part(x, img, n, c.h*c.w*c.in), n, e)
		pools(a, n, c.h, (*kernel.Path).Pool)
	})
}

// BackwardPool applies the adjoint of ForwardPool to dy and stores the result in dx. bits
// come from ForwardPool.
func BackwardPool(c *Conv[float32], dx, dy []float32, bits []byte, n int) {
	c.eachPool(dy, bits, n, func(img int, a kernel.Pool, n int) {
		if c.h%2+c.w%2 > 0 {
			clear(a.Big)
		}
		pools(a, n, c.h, (*kernel.Path).Unpool)
		c.BackwardInput(part(dx, img, n, c.h*c.w*c.in), a.Big, n, false)
	})
}

// eachPool calls do with groups of n images, from image img on, that are computed together,
// and with the arguments of their pooling, which include memory for their feature maps.
func (c *Conv[F]) eachPool(small []float32, bits []byte, n int, do func(img int, a kernel.Pool, n int)) {
	step := n
	if c.in < fewChannels {
		step = 1
	}
	m := maps.Get().(*[]float32)
	defer maps.Put(m)
	a := kernel.Pool{Big: Grow(m, step*c.h*c.w*c.out), Row: c.w * c.out, W: c.w / 2, C: c.out}
	for img := 0; img < n; img += step {
		a.Small, a.Bits = part(small, img, step, (c.h/2)*(c.w/2)*c.out), part(bits, img, step, c.BitsLen())
		do(img, a, step)
	}
}

// part returns the values of images img ... img+n-1, each of the given size.
func part[T any](x []T, img, n, size int) []T { return x[img*size:][:n*size] }
