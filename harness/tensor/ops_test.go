package tensor

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The float32 operations against the same code in float64.
func TestOps(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 3))
		for _, n := range []int{0, 1, 15, 16, 17, 63, 64, 65, 1000, 70000} {
			x, y, z := random(r, n), random(r, n), random(r, n)
			out, check := guarded(t, r, n)
			want := make([]float64, n)
			ReLU(out, x)
			ReLU(want, widen(x))
			near(t, "ReLU", out, want, 0)
			Mask(out, y, x)
			Mask(want, widen(y), widen(x))
			near(t, "Mask", out, want, 0)
			Axpy(out, 0.5, x, z)
			Axpy(want, 0.5, widen(x), widen(z))
			near(t, "Axpy", out, want, 1e-7)
			check("elementwise")
			if got, want := float64(Dot(x, z)), Dot(widen(x), widen(z)); math.Abs(got-want) > 1e-6*float64(n)+1e-6 {
				t.Errorf("Dot of %d: %v, want %v", n, got, want)
			}
		}
		for _, c := range []int{1, 7, 16, 33, 256} {
			const rows = 9
			x, z := random(r, rows*c), random(r, rows*c)
			a, b, d := random(r, c), random(r, c), random(r, c)
			y, check := guarded(t, r, c)
			want := widen(y)
			ColSum(y, x, c)
			ColSum(want, widen(x), c)
			ColDot(y, x, z, c)
			ColDot(want, widen(x), widen(z), c)
			near(t, "ColSum, ColDot", y, want, 1e-6)
			check("ColSum, ColDot")
			out, check := guarded(t, r, rows*c)
			wide := make([]float64, rows*c)
			Affine(out, a, x, d)
			Affine(wide, widen(a), widen(x), widen(d))
			near(t, "Affine", out, wide, 1e-6)
			Affine2(out, a, x, b, z, d)
			Affine2(wide, widen(a), widen(x), widen(b), widen(z), widen(d))
			near(t, "Affine2", out, wide, 1e-6)
			check("Affine")
		}
	})
}

// Pool is an average, Unpool its adjoint, and bits stand for the values.
func TestPool(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 4))
		for _, s := range [][4]int{{1, 2, 2, 1}, {2, 5, 7, 3}, {3, 4, 6, 16}, {2, 7, 7, 48}, {1, 2, 9, 33}} {
			n, h, w, ch := s[0], s[1], s[2], s[3]
			x, dy := random(r, n*h*w*ch), random(r, n*(h/2)*(w/2)*ch)
			ReLU(x, x)
			y, check := guarded(t, r, len(dy))
			Pool(y, x, n, h, w, ch)
			check("Pool")
			want := make([]float64, len(y))
			Pool(want, widen(x), n, h, w, ch)
			near(t, "Pool", y, want, 1e-6)
			one := x[:ch][0] + x[ch] + x[w*ch] + x[(w+1)*ch]
			if math.Abs(float64(y[0]-one/4)) > 1e-6 {
				t.Errorf("%v: first average is %v, want %v", s, y[0], one/4)
			}

			dx, check := guarded(t, r, len(x))
			Unpool(dx, dy, nil, n, h, w, ch)
			check("Unpool")
			if a, b := inner(y, dy), inner(x, dx); math.Abs(a-b) > 1e-5*(1+math.Abs(a)) {
				t.Errorf("%v: <Ax, y> = %v, <x, A'y> = %v", s, a, b)
			}
			wide := make([]float64, len(dx))
			Unpool(wide, widen(dy), nil, n, h, w, ch)
			near(t, "Unpool", dx, wide, 1e-6)

			masked, check := guarded(t, r, len(x))
			Unpool(masked, dy, x, n, h, w, ch)
			check("Unpool with act")
			for i := range masked {
				if (x[i] > 0 && masked[i] != dx[i]) || (x[i] <= 0 && masked[i] != 0) {
					t.Fatalf("%v: masked gradient at %d is %v for activation %v", s, i, masked[i], x[i])
				}
			}
			size, small := h*w*ch, (h/2)*(w/2)*ch
			for img := range n {
				bits := make([]byte, BitsLen(h, w, ch))
				y2, dx2 := make([]float32, small), random(r, size)
				PoolBits(y2, bits, x[img*size:][:size], h, w, ch, 0.25)
				if digest(y2) != digest(y[img*small:][:small]) {
					t.Errorf("%v: PoolBits differs from Pool", s)
				}
				UnpoolBits(dx2, dy[img*small:][:small], bits, h, w, ch, 0.25)
				for i, v := range dx2 {
					if v != masked[img*size+i] {
						t.Fatalf("%v: UnpoolBits at %d is %v, want %v", s, i, v, masked[img*size+i])
					}
				}
			}
		}
	})
}

func TestOpsPanic(t *testing.T) {
	s := func(n int) []float32 { return make([]float32, n) }
	panics(t, "tensor: ReLU: lengths differ", func() { ReLU(s(2), s(3)) })
	panics(t, "tensor: Mask: lengths differ", func() { Mask(s(3), s(2), s(3)) })
	panics(t, "tensor: Axpy: lengths differ", func() { Axpy(s(3), 1, s(3), s(2)) })
	panics(t, "tensor: Dot: lengths differ", func() { Dot(s(3), s(2)) })
	panics(t, "tensor: Pool: shapes do not fit", func() { Pool(s(1), s(5), 1, 2, 2, 1) })
	panics(t, "tensor: Unpool: shapes do not fit", func() { Unpool(s(4), s(1), s(3), 1, 2, 2, 1) })
	panics(t, "tensor: PoolBits: shapes do not fit", func() { PoolBits(s(1), nil, s(4), 2, 2, 1, 1) })
	panics(t, "tensor: UnpoolBits: shapes do not fit", func() { UnpoolBits(s(4), s(1), nil, 2, 2, 1, 1) })
	panics(t, "tensor: ColSum: shapes do not fit", func() { ColSum(s(3), s(8), 4) })
	panics(t, "tensor: ColSum: columns do not divide the length", func() { ColSum(s(3), s(8), 3) })
	panics(t, "tensor: Affine2: columns do not divide the length", func() { Affine2(s(8), s(3), s(8), s(3), s(8), s(3)) })
	panics(t, "tensor: ColDot: shapes do not fit", func() { ColDot(s(4), s(8), s(7), 4) })
	panics(t, "tensor: Affine: shapes do not fit", func() { Affine(s(8), s(4), s(8), s(3)) })
	panics(t, "tensor: Affine2: shapes do not fit", func() { Affine2(s(8), s(4), s(8), s(4), s(7), s(4)) })
}
