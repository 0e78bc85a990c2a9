package convex

import (
	"context"
	"math"
	"testing"

	"dgkip/harness/fmath"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// many is a random problem with K outputs.
type many struct {
	phi            tensor.Mat[float32]
	theta, targets tensor.Mat[float64]
	lambda         float64
}

func drawMany(r *rng.Rand) many {
	n, m, k := 1+r.IntN(7), 8+r.IntN(20), 2+r.IntN(4)
	p := many{phi: tensor.NewMat[float32](n, m), theta: normals(r, k, m, 1), targets: normals(r, n, k, 1), lambda: math.Pow(10, 2*r.Float64()-2)}
	r.FillNormal(p.phi.Data, 0, 0.5)
	return p
}

// manyForms are the forms of labels for several outputs.
var manyForms = map[Loss]Form{SoftmaxLoss: Target, SquaredLoss: Value}

// Theorem 3.2 with several outputs: the gap is P - D from the definitions, and the
// conjugate is finite.
func TestGapIsTheorem32WithManyOutputs(t *testing.T) {
	r := rng.Stream(1, "many")
	for range 100 {
		p := drawMany(r)
		for loss, form := range manyForms {
			labels := Labels{Form: form, Loss: loss, Values: p.targets}
			v := Gap{Pair: labels.Pair(), Lambda: p.lambda}.Eval(p.phi, p.theta, p.targets, nil, nil)
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

// slope32 is the central difference of f in x, which is changed by about h and set
// back.
func slope32(x *float32, h float32, f func() float64) float64 {
	was := *x
	defer func() { *x = was }()
	*x = was + h
	a, up := *x, f()
	*x = was - h
	b, down := *x, f()
	return (up - down) / (float64(a) - float64(b))
}

func slope64(x *float64, h float64, f func() float64) float64 {
	was := *x
	defer func() { *x = was }()
	*x = was + h
	up := f()
	*x = was - h
	return (up - f()) / (2 * h)
}

func largest(m tensor.Mat[float32]) float64 {
	most := 1e-9
	for _, x := range m.Data {
		most = max(most, math.Abs(float64(x)))
	}
	return most
}

func TestGapGradientWithManyOutputs(t *testing.T) {
	r := rng.Stream(1, "many gradient")
	for range 30 {
		p := drawMany(r)
		for loss := range manyForms {
			eval := Gap{Pair: targets(loss), Lambda: p.lambda}.Eval
			dphi, dtargets := tensor.NewMat[float32](p.phi.Rows, p.phi.Cols), tensor.NewMat[float64](p.targets.Rows, p.targets.Cols)
			eval(p.phi, p.theta, p.targets, &dphi, &dtargets)
			gap := func() float64 { return eval(p.phi, p.theta, p.targets, nil, nil).Gap }
			scale, scaleT := largest(dphi), largest(narrow(dtargets))
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
		// Detached, B is a constant in the features.
		d := tensor.NewMat[float32](p.phi.Rows, p.phi.Cols)
		v := Gap{Pair: targets(SoftmaxLoss), Lambda: p.lambda, Detach: true}.Eval(p.phi, p.theta, p.targets, &d, nil)
		fixed := func() float64 {
			return p.lambda / 2 * frobenius2(subtractSpan(p.theta, p.phi, times(1/p.lambda, v.Alpha)))
		}
		j := r.IntN(len(p.phi.Data))
		if got := slope32(&p.phi.Data[j], 1e-3, fixed); math.Abs(got-float64(d.Data[j])) > 2e-4*largest(d) {
			t.Errorf("detached: dG/dphi is %v, central difference %v", d.Data[j], got)
		}
	}
}

// Metrics with several outputs, against central differences.
func TestSolvedGradient(t *testing.T) {
	r := rng.Stream(1, "metric gradient")
	for range 20 {
		p := drawMany(r)
		phi := tensor.NewMat[float32](30, p.phi.Cols)
		r.FillNormal(phi.Data, 0, 0.5)
		f := Apply(phi, p.theta)
		d := tensor.NewMat[float32](p.phi.Rows, p.phi.Cols)
		for name, solve := range map[Metric]func(d *tensor.Mat[float32]) (Nearest, error){
			Parameter:  func(d *tensor.Mat[float32]) (Nearest, error) { return Project(p.phi, p.theta, d) },
			Prediction: func(d *tensor.Mat[float32]) (Nearest, error) { return Fit(p.phi, phi, p.theta, f, d) },
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

// The theorem for every loss: the solved labels make C'A the minimiser, which Set
// finds knowing the labels alone; for the projection the bound is tight.
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
			s, err := Project(p.phi, theta, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, free := range []bool{false, true} {
				if free {
					s.C = normals(r, s.C.Rows, s.C.Cols, 0.3)
					s.finish(p.phi, GramOf(p.phi), theta)
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
				if free || loss == LogisticLoss {
					continue
				}
				v := Gap{Pair: labels.Pair(), Lambda: p.lambda}.Eval(p.phi, theta, labels.Values, nil, nil)
				if b, d := v.Bound(p.lambda), math.Sqrt(s.Norm2); math.Abs(b-d) > 1e-4*d {
					t.Errorf("%s: bound %v, deviation %v", loss, b, d)
				}
			}
		}
	}
}

// Theorem 3.2: no model on a set is farther from theta than the bound by the gap, at
// the dual variables of the gap, at those of the solution and at any feasible ones.
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
			// What Solve leaves of the gap.
			slack := math.Sqrt(2 * fit.Gap * max(1, math.Abs(fit.Primal)) / s.Lambda)
			theta := normals(r, y.Cols, a.Cols, math.Pow(10, 2*r.Float64()-1))
			dist := distance(theta.Data, star.Data)
			check := func(name string, bound float64) {
				if !(dist <= bound*(1+1e-9)+slack+1e-9) {
					t.Errorf("%s, %s: deviation %v, bound %v", loss, name, dist, bound)
				}
			}
			own := Gap{Pair: s.Labels.Pair(), Lambda: s.Lambda}.Eval(a, theta, y, nil, nil)
			best := BestGap(a, theta, fit)
			check("own alpha", own.Bound(s.Lambda))
			check("best alpha", Bound(best, s.Lambda))
			if best > own.Gap*(1+1e-6)+1e-6 {
				t.Errorf("%s: the best gap is %v, one at other dual variables %v", loss, best, own.Gap)
			}
			if loss == HingeLoss {
				check("sharp alpha", Gap{Pair: Gains(Hinge{Temperature: 0.1}), Lambda: s.Lambda}.Eval(a, theta, y, nil, nil).Bound(s.Lambda))
			}
			if s.Labels.Form != Gain {
				continue
			}
			// Any alpha: the gap as it is defined.
			c, alpha := make([]float64, a.Rows), make([]float64, a.Rows)
			for i := range alpha {
				alpha[i] = r.Float64()
				c[i] = alpha[i] * y.Data[i] / s.Lambda
			}
			_, terms := termsAt(MarginOf(loss), y.Data, dots(a, theta.Row(0)), alpha)
			check("any alpha", Bound(SplitGap(terms, square(subtractRows(theta.Row(0), a, c)), s.Lambda), s.Lambda))
		}
	}
}

// The box: its solution is the minimiser with gains 1/f, the bound is tight, and
// the gradient is that of the squared deviation.
func TestProjectBox(t *testing.T) {
	r := rng.Stream(1, "box")
	ends, inner := [2]int{}, 0
	for range 60 {
		p := draw(r)
		if p.phi.Rows >= p.phi.Cols {
			continue
		}
		theta := oneRow(p.theta)
		d := tensor.NewMat[float32](p.phi.Rows, p.phi.Cols)
		s, box, err := ProjectBox(p.phi, theta, p.lambda, &d)
		if err != nil {
			t.Fatal(err)
		}
		alpha := box.Alpha
		for i, a := range alpha {
			f := dots(p.phi, p.theta)[i]
			if math.Abs(a/f/p.lambda-s.C.Data[i]) > 1e-9*(1+math.Abs(s.C.Data[i])) {
				t.Fatalf("alpha %v, c %v", a, s.C.Data[i])
			}
			if a == 0 || a == 1 {
				ends[int(a)]++
			} else {
				inner++
				if math.Abs(f-s.Outputs.Data[i]) > 1e-6*math.Abs(f) {
					t.Errorf("alpha %v inside its range, but the outputs are %v and %v", a, f, s.Outputs.Data[i])
				}
			}
		}
		// Where none is at an end, this is the projection.
		if plain, err := Project(p.phi, theta, nil); err != nil {
			t.Fatal(err)
		} else if plain.HingeLabels(p.lambda).Clipped == 0 {
			near(t, "coefficients", s.C.Data, plain.C.Data, 1e-5)
		} else if s.Norm2 < plain.Norm2*(1-1e-9) {
			t.Errorf("the box brings the model nearer: %v, without %v", s.Norm2, plain.Norm2)
		}
		// The gap at theta with these alpha: margins are 1, so that only the
		// distance is left, and the bound is the deviation.
		gap := 0.0
		for i, f := range dots(p.phi, p.theta) {
			gap += Hinge{}.Residual(1/f*f, alpha[i])
		}
		gap += p.lambda / 2 * s.Norm2
		if b, dev := math.Sqrt(2*gap/p.lambda), math.Sqrt(s.Norm2); math.Abs(b-dev) > 1e-4*dev {
			t.Errorf("bound %v, deviation %v", b, dev)
		}
		value := func() float64 {
			s, _, err := ProjectBox(p.phi, theta, p.lambda, nil)
			if err != nil {
				t.Fatal(err)
			}
			return s.Value
		}
		for range 4 {
			j := r.IntN(len(p.phi.Data))
			// A step across a corner, where a variable reaches an end, is no test.
			left, right := slope32(&p.phi.Data[j], 1e-4, value), slope32(&p.phi.Data[j], 4e-4, value)
			if math.Abs(left-right) > 1e-2*largest(d) {
				continue
			}
			if math.Abs(left-float64(d.Data[j])) > 1e-2*largest(d) {
				t.Errorf("gradient %v, central differences %v and %v", d.Data[j], left, right)
			}
		}
	}
	if ends[0] < 20 || ends[1] < 20 || inner < 20 {
		t.Errorf("only %d variables at 0, %d at 1, %d between", ends[0], ends[1], inner)
	}
}

// An output of zero has no gain 1/f: the image is left out, with labels that are
// finite, by the box and without it.
func TestGainsOfAnOutputOfZero(t *testing.T) {
	theta, lambda := oneRow([]float64{3, 0, 0}), 1e-2
	for name, a := range map[string]tensor.Mat[float32]{
		"no features":              tensor.MatOf([]float32{1, 0, 0, 0, 0, 0}, 2, 3),
		"features across theta":    tensor.MatOf([]float32{1, 0, 0, 0, 1, 0}, 2, 3),
		"and not across the other": tensor.MatOf([]float32{1, 1, 0, 0, 1, 0}, 2, 3),
	} {
		s, err := Project(a, theta, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.Outputs.Data[1] = 0 // where the sum of the Gram matrix rounds
		free := s.HingeLabels(lambda)
		d := tensor.NewMat[float32](2, 3)
		_, box, err := ProjectBox(a, theta, lambda, &d)
		if err != nil {
			t.Fatal(name, err)
		}
		for _, x := range d.Data {
			if x-x != 0 {
				t.Errorf("%s: the gradient holds %v", name, x)
			}
		}
		for which, l := range map[string]HingeLabels{"free": free, "box": box} {
			if l.Gains[1] != 0 || l.Alpha[1] != 1 || !(l.Gains[0] > 0) {
				t.Errorf("%s, %s: gains %v, alpha %v", name, which, l.Gains, l.Alpha)
			}
			if _, err := exactly(GramOf(a), gainsOf(HingeLoss, l.Gains), lambda, 1e-8); err != nil {
				t.Errorf("%s, %s: %v", name, which, err)
			}
		}
		if left := s.C.Data[1] != 0; left != (free.Clipped > 0) {
			t.Errorf("%s: coefficient %v, %d clipped", name, s.C.Data[1], free.Clipped)
		}
	}
}

// Outputs of the solved model on new images stay within both bounds, and what an
// Interval calls decided is.
func TestIntervals(t *testing.T) {
	r := rng.Stream(1, "intervals")
	sure := [2]int{}
	for range 200 {
		p := drawMany(r)
		if p.phi.Rows >= p.phi.Cols {
			continue
		}
		theta := p.theta
		if r.IntN(2) == 0 {
			theta = oneRow(theta.Row(0))
		}
		s, err := Project(p.phi, theta, nil)
		if err != nil {
			t.Fatal(err)
		}
		thetaS := Combine(p.phi, s.C)
		x := tensor.NewMat[float32](50, p.phi.Cols)
		r.FillNormal(x.Data, 0, 0.5)
		for i := range 25 { // near the span
			c := make([]float64, p.phi.Rows)
			for j := range c {
				c[j] = r.Normal64()
			}
			for j, v := range subtractRows(widen(x.Row(i)), p.phi, c) {
				x.Row(i)[j] = float32(0.1*float64(x.Row(i)[j])) + float32(v)
			}
		}
		norms := make([]float64, x.Rows)
		for i := range norms {
			norms[i] = square(widen(x.Row(i)))
		}
		cross := tensor.NewMat[float64](x.Rows, p.phi.Rows)
		tensor.Cross64(cross, x, p.phi)
		span, err := NewSpan(GramOf(p.phi))
		if err != nil {
			t.Fatal(err)
		}
		far := span.Distance2(cross, norms)
		fO, fS := Apply(x, theta), Apply(x, thetaS)
		labels := make([]int, x.Rows)
		for i := range labels {
			labels[i] = r.IntN(max(2, fO.Cols))
			// The distance, from its definition.
			a := tensor.NewMat[float64](1, x.Cols)
			copy(a.Data, widen(x.Row(i)))
			row := tensor.Mat[float32]{Rows: 1, Cols: x.Cols, Stride: x.Cols, Data: x.Row(i)}
			own, err := Project(p.phi, oneRow(widen(row.Data)), nil)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(own.Norm2-far[i]) > 1e-6*norms[i] || far[i] > norms[i] {
				t.Fatalf("distance from the span %v, by projection %v", far[i], own.Norm2)
			}
		}
		for _, rho := range [][]float64{Rho(norms, math.Sqrt(s.Norm2)), Rho(far, math.Sqrt(s.Norm2))} {
			for i, limit := range rho {
				if d := distance(fO.Row(i), fS.Row(i)); d > limit*(1+1e-9)+1e-9 {
					t.Fatalf("outputs differ by %v, bound %v", d, limit)
				}
				got := NewInterval(oneImage(fO, i), labels[i:i+1], rho[i:i+1])
				right := fS.Row(i)[0] > 0 == (labels[i] == 1)
				if fS.Cols > 1 {
					right = true
					for _, v := range fS.Row(i) {
						right = right && v <= fS.Row(i)[labels[i]]
					}
				}
				if got.Right == 1 && !right || got.Wrong == 1 && right {
					t.Fatalf("called %+v, is right: %t", got, right)
				}
			}
			v := NewInterval(fO, labels, rho)
			if v.Right+v.Wrong+v.Unknown != x.Rows || v.Low() > v.High() || v.Vacuous() != (v.Decided() == 0) {
				t.Fatalf("%+v", v)
			}
			sure[0] += v.Right
			sure[1] += v.Wrong
		}
	}
	if sure[0] < 100 || sure[1] < 100 {
		t.Errorf("only %v images were decided", sure)
	}
	if v := (Interval{Unknown: 3}); !v.Vacuous() || v.Low() != 0 || v.High() != 1 {
		t.Errorf("nothing decided: [%v, %v]", v.Low(), v.High())
	}
	tie := NewInterval(oneColumn([]float64{0}), []int{1}, []float64{0})
	if tie.Unknown != 1 {
		t.Errorf("a tie is %+v", tie)
	}
}

func oneImage(f tensor.Mat[float64], i int) tensor.Mat[float64] { return oneRow(f.Row(i)) }

// Omega solves its equation.
func TestOmega(t *testing.T) {
	for x := -700.0; x < 700; x += 0.37 {
		w := omega(x)
		if d := w + fmath.Log(w) - x; math.Abs(d) > 1e-13*(1+math.Abs(x)) {
			t.Fatalf("omega(%v) = %v, off by %v", x, w, d)
		}
	}
}

// Probabilities of the proximal step are the softmax of the outputs they give.
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
