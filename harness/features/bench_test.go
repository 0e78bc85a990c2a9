package features

import (
	"context"
	"fmt"
	"testing"

	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// benchMaps are the published maps on CIFAR-10 and MNIST sized images.
var benchMaps = []struct {
	name string
	cfg  Config
}{
	{"conv-cifar", Config{Kind: "conv", H: 32, W: 32, C: 3}},
	{"conv-mnist", Config{Kind: "conv", H: 28, W: 28, C: 1}},
	{"fc-cifar", Config{Kind: "fc", H: 32, W: 32, C: 3}},
	{"fc-mnist", Config{Kind: "fc", H: 28, W: 28, C: 1}},
}

func bench(b *testing.B, run func(p *Pass, phi, dphi tensor.Mat[float32], x, dx []float32)) {
	for _, c := range benchMaps {
		b.Run(c.name, func(b *testing.B) {
			m, err := New(c.cfg, 1)
			if err != nil {
				b.Fatal(err)
			}
			for _, n := range []int{2, 20, 100} {
				b.Run(fmt.Sprintf("n%d", n), func(b *testing.B) {
					s := rng.Stream(1, "bench")
					x, dx := make([]float32, n*m.in), make([]float32, n*m.in)
					phi, dphi := tensor.NewMat[float32](n, m.Dim()), tensor.NewMat[float32](n, m.Dim())
					s.FillNormal(x, 0, 1)
					s.FillNormal(dphi.Data, 0, 1)
					p := m.NewPass()
					run(p, phi, dphi, x, dx)
					b.ResetTimer()
					for range b.N {
						run(p, phi, dphi, x, dx)
					}
					b.ReportMetric(1e3*b.Elapsed().Seconds()/float64(b.N), "ms/update")
				})
			}
		})
	}
}

// BenchmarkFeatures times the features of a small set.
func BenchmarkFeatures(b *testing.B) {
	bench(b, func(p *Pass, phi, _ tensor.Mat[float32], x, _ []float32) {
		if err := p.m.Features(context.Background(), phi, x, nil); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkFeatureGrad times an update of the images: features and their gradient.
func BenchmarkFeatureGrad(b *testing.B) {
	bench(b, func(p *Pass, phi, dphi tensor.Mat[float32], x, dx []float32) {
		p.Forward(phi, x)
		p.Backward(dx, dphi)
	})
}
