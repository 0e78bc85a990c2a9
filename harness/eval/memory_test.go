package eval

import (
	"runtime"
	"testing"

	"dgkip/harness/method"
	"dgkip/harness/nn"
)

// held returns the bytes that a function's result keeps.
func held[T any](make func() T) float64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	v := make()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(v)
	return float64(after.HeapAlloc) - float64(before.HeapAlloc)
}

// What the estimates of trained networks have beyond those of smaller batches is what a
// pass of a step, or of a batch of test images, keeps.
func TestEstimatesCountPasses(t *testing.T) {
	s := method.Sizes{Train: 1000, Test: 500, Classes: 2, H: 32, W: 32, C: 3, IPC: 50, Model: method.Model{Kind: "conv", Width: 32, Depth: 3}}
	n := method.NewProtocol("network").(*Network)
	net, err := n.Net(s.Model, s.H, s.W, s.C, s.Classes)
	if err != nil {
		t.Fatal(err)
	}
	pass := func(images int) float64 {
		theta, x, targets := make([]float32, net.Params()), make([]float32, images*net.Inputs()), make([]float32, 2*images)
		g := make([]float32, net.Params())
		return held(func() *nn.Pass[float32] {
			p := net.NewPass()
			p.Loss(theta, x, targets, images)
			p.Gradient(nn.Grad[float32]{Theta: g})
			return p
		})
	}
	bytes := func(e method.Estimator, ipc, test int) float64 {
		s := s
		s.IPC, s.Test = ipc, test
		return float64(e.Estimate(s).Bytes) - float64(4*s.H*s.W*s.C*test)
	}
	small := *n
	small.Batch = 10
	for what, c := range map[string]struct{ more, want float64 }{
		"images of a step":         {bytes(n, 50, 1) - bytes(&small, 50, 1), pass(100) - pass(10)},
		"no more than there are":   {bytes(n, 5, 1) - bytes(&small, 50, 1), 0},
		"test images":              {bytes(&small, 5, 500) - bytes(&small, 5, 1), pass(nn.ErrorsBatch) - pass(10)},
		"test images, unrolled":    {bytes(&Unrolled{Nets: 1}, 50, 500) - bytes(&Unrolled{Nets: 1}, 50, 1), pass(nn.ErrorsBatch) - pass(10)},
		"images of unrolled steps": {bytes(&Unrolled{Nets: 1}, 500, 1) - bytes(&Unrolled{Nets: 1}, 50, 1), pass(100) - pass(10)},
	} {
		if c.more < 0.8*c.want || c.more > 1.25*c.want {
			t.Errorf("%s: %.3g bytes more, and they take %.3g", what, c.more, c.want)
		}
	}
}

// Every protocol holds the real images, once, also those that do not look at them.
func TestEstimatesCountImagesOnce(t *testing.T) {
	s := method.Sizes{Train: 1000, Test: 500, Classes: 2, H: 16, W: 16, C: 3, IPC: 10, Model: method.Model{Kind: "fc", Width: 8, Depth: 1, Nets: 2}}
	more := s
	more.Train += 1000
	for name, e := range map[string]method.Estimator{
		"features": &Features{Loss: "own"}, "fresh": &Fresh{Draws: 4}, "network": &Network{Batch: 256}, "unrolled": &Unrolled{},
	} {
		images := held(func() []float32 { return make([]float32, 1000*s.H*s.W*s.C) })
		if got := float64(e.Estimate(more).Bytes - e.Estimate(s).Bytes); got < 0.95*images || got > 1.05*images {
			t.Errorf("%s: %.0f bytes more for images of %.0f", name, got, images)
		}
	}
}

// Features are made by networks, of every draw its own. Another layer is 512x512 weights.
func TestEstimatesCountWeights(t *testing.T) {
	s := method.Sizes{Train: 1000, Test: 500, Classes: 2, H: 16, W: 16, C: 3, IPC: 10, Model: method.Model{Kind: "fc", Width: 512, Depth: 1, Nets: 2}}
	deep := s
	deep.Model.Depth++
	layer := held(func() []float32 { return make([]float32, 2*512*512) })
	for _, c := range []struct {
		e    method.Estimator
		maps float64
	}{{&Features{Loss: "own"}, 1}, {&Features{Loss: "own", Bounds: true}, 1}, {&Fresh{Draws: 4}, 5}} {
		if got, want := float64(c.e.Estimate(deep).Bytes-c.e.Estimate(s).Bytes), c.maps*layer; got < 0.95*want || got > 1.05*want {
			t.Errorf("%+v: %.0f bytes more for layers of %.0f", c.e, got, want)
		}
	}
}
