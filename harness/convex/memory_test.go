//go:build !race

// With the race detector, pools drop what they hold, and memory is not what it is.

package convex

import (
	"context"
	"math"
	"runtime"
	"testing"

	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// A solver takes as much memory as SolverBytes says: what it keeps from step to step, or,
// where a step makes its matrices anew, what it allocates between two reports.
func TestSolverBytes(t *testing.T) {
	for name, c := range map[string]struct {
		loss          Loss
		n, m, classes int
		anew          bool
	}{
		"Gram matrix":            {LogisticLoss, 1500, 2600, 2, false},
		"Gram matrix, squared":   {SquaredLoss, 1500, 600, 2, false},
		"Gram matrix and factor": {HingeLoss, 1500, 2600, 2, false},
		"thin, logistic":         {LogisticLoss, 1500, 300, 2, true},
		"thin, hinge":            {HingeLoss, 1500, 300, 2, true},
		"stored":                 {SoftmaxLoss, 1500, 600, 3, false},
		"thin, softmax":          {SoftmaxLoss, 600, 200, 10, true},
	} {
		r := rng.Stream(1, "memory")
		p := Problem{Lambda: float64(c.n) * 1e-4, Features: tensor.NewMat[float32](c.n, c.m)}
		r.FillNormal(p.Features.Data, 0, 1/float32(math.Sqrt(float64(c.m))))
		outputs := 1
		if c.loss == SoftmaxLoss {
			outputs = c.classes
		}
		p.Labels = Labels{Form: map[Loss]Form{SquaredLoss: Value, SoftmaxLoss: Target}[c.loss], Loss: c.loss, Values: tensor.NewMat[float64](c.n, outputs)}
		if p.Labels.Form == "" {
			p.Labels.Form = Gain
		}
		for i := range c.n {
			if of := r.IntN(c.classes); outputs > 1 {
				p.Labels.Values.Row(i)[of] = 1
			} else {
				p.Labels.Values.Row(i)[0] = float64(2*of - 1)
			}
		}
		var before, now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		kept, made := 0.0, 0.0
		last := before.TotalAlloc
		p.Report = func(float64) {
			runtime.ReadMemStats(&now)
			made = max(made, float64(now.TotalAlloc-last))
			runtime.GC()
			runtime.GC() // the first leaves what pools hold
			runtime.ReadMemStats(&now)
			last = now.TotalAlloc
			kept = max(kept, float64(now.HeapAlloc)-float64(before.HeapAlloc))
		}
		if _, err := Solve(context.Background(), p, 0.05); err != nil {
			t.Fatal(name, err)
		}
		got := kept
		if c.anew {
			got = made
		}
		if want := float64(SolverBytes(c.loss, c.n, c.m, c.classes)); got < 0.8*want || got > 1.25*want {
			t.Errorf("%s: takes %.3g bytes, and is said to take %.3g", name, got, want)
		}
		runtime.KeepAlive(p.Features.Data)
	}
}
