package convex

import (
	"math"
	"strings"
	"testing"

	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// Conjugate gradients agree with the factorisation, on Gram matrices of full rank and not.
func TestConjugateGradients(t *testing.T) {
	r := rng.Stream(1, "ridge")
	// With fewer features than images, the Gram matrix in float32 has small negative
	// eigenvalues, which 1/lambda amplifies.
	for m, tol := range map[int]float64{20: 1e-3, 200: 1e-6} {
		a, _ := classes(r, 70, m, 3)
		k := tensor.NewMat[float32](a.Rows, a.Rows)
		tensor.Gram(k, a)
		y := normals(r, a.Rows, 3, 1)
		v, err := conjugateGradients{Gram: k, Targets: y, Lambda: 1e-2}.solve(towards(1e-10, 1000))
		if err != nil {
			t.Fatal(err)
		}
		fit, err := exactly(tensor.Widen(k), Values(y), 1e-2, 1e-12)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "outputs", v.Outputs.Data, fit.Outputs.Data, tol)
		if math.Abs(v.Primal-fit.Primal) > tol*tol*fit.Primal*10 || v.Dual > fit.Primal*(1+tol*tol*10) {
			t.Errorf("P %v, D %v; by factorisation %v", v.Primal, v.Dual, fit.Primal)
		}
	}
	one := tensor.MatOf([]float32{1}, 1, 1)
	y := tensor.MatOf([]float64{1}, 1, 1)
	for name, c := range map[string]struct {
		p    conjugateGradients
		want string
	}{
		"features": {conjugateGradients{tensor.MatOf([]float32{float32(math.NaN())}, 1, 1), y, 1}, "NaN"},
		"steps":    {conjugateGradients{one, y, 1}, "after 0 steps"},
	} {
		if _, err := c.p.solve(towards(1e-3, 0)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
