package tensor

import (
	"math"

	"dgkip/harness/tensor/internal/kernel"
)

// ArcCosine replaces the inner products k of one input x with others y by those of a
// layer of infinitely many ReLU units, the arc cosine kernel: with s = 2 k + bias and
// cos t = s/sqrt(s_xx s_yy),
//
//	k = [ sqrt(s_xx s_yy) sin t + (pi - t) s ] / (2 pi).
//
// It takes s_xx, and for each y the root of s_yy and its inverse. Where they are given, it
// takes slopes along: inXY and inXX hold those of the k that comes in, in x'y and in x'x,
// and become those of the k that goes out. inXY is multiplied by (pi - t)/pi, and so is
// inXX, to which 2 dk/ds_xx is added.
//
// It is computed in float64, with an arc cosine whose relative error is below 6e-11.
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
