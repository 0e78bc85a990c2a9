package data_test

import (
	"context"
	"testing"
	"time"

	"dgkip/harness/data"
	"dgkip/harness/nn"
	"dgkip/harness/rng"
)

// TestConvNet trains a small ConvNet on the built-in sets: all images must do,
// one image of each class must not.
func TestConvNet(t *testing.T) {
	if testing.Short() {
		t.Skip("trains networks")
	}
	for _, name := range []string{"glyphs", "garments", "vehicles"} {
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
		one, d := 0.0, s.Dim()
		const draws = 3
		for k := range draws { // images 0, 2, ... are of class 0, the others of class 1
			one += train(t, s, x[14*k*d:(14*k+2)*d], []int{0, 1}, xt, 60, 2) / draws
		}
		t.Logf("%s: whole set %.3f, one image a class %.3f, in %v", name, whole, one, time.Since(start).Round(time.Millisecond))
		if whole < 0.97 {
			t.Errorf("%s: the whole set gives %.3f", name, whole)
		}
		if one > 0.9 {
			t.Errorf("%s: one image a class gives %.3f", name, one)
		}
	}
}

// train returns the test accuracy of a network trained by gradient descent with
// momentum.
func train(t *testing.T, s *data.Set, x []float32, labels []int, xt []float32, epochs, batch int) float64 {
	t.Helper()
	net, err := nn.ConvNet[float32](nn.ConvConfig{In: s.Ch, H: s.H, W: s.W, Width: 16, Norm: true})
	if err != nil {
		t.Fatal(err)
	}
	r, d := rng.Stream(1, "convnet"), s.Dim()
	theta := make([]float32, net.Params())
	net.InitUniform(theta, r)
	grad, speed := make([]float32, len(theta)), make([]float32, len(theta))
	images, targets := make([]float32, batch*d), make([]float32, 2*batch)
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
				targets[2*i+labels[k]] = 1
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
