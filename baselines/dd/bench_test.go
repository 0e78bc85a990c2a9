package dd

import (
	"fmt"
	"testing"

	"dgkip/harness/method"
	"dgkip/harness/rng"
)

// BenchmarkUpdate times updates at full size on random images.
func BenchmarkUpdate(b *testing.B) {
	const n, h, w, c = 2048, 32, 32, 3
	train := method.Images{H: h, W: w, C: c, X: make([]float32, n*h*w*c)}
	rng.Stream(1).FillNormal(train.X, 0, 1)
	for i := range n {
		train.Labels = append(train.Labels, i%2)
	}
	for _, kind := range []string{"fc", "conv"} {
		for _, ipc := range []int{1, 10, 50} {
			b.Run(fmt.Sprintf("%s ipc %d", kind, ipc), func(b *testing.B) {
				model, _ := method.DefaultModel(kind)
				m := defaults()
				r, err := m.newRun(method.Problem{Data: &method.Data{Classes: []string{"a", "b"}, Train: train}, IPC: ipc, Model: model})
				if err != nil {
					b.Fatal(err)
				}
				for done := 0; b.Loop(); done++ {
					update(b, r, done)
				}
			})
		}
	}
}
