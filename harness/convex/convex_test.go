package convex

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"testing"

	"dgkip/harness/fmath"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// array is an array of the reference values, row-major.
type array struct {
	Shape []int
	Data  []float64
}

func load(t *testing.T, name string, v any) {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
}

func (a array) mat() tensor.Mat[float32] {
	m := tensor.NewMat[float32](a.Shape[0], a.Shape[1])
	for i, v := range a.Data {
		m.Data[i] = float32(v)
	}
	return m
}

// near compares with reference values computed from features in float64; ours
// are those features rounded to float32.
func near(t *testing.T, name string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", name, len(got), len(want))
	}
	worst, scale := 0.0, 0.0
	for i, w := range want {
		worst, scale = max(worst, math.Abs(got[i]-w)), max(scale, math.Abs(w))
	}
	if !(worst <= tol*scale) {
		t.Errorf("%s: off by %.2g of the largest entry", name, worst/scale)
	}
}

func widen(v []float32) []float64 {
	w := make([]float64, len(v))
	for i, x := range v {
		w[i] = float64(x)
	}
	return w
}

func TestGapVectors(t *testing.T) {
	for _, l := range []Margin{Logistic{}, Hinge{}} {
		var v struct {
			Phi, Theta, Y, Alpha array
			DPhi                 array `json:"d_phi"`
			DY                   array `json:"d_y"`
			Lambda, Gap          float64
		}
		load(t, "gap_"+l.Name()+".json", &v)
		phi := v.Phi.mat()
		dphi, dy := tensor.NewMat[float32](phi.Rows, phi.Cols), tensor.NewMat[float64](phi.Rows, 1)
		g := Gap{Pair: Gains(l), Lambda: v.Lambda}.Eval(phi, oneRow(v.Theta.Data), oneColumn(v.Y.Data), &dphi, &dy)
		near(t, l.Name()+" gap", []float64{g.Gap}, []float64{v.Gap}, 1e-6)
		near(t, l.Name()+" alpha", g.Alpha.Data, v.Alpha.Data, 1e-6)
		near(t, l.Name()+" dphi", widen(dphi.Data), v.DPhi.Data, 1e-6)
		near(t, l.Name()+" dy", dy.Data, v.DY.Data, 1e-6)
	}
}

func TestLabelVectors(t *testing.T) {
	var v struct {
		Phi, Theta        array
		PhiReal           array `json:"phi_real"`
		Lambda            float64
		ParameterC        array   `json:"parameter_c"`
		ParameterValue    float64 `json:"parameter_value"`
		ParameterDPhi     array   `json:"parameter_d_phi"`
		ParameterTargets  array   `json:"parameter_targets"`
		PredictionC       array   `json:"prediction_c"`
		PredictionValue   float64 `json:"prediction_value"`
		PredictionDPhi    array   `json:"prediction_d_phi"`
		PredictionTargets array   `json:"prediction_targets"`
	}
	load(t, "label_solve.json", &v)
	a, phi := v.Phi.mat(), v.PhiReal.mat()
	dA := tensor.NewMat[float32](a.Rows, a.Cols)
	s, err := Project(a, oneRow(v.Theta.Data), &dA)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "parameter c", s.C.Data, v.ParameterC.Data, 1e-5)
	near(t, "parameter value", []float64{s.Value}, []float64{v.ParameterValue}, 1e-5)
	near(t, "parameter gradient", widen(dA.Data), v.ParameterDPhi.Data, 1e-5)
	near(t, "parameter targets", s.Labels(LogisticLoss, v.Lambda).Values.Data, v.ParameterTargets.Data, 1e-5)
	s, err = Fit(a, phi, oneRow(v.Theta.Data), oneColumn(dots(phi, v.Theta.Data)), &dA)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "prediction c", s.C.Data, v.PredictionC.Data, 1e-4)
	near(t, "prediction value", []float64{s.Value}, []float64{v.PredictionValue}, 1e-4)
	near(t, "prediction gradient", widen(dA.Data), v.PredictionDPhi.Data, 1e-4)
	near(t, "prediction targets", s.Labels(LogisticLoss, v.Lambda).Values.Data, v.PredictionTargets.Data, 1e-4)
}

// problem is a random one: features of n images, and labels of both signs.
type problem struct {
	phi           tensor.Mat[float32]
	theta, labels []float64
	lambda        float64
}

func draw(r *rng.Rand) problem {
	n, m := 1+r.IntN(9), 2+r.IntN(20)
	p := problem{phi: tensor.NewMat[float32](n, m), lambda: math.Pow(10, 2*r.Float64()-2)}
	r.FillNormal(p.phi.Data, 0, 1)
	for range m {
		p.theta = append(p.theta, 2*r.Normal64())
	}
	for range n {
		p.labels = append(p.labels, r.Normal64())
	}
	return p
}

// Theorem 3.2: the split gap is P - D, computed from the definitions.
func TestGapIsTheorem32(t *testing.T) {
	r := rng.Stream(1, "gap")
	for range 300 {
		p := draw(r)
		for _, l := range []Margin{Logistic{}, Hinge{}, Hinge{Temperature: 0.1}, squaredHinge{}, squaredHinge{0.5}} {
			v := Gap{Pair: Gains(l), Lambda: p.lambda}.Eval(p.phi, oneRow(p.theta), oneColumn(p.labels), nil, nil)
			primal, dual := 0.0, 0.0
			dir := make([]float64, p.phi.Cols)
			for i, f := range v.Outputs.Data {
				primal += l.Value(p.labels[i] * f)
				dual -= l.Conj(v.Alpha.Data[i])
				for j, x := range p.phi.Row(i) {
					dir[j] += v.Alpha.Data[i] * p.labels[i] * float64(x)
				}
			}
			primal += p.lambda / 2 * square(p.theta)
			dual -= square(dir) / (2 * p.lambda)
			if v.Gap < 0 || math.Abs(v.Gap-(primal-dual)) > 1e-9*(math.Abs(primal)+math.Abs(dual)+1) {
				t.Fatalf("%s: gap %v, P - D = %v", l.Name(), v.Gap, primal-dual)
			}
		}
	}
}

// Residuals are never negative, zero at the loss's slope, and L + L* + a m.
func TestResidual(t *testing.T) {
	r := rng.Stream(1, "residual")
	for range 2000 {
		m, a := 5*r.Normal64(), r.Float64()
		if r.IntN(10) == 0 {
			a = float64(r.IntN(2))
		}
		for _, l := range []Margin{Logistic{}, Hinge{}, squaredHinge{}} {
			want := l.Value(m) + l.Conj(a) + a*m
			if got := l.Residual(m, a); got < 0 || math.Abs(got-want) > 1e-12*(1+math.Abs(m)) {
				t.Fatalf("%s: residual(%v, %v) = %v, want %v", l.Name(), m, a, got, want)
			}
			inM, inA := l.ResidualSlopes(m, a)
			if own := a - inM; l.Residual(m, own) > 1e-12 { // a = -L'(m)
				t.Fatalf("%s: residual at the slope of %v is %v", l.Name(), m, l.Residual(m, own))
			}
			const h = 1e-6
			if a < 2*h || a > 1-2*h || math.Abs(m-1) < 2*h {
				continue
			}
			dm := (l.Residual(m+h, a) - l.Residual(m-h, a)) / (2 * h)
			da := (l.Residual(m, a+h) - l.Residual(m, a-h)) / (2 * h)
			if math.Abs(dm-inM) > 1e-5*(1+math.Abs(m)) || math.Abs(da-inA) > 1e-4*(1+math.Abs(m)+1/(a*(1-a))) {
				t.Fatalf("%s: slopes of the residual at (%v, %v) are %v and %v, central differences %v and %v", l.Name(), m, a, inM, inA, dm, da)
			}
		}
		p := Logistic{}
		if s, _ := p.Slope(m); p.Residual(m, s) != 0 {
			t.Fatalf("logistic residual at its own slope is %v", p.Residual(m, s))
		}
	}
}

// All gradients, against central differences in float64.
func TestGapGradient(t *testing.T) {
	r := rng.Stream(1, "gradient")
	for range 40 {
		p := draw(r)
		theta, labels := oneRow(p.theta), oneColumn(p.labels)
		for _, c := range []struct {
			name string
			pair Pair
		}{
			{"logistic", Gains(Logistic{})}, {"hinge", Gains(Hinge{})}, {"hinge 0.3", Gains(Hinge{Temperature: 0.3})}, {"targets", targets(LogisticLoss)},
			{"squared hinge", Gains(squaredHinge{})}, {"squared hinge 0.5", Gains(squaredHinge{0.5})},
		} {
			name, g := c.name, Gap{Pair: c.pair, Lambda: p.lambda}
			gap := func() float64 { return g.Eval(p.phi, theta, labels, nil, nil).Gap }
			dphi, dy := tensor.NewMat[float32](p.phi.Rows, p.phi.Cols), tensor.NewMat[float64](len(p.labels), 1)
			v := g.Eval(p.phi, theta, labels, &dphi, &dy)
			scale := max(1e-6, largest(dphi)) // less is lost in the differences
			for _, d := range dy.Data {
				scale = max(scale, math.Abs(d))
			}
			for i := range p.labels {
				if m := p.labels[i] * v.Outputs.Data[i]; math.Abs(m-1) < 1e-2 {
					continue // the hinge has a corner there
				}
				if d := slope64(&p.labels[i], 1e-5, gap); math.Abs(d-dy.Data[i]) > 1e-5*scale {
					t.Errorf("%s: dG/dy is %v, central difference %v", name, dy.Data[i], d)
				}
				// A step in float32 is coarse: slope32 takes the one that was made.
				j := r.IntN(p.phi.Cols)
				if d := slope32(&p.phi.Row(i)[j], 1e-3, gap); math.Abs(d-float64(dphi.Row(i)[j])) > 2e-4*scale {
					t.Errorf("%s: dG/dphi is %v, central difference %v", name, dphi.Row(i)[j], d)
				}
			}
		}
	}
}

// squaredHinge is a third loss of the margin, L(m) = max(0, 1-m)^2 / 2 with
// L*(-a) = a^2/2 - a. Its dual variable is the loss's own slope, max(0, 1-m), or that
// share of it which is not shy.
type squaredHinge struct{ shy float64 }

func (squaredHinge) Name() string { return "squared hinge" }

func (squaredHinge) Value(m float64) float64 { return max(0, 1-m) * max(0, 1-m) / 2 }

func (squaredHinge) Conj(a float64) float64 { return a*a/2 - a }

func (l squaredHinge) Residual(m, a float64) float64 {
	if m < 1 {
		return (a - (1 - m)) * (a - (1 - m)) / 2
	}
	return a*a/2 + a*(m-1)
}

func (squaredHinge) ResidualSlopes(m, a float64) (inM, inA float64) {
	return a - max(0, 1-m), a - (1 - m)
}

func (l squaredHinge) Slope(m float64) (a, da float64) {
	if m < 1 {
		return (1 - l.shy) * (1 - m), l.shy - 1
	}
	return 0, 0
}

// minimise finds the minimiser of sum_i loss_i(phi_i'theta) + lambda/2 |theta|^2
// in the span of the features by damped Newton steps, apart from the package:
// slope and curvature are those of loss i at f.
func minimise(t *testing.T, a tensor.Mat[float32], lambda float64, slope, curve func(i int, f float64) float64) []float64 {
	t.Helper()
	n := a.Rows
	k := GramOf(a)
	c := make([]float64, n) // theta = A'c
	for range 500 {
		f := make([]float64, n)
		g := make([]float64, n) // slope + lambda c, zero at the minimiser
		worst := 0.0
		for i := range f {
			for j := range c {
				f[i] += k.Data[i*n+j] * c[j]
			}
			g[i] = slope(i, f[i]) + lambda*c[i]
			worst = max(worst, math.Abs(g[i]))
		}
		if worst < 1e-13 {
			break
		}
		// (D K + lambda I) step = g with D the curvatures; by elimination.
		m := make([][]float64, n)
		for i := range m {
			m[i] = make([]float64, n+1)
			for j := range c {
				m[i][j] = curve(i, f[i]) * k.Data[i*n+j]
			}
			m[i][i] += lambda
			m[i][n] = g[i]
		}
		for i := range m {
			p := i
			for q := i; q < n; q++ {
				if math.Abs(m[q][i]) > math.Abs(m[p][i]) {
					p = q
				}
			}
			m[i], m[p] = m[p], m[i]
			for q := i + 1; q < n; q++ {
				for j := n; j >= i; j-- {
					m[q][j] -= m[q][i] / m[i][i] * m[i][j]
				}
			}
		}
		step := make([]float64, n)
		for i := n - 1; i >= 0; i-- {
			step[i] = m[i][n]
			for j := i + 1; j < n; j++ {
				step[i] -= m[i][j] * step[j]
			}
			step[i] /= m[i][i]
		}
		for i := range c {
			c[i] -= step[i]
		}
	}
	return subtractRows(make([]float64, a.Cols), a, scaled(-1, c))
}

func distance(a, b []float64) float64 {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	return math.Sqrt(square(d))
}

// The theorem: the labels make theta_S the minimiser, found independently, for
// the projection and for any other coefficients; and for the projection the
// bound is tight.
func TestSolvedLabels(t *testing.T) {
	r := rng.Stream(1, "labels")
	for range 60 {
		p := draw(r)
		if p.phi.Rows >= p.phi.Cols {
			continue
		}
		s, err := Project(p.phi, oneRow(p.theta), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, free := range []bool{false, true} {
			if free {
				for i := range s.C.Data {
					s.C.Data[i] = r.Normal64() / 3
				}
				s.finish(p.phi, GramOf(p.phi), oneRow(p.theta))
			}
			thetaS := subtractRows(make([]float64, p.phi.Cols), p.phi, scaled(-1, s.C.Data))
			scale := 1 + math.Sqrt(square(thetaS))
			targets := s.Labels(LogisticLoss, p.lambda).Values.Data
			got := minimise(t, p.phi, p.lambda,
				func(i int, f float64) float64 { return fmath.Sigmoid(f) - targets[i] },
				func(_ int, f float64) float64 { return fmath.Sigmoid(f) * fmath.Sigmoid(-f) })
			if d := distance(got, thetaS); d > 1e-6*scale {
				t.Errorf("logistic minimiser is %v from theta_S of norm %v", d, scale-1)
			}
			y := s.Labels(SquaredLoss, p.lambda).Values.Data
			got = minimise(t, p.phi, p.lambda,
				func(i int, f float64) float64 { return f - y[i] }, func(int, float64) float64 { return 1 })
			if d := distance(got, thetaS); d > 1e-6*scale {
				t.Errorf("squared minimiser is %v from theta_S", d)
			}
			if free {
				continue
			}
			v := Gap{Pair: s.Labels(LogisticLoss, p.lambda).Pair(), Lambda: p.lambda}.Eval(p.phi, oneRow(p.theta), oneColumn(targets), nil, nil)
			if b, d := v.Bound(p.lambda), math.Sqrt(s.Norm2); math.Abs(b-d) > 1e-4*d {
				t.Errorf("bound %v, deviation %v", b, d)
			}
		}
	}
}

// Theorem 3.2: the bound holds for any theta and any labels.
func TestGapBoundHolds(t *testing.T) {
	r := rng.Stream(1, "bound")
	for range 100 {
		p := draw(r)
		g := Gap{Pair: Gains(Logistic{}), Lambda: p.lambda}
		star := minimise(t, p.phi, p.lambda,
			func(i int, f float64) float64 { y := p.labels[i]; return -y * fmath.Sigmoid(-y*f) },
			func(i int, f float64) float64 {
				y := p.labels[i]
				return y * y * fmath.Sigmoid(-y*f) * fmath.Sigmoid(y*f)
			})
		at := g.Eval(p.phi, oneRow(star), oneColumn(p.labels), nil, nil)
		if at.Gap > 1e-12 {
			continue // the reference did not converge
		}
		v := g.Eval(p.phi, oneRow(p.theta), oneColumn(p.labels), nil, nil)
		if d := distance(p.theta, star); d > v.Bound(p.lambda)*(1+1e-9)+1e-9 {
			t.Errorf("deviation %v, bound %v", d, v.Bound(p.lambda))
		}
	}
}

// Alike images share the coefficient of one; images without features are an error.
func TestSingular(t *testing.T) {
	a := tensor.NewMat[float32](2, 3)
	copy(a.Data, []float32{1, 2, 3, 1, 2, 3})
	s, err := Project(a, oneRow([]float64{1, 0, 0}), nil)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "alike rows", s.C.Data, []float64{1.0 / 28, 1.0 / 28}, 1e-4)
	clear(a.Data)
	if _, err := Project(a, oneRow([]float64{1, 0, 0}), nil); !errors.Is(err, ErrSingular) {
		t.Errorf("features of zero: %v", err)
	}
}

func ExampleProject() {
	// Two images with orthogonal features, and a model that uses a third one.
	a := tensor.MatOf([]float32{1, 0, 0, 0, 2, 0}, 2, 3)
	s, err := Project(a, tensor.MatOf([]float64{3, 4, 1}, 1, 3), nil)
	if err != nil {
		panic(err)
	}
	fmt.Printf("c = %.1f, left over %.1f\n", s.C.Data, s.Norm2)
	// Output: c = [3.0 2.0], left over 1.0
}
