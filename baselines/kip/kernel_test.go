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

func TestOtherKernelContracts(t *testing.T) {
	for _, kind := range []string{"nngp-conv", "ntk-conv", "ntk"} {
		t.Run(kind, func(t *testing.T) {
			methodtest.Run(t, func() method.Method { return variant("batch", 3) }, methodtest.Options{Problem: func(p *method.Problem) { p.Model.Kind = kind }})
		})
	}
}

// An update lowers the loss on the real images, as it does in features.
func TestKernelProgress(t *testing.T) {
	for _, kind := range []string{"nngp", "ntk", "ntk-conv"} {
		var first, last float64
		_, err := variant("learned", 40).Distill(t.Context(), problem(kind), func(s method.Step) {
			v, known := s.Metrics()["train_loss"]
			if !known {
				t.Fatal("no loss")
			}
			if last = v; s.Update == 0 {
				first = v
			}
		})
		if err != nil || !(last < 0.9*first) {
			t.Errorf("%s: the loss went from %v to %v (%v)", kind, first, last, err)
		}
	}
}
