package kernel

import "math"

// Arc describes one layer of ReLU units in a network of infinite width. It maps the inner
// products K of one input x with N inputs y, and the derivatives InXX and InXY of K:
//
//	s = 2 K + Bias,   t = acos(s/(X Root)),   h = X Root sin t,   a = (pi - t)/pi,
//	InXX = InXX a + h/(2 pi Norm),   InXY = InXY a,
//	K = (h + (pi - t) s)/(2 pi).
//
// Norm is s_xx and X its square root; Root is sqrt(s_yy) for each y. If InXY is empty, the
// derivatives are not computed.
//
// Rounding can push a cosine above 1; it then counts as 1. The arc cosine is the root of
// 1-|cos t| times ArcPoly, with a relative error below 6e-11. Every product, sum,
// quotient and root is rounded by itself.
type Arc struct {
	K, InXY, InXX []float64
	Root, Inverse []float64 // Inverse is 1/Root
	Bias, Norm    float64
	X, InverseX   float64 // InverseX is 1/X
	N             int
}

// ArcPoly is the polynomial acos(u)/sqrt(1-u) for u in [0, 1], highest power first.
var ArcPoly = [...]float64{
	0.00023247194405484679,
	-0.0015664288135807938,
	0.0049877136042259171,
	-0.010349789939412922,
	0.016640035211437931,
	-0.023752501853162977,
	0.033558020283266238,
	-0.050778185522525651,
	0.089047715115689888,
	-0.21460181431005343,
	1.5707963267030993,
}

// ArcScale is 1/(2 pi).
const ArcScale = 1 / (2 * math.Pi)

// Arc maps inner products through a layer.
func (p *Path) Arc(a *Arc) {
	slopes := len(a.InXY) > 0
	check(a.N >= 0 && a.N <= len(a.K) && a.N <= len(a.Root) && a.N <= len(a.Inverse) &&
		(!slopes || a.N <= len(a.InXY) && a.N <= len(a.InXX)))
	fast := p.arc
	if slopes {
		fast = p.arcSlopes
	}
	all, whole := a.N, a.N&^(WideLanes-1)
	if a.N = whole; whole > 0 {
		fast(a)
	}
	if whole < all {
		rest := *a
		rest.K, rest.Root, rest.Inverse, rest.N = rest.K[whole:], rest.Root[whole:], rest.Inverse[whole:], all-whole
		if slopes {
			rest.InXY, rest.InXX = rest.InXY[whole:], rest.InXX[whole:]
		}
		arcGeneric(&rest)
	}
}

func arcGeneric(a *Arc) {
	k := a.K[:a.N]
	root, inverse := a.Root[:len(k)], a.Inverse[:len(k)]
	for j, v := range k {
		s := 2*v + a.Bias
		rest, h := arc(s*float64(a.InverseX*inverse[j]), float64(a.X*root[j]))
		k[j] = float64((h + float64(rest*s)) * ArcScale)
		if len(a.InXY) > 0 {
			slope := 2 * float64(rest*ArcScale)
			a.InXX[j] = float64(a.InXX[j]*slope) + float64(float64(h*ArcScale)/a.Norm)
			a.InXY[j] *= slope
		}
	}
}

// arc returns pi - t and r sin t for cos t = c.
func arc(c, r float64) (rest, h float64) {
	u := math.Abs(c)
	if u > 1 {
		u = 1
	}
	w := math.Sqrt(1 - u)
	q := ArcPoly[0]
	for _, p := range ArcPoly[1:] {
		q = float64(q*u) + p
	}
	t := math.Pi/2 - math.Copysign(math.Pi/2-float64(w*q), c)
	return math.Pi - t, float64(r * float64(w*math.Sqrt(1+u)))
}
