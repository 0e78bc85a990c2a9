package convex

import (
	"math"
	"testing"

	"dgkip/harness/fmath"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// Small problems are solved to a gap of 1e-8, and the certificate is correct.
func TestDual(t *testing.T) {
	r := rng.Stream(1, "solve")
	for range 60 {
		p := draw(r)
		for i, y := range p.labels {
			p.labels[i] = math.Copysign(1, y)
		}
		k := tensor.NewMat[float32](p.phi.Rows, p.phi.Rows)
		tensor.Gram(k, p.phi)
		for _, loss := range []Loss{LogisticLoss, HingeLoss} {
			c, err := dual{Gram: k, Labels: p.labels, Loss: loss, Lambda: p.lambda}.solve(towards(1e-8, 100000))
			if err != nil {
				t.Fatal(err)
			}
			if c.Gap > 1e-8 || c.Dual > c.Primal {
				t.Errorf("%s: gap %v, P %v, D %v", loss, c.Gap, c.Primal, c.Dual)
			}
			theta := Combine(p.phi, c.C).Data
			primal := p.lambda / 2 * square(theta)
			for i, f := range dots(p.phi, theta) {
				primal += marginOf(loss).Value(p.labels[i] * f)
			}
			if math.Abs(primal-c.Primal) > 1e-5*(1+primal) {
				t.Errorf("%s: P is %v in the certificate, %v by definition", loss, c.Primal, primal)
			}
			if loss == LogisticLoss {
				star := minimise(t, p.phi, p.lambda,
					func(i int, f float64) float64 { y := p.labels[i]; return -y * fmath.Sigmoid(-y*f) },
					func(_ int, f float64) float64 { return fmath.Sigmoid(-f) * fmath.Sigmoid(f) })
				if d := distance(theta, star); d > 1e-3*(1+math.Sqrt(square(star))) {
					t.Errorf("logistic: solution is %v from the minimiser", d)
				}
			}
		}
	}
}

// The solver confirms that gains of the hinge loss make theta_S the minimiser, also if a
// coefficient and its output differ in sign. Gains are clipped only where lambda c f exceeds 1.
func TestHingeGains(t *testing.T) {
	r := rng.Stream(1, "gains")
	agreeing, opposed, clippedSets := 0, 0, 0
	for range 200 {
		p := draw(r)
		if p.phi.Rows >= p.phi.Cols {
			continue
		}
		s, err := Project(Features{A: p.phi, Theta: oneRow(p.theta)})
		if err != nil {
			t.Fatal(err)
		}
		labels := s.HingeLabels(p.lambda)
		above, below := 0, 0
		for i, a := range labels.Alpha {
			c, f, y := s.C.Data[i], s.Outputs.Data[i], labels.Gains[i]
			switch margin := y * f; {
			case p.lambda*c*f > 1:
				above++
				if a != 1 {
					t.Errorf("alpha %v for lambda c f = %v", a, p.lambda*c*f)
				}
				continue
			case p.lambda*c*f < 0:
				below++
				if a != 1 || !(margin < 1) {
					t.Errorf("lambda c f = %v: alpha %v, margin %v", p.lambda*c*f, a, margin)
				}
			case math.Abs(margin-1) > 1e-12 || a < 0 || a > 1:
				t.Errorf("lambda c f = %v: alpha %v, margin %v", p.lambda*c*f, a, margin)
			}
			if d := math.Abs(a*y - p.lambda*c); d > 1e-12*math.Abs(p.lambda*c) {
				t.Errorf("alpha y is %v, lambda c %v", a*y, p.lambda*c)
			}
		}
		if labels.Clipped != above {
			t.Fatalf("%d clipped, %d above the range", labels.Clipped, above)
		}
		switch {
		case above > 0:
			clippedSets++
			continue
		case below > 0:
			opposed++
		default:
			agreeing++
		}
		k := tensor.NewMat[float32](p.phi.Rows, p.phi.Rows)
		tensor.Gram(k, p.phi)
		c, err := dual{Gram: k, Labels: labels.Gains, Loss: HingeLoss, Lambda: p.lambda}.solve(towards(1e-8, 100000))
		if err != nil {
			t.Fatal(err)
		}
		got := Combine(p.phi, c.C).Data
		want := Combine(p.phi, s.C).Data
		if d := distance(got, want); d > 2e-3*(1+math.Sqrt(square(want))) {
			t.Errorf("solution is %v from theta_S of norm %v", d, math.Sqrt(square(want)))
		}
	}
	if agreeing < 5 || opposed < 5 || clippedSets < 5 {
		t.Errorf("only %d sets without opposed signs, %d with opposed signs, and %d with clipped variables", agreeing, opposed, clippedSets)
	}
}

// An output of zero gets a label although it has no gain 1/f.
func TestGainsOfAnOutputOfZero(t *testing.T) {
	theta, lambda := oneRow([]float64{3, 0, 0}), 1e-2
	for name, a := range map[string]tensor.Mat[float32]{
		"no features":              tensor.MatOf([]float32{1, 0, 0, 0, 0, 0}, 2, 3),
		"features across theta":    tensor.MatOf([]float32{1, 0, 0, 0, 1, 0}, 2, 3),
		"and not across the other": tensor.MatOf([]float32{1, 1, 0, 0, 1, 0}, 2, 3),
	} {
		s, err := Project(Features{A: a, Theta: theta})
		if err != nil {
			t.Fatal(err)
		}
		s.Outputs.Data[1] = 0 // the exact value, without rounding errors
		labels := s.HingeLabels(lambda)
		if labels.Gains[1] != lambda*s.C.Data[1] || labels.Alpha[1] != 1 || !(labels.Gains[0] > 0) || labels.Clipped != 0 {
			t.Errorf("%s: coefficients %v, labels %+v", name, s.C.Data, labels)
		}
		fit, err := exactly(GramOf(a), gainsOf(HingeLoss, labels.Gains), lambda, 1e-8)
		if err != nil {
			t.Fatal(name, err)
		}
		if d := distance(Combine(a, fit.C).Data, Combine(a, s.C).Data); d > 1e-3 {
			t.Errorf("%s: the solution is %v from theta_S", name, d)
		}
	}
}

// A careful step finds the maximum in one variable for any curvature and starting point; plain
// Newton steps could alternate between the ends of the bracket.
func TestBestStep(t *testing.T) {
	r := rng.Stream(1, "best step")
	for range 20000 {
		q := math.Pow(10, 6*r.Float64())
		a0 := fmath.Sigmoid(20 * r.Normal64())
		m := math.Pow(10, 4*r.Float64()) * r.Normal64()
		a := bestStep(m, a0, q, true)
		if a < 1e-300 || a == 1 {
			if g := m + q*(a-a0); a < 0.5 && g < 500 || a == 1 && g > -30 {
				t.Fatalf("m %v, a0 %v, q %v: a is %v, where the slope is %v", m, a0, q, a, g)
			}
			continue
		}
		z := fmath.Log(a) - fmath.Log(1-a)
		if g := z + m + q*(a-a0); math.Abs(g) > 1e-6*(1+math.Abs(m)+q*min(1, a*1e6)) && a < 1-1e-9 {
			t.Fatalf("m %v, a0 %v, q %v: the slope at %v is %v", m, a0, q, a, g)
		}
	}
}
