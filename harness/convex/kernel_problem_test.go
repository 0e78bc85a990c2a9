package convex

import (
	"context"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"dgkip/harness/fmath"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// Labels range from tiny to huge on features of full rank. Moderate labels are also tested with
// equal images and with more images than features.
func TestSolveSmall(t *testing.T) {
	r := rng.Stream(1, "set")
	for _, loss := range losses {
		for _, scale := range []float64{1e-4, 1, 100, 1e4} {
			for k := range 60 {
				n, m, alike := 1+r.IntN(30), 60, false
				if k >= 30 {
					if scale > 1 {
						continue
					}
					m, alike = 1+r.IntN(60), r.IntN(3) == 0
				}
				s, a := drawSet(r, loss, n, m, scale, alike)
				fit, err := Solve(context.Background(), s, 1e-8)
				if err != nil {
					t.Errorf("scale %g, lambda %.2g, %d of %d features: %v", scale, s.Lambda, n, m, err)
					continue
				}
				// The primal value is that of Theta = C'A, and no other Theta goes below
				// the dual value.
				theta := Combine(a, fit.C)
				if p := value(s.Labels, Apply(a, theta)) + s.Lambda/2*frobenius2(theta); math.Abs(p-fit.Primal) > 1e-9*max(1, math.Abs(p)) || s.Lambda/2*math.Abs(frobenius2(theta)-fit.Norm2) > 1e-9*max(1, math.Abs(p)) {
					t.Errorf("%s scale %g: P = %v, from the definition %v", loss, scale, fit.Primal, p)
				}
				if !(fit.Gap >= 0 && fit.Gap <= 1e-8) || fit.Dual > fit.Primal || fit.Primal-fit.Dual > 1.0001e-8*max(1, math.Abs(fit.Primal)) {
					t.Errorf("%s scale %g: gap %v, P %v, D %v", loss, scale, fit.Gap, fit.Primal, fit.Dual)
				}
				for range 5 {
					other := times(1, theta)
					for j := range other.Data {
						other.Data[j] += math.Pow(10, -3*r.Float64()) * r.Normal64()
					}
					if p := value(s.Labels, Apply(a, other)) + s.Lambda/2*frobenius2(other); p < fit.Dual-1e-9*max(1, math.Abs(p)) {
						t.Errorf("%s scale %g: P = %v elsewhere, and D = %v", loss, scale, p, fit.Dual)
					}
				}
			}
		}
	}
}

// The logistic minimiser matches an independent Newton method, and the squared minimiser solves
// its linear system.
func TestSolveOracle(t *testing.T) {
	r := rng.Stream(1, "oracle")
	compared := 0
	for range 40 {
		s, a := drawSet(r, LogisticLoss, 1+r.IntN(9), 12, 1, false)
		s.Lambda = max(s.Lambda, 1e-3)
		fit, err := Solve(context.Background(), s, 1e-12)
		if err != nil {
			t.Fatal(err)
		}
		y := s.Labels.Values.Data
		want := minimise(t, a, s.Lambda,
			func(i int, f float64) float64 {
				if s.Labels.Form == Target {
					return fmath.Sigmoid(f) - y[i]
				}
				return -y[i] * fmath.Sigmoid(-y[i]*f)
			},
			func(i int, f float64) float64 {
				if s.Labels.Form == Target {
					return fmath.Sigmoid(f) * fmath.Sigmoid(-f)
				}
				return y[i] * y[i] * fmath.Sigmoid(-y[i]*f) * fmath.Sigmoid(y[i]*f)
			})
		if at := oneRow(want); value(s.Labels, Apply(a, at))+s.Lambda/2*square(want) > fit.Primal*(1+1e-9) {
			continue // the full steps did not converge
		}
		compared++
		if d := distance(Combine(a, fit.C).Data, want); d > 1e-4*(1+math.Sqrt(square(want))) {
			t.Errorf("logistic: %v from the minimiser of norm %v", d, math.Sqrt(square(want)))
		}

		s, _ = drawSet(r, SquaredLoss, 1+r.IntN(9), 12, 1, r.IntN(2) == 0)
		if fit, err = Solve(context.Background(), s, 1e-10); err != nil {
			t.Fatal(err)
		}
		n := s.Gram.Rows
		h := mat.NewDense(n, n, append([]float64(nil), s.Gram.Data...))
		for i := range n {
			h.Set(i, i, h.At(i, i)+s.Lambda)
		}
		var c mat.Dense
		if err := c.Solve(h, mat.NewDense(n, s.Labels.Values.Cols, s.Labels.Values.Data)); err != nil {
			if _, ok := err.(mat.Condition); !ok {
				t.Fatal(err)
			}
		}
		c.Mul(mat.NewDense(n, n, s.Gram.Data), &c)
		near(t, "outputs of the squared loss", fit.Outputs.Data, c.RawMatrix().Data, 1e-6)
	}
	if compared < 10 {
		t.Errorf("only %d logistic problems were compared", compared)
	}
}

// The hinge solution is as good as the best of all vertices of the dual problem.
func TestSolveHinge(t *testing.T) {
	r := rng.Stream(1, "enumerate")
	for range 60 {
		n := 1 + r.IntN(5)
		s, _ := drawSet(r, HingeLoss, n, 8, 2, false)
		s.Lambda = max(s.Lambda, 1e-2)
		fit, err := Solve(context.Background(), s, 1e-10)
		if err != nil {
			t.Fatal(err)
		}
		h := mat.NewDense(n, n, nil)
		for i := range n {
			for j := range n {
				h.Set(i, j, s.Labels.Values.Data[i]*s.Labels.Values.Data[j]*s.Gram.Data[i*n+j]/s.Lambda)
			}
		}
		best := math.Inf(-1)
		for code := range int(math.Pow(3, float64(n))) {
			a := mat.NewVecDense(n, nil)
			var free []int
			for i := range n {
				switch code % 3 {
				case 1:
					a.SetVec(i, 1)
				case 2:
					free = append(free, i)
				}
				code /= 3
			}
			if len(free) > 0 {
				m, rhs := mat.NewDense(len(free), len(free), nil), mat.NewVecDense(len(free), nil)
				for p, i := range free {
					rhs.SetVec(p, 1-mat.Dot(h.RowView(i), a))
					for q, j := range free {
						m.Set(p, q, h.At(i, j))
					}
				}
				var x mat.VecDense
				if x.SolveVec(m, rhs) != nil {
					continue
				}
				inside := true
				for p, i := range free {
					a.SetVec(i, x.AtVec(p))
					inside = inside && x.AtVec(p) >= 0 && x.AtVec(p) <= 1
				}
				if !inside {
					continue
				}
			}
			best = max(best, mat.Sum(a)-mat.Inner(a, h, a)/2)
		}
		if math.Abs(best-fit.Dual) > 1e-9*(1+math.Abs(best)) {
			t.Errorf("D = %v, the best of all vertices %v", fit.Dual, best)
		}
	}
}

func TestSolveErrors(t *testing.T) {
	one := func(v float64) tensor.Mat[float64] { return tensor.MatOf([]float64{v}, 1, 1) }
	labels := func(form Form, loss Loss, v float64) Labels { return Labels{Form: form, Loss: loss, Values: one(v)} }
	for name, c := range map[string]struct {
		p    Problem
		tol  float64
		want string
	}{
		"loss":   {Problem{Gram: one(1), Labels: labels(Gain, "cubic", 1), Lambda: 1}, 1e-8, `unknown loss "cubic"`},
		"form":   {Problem{Gram: one(1), Labels: labels(Target, HingeLoss, 1), Lambda: 1}, 1e-8, `hinge loss does not take labels of the form "target"`},
		"lambda": {Problem{Gram: one(1), Labels: labels(Gain, HingeLoss, 1)}, 1e-8, "lambda must be positive and finite, not 0"},
		"minus":  {Problem{Gram: one(1), Labels: labels(Target, SoftmaxLoss, 1), Lambda: -1}, 1e-8, "lambda must be positive and finite, not -1"},
		"gap":    {Problem{Gram: one(1), Labels: labels(Value, SquaredLoss, 1), Lambda: 1}, 0, "gap to reach must be positive, not 0"},
		"gram":   {Problem{Gram: one(math.NaN()), Labels: labels(Gain, LogisticLoss, 1), Lambda: 1}, 1e-8, "NaN for images 0 and 0"},
		"labels": {Problem{Gram: one(1), Labels: labels(Value, SquaredLoss, math.NaN()), Lambda: 1}, 1e-8, "label of image 0 is NaN"},
	} {
		if _, err := Solve(context.Background(), c.p, c.tol); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	// Beyond the precision of float64, Solve returns an error and the best solution.
	alike := tensor.MatOf([]float64{1, 1, 1, 1}, 2, 2)
	for _, loss := range []Loss{LogisticLoss, HingeLoss} {
		fit, err := exactly(alike, gainsOf(loss, []float64{1e5, -3e5}), 1e-7, 1e-8)
		if err == nil || !strings.Contains(err.Error(), "float64 is not precise enough") || !(fit.Gap > 1e-8) {
			t.Errorf("%s: gap %v, error %v", loss, fit.Gap, err)
		}
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	for _, loss := range losses {
		if _, err := Solve(stopped, Problem{Gram: one(1), Labels: labels(forms[loss], loss, 0.3), Lambda: 1}, 1e-300); err != context.Canceled {
			t.Errorf("%s stopped: %v", loss, err)
		}
	}
}

// Images of one class, zero labels and zero features have solutions.
func TestSolveEdges(t *testing.T) {
	r := rng.Stream(1, "edges")
	for _, loss := range losses {
		s, _ := drawSet(r, loss, 6, 9, 1, false)
		for i := range s.Labels.Values.Data {
			s.Labels.Values.Data[i] = 1
		}
		if _, err := Solve(context.Background(), s, 1e-8); err != nil {
			t.Errorf("one class: %v", err)
		}
		clear(s.Labels.Values.Data)
		fit, err := Solve(context.Background(), s, 1e-8)
		if err != nil {
			t.Errorf("labels of zero: %v", err)
		}
		if gains := loss == HingeLoss || loss == LogisticLoss && s.Labels.Form == Gain; (gains || loss == SquaredLoss) && fit.Norm2 != 0 {
			t.Errorf("%s: labels of zero give a model of squared norm %v", loss, fit.Norm2)
		}
		clear(s.Gram.Data)
		s.Labels.Values.Data[0] = 1
		if _, err := Solve(context.Background(), s, 1e-8); err != nil {
			t.Errorf("features of zero: %v", err)
		}
	}
}
