package nn

// errorsBatch is the number of images that Errors processes at a time.
const errorsBatch = 128

// Errors returns the number of images that are classified wrongly. The class of an image is
// its largest output, the first one in a tie. An image with a NaN output is an error.
func (p *Pass[F]) Errors(theta, x []F, labels []int) int {
	p.check(theta, x, len(labels), "nn: Pass.Errors: wrong number of parameters or images")
	k := p.net.Classes()
	for _, y := range labels {
		if y < 0 || y >= k {
			panic("nn: Pass.Errors: label out of range")
		}
	}
	wrong := 0
	p.batches(theta, x, len(labels), func(from, to int) {
		for i := from; i < to; i++ {
			z := p.logits()[(i-from)*k:][:k]
			for j, v := range z {
				top := z[labels[i]]
				if j != labels[i] && !(v < top || v == top && j > labels[i]) {
					wrong++
					break
				}
			}
		}
	})
	return wrong
}

func (p *Pass[F]) batches(theta, x []F, n int, do func(from, to int)) {
	size := p.net.Inputs()
	for from := 0; from < n; from += errorsBatch {
		to := min(n, from+errorsBatch)
		p.forward(theta, x[from*size:to*size], to-from, false)
		do(from, to)
	}
}
