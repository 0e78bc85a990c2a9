package nn

import "dgkip/harness/tensor"

// partSize is the number of images of a part. It limits memory.
const partSize = 128

// Parts takes any number of images through a network, a part at a time. Pull computes
// gradients after Outputs.
type Parts[F tensor.Float] struct {
	pass     *Pass[F]
	theta, x []F
	n        int
}

// NewParts returns a Parts. Only one goroutine at a time may use it.
func (n *Net[F]) NewParts() *Parts[F] { return &Parts[F]{pass: n.NewPass()} }

// Outputs sets out to the outputs for n images [n, Classes].
func (p *Parts[F]) Outputs(out, theta, x []F, n int) {
	p.theta, p.x, p.n = theta, x, n
	k := p.pass.net.Classes()
	p.each(func(from, to int, part []F) {
		copy(out[from*k:to*k], p.pass.Outputs(theta, part, to-from))
	})
}

// Pull sets dx to the gradient of <b, z> with respect to the images of the last Outputs, where z
// are their outputs.
func (p *Parts[F]) Pull(dx, b []F) {
	size, k := p.pass.net.Inputs(), p.pass.net.Classes()
	p.each(func(from, to int, part []F) {
		if p.n > partSize { // the pass only remembers the last part
			p.pass.Outputs(p.theta, part, to-from)
		}
		p.pass.Linear(b[from*k : to*k])
		p.pass.Gradient(Grad[F]{X: dx[from*size : to*size]})
	})
}

func (p *Parts[F]) each(do func(from, to int, part []F)) {
	size := p.pass.net.Inputs()
	for from := 0; from < p.n; from += partSize {
		to := min(p.n, from+partSize)
		do(from, to, p.x[from*size:to*size])
	}
}
