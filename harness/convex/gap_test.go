package convex

import (
	"context"
	"math"
	"testing"

	"dgkip/harness/fmath"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// The gap equals P - D computed from their definitions.
func TestGapMatchesDefinition(t *testing.T) {
	r := rng.Stream(1, "gap")
	for range 300 {
		p := draw(r)
		for l, at := range map[conjugate][2]float64{{Logistic{}}: {0, 1}, {Hinge{}}: {1, 1}, {Hinge{Temperature: 0.1}}: {1, 0.1}} {
			v := Gap{Pair: Gains(l.Margin), Lambda: p.lambda}.Eval(Features{A: p.phi, Theta: oneRow(p.theta)}, oneColumn(p.labels), nil)
			primal, dual := 0.0, 0.0
			dir := make([]float64, p.phi.Cols)
			for i, f := range v.Outputs.Data {
				m := p.labels[i] * f
				if alpha := fmath.Sigmoid((at[0] - m) / at[1]); math.Abs(v.Alpha.Data[i]-alpha) > 1e-12 {
					t.Fatalf("%#v: alpha is %v, by definition %v", l.Margin, v.Alpha.Data[i], alpha)
				}
				primal += l.Value(m)
				dual -= l.at(v.Alpha.Data[i])
				for j, x := range p.phi.Row(i) {
					dir[j] += v.Alpha.Data[i] * p.labels[i] * float64(x)
				}
			}
			primal += p.lambda / 2 * square(p.theta)
			dual -= square(dir) / (2 * p.lambda)
			if v.Gap < 0 || math.Abs(v.Gap-(primal-dual)) > 1e-9*(math.Abs(primal)+math.Abs(dual)+1) {
				t.Fatalf("%#v: gap %v, P - D = %v", l.Margin, v.Gap, primal-dual)
			}
		}
	}
}

// The gap with several outputs equals P - D from the definitions, and the conjugate is finite.
func TestGapMatchesDefinitionWithManyOutputs(t *testing.T) {
	r := rng.Stream(1, "many")
	for range 100 {
		p := drawMany(r)
		for loss, form := range manyForms {
			labels := Labels{Form: form, Loss: loss, Values: p.targets}
			v := Gap{Pair: labels.Pair(), Lambda: p.lambda}.Eval(Features{A: p.phi, Theta: p.theta}, p.targets, nil)
			primal := value(labels, v.Outputs) + p.lambda/2*frobenius2(p.theta)
			dual := -frobenius2(Combine(p.phi, v.Alpha)) / (2 * p.lambda)
			for i := range v.Alpha.Rows {
				for k, b := range v.Alpha.Row(i) {
					y := p.targets.Row(i)[k]
					if loss == SquaredLoss { // l*(-b) = b^2/2 - b y
						dual -= b*b/2 - b*y
						continue
					}
					s := y - b // l*(-b) = sum s log s
					if s < -1e-12 {
						t.Fatalf("a probability is %v", s)
					}
					dual -= xlogx(max(s, 0))
				}
			}
			if v.Gap < 0 || math.Abs(v.Gap-(primal-dual)) > 1e-9*(1+math.Abs(primal)+math.Abs(dual)) {
				t.Fatalf("%s: gap %v, P - D = %v", loss, v.Gap, primal-dual)
			}
		}
	}
}

// The bound of Theorem 3.2 holds for every loss, at the gap's own dual variables, at the
// solution's, and at any feasible ones.
func TestGapBoundsEveryLoss(t *testing.T) {
	r := rng.Stream(1, "bounds")
	for range 60 {
		for _, loss := range losses {
			s, a := drawSet(r, loss, 1+r.IntN(12), 1+r.IntN(20), 1, r.IntN(4) == 0)
			s.Lambda = max(s.Lambda, 1e-4)
			fit, err := Solve(context.Background(), s, 1e-10)
			if err != nil {
				t.Fatal(err)
			}
			star, y := Combine(a, fit.C), s.Labels.Values
			// The solution's own distance from the minimiser.
			slack := math.Sqrt(2 * fit.Gap * max(1, math.Abs(fit.Primal)) / s.Lambda)
			theta := normals(r, y.Cols, a.Cols, math.Pow(10, 2*r.Float64()-1))
			dist := distance(theta.Data, star.Data)
			check := func(name string, bound float64) {
				if !(dist <= bound*(1+1e-9)+slack+1e-9) {
					t.Errorf("%s, %s: deviation %v, bound %v", loss, name, dist, bound)
				}
			}
			own := Gap{Pair: s.Labels.Pair(), Lambda: s.Lambda}.Eval(Features{A: a, Theta: theta}, y, nil)
			best := BestGap(Features{A: a, Theta: theta}, fit)
			check("own alpha", Bound(own.Gap, s.Lambda))
			check("best alpha", Bound(best, s.Lambda))
			if best > own.Gap*(1+1e-6)+1e-6 {
				t.Errorf("%s: the best gap is %v, one at other dual variables %v", loss, best, own.Gap)
			}
			primal := value(s.Labels, Apply(a, theta)) + s.Lambda/2*frobenius2(theta)
			if want := primal - fit.Primal; math.Abs(best-want) > 1e-6*(1+math.Abs(want)) {
				t.Errorf("%s: the best gap is %v, P(Theta) - P(Theta*) is %v", loss, best, want)
			}
			if loss == HingeLoss {
				check("sharp alpha", Bound(Gap{Pair: Gains(Hinge{Temperature: 0.1}), Lambda: s.Lambda}.Eval(Features{A: a, Theta: theta}, y, nil).Gap, s.Lambda))
			}
			if s.Labels.Form != Gain {
				continue
			}
			// Any feasible alpha.
			c, alpha := make([]float64, a.Rows), make([]float64, a.Rows)
			for i := range alpha {
				alpha[i] = r.Float64()
				c[i] = alpha[i] * y.Data[i] / s.Lambda
			}
			_, terms := termsAt(marginOf(loss), y.Data, dots(a, theta.Row(0)), alpha)
			check("any alpha", Bound(SplitGap(terms, square(subtractRows(theta.Row(0), a, c)), s.Lambda), s.Lambda))
		}
	}
}

// An image with a gain of exactly 0 adds nothing to the best gap: only the term of Theta is left.
func TestBestGapWithoutGain(t *testing.T) {
	a := tensor.MatOf([]float32{1, 2}, 1, 2)
	for _, loss := range []Loss{LogisticLoss, HingeLoss} {
		fit, err := Solve(t.Context(), Problem{Features: a, Labels: Labels{Gain, loss, tensor.NewMat[float64](1, 1)}, Lambda: 2}, 1e-10)
		if err != nil {
			t.Fatal(err)
		}
		if got := BestGap(Features{A: a, Theta: oneRow([]float64{3, 4})}, fit); math.Abs(got-25) > 1e-12 {
			t.Errorf("%s: the best gap is %v, not 25", loss, got)
		}
	}
}

// All gradients match central differences in float64.
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
		} {
			name, g := c.name, Gap{Pair: c.pair, Lambda: p.lambda}
			gap := func() float64 { return g.Eval(Features{A: p.phi, Theta: theta}, labels, nil).Gap }
			dphi, dy := tensor.NewMat[float32](p.phi.Rows, p.phi.Cols), tensor.NewMat[float64](len(p.labels), 1)
			v := g.Eval(Features{A: p.phi, Theta: theta, Grad: &dphi}, labels, &dy)
			scale := max(1e-6, largest(dphi)) // differences cannot resolve less
			for _, d := range dy.Data {
				scale = max(scale, math.Abs(d))
			}
			for i := range p.labels {
				if m := p.labels[i] * v.Outputs.Data[i]; math.Abs(m-1) < 1e-2 {
					continue // the kink of the hinge
				}
				if d := slope64(&p.labels[i], 1e-5, gap); math.Abs(d-dy.Data[i]) > 1e-5*scale {
					t.Errorf("%s: dG/dy is %v, central difference %v", name, dy.Data[i], d)
				}
				// A step in float32 is rounded: slope32 divides by the actual one.
				j := r.IntN(p.phi.Cols)
				if d := slope32(&p.phi.Row(i)[j], 1e-3, gap); math.Abs(d-float64(dphi.Row(i)[j])) > 2e-4*scale {
					t.Errorf("%s: dG/dphi is %v, central difference %v", name, dphi.Row(i)[j], d)
				}
			}
		}
	}
}

func TestGapGradientWithManyOutputs(t *testing.T) {
	r := rng.Stream(1, "many gradient")
	for range 30 {
		p := drawMany(r)
		for loss := range manyForms {
			eval := Gap{Pair: targets(loss), Lambda: p.lambda}.Eval
			dphi, dtargets := tensor.NewMat[float32](p.phi.Rows, p.phi.Cols), tensor.NewMat[float64](p.targets.Rows, p.targets.Cols)
			eval(Features{A: p.phi, Theta: p.theta, Grad: &dphi}, p.targets, &dtargets)
			gap := func() float64 { return eval(Features{A: p.phi, Theta: p.theta}, p.targets, nil).Gap }
			scale, scaleT := largest(dphi), largest(tensor.Narrow(dtargets))
			for range 5 {
				j := r.IntN(len(p.phi.Data))
				if d := slope32(&p.phi.Data[j], 1e-3, gap); math.Abs(d-float64(dphi.Data[j])) > 2e-4*scale {
					t.Errorf("%s: dG/dphi is %v, central difference %v", loss, dphi.Data[j], d)
				}
				j = r.IntN(len(p.targets.Data))
				if d := slope64(&p.targets.Data[j], 1e-4, gap); math.Abs(d-dtargets.Data[j]) > 1e-6*scaleT {
					t.Errorf("%s: dG/dp is %v, central difference %v", loss, dtargets.Data[j], d)
				}
			}
		}
		// Detached, alpha is a constant.
		d := tensor.NewMat[float32](p.phi.Rows, p.phi.Cols)
		v := Gap{Pair: targets(SoftmaxLoss), Lambda: p.lambda, Detach: true}.Eval(Features{A: p.phi, Theta: p.theta, Grad: &d}, p.targets, nil)
		fixed := func() float64 {
			return p.lambda / 2 * frobenius2(subtractSpan(p.theta, p.phi, times(1/p.lambda, v.Alpha)))
		}
		j := r.IntN(len(p.phi.Data))
		if got := slope32(&p.phi.Data[j], 1e-3, fixed); math.Abs(got-float64(d.Data[j])) > 2e-4*largest(d) {
			t.Errorf("detached: dG/dphi is %v, central difference %v", d.Data[j], got)
		}
	}
}
