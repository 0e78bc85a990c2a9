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

// newConv returns a convolution with weights w.
func newConv[F Float](w []F, s convShape, algo Algorithm) *Conv[F] {
	c := NewConv[F](s.h, s.w, s.in, s.out, algo)
	c.Set(w)
	return c
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
		c := newConv(w, s, algo)
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
			c.Forward(y, x, s.n, e)
			near(t, name, y, want, 2e-5)
			check(name)
		}
	})
}

// Each entry of the gradients agrees with the float64 loops, and the loops agree with the oracle.
func TestConvBackward(t *testing.T) {
	eachConv(t, func(t *testing.T, r *rand.Rand, s convShape, algo Algorithm) {
		x, w, dy := random(r, s.n*s.h*s.w*s.in), random(r, 9*s.in*s.out), random(r, s.n*s.h*s.w*s.out)
		y64 := make([]float64, len(dy))
		c64 := newConv(widen(w), s, algo)
		c64.Forward(y64, widen(x), s.n, Epilogue[float64]{})
		for i, want := range convOracle(x, w, s.n, s.h, s.w, s.in, s.out) {
			if math.Abs(y64[i]-want) > 1e-10*math.Sqrt(float64(9*s.in)) {
				t.Fatalf("%+v: float64 loops at %d give %v, want %v", s, i, y64[i], want)
			}
		}
		for _, add := range []bool{false, true} {
			name := fmt.Sprintf("%+v algorithm %d add %t", s, algo, add)
			dx, check := guarded(t, r, len(x))
			dw, checkW := guarded(t, r, len(w))
			dx64, dw64 := widen(dx), widen(dw)
			c64.BackwardInput(dx64, widen(dy), s.n, add)
			ConvBackwardWeights(dw64, widen(x), widen(dy), s.n, s.h, s.w, s.in, s.out, add)
			newConv(w, s, algo).BackwardInput(dx, dy, s.n, add)
			ConvBackwardWeights(dw, x, dy, s.n, s.h, s.w, s.in, s.out, add)
			near(t, name+" dx", dx, dx64, 2e-5)
			near(t, name+" dw", dw, dw64, 1e-5)
			check(name)
			checkW(name)
		}
	})
}

func TestConvSet(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	s := convShape{2, 8, 8, 64, 64}
	w1, w2, x := random(r, 9*s.in*s.out), random(r, 9*s.in*s.out), random(r, s.n*s.h*s.w*s.in)
	for _, algo := range []Algorithm{Direct, Winograd} {
		c := newConv(w1, s, algo)
		a, b := make([]float32, len(x)), make([]float32, len(x))
		run := func(c *Conv[float32]) uint64 {
			c.Forward(a, x, s.n, Epilogue[float32]{})
			c.BackwardInput(b, x, s.n, false)
			return digest(a, b)
		}
		first := run(c)
		c.Set(w2)
		second := run(c)
		if first == second || second != run(newConv(w2, s, algo)) {
			t.Errorf("algorithm %d: results do not change after Set", algo)
		}
	}
}

// A result does not depend on the other images of the batch, for any algorithm.
func TestConvBatch(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, s := range []convShape{{20, 8, 8, 64, 64}, {20, 7, 7, 16, 40}, {5, 12, 12, 3, 64}} {
		x, dy := random(r, s.n*s.h*s.w*s.in), random(r, s.n*s.h*s.w*s.out)
		c := newConv(random(r, 9*s.in*s.out), s, Auto)
		y, dx := make([]float32, len(dy)), make([]float32, len(x))
		c.Forward(y, x, s.n, Epilogue[float32]{})
		c.BackwardInput(dx, dy, s.n, false)
		for _, i := range []int{0, 3, s.n - 1} {
			in, out := s.h*s.w*s.in, s.h*s.w*s.out
			y1, dx1 := make([]float32, out), make([]float32, in)
			c.Forward(y1, x[i*in:(i+1)*in], 1, Epilogue[float32]{})
			c.BackwardInput(dx1, dy[i*out:(i+1)*out], 1, false)
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
		newConv(w, s, algo).Forward(y, x, s.n, Epilogue[float32]{})
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
		newConv(w, convShape{1, 5, 5, 64, 64}, algo).Forward(y, x, 1, Epilogue[float32]{})
		return digest(y)
	}
	if run(Auto) != run(Winograd) || run(Auto) == run(Direct) {
		t.Error("Auto does not choose Winograd for 64 channels")
	}
}
