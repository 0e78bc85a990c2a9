package tensor

import (
	"math"

	"dgkip/harness/tensor/internal/kernel"
)

// ArcCosine replaces the inner products k of one input x with inputs y by the inner
// products after a layer of infinitely many ReLU units. This is the arc cosine kernel:
// with s = 2 k + bias and cos t = s/sqrt(s_xx s_yy),
//
//	k = [ sqrt(s_xx s_yy) sin t + (pi - t) s ] / (2 pi).
//
// sxx is s_xx; root and inverse hold sqrt(s_yy) and its inverse for each y.
//
// If inXY and inXX are given, they hold the derivatives of k with respect to x'y and x'x.
// ArcCosine replaces them by the derivatives of the new k: it multiplies both by (pi - t)/pi
// and adds 2 dk/ds_xx to inXX.
//
// ArcCosine computes in float64. Its arc cosine has a relative error below 6e-11.
func ArcCosine(k, inXY, inXX, root, inverse []float64, sxx, bias float64) {
	if len(root) != len(k) || len(inverse) != len(k) || len(inXX) != len(inXY) || len(inXY) > 0 && len(inXY) != len(k) {
		panic("tensor: ArcCosine: lengths differ")
	}
	s := getScratch()
	defer putScratch(s)
	rx := math.Sqrt(sxx)
	s.arc = kernel.Arc{
		K: k, InXY: inXY, InXX: inXX, Root: root, Inverse: inverse,
		Bias: bias, Norm: sxx, X: rx, InverseX: 1 / rx, N: len(k),
	}
	kernel.Active().Arc(&s.arc)
}
