package convex

import (
	"context"
	"math"
	"runtime"
	"slices"
	"testing"

	"dgkip/harness/fmath"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// Omega solves its equation.
func TestOmega(t *testing.T) {
	for x := -700.0; x < 700; x += 0.37 {
		w := omega(x)
		if d := w + fmath.Log(w) - x; math.Abs(d) > 1e-13*(1+math.Abs(x)) {
			t.Fatalf("omega(%v) = %v, off by %v", x, w, d)
		}
	}
}

// Probabilities of the proximal step are the softmax of the resulting outputs.
func TestProximal(t *testing.T) {
	r := rng.Stream(1, "proximal")
	for range 2000 {
		k := 2 + r.IntN(9)
		f, s, old := make([]float64, k), make([]float64, k), make([]float64, k)
		for j := range f {
			f[j], s[j] = 10*r.Normal64(), 20*r.Normal64()
		}
		probabilities(s, s)
		copy(old, s)
		q := math.Pow(10, 6*r.Float64()-3)
		proximal(s, f, q)
		for j := range f {
			f[j] += q * (old[j] - s[j])
		}
		probabilities(old, f)
		for j := range s {
			if math.Abs(s[j]-old[j]) > 1e-9*(1+q) {
				t.Fatalf("q = %v: probability %v, softmax %v", q, s[j], old[j])
			}
		}
	}
}

// The solver for stored features agrees with kernelProblem, with and without a partial block.
func TestSoftmax(t *testing.T) {
	r := rng.Stream(1, "large softmax")
	for _, n := range []int{1, 40, 600} {
		a, labels := classes(r, n, 150, 4)
		lambda := 1e-4 * float64(n)
		p := storedSoftmax{Features: a, Labels: labels, Classes: 4, Lambda: lambda}
		last := 0.0
		watched := towards(1e-6, 300)
		watched.report = func(done float64) {
			if done < last || done > 1 {
				t.Errorf("progress went from %v to %v", last, done)
			}
			last = done
		}
		v, err := p.solve(watched)
		if err != nil {
			t.Fatal(err)
		}
		fit, err := exactly(GramOf(a), Labels{Form: Target, Loss: SoftmaxLoss, Values: hot(labels, 4)}, lambda, 1e-10)
		if err != nil {
			t.Fatal(err)
		}
		star := Combine(a, fit.C)
		limit := math.Sqrt(2 * (v.Primal - v.Dual) / lambda)
		if d := distance(v.Weights.Data, star.Data); d > limit+1e-4*math.Sqrt(fit.Norm2) || limit > 0.1*math.Sqrt(fit.Norm2) {
			t.Errorf("n = %d: %v from the minimiser of norm %v, bound %v", n, d, math.Sqrt(fit.Norm2), limit)
		}
		if v.Primal < fit.Dual-1e-9 || v.Dual > fit.Primal+1e-9 || v.Gap > 1e-6 {
			t.Errorf("n = %d: P %v, D %v; optimum between %v and %v", n, v.Primal, v.Dual, fit.Dual, fit.Primal)
		}
		if !slices.Equal(v.Outputs.Data, Apply(a, v.Weights).Data) {
			t.Error("outputs and weights do not match")
		}
	}
}

// strips returns the lower half of A A'.
func strips(a tensor.Mat[float32]) Triangle {
	var t Triangle
	for from := 0; from < a.Rows; from += StripRows {
		to := min(a.Rows, from+StripRows)
		s := tensor.NewMat[float32](to-from, to)
		tensor.Mul(s, a.Part(from, to, 0, a.Cols), a.Part(0, to, 0, a.Cols), tensor.NT, false)
		t = append(t, s)
	}
	return t
}

// On a Gram matrix of one or several strips, the model is the same.
func TestTriangle(t *testing.T) {
	r := rng.Stream(1, "triangle")
	for _, n := range []int{1, 40, 1100, 2*StripRows + 1} {
		a, labels := classes(r, n, 50, 3)
		lambda := 1e-3 * float64(n)
		const tol = 1e-5
		want, err := storedSoftmax{Features: a, Labels: labels, Classes: 3, Lambda: lambda}.solve(towards(tol, 300))
		if err != nil {
			t.Fatal(err)
		}
		p := Problem{
			Labels: Labels{Form: Target, Loss: SoftmaxLoss, Values: hot(labels, 3)}, Lambda: lambda,
			Large: func(context.Context) (tensor.Mat[float32], error) { panic("not needed") },
			Lower: func(context.Context) (Triangle, error) { return strips(a), nil },
		}
		got, err := Solve(context.Background(), p, tol)
		if err != nil {
			t.Fatal(err)
		}
		theta := Combine(a, got.C)
		if d, limit := distance(theta.Data, want.Weights.Data), 2*math.Sqrt(2*tol*want.Primal/lambda); d > limit {
			t.Errorf("n = %d: %v from the other model, of norm %v; the gaps allow %v", n, d, math.Sqrt(want.Norm2), limit)
		}
		if d := distance(Apply(a, theta).Data, got.Outputs.Data); d > 1e-4*math.Sqrt(float64(n)) {
			t.Errorf("n = %d: outputs are %v from A Theta'", n, d)
		}
		if got.Gap > tol || math.Abs(got.Norm2-frobenius2(theta)) > 1e-4*got.Norm2 {
			t.Errorf("n = %d: gap %v, |Theta|^2 %v, not %v", n, got.Gap, got.Norm2, frobenius2(theta))
		}
		was := runtime.GOMAXPROCS(1)
		again, err := Solve(context.Background(), p, tol)
		runtime.GOMAXPROCS(was)
		if err != nil || !slices.Equal(again.C.Data, got.C.Data) {
			t.Errorf("n = %d: results depend on the number of threads (%v)", n, err)
		}
	}
}
