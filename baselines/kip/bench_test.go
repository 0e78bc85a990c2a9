package kip

import (
	"context"
	"fmt"
	"testing"

	"dgkip/harness/method"
	"dgkip/harness/rng"
)

// BenchmarkUpdate times updates at full size on random images, whose features are
// computed before.
func BenchmarkUpdate(b *testing.B) {
	const n, h, w, c = 512, 32, 32, 3
	train := method.Images{H: h, W: w, C: c, X: make([]float32, n*h*w*c)}
	rng.Stream(1).FillNormal(train.X, 0, 1)
	for i := range n {
		train.Labels = append(train.Labels, i%2)
	}
	for _, kind := range []string{"fc", "conv"} {
		shared := new(method.Shared) // for one kind only, so that the features of the other can be freed
		for _, ipc := range []int{1, 10, 50} {
			b.Run(fmt.Sprintf("%s ipc %d", kind, ipc), func(b *testing.B) {
				model, _ := method.DefaultModel(kind)
				m := defaults()
				p := method.Problem{Data: &method.Data{Classes: []string{"a", "b"}, Train: train}, IPC: ipc, Model: model, Shared: shared}
				r, err := m.newRun(context.Background(), p)
				if err != nil {
					b.Fatal(err)
				}
				update := func() {
					if _, err := r.eval(context.Background(), 0, true); err != nil {
						b.Fatal(err)
					}
					if _, err := r.gradient(context.Background(), 0); err != nil {
						b.Fatal(err)
					}
					for _, v := range r.variables {
						v.Step(1)
					}
				}
				update() // the first update allocates memory
				for b.Loop() {
					update()
				}
			})
		}
	}
}
