package nngp

import (
	"math"

	"dgkip/harness/fmath"
)

// recursion holds the constants of the layers of an FC with W^2 = 2.
type recursion struct {
	depth        int
	tangent      bool
	bias, sum    [maxDepth]float64 // b_l^2, and its sum over layers 1 to l
	total        float64           // the last sum
	scale, shift float64           // from the last layer to the kernel
}

func (k FC) recursion() recursion {
	weight, bias := float64(k.Weight*k.Weight), float64(k.Bias*k.Bias)
	if k.Weight == math.Sqrt2 { // the usual deviations, without rounding errors in their squares
		weight = 2
	}
	if k.Bias == 0.1 {
		bias = 0.01
	}
	r := recursion{depth: k.Depth, tangent: k.Tangent, scale: 1}
	power, sum := 1.0, 0.0
	for l := range k.Depth {
		power = float64(power * (2 / weight)) // rounded, as everywhere before a sum
		sum += power
		r.bias[l], r.sum[l] = float64(bias*power), float64(bias*sum)
		r.total = r.sum[l]
		r.scale *= weight / 2
	}
	if k.Tangent {
		r.scale, r.shift = r.scale*weight, bias
	}
	return r
}

// variance is s_xx of layer l.
func (r *recursion) variance(xx float64, l int) float64 { return 2*xx + r.sum[l] }

// norm is the kernel of an image with itself, given x'x/d.
func (r *recursion) norm(self float64) float64 {
	if r.tangent {
		return r.value(self, self, self, exact, new(steps))
	}
	return r.scale * (self + r.total/2)
}

// Images count as equal if 1 - cos t is at most exact for products in float64, or near for
// products in float32. Rounding errors would otherwise become angles of 1e-8 or 1e-3.
const (
	exact = 1e-13
	near  = 2e-6
)

// steps are the intermediate values of a pair in each layer.
type steps [maxDepth]struct {
	s, u, h float64 // as in the package comment
	slope   float64 // (pi - t)/(2 pi)
	inXX    float64 // dk_xy/ds_xx
	xx      float64 // s_xx
}

// value returns the kernel of two images, given x'y/d, x'x/d and y'y/d, and sets the steps.
func (r *recursion) value(xy, xx, yy, same float64, steps *steps) float64 {
	tangent := 0.0
	for l := range r.depth {
		s, sx, sy := 2*xy+r.bias[l], r.variance(xx, l), r.variance(yy, l)
		root := math.Sqrt(sx * sy)
		s = max(-root, min(root, s)) // beyond only by rounding
		if root-s <= same*root {
			s = root
		}
		t := 0.0
		if root > 0 {
			t = fmath.Acos(s / root)
		}
		e := &steps[l]
		e.s, e.u, e.h = s, 2*tangent+s, math.Sqrt((root-s)*(root+s))
		e.slope, e.inXX, e.xx = (math.Pi-t)/(2*math.Pi), e.h/(4*math.Pi*sx), sx
		xy = (e.h + float64((math.Pi-t)*s)) / (2 * math.Pi)
		tangent = float64(e.slope * e.u)
	}
	if r.tangent {
		xy += tangent
	}
	return float64(r.scale*xy) + r.shift
}

// slopes returns the derivatives of the last value with respect to x'y/d and x'x/d.
func (r *recursion) slopes(steps *steps) (inXY, inXX float64) {
	inXY, inT := r.scale, 0.0
	if r.tangent {
		inT = r.scale
	}
	for l := r.depth - 1; l >= 0; l-- {
		e := &steps[l]
		inU, inS := float64(inT*e.slope), 0.0
		if e.h > 0 {
			inS = inT * e.u / (2 * math.Pi * e.h) // through the angle
		}
		inXX += 2 * (float64(inXY*e.inXX) - float64(inS*e.s)/(2*e.xx)) // s_xx = 2 x'x/d + ...
		inXY = 2 * (float64(inXY*e.slope) + inS + inU)
		inT = 2 * inU
	}
	return inXY, inXX
}
