package dsa

import (
	"context"
	"fmt"
	"testing"

	"dgkip/baselines/dc"
	"dgkip/harness/method"
	"dgkip/harness/rng"
)

// BenchmarkUpdate times updates of DC and DSA at full size on random images, without the training of
// the network.
func BenchmarkUpdate(b *testing.B) {
	const n, h, w, c = 1024, 32, 32, 3
	train := method.Images{H: h, W: w, C: c, X: make([]float32, n*h*w*c)}
	rng.Stream(1).FillNormal(train.X, 0, 1)
	for i := range n {
		train.Labels = append(train.Labels, i%2)
	}
	for _, name := range []string{"dc", "dsa"} {
		for _, kind := range []string{"fc", "conv"} {
			for _, ipc := range []int{1, 10, 50} {
				b.Run(fmt.Sprintf("%s %s ipc %d", name, kind, ipc), func(b *testing.B) { update(b, name, kind, ipc, train) })
			}
		}
	}
}

func update(b *testing.B, name, kind string, ipc int, train method.Images) {
	model, _ := method.DefaultModel(kind)
	dsa := defaults()
	dsa.Iterations, dsa.Outer = 1+b.N, 1 // a new network for each update, and no training
	var m method.Method = dsa
	if name == "dc" {
		settings := dc.Defaults()
		settings.Iterations, settings.Outer = dsa.Iterations, dsa.Outer
		m = &dc.DC{Settings: settings}
	}
	p := method.Problem{Data: &method.Data{Classes: []string{"a", "b"}, Train: train}, IPC: ipc, Model: model}
	done := 0
	p.Begin = func() {
		if done > 0 { // the first update allocates memory
			b.StartTimer()
		}
	}
	b.StopTimer()
	b.ResetTimer()
	if _, err := m.Distill(context.Background(), p, func(s method.Step) { b.StopTimer(); done = s.Update }); err != nil {
		b.Fatal(err)
	}
}
