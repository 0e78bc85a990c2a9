package nn

import (
	"fmt"
	"testing"

	"dgkip/harness/rng"
)

func BenchmarkStep(b *testing.B) {
	type config struct {
		norm     bool
		width, n int
	}
	for _, c := range []config{{true, 128, 256}, {false, 128, 256}, {true, 256, 256}, {true, 128, 10}, {true, 128, 2}} {
		net := must(ConvNet[float32](Shape{Kind: "conv", Width: c.width, Depth: 3, Norm: c.norm}, 32, 32, 3, 2))
		benchmarkSteps(b, fmt.Sprintf("conv%d/norm=%t/batch=%d", c.width, c.norm, c.n), net, c.n)
	}
	for _, n := range []int{256, 20} {
		benchmarkSteps(b, fmt.Sprintf("fc1024/batch=%d", n), must(FCNet[float32](3072, 1024, 3, 2)), n)
	}
}

// operations returns the nominal operations of the forward pass of an image: in all
// convolutions and products, and in the first of them.
func operations(net *Net[float32]) (all, first float64) {
	for _, l := range net.layers {
		var count int
		switch l := l.(type) {
		case *convBlock[float32]:
			count = 2 * l.h * l.w * l.weights()
		case *linear[float32]:
			count = 2 * l.inputs * l.outputs
		}
		if all += float64(count); first == 0 {
			first = all
		}
	}
	return all, first
}

// benchmarkSteps times a step of training, matching and unrolling. The rate counts the
// nominal operations of convolutions and products.
func benchmarkSteps(b *testing.B, name string, net *Net[float32], n int) {
	all, first := operations(net)
	var theta, v, x, targets []float32
	var p *Pass[float32]
	setup := func() {
		if p != nil {
			return
		}
		r := rng.Stream(1, "benchmark")
		theta, v = make([]float32, net.Params()), make([]float32, net.Params())
		net.InitUniform(theta, r)
		r.FillNormal(v, 0, 1)
		x = make([]float32, n*net.Inputs())
		r.FillNormal(x, 0, 1)
		targets = make([]float32, n*net.Classes())
		for i := range targets {
			targets[i] = 0.5
		}
		p = net.NewPass()
	}
	run := func(what string, flops float64, step func()) {
		b.Run(name+"/"+what, func(b *testing.B) {
			setup()
			step()
			b.ReportAllocs()
			for b.Loop() {
				step()
			}
			seconds := b.Elapsed().Seconds() / float64(b.N)
			b.ReportMetric(1e3*seconds, "ms/step")
			b.ReportMetric(1e-9*float64(n)*flops/seconds, "GFLOP/s")
		})
	}
	g, out := newGrad(net, n), newGrad(net, n)
	// Parameters and directions change in every step.
	nudge := func() {
		for _, t := range net.list {
			theta[t.Offset], v[t.Offset] = -theta[t.Offset], -v[t.Offset]
		}
	}
	run("gradient", 3*all-first, func() {
		nudge()
		p.Loss(theta, x, targets, n)
		p.Gradient(Grad[float32]{Theta: g.Theta})
	})
	// The tangent takes two products a layer forward (one in the first layer), and two
	// products backward.
	run("matching", 3*all-first+4*all-first, func() {
		nudge()
		p.Loss(theta, x, targets, n)
		p.Gradient(Grad[float32]{Theta: g.Theta})
		p.Tangent(Grad[float32]{Theta: v}, Grad[float32]{X: out.X, Targets: out.Targets})
	})
	run("unrolling", 3*all-first+4*all-first+2*all-first, func() {
		nudge()
		p.Loss(theta, x, targets, n)
		p.Gradient(Grad[float32]{Theta: g.Theta})
		p.Tangent(Grad[float32]{Theta: v}, out)
	})
}
