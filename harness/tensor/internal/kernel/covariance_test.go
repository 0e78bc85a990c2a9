package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dgkip/harness/fmath"
)

// rectifyCase returns a Rectify of random places, including angles of zero and pi.
func rectifyCase(r *rand.Rand, n int, same, tangent bool) *Rectify {
	const L = WideLanes
	a := &Rectify{N: n, Same: same, Scale: 0.5 + r.Float64(), Bias: 0.01 * float64(r.IntN(2))}
	fill := func(n int, positive bool) []float64 {
		v := make([]float64, n)
		for i := range v {
			if v[i] = r.NormFloat64(); positive {
				v[i] = math.Exp(v[i])
			}
		}
		return v
	}
	places, x := 2*n-1, L
	if same {
		x = 1
	}
	a.Dst, a.S = fill(n*L, false), fill((2*n+1)*L, false)
	a.RootX, a.RootY = fill(places*x, true), fill(places*L, true)
	if tangent {
		a.DstT, a.T = fill(n*L, false), fill((2*n+1)*L, false)
	}
	inverse := func(v []float64) []float64 {
		to := make([]float64, len(v))
		for i, x := range v {
			to[i] = 1 / x
		}
		return to
	}
	a.InverseX, a.InverseY = inverse(a.RootX), inverse(a.RootY)
	for i := range n {
		for l := range L {
			y := 2*i*L + l
			of := y
			if same {
				of = 2 * i
			}
			want := a.RootX[of] * a.RootY[y] * (2*r.Float64() - 1)
			switch r.IntN(6) {
			case 0:
				want = a.RootX[of] * a.RootY[y]
			case 1:
				want = -a.RootX[of] * a.RootY[y]
			case 2:
				want = 0
			}
			a.S[y+2*L] = (want-a.Bias)/a.Scale - (a.S[y] + a.S[y+L])
		}
	}
	return a
}

// rectifyAny computes a Rectify by its definition.
func rectifyAny(a *Rectify) (dst, dstT []float64) {
	const L = WideLanes
	dst, dstT = append(dst, a.Dst...), append(dstT, a.DstT...)
	for i := range a.N {
		for l := range L {
			y, to := 2*i*L+l, i*L+l
			x := y
			if a.Same {
				x = 2 * i
			}
			s, r := a.Scale*(a.S[y]+a.S[y+L]+a.S[y+2*L])+a.Bias, a.RootX[x]*a.RootY[y]
			t := fmath.Acos(max(-1, min(1, s/r)))
			dst[to] += (r*math.Sin(t) + (math.Pi-t)*s) / math.Pi
			if a.DstT != nil {
				dstT[to] += (math.Pi - t) / math.Pi * (a.Scale*(a.T[y]+a.T[y+L]+a.T[y+2*L]) + s)
			}
		}
	}
	return dst, dstT
}

func TestRectify(t *testing.T) {
	eachPath(t, func(t *testing.T, p *Path) {
		r := rand.New(rand.NewPCG(9, 1))
		for n := 1; n < 12; n++ {
			for kind := range 4 {
				a := rectifyCase(r, n, kind&1 > 0, kind&2 > 0)
				b := *a
				b.Dst, b.DstT = append([]float64(nil), a.Dst...), append([]float64(nil), a.DstT...)
				dst, dstT := rectifyAny(a)
				p.Rectify(a)
				rectifyGeneric(&b)
				name := fmt.Sprintf("%d places, kind %d", n, kind)
				same64(t, name, a.Dst, b.Dst)
				same64(t, name+", derivatives", a.DstT, b.DstT)
				for i, want := range dst {
					if math.Abs(a.Dst[i]-want) > 1e-14*(10+math.Abs(want)) {
						t.Fatalf("%s: %v, not %v", name, a.Dst[i], want)
					}
				}
				for i, want := range dstT { // an angle near zero is the root of a rounding error
					if math.Abs(a.DstT[i]-want) > 1e-7*(10+math.Abs(want)) {
						t.Fatalf("%s: derivative %v, not %v", name, a.DstT[i], want)
					}
				}
			}
		}
	})
}

// backCase returns the backward pass of a Rectify.
func backCase(r *rand.Rand, n int, same, tangent bool) *RectifyBack {
	a := rectifyCase(r, n, same, tangent)
	places := (2*n - 1) * WideLanes
	slope, _ := fill64(r, places)
	angle, _ := fill64(r, places)
	b := &RectifyBack{
		Slope: slope, Angle: angle, D: a.Dst, S: a.S, RootX: a.RootX, InverseX: a.InverseX, RootY: a.RootY, InverseY: a.InverseY,
		Scale: a.Scale, Bias: a.Bias, N: n, Same: same, DT: a.DstT, T: a.T,
	}
	if tangent {
		b.SlopeT, _ = fill64(r, places)
	}
	return b
}

func TestRectifyBack(t *testing.T) {
	const L = WideLanes
	eachPath(t, func(t *testing.T, p *Path) {
		r := rand.New(rand.NewPCG(9, 5))
		for n := 1; n < 12; n++ {
			for kind := range 4 {
				a := backCase(r, n, kind&1 > 0, kind&2 > 0)
				b := *a
				b.Slope, b.Angle, b.SlopeT = slices.Clone(a.Slope), slices.Clone(a.Angle), slices.Clone(a.SlopeT)
				before := slices.Clone(a.Angle)
				p.RectifyBack(a)
				rectifyBackGeneric(&b)
				name := fmt.Sprintf("%d places, kind %d", n, kind)
				same64(t, name+", slopes", a.Slope, b.Slope)
				same64(t, name+", slopes of derivatives", a.SlopeT, b.SlopeT)
				same64(t, name+", angles", a.Angle, b.Angle)
				for i := range n {
					for l := range L {
						y := 2*i*L + l
						x := y
						if a.Same {
							x = 2 * i
						}
						s, root := a.Scale*(a.S[y]+a.S[y+L]+a.S[y+2*L])+a.Bias, a.RootX[x]*a.RootY[y]
						cos := max(-1, min(1, s/root))
						angle, d, dT, q := fmath.Acos(cos), a.D[i*L+l], 0.0, 0.0
						if a.DT != nil {
							dT = a.DT[i*L+l]
							q = dT * (a.Scale*(a.T[y]+a.T[y+L]+a.T[y+2*L]) + s) / root
							if sin := math.Sqrt((1 - cos) * (1 + cos)); sin > 1e-6 {
								q /= sin
							} else if got := (a.Slope[y] - (d+dT)*(math.Pi-angle)/math.Pi) * math.Pi; math.Abs(got) > 7.1e7*math.Abs(q)+1e-6 {
								t.Fatalf("%s: %v through an angle of %v, which is more than 7e7 times %v", name, got, angle, q)
							} else { // only its bound is known
								q = got
							}
							if got, want := a.SlopeT[y], dT*(math.Pi-angle)/math.Pi; math.Abs(got-want) > 1e-7*(1+math.Abs(want)) {
								t.Fatalf("%s: slope of derivatives %v, not %v", name, got, want)
							}
						}
						// An angle near zero is the root of a rounding error.
						if got, want := a.Slope[y], (d+dT)*(math.Pi-angle)/math.Pi+q/math.Pi; math.Abs(got-want) > 1e-7*(1+math.Abs(want)) {
							t.Fatalf("%s: slope %v, not %v", name, got, want)
						}
						if got, want := a.Angle[y]-before[y], d*root*math.Sin(angle)-q*s; math.Abs(got-want) > 1e-7*(10+math.Abs(d*root)+math.Abs(want)) {
							t.Fatalf("%s: angle %v, not %v", name, got, want)
						}
					}
				}
			}
		}
	})
}

// Every path agrees with plain Go for images without variance, infinities and NaN.
func TestRectifySpecials(t *testing.T) {
	eachPath(t, func(t *testing.T, p *Path) {
		r := rand.New(rand.NewPCG(9, 9))
		special := func(vectors ...[]float64) {
			for _, v := range vectors {
				for i := range v {
					if r.IntN(8) == 0 {
						v[i] = specials[r.IntN(len(specials))]
					}
				}
			}
		}
		for round := range 400 {
			a := rectifyCase(r, 1+round%8, round&1 > 0, round&2 > 0)
			special(a.Dst, a.DstT, a.S, a.T, a.RootX, a.RootY, a.InverseX, a.InverseY)
			b := *a
			b.Dst, b.DstT = append([]float64(nil), a.Dst...), append([]float64(nil), a.DstT...)
			p.Rectify(a)
			rectifyGeneric(&b)
			same64(t, "values", a.Dst, b.Dst)
			same64(t, "derivatives", a.DstT, b.DstT)

			c := backCase(r, 1+round%8, round&1 > 0, round&2 > 0)
			special(c.D, c.DT, c.S, c.T, c.RootX, c.RootY, c.InverseX, c.InverseY)
			d := *c
			d.Slope, d.Angle, d.SlopeT = slices.Clone(c.Slope), slices.Clone(c.Angle), slices.Clone(c.SlopeT)
			p.RectifyBack(c)
			rectifyBackGeneric(&d)
			same64(t, "slopes", c.Slope, d.Slope)
			same64(t, "slopes of derivatives", c.SlopeT, d.SlopeT)
			same64(t, "angles", c.Angle, d.Angle)
		}
	})
}

func TestProductsBack(t *testing.T) {
	const L = WideLanes
	eachPath(t, func(t *testing.T, p *Path) {
		r := rand.New(rand.NewPCG(9, 6))
		for n := 1; n < 12; n++ {
			for _, colours := range []int{1, 3} {
				a := &ProductsBack{N: n, C: colours}
				x, check := fill64(r, n*colours*L)
				a.X = x
				a.Y, _ = fill64(r, n*colours*L)
				a.S, _ = fill64(r, (n+2)*L)
				b := *a
				b.X = append([]float64(nil), x...)
				want := x[len(x)-1] + (a.S[n*L-1]+a.S[(n+1)*L-1]+a.S[(n+2)*L-1])*a.Y[len(a.Y)-1]
				p.ProductsBack(a)
				productsBackGeneric(&b)
				check(t)
				same64(t, fmt.Sprintf("%d places of %d colours", n, colours), a.X, b.X)
				if got := x[len(x)-1]; math.Abs(got-want) > 1e-14*(1+math.Abs(want)) {
					t.Fatalf("%v, not %v", got, want)
				}
			}
		}
	})
}

// RectifyPoly and AnglePoly approximate their functions to float64's precision.
func TestPolynomials(t *testing.T) {
	for i := range 100000 {
		u := float64(i) / 100000
		angle := fmath.Acos(u)
		if got := math.Pi * math.Sqrt(1-u) * polynomial(&AnglePoly, u); math.Abs(got-angle) > 1e-15 {
			t.Fatalf("acos(%v) is %v, not %v", u, got, angle)
		}
		got, want := math.Pi*(1-u)*math.Sqrt(1-u)*polynomial(&RectifyPoly, u), math.Sqrt((1-u)*(1+u))-u*angle
		if math.Abs(got-want) > 1e-15 {
			t.Fatalf("sin t - t cos t is %v at %v, not %v", got, u, want)
		}
	}
}

func TestProductsAndSums(t *testing.T) {
	const L = WideLanes
	eachPath(t, func(t *testing.T, p *Path) {
		r := rand.New(rand.NewPCG(9, 2))
		for n := 1; n < 12; n++ {
			for _, colours := range []int{1, 3} {
				for _, same := range []bool{true, false} {
					a := &Products{N: n, C: colours, Same: same}
					x := L
					if same {
						x = 1
					}
					a.X, _ = fill64(r, n*colours*x)
					a.Y, _ = fill64(r, n*colours*L)
					a.Before, _ = fill64(r, n*L)
					a.At, _ = fill64(r, n*L)
					row, checkRow := fill64(r, n*L)
					sum, checkSum := fill64(r, n*L)
					a.Row, a.Sum = row, sum
					p.Products(a)
					checkRow(t)
					checkSum(t)
					b := *a
					b.Row, b.Sum = make([]float64, n*L), make([]float64, n*L)
					productsGeneric(&b)
					same64(t, "row", a.Row, b.Row)
					same64(t, "sum", a.Sum, b.Sum)
					want := 0.0
					for c := range colours {
						if same {
							want += a.X[(n-1)*colours+c] * a.Y[((n-1)*colours+c)*L+3]
						} else {
							want += a.X[((n-1)*colours+c)*L+3] * a.Y[((n-1)*colours+c)*L+3]
						}
					}
					if got := a.Row[(n-1)*L+3]; math.Abs(got-want) > 1e-14*(1+math.Abs(want)) {
						t.Fatalf("product %v, not %v", got, want)
					}
					three, checkThree := fill64(r, n*L)
					p.Sums(&Sums{Sum: three, Before: a.Before, At: a.At, After: a.Row, N: n})
					checkThree(t)
					same64(t, "three", three, a.Sum)
				}
			}
		}
	})
}
