package nngp

import "math"

// A row is the inner products of one image with many. It takes most of the time of a
// pass, and so goes layer by layer, without calls and branches, with acos by a
// polynomial whose relative error is below 6e-11: the products themselves are float32's.

// table holds what rows need of the other images: sqrt(s_yy) and its inverse for every
// layer.
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

// row replaces x'y/d of an image and those from one on by the kernel of them. Where they
// are given, it multiplies inXY, ones, by the derivative in x'y/d, and adds to inXX,
// zeros, that in x'x/d: layer by layer,
//
//	dk_l/dxy = a dk_(l-1)/dxy,   dk_l/dxx = a dk_(l-1)/dxx + h/(2 pi s_xx),   a = (pi - t)/pi.
func (k Kernel) row(xy, inXY, inXX []float64, xx float64, t table, from int) {
	slopes := len(inXY) > 0
	n := len(xy)
	for l := range k.Depth {
		root, inverse := t.root[l][from:][:n], t.inverse[l][from:][:n]
		sx := layerNorm(xx, l)
		rx := math.Sqrt(sx)
		ix := 1 / rx
		scale := 1 / (2 * math.Pi)
		for j, v := range xy {
			s := 2*v + bias
			c := s * float64(ix*inverse[j])
			u := math.Abs(c)
			if u > 1 { // by rounding
				u = 1
			}
			w := math.Sqrt(1 - u)
			q := 0.00023247194405484679
			q = float64(q*u) - 0.0015664288135807938
			q = float64(q*u) + 0.0049877136042259171
			q = float64(q*u) - 0.010349789939412922
			q = float64(q*u) + 0.016640035211437931
			q = float64(q*u) - 0.023752501853162977
			q = float64(q*u) + 0.033558020283266238
			q = float64(q*u) - 0.050778185522525651
			q = float64(q*u) + 0.089047715115689888
			q = float64(q*u) - 0.21460181431005343
			q = float64(q*u) + 1.5707963267030993
			angle := math.Pi/2 - math.Copysign(math.Pi/2-float64(w*q), c) // t
			h := float64(float64(rx*root[j]) * float64(w*math.Sqrt(1+u)))
			rest := math.Pi - angle
			xy[j] = float64((h + float64(rest*s)) * scale)
			if slopes {
				a := float64(2 * float64(rest*scale)) // dk_l/dk_(l-1)
				inXX[j] = float64(inXX[j]*a) + float64(h*scale/sx)
				inXY[j] *= a
			}
		}
	}
}
