package convex

import (
	"math"
	"testing"

	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// primalProblem is a problem whose labels no model fits.
func primalProblem(n, m int, loss Loss) primalNewton {
	s := rng.Stream(7, "thin")
	t := primalNewton{Features: tensor.NewMat[float32](n, m), Labels: make([]float64, n), Loss: loss, Lambda: float64(n) * 1e-6}
	s.FillNormal(t.Features.Data, 0.2, 1/float32(math.Sqrt(float64(m))))
	for i := range t.Labels {
		f := 1.5*s.Normal64() + 3*float64(t.Features.Row(i)[0])*math.Sqrt(float64(m))
		t.Labels[i] = math.Copysign(1, f)
	}
	return t
}

// kernelProblem finds the same model.
func TestPrimalNewton(t *testing.T) {
	for _, loss := range []Loss{LogisticLoss, HingeLoss} {
		p := primalProblem(150, 12, loss)
		got, err := p.solve(towards(1e-6, 500))
		if err != nil {
			t.Fatal(loss, err)
		}
		gram := tensor.NewMat[float64](150, 150)
		tensor.Gram64(gram, p.Features)
		want, err := exactly(gram, gainsOf(loss, p.Labels), p.Lambda, 1e-8)
		if err != nil {
			t.Fatal(loss, err)
		}
		if math.Abs(got.Primal-want.Primal) > 2e-6*want.Primal || got.Dual > want.Primal {
			t.Errorf("%s: %v (dual %v), want %v", loss, got.Primal, got.Dual, want.Primal)
		}
		primal := p.Lambda / 2 * got.Norm2
		for i, f := range p.outputs(got.Weights.Data) {
			m := p.Labels[i] * f
			if loss == HingeLoss {
				primal += math.Max(0, 1-m)
			} else {
				primal += math.Log1p(math.Exp(-m))
			}
		}
		if math.Abs(primal-got.Primal) > 1e-9*primal {
			t.Errorf("%s: Primal is %v, by definition %v", loss, got.Primal, primal)
		}
	}
}

// A few dozen steps suffice for thousands of images on which coordinate ascent fails.
func TestPrimalNewtonTakesFewSteps(t *testing.T) {
	for _, loss := range []Loss{LogisticLoss, HingeLoss} {
		got, err := primalProblem(3000, 64, loss).solve(towards(1e-4, 500))
		if err != nil || got.Sweeps > 60 {
			t.Errorf("%s: %v steps, gap %v, %v", loss, got.Sweeps, got.Gap, err)
		}
	}
}
