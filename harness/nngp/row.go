package nngp

import (
	"math"

	"dgkip/harness/tensor"
)

// A row contains the inner products of one image with many others. It is computed layer by layer,
// in vector registers, with a polynomial for acos. The relative error of the polynomial is below
// 6e-11, much less than the error of the products, which are in float32.

// table contains sqrt(s_yy) and its inverse for every layer and every other image.
type table struct{ root, inverse [][]float64 }

func (k Kernel) table(v Images) table {
	t := table{make([][]float64, k.Depth), make([][]float64, k.Depth)}
	for l := range k.Depth {
		t.root[l], t.inverse[l] = make([]float64, v.Len()), make([]float64, v.Len())
		for j, yy := range v.self {
			t.root[l][j] = math.Sqrt(layerNorm(yy, l))
			t.inverse[l][j] = 1 / t.root[l][j]
		}
	}
	return t
}

// layerNorm is s_xx of layer l.
func layerNorm(xx float64, l int) float64 { return 2*xx + float64(bias*float64(l+1)) }

// row replaces the products x'y/d of one image with the images of t, starting at from, by their
// kernel. If not nil, inXY must be ones and becomes the derivative in x'y/d, and inXX must be
// zeros and becomes the derivative in x'x/d. Layer by layer,
//
//	dk_l/dxy = a dk_(l-1)/dxy,   dk_l/dxx = a dk_(l-1)/dxx + h/(2 pi s_xx),   a = (pi - t)/pi.
func (k Kernel) row(xy, inXY, inXX []float64, xx float64, t table, from int) {
	for l := range k.Depth {
		root, inverse := t.root[l][from:][:len(xy)], t.inverse[l][from:][:len(xy)]
		tensor.ArcCosine(xy, inXY, inXX, root, inverse, layerNorm(xx, l), bias)
	}
}
