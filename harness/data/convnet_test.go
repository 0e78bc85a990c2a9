package data_test

import (
	"context"
	"flag"
	"testing"
	"time"

	"dgkip/harness/data"
	"dgkip/harness/nn"
	"dgkip/harness/rng"
)

var slow = flag.Bool("slow", false, "run the tests that take minutes")

// TestConvNet trains a small ConvNet on the built-in sets: all images must do,
// one image of each class must not.
func TestConvNet(t *testing.T) {
	if !*slow {
		t.Skip("SKIPPED: trains networks; -slow runs it")
	}
	for _, name := range data.Names() {
		if info, err := data.Describe(name); err != nil || !info.BuiltIn {
			continue
		}
		start := time.Now()
		ctx := context.Background()
		s, err := data.Load(ctx, name, nil, data.Options{})
		if err != nil {
			t.Fatal(err)
		}
		tr, err := data.Fit(ctx, "", s)
		if err != nil {
			t.Fatal(err)
		}
		x, _ := tr.Apply(ctx, s.Train.Images)
		xt, _ := tr.Apply(ctx, s.Test.Images)
		whole := train(t, s, x, s.Train.Labels, xt, 6, 50)
		one, d, n := 0.0, s.Dim(), len(s.Classes)
		const draws = 3
		for k := range draws { // image i is of class i mod n
			from, to := 7*k*n, (7*k+1)*n
			one += train(t, s, x[from*d:to*d], s.Train.Labels[from:to], xt, 60, n) / draws
		}
		t.Logf("%s: whole set %.3f, one image a class %.3f, in %v", name, whole, one, time.Since(start).Round(time.Millisecond))
		if whole < 0.97 {
			t.Errorf("%s: the whole set gives %.3f", name, whole)
		}
		if chance := 1 / float64(n); one > chance+0.8*(1-chance) {
			t.Errorf("%s: one image a class gives %.3f", name, one)
		}
	}
}

// train returns the test accuracy of a network trained by gradient descent with
// momentum.
func train(t *testing.T, s *data.Set, x []float32, labels []int, xt []float32, epochs, batch int) float64 {
	t.Helper()
	net, err := nn.ConvNet[float32](nn.ConvConfig{In: s.Ch, H: s.H, W: s.W, Width: 16, Norm: true, Classes: len(s.Classes)})
	if err != nil {
		t.Fatal(err)
	}
	r, d, n := rng.Stream(1, "convnet"), s.Dim(), len(s.Classes)
	theta := make([]float32, net.Params())
	net.InitUniform(theta, r)
	grad, speed := make([]float32, len(theta)), make([]float32, len(theta))
	images, targets := make([]float32, batch*d), make([]float32, n*batch)
	pass := net.NewPass()
	for epoch := range epochs {
		rate := float32(0.03)
		if epoch >= 2*epochs/3 {
			rate = 0.005
		}
		order := r.Perm(len(labels))
		for ; len(order) >= batch; order = order[batch:] {
			clear(targets)
			for i, k := range order[:batch] {
				copy(images[i*d:(i+1)*d], x[k*d:])
				targets[n*i+labels[k]] = 1
			}
			pass.Loss(theta, images, targets, batch)
			pass.Gradient(nn.Grad[float32]{Theta: grad})
			for i, g := range grad {
				speed[i] = 0.9*speed[i] + g
				theta[i] -= rate * speed[i]
			}
		}
	}
	return 1 - float64(pass.Errors(theta, xt, s.Test.Labels))/float64(s.Test.Len())
}
