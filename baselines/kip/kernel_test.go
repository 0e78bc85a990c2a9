package kip

import (
	"testing"

	"dgkip/harness/method"
	"dgkip/harness/method/methodtest"
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
