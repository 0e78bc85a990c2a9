package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dgkip/harness/fmath"
)

var specials = []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1e-310, -1e-300, math.MaxFloat64}

// arcValues returns inner products and norms, with every kind of angle among them.
func arcValues(r *rand.Rand, n int, odd bool) (k, root []float64) {
	k, root = make([]float64, n), make([]float64, n)
	for j := range k {
		root[j] = math.Exp(r.NormFloat64())
		k[j] = root[j] * (2.4*r.Float64() - 1.2) / 2
		switch r.IntN(8) {
		case 0: // equal, up to rounding
			k[j] = root[j] / 2 * (1 + 0x1p-52*float64(r.IntN(9)-4))
		case 1: // opposite directions
			k[j] = -root[j] / 2 * (1 + 0x1p-52*float64(r.IntN(9)-4))
		case 2: // orthogonal
			k[j] = math.Ldexp(r.NormFloat64(), -r.IntN(80))
		}
		if odd && r.IntN(5) == 0 {
			k[j] = specials[r.IntN(len(specials))]
		}
		if odd && r.IntN(20) == 0 {
			root[j] = specials[r.IntN(len(specials))]
		}
	}
	return k, root
}

// guarded64 copies values and puts guards around the copy.
func guarded64(r *rand.Rand, v []float64) ([]float64, func(t *testing.T)) {
	to, check := fill64(r, len(v))
	copy(to, v)
	return to, check
}

func TestArc(t *testing.T) {
	sizes := []int{0, 1, 5, 7, 8, 9, 15, 16, 17, 31, 40, 111, 256, 1024, 1025}
	eachPath(t, func(t *testing.T, p *Path) {
		r := rand.New(rand.NewPCG(7, 8))
		for round := range 40 {
			for _, n := range sizes {
				odd, bias := round%2 == 1, 0.01*float64(r.IntN(2))
				k, root := arcValues(r, n, odd)
				inverse, inXY, inXX := make([]float64, n), make([]float64, n), make([]float64, n)
				for j, x := range root {
					inverse[j], inXY[j], inXX[j] = 1/x, r.NormFloat64(), r.NormFloat64()
				}
				rx := 1.0
				if round > 1 {
					rx = math.Exp(r.NormFloat64())
				}
				a := Arc{Root: root, Inverse: inverse, Bias: bias, Norm: rx * rx, X: rx, InverseX: 1 / rx, N: n}

				value, checkValue := guarded64(r, k)
				want := a
				want.K = slices.Clone(k)
				arcGeneric(&want)
				a.K = value
				p.Arc(&a)
				checkValue(t)
				same64(t, fmt.Sprintf("arc of %d", n), value, want.K)

				value, checkValue = guarded64(r, k)
				xy, checkXY := guarded64(r, inXY)
				xx, checkXX := guarded64(r, inXX)
				a.K, a.InXY, a.InXX, a.Root, a.Inverse, a.N = value, xy, xx, root, inverse, n
				want = a
				want.K, want.InXY, want.InXX = slices.Clone(k), slices.Clone(inXY), slices.Clone(inXX)
				arcGeneric(&want)
				p.Arc(&a)
				for _, check := range []func(*testing.T){checkValue, checkXY, checkXX} {
					check(t)
				}
				same64(t, fmt.Sprintf("arc of %d with slopes", n), value, want.K)
				same64(t, fmt.Sprintf("slopes in xy of %d", n), xy, want.InXY)
				same64(t, fmt.Sprintf("slopes in xx of %d", n), xx, want.InXX)
			}
		}
	})
}

// ArcPoly approximates the arc cosine to the accuracy that Arc documents.
func TestArcCosine(t *testing.T) {
	worst := 0.0
	for i := -200000; i <= 200000; i++ {
		c := float64(i) / 200000
		rest, h := arc(c, 1)
		got, want := math.Pi-rest, fmath.Acos(c)
		if want > 1e-3 { // below, the subtraction from pi cancels
			worst = max(worst, math.Abs(got-want)/want)
		}
		if sine := math.Sqrt((1 - c) * (1 + c)); math.Abs(h-sine) > 1e-15 {
			t.Fatalf("the sine of acos(%v) is %v, not %v", c, h, sine)
		}
	}
	if worst > 6e-11 {
		t.Errorf("relative error %.3g", worst)
	}
}
