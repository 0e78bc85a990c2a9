package kip

import (
	"math"
	"testing"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/method/methodtest"
	"dgkip/harness/tensor"
)

func TestKernelContract(t *testing.T) {
	for _, name := range []string{"learned", "solved", "batch"} {
		t.Run(name, func(t *testing.T) {
			methodtest.Run(t, func() method.Method { return variant(name, 6) }, methodtest.Options{Problem: func(p *method.Problem) {
				three(p)
				p.Model.Kind = "nngp"
			}})
		})
	}
}

func TestConvKernelContract(t *testing.T) {
	methodtest.Run(t, func() method.Method { return variant("batch", 3) }, methodtest.Options{Problem: func(p *method.Problem) { p.Model.Kind = "nngp-conv" }})
}

// With the inner products of features a regression is that of the features, and its
// gradients in these are those in the features.
func TestKernelIsThatOfFeatures(t *testing.T) {
	for _, r := range []ridge{{Jitter: 0.3}, {Fixed: 0.2}} {
		const n, size, dim, outputs = 4, 40, 9, 3
		p := newInstance(n, size, dim, outputs)
		want, dA, wantLabels := model{}, tensor.NewMat[float32](n, dim), tensor.NewMat[float64](n, outputs)
		want, err := r.fit(p.a, p.b, p.y, p.targets, &dA, wantLabels)
		if err != nil {
			t.Fatal(err)
		}
		v := convex.Kernel{K: convex.GramOf(p.a), Reals: tensor.NewMat[float32](n, size), Grad: new(convex.KernelGradient)}
		tensor.Mul(v.Reals, p.a, p.b, tensor.NT, false)
		dy := tensor.NewMat[float64](n, outputs)
		got, err := r.fitKernel(v, p.y, p.targets, dy)
		if err != nil || math.Abs(got.Loss-want.Loss) > 1e-6*want.Loss {
			t.Fatalf("loss %v, not %v (%v)", got.Loss, want.Loss, err)
		}
		near(t, "labels", dy.Data, wantLabels.Data, 1e-5)
		// dL/dA = 2 dK A + dK_ST B.
		back := tensor.NewMat[float32](n, dim)
		tensor.Mul(back, v.Grad.Reals, p.b, tensor.NN, false)
		for i := range n {
			for j := range n {
				for k := range dim {
					back.Row(i)[k] += float32(2 * v.Grad.K.Row(i)[j] * float64(p.a.Row(j)[k]))
				}
			}
		}
		near(t, "features", wide(back.Data), wide(dA.Data), 1e-5)
	}
}

// An update lowers the loss on the real images, as it does in features.
func TestKernelProgress(t *testing.T) {
	var first, last float64
	p := problem("nngp")
	_, err := variant("learned", 40).Distill(t.Context(), p, func(s method.Step) {
		v, known := s.Metrics()["train_loss"]
		if !known {
			t.Fatal("no loss")
		}
		if last = v; s.Update == 0 {
			first = v
		}
	})
	if err != nil || !(last < 0.9*first) {
		t.Errorf("the loss went from %v to %v (%v)", first, last, err)
	}
}
