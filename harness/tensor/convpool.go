package tensor

import "sync"

// A convolution, ReLU and the average of 2x2 pixels as one step, of which only bits
// are kept for the way back: what the layers of fixed networks do.

// maps holds memory for the maps between a convolution and its pooling.
var maps = sync.Pool{New: func() any { return new([]float32) }}

// thin is the number of channels below which an image's map is much larger than
// what it is made of, and its sums cheap: such maps are made an image at a time, so
// that they stay near the core.
const thin = 8

// ForwardPool sets y to the averages of 2x2 pixels of the ReLU of c's convolution
// of n images x of h x w pixels, and bits, BitsLen an image, to what BackwardPool
// needs.
func ForwardPool(c *Conv[float32], y []float32, bits []byte, x []float32, n, h, w int, bias []float32) {
	e := Epilogue[float32]{Bias: bias, ReLU: true}
	c.eachPool(n, h, w, func(img, n int, big []float32) {
		c.Forward(big, part(x, img, n, h*w*c.in), n, h, w, e)
		PoolBits(part(y, img, n, (h/2)*(w/2)*c.out), part(bits, img, n, BitsLen(h, w, c.out)), big, n, h, w, c.out, 0.25)
	})
}

// BackwardPool sets dx to the adjoint of ForwardPool, at the images that bits were
// recorded for, applied to dy.
func BackwardPool(c *Conv[float32], dx, dy []float32, bits []byte, n, h, w int) {
	c.eachPool(n, h, w, func(img, n int, big []float32) {
		UnpoolBits(big, part(dy, img, n, (h/2)*(w/2)*c.out), part(bits, img, n, BitsLen(h, w, c.out)), n, h, w, c.out, 0.25)
		c.BackwardInput(part(dx, img, n, h*w*c.in), big, n, h, w, false)
	})
}

// eachPool calls do with as many images at a time as go through together, and with
// memory for their maps.
func (c *Conv[F]) eachPool(n, h, w int, do func(img, n int, big []float32)) {
	step := n
	if c.in < thin {
		step = 1
	}
	m := maps.Get().(*[]float32)
	defer maps.Put(m)
	big := Grow(m, step*h*w*c.out)
	for img := 0; img < n; img += step {
		do(img, step, big)
	}
}

// part returns the values of n images from one on, size each.
func part[T any](x []T, img, n, size int) []T { return x[img*size:][:n*size] }
