package tensor

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The float32 operations agree with the same code in float64.
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

// Pool is an average, and Unpool is its adjoint.
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
			Unpool(dx, dy, x, n, h, w, ch)
			check("Unpool")
			if a, b := inner(y, dy), inner(x, dx); math.Abs(a-b) > 1e-5*(1+math.Abs(a)) {
				t.Errorf("%v: <Ax, y> = %v, <x, A'y> = %v", s, a, b)
			}
			wide := make([]float64, len(dx))
			Unpool(wide, widen(dy), widen(x), n, h, w, ch)
			near(t, "Unpool", dx, wide, 1e-6)
			for i := range dx {
				if x[i] <= 0 && dx[i] != 0 {
					t.Fatalf("%v: the gradient at %d is %v for activation %v", s, i, dx[i], x[i])
				}
			}
		}
	})
}

// Row and padding operations follow their definitions for any strides and borders.
func TestRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	src := Mat[float32]{Rows: 3, Cols: 5, Stride: 7, Data: random(r, 19)}
	dst := Mat[float32]{Rows: 3, Cols: 5, Stride: 6, Data: random(r, 17)}
	left := dst.Data[5]
	ScaleRows(dst, 3, src)
	if dst.Data[6] != 3*src.Data[7] || dst.Data[16] != 3*src.Data[18] || dst.Data[5] != left {
		t.Error("ScaleRows: wrong values")
	}
	FillRows(dst, src.Row(1))
	if dst.Data[16] != src.Data[11] || dst.Data[5] != left {
		t.Error("FillRows: wrong values")
	}
	x, padded, back := random(r, 2*3*4*2), random(r, 2*7*8*2), make([]float32, 2*3*4*2)
	Pad(padded, x, 2, 3, 4, 2, 2)
	Crop(back, padded, 2, 3, 4, 2, 2)
	if digest(back) != digest(x) || inner(padded, padded) != inner(x, x) || padded[2*(7*8+2*8+2)] != x[3*4*2] {
		t.Error("Pad and Crop: wrong values")
	}
	GatherRows(dst, src, []int{2, 0, 2})
	if dst.Data[0] != src.Data[14] || dst.Data[6] != src.Data[0] || dst.Data[16] != src.Data[18] {
		t.Error("GatherRows: wrong values")
	}
}

// ColSums sums the columns of each image by itself.
func TestColSums(t *testing.T) {
	x, y := []float32{1, 2, 3, 4, 5, 6, 7, 8}, make([]float32, 4)
	ColSums(y, x, 2, 2)
	if !slices.Equal(y, []float32{4, 6, 12, 14}) {
		t.Errorf("got %v", y)
	}
}

// The fused step and its adjoint match their unfused parts.
func TestConvPool(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	for _, s := range []convShape{{2, 7, 6, 3, 16}, {3, 8, 8, 64, 64}, {2, 7, 5, 9, 20}} {
		n, h, w, in, out := s.n, s.h, s.w, s.in, s.out
		c := newConv(random(r, 9*in*out), s, Auto)
		x, dy, bias := random(r, n*h*w*in), random(r, n*(h/2)*(w/2)*out), random(r, out)
		big, y, dx := make([]float32, n*h*w*out), make([]float32, len(dy)), make([]float32, len(x))
		c.Forward(big, x, n, Epilogue[float32]{Bias: bias, ReLU: true})
		Pool(y, big, n, h, w, out)
		act := slices.Clone(big)
		Unpool(big, dy, act, n, h, w, out)
		c.BackwardInput(dx, big, n, false)

		bits, y2, dx2 := make([]byte, n*c.BitsLen()), make([]float32, len(y)), make([]float32, len(dx))
		ForwardPool(c, y2, bits, x, n, bias)
		BackwardPool(c, dx2, dy, bits, n)
		if digest(y2) != digest(y) || digest(dx2) != digest(dx) {
			t.Errorf("%v: the fused step differs from its parts", s)
		}
	}
}
