package convex

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// Equal images share one coefficient; zero features are an error.
func TestSingular(t *testing.T) {
	a := tensor.NewMat[float32](2, 3)
	copy(a.Data, []float32{1, 2, 3, 1, 2, 3})
	s, err := Project(Features{A: a, Theta: oneRow([]float64{1, 0, 0})})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "alike rows", s.C.Data, []float64{1.0 / 28, 1.0 / 28}, 1e-4)
	clear(a.Data)
	if _, err := Project(Features{A: a, Theta: oneRow([]float64{1, 0, 0})}); !errors.Is(err, ErrSingular) || !strings.HasSuffix(err.Error(), "hint: try another start, another seed or a lower ipc") {
		t.Errorf("features of zero: %v", err)
	}
}

func ExampleProject() {
	// Two images with orthogonal features, and a model that uses a third one.
	a := tensor.MatOf([]float32{1, 0, 0, 0, 2, 0}, 2, 3)
	s, err := Project(Features{A: a, Theta: tensor.MatOf([]float64{3, 4, 1}, 1, 3)})
	if err != nil {
		panic(err)
	}
	fmt.Printf("c = %.1f, left over %.1f\n", s.C.Data, s.Norm2)
	// Output: c = [3.0 2.0], left over 1.0
}

// Gradients of Project and Fit with several outputs match central differences.
func TestSolvedGradient(t *testing.T) {
	r := rng.Stream(1, "metric gradient")
	for range 20 {
		p := drawMany(r)
		phi := tensor.NewMat[float32](30, p.phi.Cols)
		r.FillNormal(phi.Data, 0, 0.5)
		f := Apply(phi, p.theta)
		d := tensor.NewMat[float32](p.phi.Rows, p.phi.Cols)
		for name, solve := range map[string]func(d *tensor.Mat[float32]) (Nearest, error){
			"weights": func(d *tensor.Mat[float32]) (Nearest, error) {
				return Project(Features{A: p.phi, Theta: p.theta, Grad: d})
			},
			"outputs": func(d *tensor.Mat[float32]) (Nearest, error) {
				return Fit(Features{A: p.phi, Theta: p.theta, Real: phi, Grad: d}, f)
			},
		} {
			if _, err := solve(&d); err != nil {
				t.Fatal(err)
			}
			value := func() float64 {
				s, err := solve(nil)
				if err != nil {
					t.Fatal(err)
				}
				return s.Value
			}
			for range 5 {
				j := r.IntN(len(p.phi.Data))
				if got := slope32(&p.phi.Data[j], 1e-3, value); math.Abs(got-float64(d.Data[j])) > 1e-3*largest(d) {
					t.Errorf("%s: gradient %v, central difference %v", name, d.Data[j], got)
				}
			}
		}
	}
}

// For every loss, the solved labels make C'A the minimiser that Solve finds from the labels, and
// for the projection the bound is tight.
func TestSolvedLabelsTheorem(t *testing.T) {
	r := rng.Stream(1, "theorem")
	for range 40 {
		p := drawMany(r)
		if p.phi.Rows >= p.phi.Cols {
			continue
		}
		for _, loss := range []Loss{SquaredLoss, SoftmaxLoss, LogisticLoss} {
			theta := p.theta
			if loss == LogisticLoss {
				theta = oneRow(theta.Row(0))
			}
			s, err := Project(Features{A: p.phi, Theta: theta})
			if err != nil {
				t.Fatal(err)
			}
			for _, free := range []bool{false, true} {
				if free {
					s.C = normals(r, s.C.Rows, s.C.Cols, 0.3)
					s.finish(Features{A: p.phi, Theta: theta}, GramOf(p.phi))
				}
				labels := s.Labels(loss, p.lambda)
				fit, err := exactly(GramOf(p.phi), labels, p.lambda, 1e-14)
				if err != nil {
					t.Fatal(err)
				}
				thetaS := Combine(p.phi, s.C)
				if d := distance(Combine(p.phi, fit.C).Data, thetaS.Data); d > 1e-5*(1+math.Sqrt(frobenius2(thetaS))) {
					t.Errorf("%s, free %t: the minimiser is %v from theta_S", loss, free, d)
				}
				if free {
					continue
				}
				v := Gap{Pair: labels.Pair(), Lambda: p.lambda}.Eval(Features{A: p.phi, Theta: theta}, labels.Values, nil)
				if b, d := Bound(v.Gap, p.lambda), math.Sqrt(s.Norm2); math.Abs(b-d) > 1e-4*d {
					t.Errorf("%s: bound %v, deviation %v", loss, b, d)
				}
			}
		}
	}
}
