package teacher

import "dgkip/harness/method"

// PassEstimate is what a pass through the feature maps takes in an update: forward
// for every image of the set, and back to its pixels.
func PassEstimate(s method.Sizes) method.Estimate {
	n, dim, pixels := float64(s.IPC*s.Classes), float64(Dim(s.Model, s.H, s.W)), float64(s.H*s.W*s.C)
	flops := Flops(s.Model, s.H, s.W, s.C)
	return method.Estimate{
		Flops: 2 * n * flops,
		// Features and their gradients, and what the backward pass keeps.
		Bytes: int64(n*(8*dim+16*pixels) + 4*n*flops/1000),
	}
}
