package kernel

import "math"

// The covariances of infinitely wide networks are mapped through the layers for eight pairs
// of images at a time, one pair in each lane. A place is a group of WideLanes values. If one
// image of the pair is the same in all lanes, it has one value for each place.

// Products describes a row of covariances of pixels and the sum of three such rows. For
// each place i < N,
//
//	Row[i] = sum_c X[i C + c] Y[i C + c],   Sum[i] = (Before[i] + At[i]) + Row[i].
type Products struct {
	Row, Sum, Before, At []float64 // [N, 8]
	X, Y                 []float64 // [N, C, 8]; X [N, C] if Same
	N, C                 int
	Same                 bool // X is the same in all lanes
}

// Sums describes the sum of three rows of covariances, Sum = (Before + At) + After, [N, 8].
type Sums struct {
	Sum, Before, At, After []float64
	N                      int
}

// Rectify describes how convolution, ReLU and average pooling change covariances. Place
// i < N of the output gets its value from place 2i of the input and the neighbours in its
// row. S holds sums over three rows and starts one place before the first:
//
//	s = Scale ((S[2i] + S[2i+1]) + S[2i+2]) + Bias,   r = RootX[2i] RootY[2i],   cos t = s/r,
//	Dst[i] += [ r sin t + (pi - t) s ]/pi,
//
// which is twice the covariance after ReLU. If DstT is given, inner products of the
// derivatives with respect to the weights are computed too. T are sums of these inner
// products in the layer before:
//
//	DstT[i] += (pi - t)/pi [ Scale ((T[2i] + T[2i+1]) + T[2i+2]) + s ].
//
// With u = |cos t|, sin t - u acos u = pi (1-u)^(3/2) RectifyPoly(u) and acos u =
// pi (1-u)^(1/2) AnglePoly(u), to float64's precision. For images that are equal around a
// place, the angle in the derivatives must be zero. Rounding would give 1e-8, the root of
// an error in 1-u, so some units in the last place of 1-u are subtracted there.
type Rectify struct {
	Dst, DstT       []float64 // [N, 8]
	S, T            []float64 // [2 N + 1, 8]
	RootX, InverseX []float64 // [2 N - 1, 8], or [2 N - 1]; Inverse is 1/Root
	RootY, InverseY []float64 // [2 N - 1, 8]
	Scale, Bias     float64
	N               int
	Same            bool // X is the same in all lanes
}

// RectifyBack describes the backward pass of Rectify. D is the gradient with respect to
// Dst. The gradient with respect to s goes to every second place of Slope. Angle collects
// the gradient with respect to the variance RootX^2, multiplied by 2 pi RootX^2:
//
//	Slope[2i] = D[i] (pi - t)/pi,   Angle[2i] += D[i] r sin t.
//
// If a variance is zero, the angle is undefined and counts as a right angle.
//
// If DT, the gradient with respect to DstT, is given, the gradient with respect to the sum of T
// goes to SlopeT, and the gradients through s and the angle are added:
//
//	SlopeT[2i] = DT[i] (pi - t)/pi,   Q = DT[i] [ Scale ((T[2i] + T[2i+1]) + T[2i+2]) + s ]/(r sin t),
//	Slope[2i] += SlopeT[2i] + Q/pi,   Angle[2i] -= Q s.
//
// DstT has a kink where t is 0 or pi. There, up to rounding as in Rectify, Q is zero. Elsewhere
// 1/sin t is at most 7e7.
type RectifyBack struct {
	Slope, Angle    []float64 // [2 N - 1, 8]
	SlopeT          []float64
	D, DT           []float64 // [N, 8]
	S, T            []float64 // as in Rectify, like all that follows
	RootX, InverseX []float64
	RootY, InverseY []float64
	Scale, Bias     float64
	N               int
	Same            bool
}

// ProductsBack describes the backward pass of Products to the pixels of one image. S holds
// the sums of gradients over three rows, starting one place before the first:
//
//	X[i C + c] += ((S[i] + S[i+1]) + S[i+2]) Y[i C + c].
type ProductsBack struct {
	X, Y []float64 // [N, C, 8]
	S    []float64 // [N + 2, 8]
	N, C int
}

// One is 1 minus the rounding error of the cosine between equal images.
const One = 1 - 0x1p-50

// Least is the smallest positive difference between One and a cosine.
const Least = 0x1p-53

// RectifyPoly and AnglePoly have their highest power first.
var (
	RectifyPoly = [18]float64{
		-9.759058594307168e-08,
		9.9809651149363298e-07,
		-4.8506077953335609e-06,
		1.5058914821246522e-05,
		-3.4074269037372498e-05,
		6.1272373358155528e-05,
		-9.4053496198395363e-05,
		0.00013149330196400181,
		-0.00017700272388117006,
		0.00023893512264966456,
		-0.00033185703130211695,
		0.00048259794872714033,
		-0.00074813272682917181,
		0.0012691655888037857,
		-0.0024647093279865692,
		0.005985979686337739,
		-0.022535170724312468,
		0.31830988618379069,
	}
	AnglePoly = [18]float64{
		-2.4222154464628605e-06,
		2.4545834527761545e-05,
		-0.00011778445877449549,
		0.00035917933563815355,
		-0.0007921360610044177,
		0.0013727842357067191,
		-0.0019999611902253977,
		0.0026045972891601287,
		-0.003201777500060482,
		0.0038733349975128774,
		-0.0047351260024807371,
		0.0059430579552004429,
		-0.0077585323794989889,
		0.010721082343777057,
		-0.016167854825418236,
		0.028345056903689086,
		-0.068309886183749946,
		0.49999999999999994,
	}
)

// Products multiplies pixels. See the type Products.
func (p *Path) Products(a *Products) {
	n := a.N * WideLanes
	x := n * a.C
	if a.Same {
		x = a.N * a.C
	}
	check(a.N > 0 && a.C > 0 && n <= len(a.Row) && n <= len(a.Sum) && n <= len(a.Before) && n <= len(a.At) &&
		x <= len(a.X) && n*a.C <= len(a.Y))
	if a.Same {
		p.productsSame(a)
	} else {
		p.products(a)
	}
}

// Sums adds three rows.
func (p *Path) Sums(a *Sums) {
	n := a.N * WideLanes
	check(n > 0 && n <= len(a.Sum) && n <= len(a.Before) && n <= len(a.At) && n <= len(a.After))
	p.sums(a)
}

// Rectify maps covariances through a layer.
func (p *Path) Rectify(a *Rectify) {
	n, places := a.N*WideLanes, (2*a.N-1)*WideLanes
	x := places
	if a.Same {
		x = 2*a.N - 1
	}
	tangent := a.DstT != nil
	check(a.N > 0 && n <= len(a.Dst) && places+2*WideLanes <= len(a.S) && x <= len(a.RootX) && x <= len(a.InverseX) &&
		places <= len(a.RootY) && places <= len(a.InverseY) && (!tangent || n <= len(a.DstT) && places+2*WideLanes <= len(a.T)))
	switch {
	case tangent && a.Same:
		p.tangentSame(a)
	case tangent:
		p.tangent(a)
	case a.Same:
		p.rectifySame(a)
	default:
		p.rectify(a)
	}
}

// RectifyBack maps gradients back through a layer.
func (p *Path) RectifyBack(a *RectifyBack) {
	n, places := a.N*WideLanes, (2*a.N-1)*WideLanes
	x := places
	if a.Same {
		x = 2*a.N - 1
	}
	tangent := a.DT != nil
	check(a.N > 0 && n <= len(a.D) && places <= len(a.Slope) && places <= len(a.Angle) && places+2*WideLanes <= len(a.S) &&
		x <= len(a.RootX) && x <= len(a.InverseX) && places <= len(a.RootY) && places <= len(a.InverseY) &&
		(!tangent || n <= len(a.DT) && places <= len(a.SlopeT) && places+2*WideLanes <= len(a.T)))
	switch {
	case tangent && a.Same:
		p.tangentBackSame(a)
	case tangent:
		p.tangentBack(a)
	case a.Same:
		p.rectifyBackSame(a)
	default:
		p.rectifyBack(a)
	}
}

// ProductsBack maps gradients back to pixels.
func (p *Path) ProductsBack(a *ProductsBack) {
	n := a.N * WideLanes
	check(a.N > 0 && a.C > 0 && n*a.C <= len(a.X) && n*a.C <= len(a.Y) && n+2*WideLanes <= len(a.S))
	p.productsBack(a)
}

func productsGeneric(a *Products) {
	for i := range a.N {
		for l := range WideLanes {
			sum := 0.0
			for c := range a.C {
				x := i*a.C + c
				y := x*WideLanes + l
				if !a.Same {
					x = y
				}
				sum = math.FMA(a.X[x], a.Y[y], sum)
			}
			j := i*WideLanes + l
			a.Row[j] = sum
			a.Sum[j] = (a.Before[j] + a.At[j]) + sum
		}
	}
}

func sumsGeneric(a *Sums) {
	for j := range a.N * WideLanes {
		a.Sum[j] = (a.Before[j] + a.At[j]) + a.After[j]
	}
}

func rectifyGeneric(a *Rectify) {
	const next = WideLanes
	for i := range a.N {
		for l := range WideLanes {
			y := 2*i*WideLanes + l
			x, to := y, i*WideLanes+l
			if a.Same {
				x = 2 * i
			}
			s := math.FMA((a.S[y]+a.S[y+next])+a.S[y+2*next], a.Scale, a.Bias)
			c := float64(a.InverseX[x]*a.InverseY[y]) * s
			u := math.Abs(c)
			w2 := positive(1 - u)
			q := float64(float64(float64(w2*math.Sqrt(w2))*polynomial(&RectifyPoly, u)) * float64(a.RootX[x]*a.RootY[y]))
			a.Dst[to] += q + positive(s)
			if a.DstT == nil {
				continue
			}
			slope := 0.5 + math.Copysign(math.FMA(-math.Sqrt(positive(One-u)), polynomial(&AnglePoly, u), 0.5), c)
			a.DstT[to] = math.FMA(math.FMA((a.T[y]+a.T[y+next])+a.T[y+2*next], a.Scale, s), slope, a.DstT[to])
		}
	}
}

func rectifyBackGeneric(a *RectifyBack) {
	const next = WideLanes
	for i := range a.N {
		for l := range WideLanes {
			y := 2*i*WideLanes + l
			x := y
			if a.Same {
				x = 2 * i
			}
			s := math.FMA((a.S[y]+a.S[y+next])+a.S[y+2*next], a.Scale, a.Bias)
			c := float64(a.InverseX[x]*a.InverseY[y]) * s
			u := math.Abs(c)
			w2, d := positive(One-u), a.D[i*WideLanes+l]
			w := math.Sqrt(w2)
			slope := 0.5 + math.Copysign(math.FMA(-w, polynomial(&AnglePoly, u), 0.5), c)
			sin := float64(w * math.Sqrt(1+u))
			a.Slope[y] = d * slope
			a.Angle[y] = math.FMA(float64(float64(a.RootX[x]*a.RootY[y])*sin), d, a.Angle[y])
			if a.DT == nil {
				continue
			}
			dT := a.DT[i*WideLanes+l]
			q := float64(sin/float64(max(w2, Least)*(1+u))) * float64(a.InverseX[x]*a.InverseY[y])
			q *= dT * math.FMA((a.T[y]+a.T[y+next])+a.T[y+2*next], a.Scale, s)
			a.SlopeT[y] = dT * slope
			a.Slope[y] = math.FMA(q, 1/math.Pi, float64((d+dT)*slope))
			a.Angle[y] = math.FMA(-q, s, a.Angle[y])
		}
	}
}

func productsBackGeneric(a *ProductsBack) {
	const next = WideLanes
	for i := range a.N {
		for l := range WideLanes {
			s := (a.S[i*next+l] + a.S[(i+1)*next+l]) + a.S[(i+2)*next+l]
			for c := range a.C {
				j := (i*a.C+c)*WideLanes + l
				a.X[j] = math.FMA(s, a.Y[j], a.X[j])
			}
		}
	}
}

// positive returns x, or zero if x is negative or NaN.
func positive(x float64) float64 {
	if x > 0 {
		return x
	}
	return 0
}

// polynomial sums the even powers and the odd powers separately.
func polynomial(p *[18]float64, u float64) float64 {
	v := u * u
	odd, even := p[0], p[1]
	for i := 2; i < len(p); i += 2 {
		odd, even = math.FMA(odd, v, p[i]), math.FMA(even, v, p[i+1])
	}
	return math.FMA(odd, u, even)
}
