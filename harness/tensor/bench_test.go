package tensor

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Benchmarks loop to b.N, because b.Loop runs before -cpu takes effect.

// rate reports the work done since the benchmark began.
func rate(b *testing.B, flopsPerRun float64) {
	b.ReportMetric(flopsPerRun*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

// onPath runs a benchmark on the named kernels, or skips it if the processor lacks them.
func onPath(b *testing.B, path string, f func(b *testing.B)) {
	b.Run(path, func(b *testing.B) {
		before := Path()
		if err := Use(path); err != nil {
			b.Skip(err)
		}
		defer Use(before)
		f(b)
	})
}

func BenchmarkGemm(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	sizes := [][3]int{{1024, 1024, 1024}, {200, 1024, 784}, {200, 1024, 1024}, {20, 1024, 3072}, {2, 1024, 1024}}
	for _, path := range []string{"avx512", "avx2", "neon"} {
		onPath(b, path, func(b *testing.B) {
			for _, s := range sizes {
				m, n, k := s[0], s[1], s[2]
				x, w, c := MatOf(random(r, m*k), m, k), MatOf(random(r, k*n), k, n), NewMat[float32](m, n)
				b.Run(fmt.Sprintf("%dx%dx%d", m, n, k), func(b *testing.B) {
					b.ResetTimer()
					for range b.N {
						Mul(c, x, w, NN, false)
					}
					rate(b, 2*float64(m)*float64(n)*float64(k))
				})
				b.Run(fmt.Sprintf("packed/%dx%dx%d", m, n, k), func(b *testing.B) {
					p := Pack(w, NN)
					b.ResetTimer()
					for range b.N {
						MulPacked(c, x, p, nil, false)
					}
					rate(b, 2*float64(m)*float64(n)*float64(k))
				})
			}
		})
	}
}

func BenchmarkGram(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	const n, k = 2000, 8192
	for _, path := range []string{"avx512", "avx2", "neon"} {
		onPath(b, path, func(b *testing.B) {
			a, c := MatOf(random(r, n*k), n, k), NewMat[float32](n, n)
			b.Run(fmt.Sprintf("%dx%d", n, k), func(b *testing.B) {
				b.ResetTimer()
				for range b.N {
					Gram(c, a)
				}
				rate(b, n*(n+1)*k)
			})
		})
	}
}

// benchConv times one direction of a convolution with equally many input and output
// channels. For both algorithms it counts the nine taps of the definition.
func benchConv(b *testing.B, back bool) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, algo := range []struct {
		name string
		algo Algorithm
	}{{"direct", Direct}, {"winograd", Winograd}} {
		for _, s := range [][4]int{{16, 16, 256, 2}, {16, 16, 256, 14}, {16, 16, 256, 20}, {16, 16, 256, 100}, {8, 8, 256, 14}, {8, 8, 256, 100}, {14, 14, 256, 100}, {7, 7, 256, 100}, {16, 16, 128, 100}} {
			h, w, ch, n := s[0], s[1], s[2], s[3]
			b.Run(fmt.Sprintf("%s/%dx%dx%d/n%d", algo.name, h, w, ch, n), func(b *testing.B) {
				c := newConv(random(r, 9*ch*ch), convShape{n, h, w, ch, ch}, algo.algo)
				x, y := random(r, n*h*w*ch), make([]float32, n*h*w*ch)
				b.ResetTimer()
				for range b.N {
					if back {
						c.BackwardInput(y, x, n, false)
					} else {
						c.Forward(y, x, n, Epilogue[float32]{})
					}
				}
				rate(b, 2*9*float64(n*h*w*ch*ch))
			})
		}
	}
}

func BenchmarkConv(b *testing.B)              { benchConv(b, false) }
func BenchmarkConvBackwardInput(b *testing.B) { benchConv(b, true) }
func BenchmarkConvBackwardWeights(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range [][4]int{{16, 16, 256, 100}, {8, 8, 256, 100}} {
		h, w, ch, n := s[0], s[1], s[2], s[3]
		b.Run(fmt.Sprintf("%dx%dx%d/n%d", h, w, ch, n), func(b *testing.B) {
			x, dy, dw := random(r, n*h*w*ch), random(r, n*h*w*ch), make([]float32, 9*ch*ch)
			b.ResetTimer()
			for range b.N {
				ConvBackwardWeights(dw, x, dy, n, h, w, ch, ch, false)
			}
			rate(b, 2*9*float64(n*h*w*ch*ch))
		})
	}
}
