package nngp

import (
	"math"

	"dgkip/harness/tensor"
)

// A row contains the inner products of one image with many others. It is computed layer by layer,
// in vector registers, with a polynomial for acos. The relative error of the polynomial is below
// 6e-11, much less than the error of the products, which are in float32. The tangent kernel is
// computed pair by pair, in plain Go, which takes about as long as the products.

// table contains x'x/d of the other images, and sqrt(s_yy) and its inverse for every layer.
type table struct {
	recursion
	self          []float64
	root, inverse [][]float64
}

func (v Images) table() *table {
	depth := v.kernel.Depth
	t := &table{v.kernel.recursion(), v.self, make([][]float64, depth), make([][]float64, depth)}
	for l := range depth {
		t.root[l], t.inverse[l] = make([]float64, v.Len()), make([]float64, v.Len())
		for j, yy := range v.self {
			t.root[l][j] = math.Sqrt(t.variance(yy, l))
			t.inverse[l][j] = 1 / t.root[l][j]
		}
	}
	return t
}

// row replaces the products x'y/d of one image with the images of t, starting at from, by their
// kernel. If not empty, inXY must be ones and becomes the derivative in x'y/d, and inXX must be
// zeros and becomes the derivative in x'x/d. Without Tangent, layer by layer,
//
//	dk_l/dxy = a dk_(l-1)/dxy,   dk_l/dxx = a dk_(l-1)/dxx + h/(2 pi s_xx),   a = (pi - t)/pi.
func (t *table) row(xy, inXY, inXX []float64, xx float64, from int) {
	if t.tangent {
		var steps steps
		for j, v := range xy {
			xy[j] = t.value(v, xx, t.self[from+j], near, &steps)
			if len(inXY) > 0 {
				inXY[j], inXX[j] = t.slopes(&steps)
			}
		}
		return
	}
	for l := range t.depth {
		root, inverse := t.root[l][from:][:len(xy)], t.inverse[l][from:][:len(xy)]
		tensor.ArcCosine(xy, inXY, inXX, root, inverse, t.variance(xx, l), t.bias[l])
	}
	for _, v := range [][]float64{xy, inXY, inXX} {
		for j := range v {
			v[j] *= t.scale
		}
	}
}
