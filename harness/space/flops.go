package space

import "dgkip/harness/method"

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
// to its pixels. An exact kernel compares these with all the real images.
func PassFlops(s method.Sizes) float64 {
	if k := kinds[s.Model.Kind]; k.flops != nil {
		return k.flops(s)
	}
	return 2 * float64(s.IPC*s.Classes) * Flops(s.Model, s.H, s.W, s.C)
}
