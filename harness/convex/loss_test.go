package convex

import (
	"math"
	"testing"

	"dgkip/harness/fmath"
	"dgkip/harness/rng"
)

// conjugate is L*(-a) of a loss of the margin, for a in [0, 1].
type conjugate struct{ Margin }

func (l conjugate) at(a float64) float64 {
	if l.Margin == (Logistic{}) {
		return xlogx(a) + xlogx(1-a)
	}
	return -a // hinge
}

// xlogx is x log x, and 0 at 0.
func xlogx(x float64) float64 {
	if x == 0 {
		return 0
	}
	return x * fmath.Log(x)
}

// Residuals are never negative, zero at the loss's slope, and equal to L + L* + a m.
func TestResidual(t *testing.T) {
	r := rng.Stream(1, "residual")
	for range 2000 {
		m, a := 5*r.Normal64(), r.Float64()
		if r.IntN(10) == 0 {
			a = float64(r.IntN(2))
		}
		for _, l := range []Margin{Logistic{}, Hinge{}} {
			want := l.Value(m) + conjugate{l}.at(a) + a*m
			if got := l.Residual(m, a); got < 0 || math.Abs(got-want) > 1e-12*(1+math.Abs(m)) {
				t.Fatalf("%T: residual(%v, %v) = %v, want %v", l, m, a, got, want)
			}
			inM, inA := l.ResidualSlopes(m, a)
			if own := a - inM; l.Residual(m, own) > 1e-12 { // a = -L'(m)
				t.Fatalf("%T: residual at the slope of %v is %v", l, m, l.Residual(m, own))
			}
			const h = 1e-6
			if a < 2*h || a > 1-2*h || math.Abs(m-1) < 2*h {
				continue
			}
			dm := (l.Residual(m+h, a) - l.Residual(m-h, a)) / (2 * h)
			da := (l.Residual(m, a+h) - l.Residual(m, a-h)) / (2 * h)
			if math.Abs(dm-inM) > 1e-5*(1+math.Abs(m)) || math.Abs(da-inA) > 1e-4*(1+math.Abs(m)+1/(a*(1-a))) {
				t.Fatalf("%T: slopes of the residual at (%v, %v) are %v and %v, central differences %v and %v", l, m, a, inM, inA, dm, da)
			}
		}
		p := Logistic{}
		if s, _ := p.Slope(m); p.Residual(m, s) != 0 {
			t.Fatalf("logistic residual at its own slope is %v", p.Residual(m, s))
		}
	}
}
