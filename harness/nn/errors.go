package nn

import "context"

// errorsBatch is the number of images that Errors processes at a time.
const errorsBatch = 128

// Errors returns the number of images that are classified wrongly. The class of an image is
// its largest output, the first one in a tie. An image with a NaN output is an error. If ctx is
// done, Errors stops with the context's error.
func (p *Pass[F]) Errors(ctx context.Context, theta, x []F, labels []int) (int, error) {
	p.check(theta, x, len(labels), "nn: Pass.Errors: wrong number of parameters or images")
	k, size := p.net.Classes(), p.net.Inputs()
	for _, y := range labels {
		if y < 0 || y >= k {
			panic("nn: Pass.Errors: label out of range")
		}
	}
	wrong := 0
	for from := 0; from < len(labels); from += errorsBatch {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		to := min(len(labels), from+errorsBatch)
		p.forward(theta, x[from*size:to*size], to-from, false)
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
	}
	return wrong, nil
}
