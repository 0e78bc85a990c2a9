package all

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"dgkip/harness/method"
	"dgkip/harness/method/methodtest"
	"dgkip/harness/rng"
)

// BenchmarkUpdate times updates at full size on random images, without the work between updates,
// such as training a network.
func BenchmarkUpdate(b *testing.B) {
	const n, h, w, c = 1024, 32, 32, 3
	data := &method.Data{Name: "random", Classes: []string{"a", "b"}, Train: method.Images{H: h, W: w, C: c, X: methodtest.Normal[float32](rng.Stream(1), n*h*w*c, 1)}}
	for i := range n {
		data.Train.Labels = append(data.Train.Labels, i%2)
	}
	for _, kind := range []string{"fc", "conv"} {
		shared := new(method.Shared) // for one kind only, so that the features of the other can be freed
		for _, name := range []string{"dgkip-lr", "dgkip-ls", "kip", "dd", "dc", "dsa"} {
			for _, ipc := range []int{1, 10, 50} {
				b.Run(fmt.Sprintf("%s/%s/ipc%d", kind, name, ipc), func(b *testing.B) {
					model, _ := method.DefaultModel(kind)
					benchmark(b, name, method.Problem{Data: data, IPC: ipc, Model: model, Shared: shared})
				})
			}
		}
	}
}

// benchmark runs a method for one update more than it times, as the first one allocates memory.
func benchmark(b *testing.B, name string, p method.Problem) {
	m := method.New(name)
	for field, value := range map[string]int{"Updates": 1 + b.N, "Iterations": 1 + b.N, "Outer": 1} {
		if f := reflect.ValueOf(m).Elem().FieldByName(field); f.IsValid() {
			f.SetInt(int64(value))
		}
	}
	begins, warm := false, false
	resume := func() {
		if warm {
			b.StartTimer()
		}
	}
	p.Begin = func() { begins = true; resume() }
	b.StopTimer()
	if _, err := m.Distill(context.Background(), p, func(s method.Step) {
		b.StopTimer()
		if warm = s.Update > 0; !begins && s.Update < s.Of {
			resume()
		}
	}); err != nil {
		b.Fatal(err)
	}
}
