package tensor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// convOracle computes a convolution by its definition in float64, independently of
// the package: y[r, c, o] = sum x[r+i-1, c+j-1, k] w[i, j, k, o].
func convOracle(x, w []float32, n, h, wd, in, out int) []float64 {
	y := make([]float64, n*h*wd*out)
	at := func(img, r, c, k int) float64 {
		if r < 0 || r >= h || c < 0 || c >= wd {
			return 0
		}
		return float64(x[((img*h+r)*wd+c)*in+k])
	}
	for img := range n {
		for r := range h {
			for c := range wd {
				for tap := range 9 {
					for k := range in {
						v := at(img, r+tap/3-1, c+tap%3-1, k)
						for o := range out {
							y[((img*h+r)*wd+c)*out+o] += v * float64(w[(tap*in+k)*out+o])
						}
					}
				}
			}
		}
	}
	return y
}

type convShape struct{ n, h, w, in, out int }

var convShapes = []convShape{
	{1, 1, 1, 1, 1}, {2, 1, 5, 3, 7}, {1, 7, 1, 4, 16}, {2, 3, 3, 8, 33}, {1, 13, 15, 3, 31}, {3, 5, 6, 17, 8},
	{2, 8, 8, 16, 32}, {1, 7, 7, 64, 64}, {2, 14, 14, 64, 80}, {1, 17, 16, 32, 48}, {1, 4, 4, 255, 15}, {2, 6, 6, 7, 13}, {1, 31, 33, 1, 20},
	{15, 4, 8, 16, 16}, {1, 4, 4, 1040, 16},
}

// eachConv runs a test for every path, shape and algorithm.
func eachConv(t *testing.T, f func(t *testing.T, r *rand.Rand, s convShape, algo Algorithm)) {
	eachPath(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 7))
		for _, s := range convShapes {
			if Slow() && s.n*s.h*s.w*s.in*s.out > 2e5 {
				continue
			}
			for _, algo := range []Algorithm{Direct, Winograd} {
				f(t, r, s, algo)
			}
		}
	})
}

func TestConvForward(t *testing.T) {
	eachConv(t, func(t *testing.T, r *rand.Rand, s convShape, algo Algorithm) {
		x, w, bias := random(r, s.n*s.h*s.w*s.in), random(r, 9*s.in*s.out), random(r, s.out)
		sums := convOracle(x, w, s.n, s.h, s.w, s.in, s.out)
		c := NewConv(w, s.in, s.out, algo)
		for _, e := range []Epilogue[float32]{{}, {Bias: bias}, {ReLU: true}, {Add: true}, {Add: true, Bias: bias, ReLU: true}} {
			name := fmt.Sprintf("%+v algorithm %d add %t bias %t relu %t", s, algo, e.Add, e.Bias != nil, e.ReLU)
			y, check := guarded(t, r, len(sums))
			want := append([]float64(nil), sums...)
			for i := range want {
				if e.Add {
					want[i] += float64(y[i])
				}
				if e.Bias != nil {
					want[i] += float64(bias[i%s.out])
				}
				if e.ReLU {
					want[i] = max(0, want[i])
				}
			}
			c.Forward(y, x, s.n, s.h, s.w, e)
			near(t, name, y, want, 2e-5)
			check(name)
		}
	})
}

// <conv(x), y> = <x, adjoint(y)>, and the gradient of the weights is the adjoint of
// the map from weights to outputs.
func TestConvAdjoint(t *testing.T) {
	eachConv(t, func(t *testing.T, r *rand.Rand, s convShape, algo Algorithm) {
		x, w := random(r, s.n*s.h*s.w*s.in), random(r, 9*s.in*s.out)
		dy := random(r, s.n*s.h*s.w*s.out)
		c := NewConv(w, s.in, s.out, algo)
		y := make([]float32, len(dy))
		c.Forward(y, x, s.n, s.h, s.w, Epilogue[float32]{})
		want := inner(y, dy)
		tol := 1e-5 * math.Sqrt(inner(y, y)*inner(dy, dy))
		for _, add := range []bool{false, true} {
			dx, check := guarded(t, r, len(x))
			dw, checkW := guarded(t, r, len(w))
			start, startW := 0.0, 0.0
			if add {
				start, startW = inner(dx, x), inner(dw, w)
			}
			c.BackwardInput(dx, dy, s.n, s.h, s.w, add)
			check("BackwardInput")
			if got := inner(dx, x) - start; math.Abs(got-want) > tol {
				t.Errorf("%+v algorithm %d add %t: <x, A'y> = %v, <Ax, y> = %v", s, algo, add, got, want)
			}
			ConvBackwardWeights(dw, x, dy, s.n, s.h, s.w, s.in, s.out, add)
			checkW("ConvBackwardWeights")
			if got := inner(dw, w) - startW; math.Abs(got-want) > tol {
				t.Errorf("%+v add %t: <w, A'y> = %v, <Aw, y> = %v", s, add, got, want)
			}
		}
	})
}

// Each entry of the gradients agrees with the float64 loops, and the loops agree with the oracle.
func TestConvBackward(t *testing.T) {
	eachConv(t, func(t *testing.T, r *rand.Rand, s convShape, algo Algorithm) {
		x, w, dy := random(r, s.n*s.h*s.w*s.in), random(r, 9*s.in*s.out), random(r, s.n*s.h*s.w*s.out)
		y64 := make([]float64, len(dy))
		c64 := NewConv(widen(w), s.in, s.out, algo)
		c64.Forward(y64, widen(x), s.n, s.h, s.w, Epilogue[float64]{})
		for i, want := range convOracle(x, w, s.n, s.h, s.w, s.in, s.out) {
			if math.Abs(y64[i]-want) > 1e-10*math.Sqrt(float64(9*s.in)) {
				t.Fatalf("%+v: float64 loops at %d give %v, want %v", s, i, y64[i], want)
			}
		}
		dx64, dw64 := make([]float64, len(x)), make([]float64, len(w))
		c64.BackwardInput(dx64, widen(dy), s.n, s.h, s.w, false)
		ConvBackwardWeights(dw64, widen(x), widen(dy), s.n, s.h, s.w, s.in, s.out, false)
		dx, dw := random(r, len(x)), random(r, len(w))
		NewConv(w, s.in, s.out, algo).BackwardInput(dx, dy, s.n, s.h, s.w, false)
		ConvBackwardWeights(dw, x, dy, s.n, s.h, s.w, s.in, s.out, false)
		near(t, fmt.Sprintf("%+v algorithm %d dx", s, algo), dx, dx64, 2e-5)
		near(t, fmt.Sprintf("%+v dw", s), dw, dw64, 1e-5)
	})
}

func TestConvSet(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	const n, h, w, ch = 2, 8, 8, 64
	w1, w2, x := random(r, 9*ch*ch), random(r, 9*ch*ch), random(r, n*h*w*ch)
	for _, algo := range []Algorithm{Direct, Winograd} {
		c := NewConv(w1, ch, ch, algo)
		a, b := make([]float32, len(x)), make([]float32, len(x))
		run := func(c *Conv[float32]) uint64 {
			c.Forward(a, x, n, h, w, Epilogue[float32]{})
			c.BackwardInput(b, x, n, h, w, false)
			return digest(a, b)
		}
		first := run(c)
		c.Set(w2)
		second := run(c)
		if first == second || second != run(NewConv(w2, ch, ch, algo)) {
			t.Errorf("algorithm %d: results do not change after Set", algo)
		}
	}
}

// A result does not depend on the other images of the batch, for any algorithm.
func TestConvBatch(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, s := range []convShape{{20, 8, 8, 64, 64}, {20, 7, 7, 16, 40}, {5, 12, 12, 3, 64}} {
		x, dy := random(r, s.n*s.h*s.w*s.in), random(r, s.n*s.h*s.w*s.out)
		c := NewConv(random(r, 9*s.in*s.out), s.in, s.out, Auto)
		y, dx := make([]float32, len(dy)), make([]float32, len(x))
		c.Forward(y, x, s.n, s.h, s.w, Epilogue[float32]{})
		c.BackwardInput(dx, dy, s.n, s.h, s.w, false)
		for _, i := range []int{0, 3, s.n - 1} {
			in, out := s.h*s.w*s.in, s.h*s.w*s.out
			y1, dx1 := make([]float32, out), make([]float32, in)
			c.Forward(y1, x[i*in:(i+1)*in], 1, s.h, s.w, Epilogue[float32]{})
			c.BackwardInput(dx1, dy[i*out:(i+1)*out], 1, s.h, s.w, false)
			if digest(y1) != digest(y[i*out:(i+1)*out]) || digest(dx1) != digest(dx[i*in:(i+1)*in]) {
				t.Errorf("%+v: image %d alone differs", s, i)
			}
		}
	}
}

// Both algorithms reach the accuracy that Algorithm documents.
func TestConvAccuracy(t *testing.T) {
	if Slow() {
		t.Skip("takes minutes without vector instructions")
	}
	r := rand.New(rand.NewPCG(6, 6))
	s := convShape{1, 16, 16, 256, 64}
	x, w := random(r, s.n*s.h*s.w*s.in), random(r, 9*s.in*s.out)
	want := convOracle(x, w, s.n, s.h, s.w, s.in, s.out)
	for algo, limit := range map[Algorithm]float64{Direct: 1e-6, Winograd: 4e-6} {
		y := make([]float32, len(want))
		NewConv(w, s.in, s.out, algo).Forward(y, x, s.n, s.h, s.w, Epilogue[float32]{})
		sum, norm := 0.0, 0.0
		for i, v := range want {
			sum, norm = sum+(float64(y[i])-v)*(float64(y[i])-v), norm+v*v
		}
		rms := math.Sqrt(sum / norm)
		t.Logf("algorithm %d: relative rms error %.2g", algo, rms)
		if rms > limit {
			t.Errorf("algorithm %d: relative rms error %.2g, want at most %.2g", algo, rms, limit)
		}
	}
}

func TestConvSpecial(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(4, 4))
		const h, w, ch = 9, 9, 16
		for _, algo := range []Algorithm{Direct, Winograd} {
			x := random(r, 2*h*w*ch)
			x[(4*w+4)*ch+3] = float32(math.NaN())
			y := make([]float32, len(x))
			NewConv(random(r, 9*ch*ch), ch, ch, algo).Forward(y, x, 2, h, w, Epilogue[float32]{ReLU: true})
			for p := range 2 * h * w {
				nan := math.IsNaN(float64(y[p*ch]))
				touches := p/w >= 3 && p/w <= 5 && p%w >= 3 && p%w <= 5
				if touches && !nan {
					t.Errorf("algorithm %d: NaN does not reach pixel %d", algo, p)
				}
				// Winograd may spread a NaN over the tiles that read the pixel, but no further.
				if nan && !touches && (algo == Direct || p >= h*w || p/w > 7 || p%w > 7) {
					t.Errorf("algorithm %d: NaN reaches pixel %d", algo, p)
				}
			}
		}
	})
}

func TestAuto(t *testing.T) {
	for _, c := range []struct {
		h, w, in, out int
		want          bool
	}{
		{16, 16, 256, 256, true}, {4, 4, 64, 64, true}, {7, 7, 128, 128, true},
		{3, 4, 64, 64, false}, {4, 3, 64, 64, false}, {8, 8, 48, 64, false}, {8, 8, 64, 48, false},
		{8, 8, 72, 64, false}, {8, 8, 64, 72, false}, {32, 32, 3, 256, false},
	} {
		if got := suitsWinograd(c.h, c.w, c.in, c.out); got != c.want {
			t.Errorf("%+v: got %t", c, got)
		}
	}
	r := rand.New(rand.NewPCG(3, 3))
	w, x := random(r, 9*64*64), random(r, 5*5*64)
	run := func(algo Algorithm) uint64 {
		y := make([]float32, 5*5*64)
		NewConv(w, 64, 64, algo).Forward(y, x, 1, 5, 5, Epilogue[float32]{})
		return digest(y)
	}
	if run(Auto) != run(Winograd) || run(Auto) == run(Direct) {
		t.Error("Auto does not choose Winograd for 64 channels")
	}
}

// A Conv that was first used on one path still works on another.
func TestConvPathChange(t *testing.T) {
	before := Path()
	defer Use(before)
	r := rand.New(rand.NewPCG(3, 4))
	c := NewConv(random(r, 9*64*64), 64, 64, Auto)
	big, small := random(r, 8*8*64), random(r, 3*3*64)
	y, z := make([]float32, len(big)), make([]float32, len(small))
	run := func() uint64 {
		c.Forward(y, big, 1, 8, 8, Epilogue[float32]{})
		c.Forward(z, small, 1, 3, 3, Epilogue[float32]{})
		c.BackwardInput(big, y, 1, 8, 8, false)
		return digest(y, z)
	}
	x := append([]float32(nil), big...)
	c.Forward(y, x, 1, 8, 8, Epilogue[float32]{}) // builds only the layout for Forward
	for _, path := range Paths() {
		Use(path)
		copy(big, x)
		if got, want := run(), func() uint64 {
			copy(big, x)
			c = NewConv(c.w, 64, 64, Auto)
			return run()
		}(); got != want {
			t.Errorf("on %s: results differ from those of a new Conv", path)
		}
	}
}

func TestConvPanics(t *testing.T) {
	c := NewConv(make([]float32, 9*2*3), 2, 3, Auto)
	s := func(n int) []float32 { return make([]float32, n) }
	panics(t, "tensor: NewConv: weights do not fit the channels", func() { NewConv(s(53), 2, 3, Auto) })
	panics(t, "tensor: NewConv: unknown algorithm", func() { NewConv(s(54), 2, 3, 9) })
	panics(t, "tensor: Conv.Set: weights do not fit the channels", func() { c.Set(s(55)) })
	panics(t, "tensor: Conv.Forward: shapes do not fit", func() { c.Forward(s(12), s(7), 1, 2, 2, Epilogue[float32]{}) })
	panics(t, "tensor: Conv.Forward: shapes do not fit", func() { c.Forward(s(12), s(8), 1, 2, 2, Epilogue[float32]{Bias: s(2)}) })
	panics(t, "tensor: Conv.BackwardInput: shapes do not fit", func() { c.BackwardInput(s(8), s(11), 1, 2, 2, false) })
	panics(t, "tensor: ConvBackwardWeights: shapes do not fit", func() { ConvBackwardWeights(s(54), s(8), s(11), 1, 2, 2, 2, 3, false) })
}
