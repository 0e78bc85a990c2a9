package teacher

import (
	"dgkip/harness/method"
	"dgkip/harness/nngp"
)

// Dim is the number of features that a model's networks make of an image; an exact
// kernel has none.
func Dim(m method.Model, h, w int) int {
	if m.Exact() {
		return 0
	}
	return Config(m, h, w, 1).Dim()
}

// Flops is the number of multiplications and additions that an image's features
// take; the gradient in the image takes as many again. 0 for an exact kernel.
func Flops(m method.Model, h, w, c int) float64 {
	if m.Exact() {
		return 0
	}
	return Config(m, h, w, c).Flops()
}

// PassFlops is what a pass takes in an update: forward for every image of the set, and back
// to its pixels. An exact kernel compares these with all the real images: for each pair it
// multiplies their pixels and takes some fifty operations in each layer. That of ConvNets
// takes them for every covariance, twice forward and as much as that again back.
func PassFlops(s method.Sizes) float64 {
	n, pixels := float64(s.IPC*s.Classes), float64(s.H*s.W*s.C)
	if s.Model.Exact() {
		all := n * float64(s.Train)
		if k, ok := exactOf(s.Model, s.H, s.W, s.C).(convKernel); ok {
			return 4 * 50 * all * float64(nngp.Conv(k).Evaluations())
		}
		return all*(2*pixels+50*float64(s.Model.Depth)) + 2*all*pixels
	}
	return 2 * n * Flops(s.Model, s.H, s.W, s.C)
}
