package convex

import (
	"math"
	"strings"
	"testing"

	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// softmaxProblem is a problem whose labels no model fits.
func softmaxProblem(n, m, classes int) softmaxNewton {
	s := rng.Stream(8, "thin classes")
	t := softmaxNewton{Features: tensor.NewMat[float32](n, m), Labels: make([]int, n), Classes: classes, Lambda: float64(n) * 1e-6}
	s.FillNormal(t.Features.Data, 0.2, 1/float32(math.Sqrt(float64(m))))
	for i := range t.Labels {
		f := 3*float64(t.Features.Row(i)[0])*math.Sqrt(float64(m)) + 1.5*s.Normal64()
		t.Labels[i] = min(classes-1, max(0, int(math.Round(f))+classes/2))
	}
	return t
}

// Block ascent finds the same model if lambda is large enough for it.
func TestSoftmaxNewton(t *testing.T) {
	p := softmaxProblem(300, 20, 4)
	p.Lambda = 3
	got, err := p.solve(towards(1e-10, 100))
	if err != nil {
		t.Fatal(err)
	}
	want, err := storedSoftmax(p).solve(towards(1e-7, 2000))
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(got.Primal-want.Primal) > 1e-6*want.Primal || got.Dual > want.Primal {
		t.Errorf("%v (dual %v), want %v", got.Primal, got.Dual, want.Primal)
	}
	if d := Distance(got.Weights, want.Weights); d > 1e-3*Norm(want.Weights) {
		t.Errorf("weights differ by %v of %v", d, Norm(want.Weights))
	}
	if _, err := p.solve(towards(1e-10, 1)); err == nil || !strings.Contains(err.Error(), "after 1 steps") {
		t.Errorf("one step: %v", err)
	}
}

// With two classes the model is the logistic one: weights are -theta/2 and theta/2, so |Theta|^2
// is half of |theta|^2.
func TestSoftmaxNewtonWithTwoClasses(t *testing.T) {
	p := softmaxProblem(400, 30, 2)
	got, err := p.solve(towards(1e-10, 100))
	if err != nil {
		t.Fatal(err)
	}
	y := make([]float64, len(p.Labels))
	for i, c := range p.Labels {
		y[i] = float64(2*c - 1)
	}
	want, err := primalNewton{Features: p.Features, Labels: y, Loss: LogisticLoss, Lambda: p.Lambda / 2}.solve(towards(1e-10, 100))
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(got.Primal-want.Primal) > 1e-9*want.Primal {
		t.Errorf("%v, want %v", got.Primal, want.Primal)
	}
	for j, x := range want.Weights.Data {
		if math.Abs(got.Weights.Row(1)[j]-x/2) > 1e-4*(1+math.Abs(x)) || math.Abs(got.Weights.Row(0)[j]+x/2) > 1e-4*(1+math.Abs(x)) {
			t.Fatalf("weight %d: %v and %v, want -+%v", j, got.Weights.Row(0)[j], got.Weights.Row(1)[j], x/2)
		}
	}
}

// Newton's method needs a dozen steps of few products even at small lambda, where block ascent
// fails, and on correlated features of very different sizes.
func TestSoftmaxNewtonTakesFewSteps(t *testing.T) {
	p := softmaxProblem(1000, 128, 10)
	p.Lambda = 1e-4
	for i := range p.Features.Rows {
		for j, x := range p.Features.Row(i) {
			p.Features.Row(i)[j] = (2 + 10*x) / float32(1+j)
		}
	}
	products := 0
	search := towards(leastGap, 500)
	search.report = func(float64) { products++ } // called for steps, too
	got, err := p.solve(search)
	if err != nil || got.Sweeps > 20 || products > 200 {
		t.Fatalf("%v steps, %d products, gap %v, %v", got.Sweeps, products, got.Gap, err)
	}
	t.Logf("%v steps, %d products", got.Sweeps, products)
	value := func(theta tensor.Mat[float64]) float64 {
		_, _, losses := p.at(Apply(p.Features, theta))
		return losses + p.Lambda/2*frobenius2(theta)
	}
	if v := value(got.Weights); math.Abs(v-got.Primal) > 1e-12*v {
		t.Errorf("Primal is %v, by definition %v", got.Primal, v)
	}
	s := rng.Stream(9, "near")
	for range 20 {
		near := times(1, got.Weights)
		for j := range near.Data {
			near.Data[j] += 0.01 * s.Normal64()
		}
		if v := value(near); v < got.Dual {
			t.Errorf("other weights reach %v, below the dual value %v", v, got.Dual)
		}
	}
}
