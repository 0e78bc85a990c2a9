package space

import "dgkip/harness/method"

// Dim returns the number of features of an image in a model's networks, or 0 for an exact
// kernel.
func Dim(m method.Model, h, w int) int {
	if m.Exact() {
		return 0
	}
	return Config(m, h, w, 1).Dim()
}

// Flops returns the number of multiplications and additions for the features of one image, or 0
// for an exact kernel. The gradient in the image takes as many again.
func Flops(m method.Model, h, w, c int) float64 {
	if m.Exact() {
		return 0
	}
	return Config(m, h, w, c).Flops()
}

// PassFlops returns the number of operations of a pass in one update, forward and back to the
// pixels of the set. In an exact kernel, it includes the inner products with all real images.
func PassFlops(s method.Sizes) float64 {
	if k := kinds[s.Model.Kind]; k.flops != nil {
		return k.flops(s)
	}
	return 2 * float64(s.IPC*s.Classes) * Flops(s.Model, s.H, s.W, s.C)
}
