package dgkip

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/optim"
	"dgkip/harness/rng"
	"dgkip/harness/space"
	"dgkip/harness/teacher"
	"dgkip/harness/tensor"
)

// BenchmarkUpdate times updates of full size on images of CIFAR-10's shape, with random images and a
// random Theta_O. It reports the share of an update that is spent outside the networks.
func BenchmarkUpdate(b *testing.B) {
	for _, kind := range []string{"fc", "conv"} {
		for _, name := range []string{"lr", "ls", "pred"} {
			for _, ipc := range []int{1, 10, 50} {
				b.Run(fmt.Sprintf("%s/%s/ipc%d", kind, name, ipc), func(b *testing.B) { benchmarkUpdate(b, kind, name, ipc) })
			}
		}
	}
}

// networks are shared by all benchmarks, because drawing them takes longer than an update.
var networks = new(method.Shared)

// beside is a pass with views of real images that have random features.
type beside struct {
	space.Pass
	real tensor.Mat[float32]
}

func (p beside) View(update int, gradient bool, _ []int) convex.View {
	v := p.Pass.View(update, gradient, nil).(convex.Features)
	v.Real = p.real
	return v
}

func benchmarkUpdate(b *testing.B, kind, name string, ipc int) {
	const size, reals = 32 * 32 * 3, 10000
	model, _ := method.DefaultModel(kind)
	s := rng.Stream(2, "bench")
	n, dim := 2*ipc, space.Dim(model, 32, 32)
	theta := &teacher.Theta{Model: space.Model{Weights: tensor.NewMat[float64](1, dim)}}
	for i := range theta.Weights.Data {
		theta.Weights.Data[i] = s.Normal64()
	}
	theta.Norm = convex.Norm(theta.Weights)
	r := &run{
		theta: theta, lambda: float64(n) * 1e-6, norm: theta.Norm,
	}
	move := optim.NewVariable("images", make([]float32, n*size), optim.AdaBelief(0.01, 0.9, 0.999))
	r.images, r.dx = move.X, move.Grad
	s.FillNormal(r.images, 0, 1)
	var real tensor.Mat[float32]
	switch name {
	case "lr":
		for i := range n {
			r.of = append(r.of, i%2)
		}
		r.learned, r.dlearned = teacher.Signs(r.of, 2), tensor.NewMat[float64](n, 1)
		o := gapOf(r, "gain")
		o.log = true
		r.obj = o
	case "ls":
		r.obj = &solved{named: convex.LogisticLoss, theta: theta, lambda: r.lambda, match: matchWeights}
	case "pred":
		real = tensor.NewMat[float32](reals, dim)
		s.FillNormal(real.Data, 0, 1/float32(math.Sqrt(float64(dim))))
		theta.Outputs = convex.Apply(real, theta.Weights)
		r.obj = &solved{named: convex.LogisticLoss, theta: theta, lambda: r.lambda, match: matchOutputs}
	}
	source := space.Source{Data: &method.Data{Name: "bench", Train: method.Images{H: 32, W: 32, C: 3}}, Model: model, Seed: 1, Shared: networks}
	pass, err := source.Space().Learn(context.Background(), r.images, &theta.Model, false)
	if err != nil {
		b.Fatal(err)
	}
	r.pass = beside{pass, real}
	outside := time.Duration(0)
	update := func() {
		if _, err := r.eval(context.Background(), 0, true); err != nil {
			b.Fatal(err)
		}
		r.pass.Back(r.dx)
		from := time.Now()
		move.Step(1)
		outside += time.Since(from)
	}
	update()
	outside = 0
	b.ResetTimer()
	for range b.N {
		update()
	}
	b.ReportMetric(100*outside.Seconds()/b.Elapsed().Seconds(), "%outside")
}
