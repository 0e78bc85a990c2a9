package convex

import (
	"context"
	"math"
	"testing"

	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// both returns a set as a view of features and as a kernel view, and a function that converts
// the kernel's gradient to a gradient in the features.
func both(p many, phi tensor.Mat[float32]) (f Features, k Kernel, carry func() tensor.Mat[float32]) {
	d := tensor.NewMat[float32](p.phi.Rows, p.phi.Cols)
	f = Features{A: p.phi, Theta: p.theta, Real: phi, Grad: &d}
	g := new(KernelGradient)
	k = Kernel{K: GramOf(p.phi), F: Apply(p.phi, p.theta), Norm2: frobenius2(p.theta), Reals: f.Cross(), Grad: g}
	return f, k, func() tensor.Mat[float32] {
		out := tensor.NewMat[float32](p.phi.Rows, p.phi.Cols)
		for i := range out.Rows {
			for j := range out.Cols {
				x := 0.0
				for l, v := range g.K.Row(i) {
					x += 2 * v * float64(p.phi.Row(l)[j])
				}
				if g.F.Rows > 0 {
					for o, v := range g.F.Row(i) {
						x += v * p.theta.Row(o)[j]
					}
				}
				if g.Reals.Rows > 0 {
					for l, v := range g.Reals.Row(i) {
						x += float64(v) * float64(phi.Row(l)[j])
					}
				}
				out.Row(i)[j] = float32(x)
			}
		}
		return out
	}
}

// A kernel view and stored features with the same inner products agree, including gradients.
func TestKernelIsFeatures(t *testing.T) {
	r := rng.Stream(1, "views")
	for range 40 {
		p := drawMany(r)
		if p.phi.Rows >= p.phi.Cols {
			continue
		}
		phi := tensor.NewMat[float32](30, p.phi.Cols)
		r.FillNormal(phi.Data, 0, 1)
		f, k, carry := both(p, phi)
		real := Labels{Form: Target, Loss: SoftmaxLoss, Values: tensor.NewMat[float64](phi.Rows, p.theta.Rows)}
		for i := range phi.Rows {
			real.Values.Row(i)[i%p.theta.Rows] = 1
		}
		for name, do := range map[string]func(v View) (float64, error){
			"weights": func(v View) (float64, error) { s, err := Project(v); return s.Value, err },
			"outputs": func(v View) (float64, error) {
				s, err := Fit(v, Apply(phi, p.theta))
				return s.Value, err
			},
			"gap": func(v View) (float64, error) {
				return Gap{Pair: targets(SoftmaxLoss), Lambda: p.lambda}.Eval(v, p.targets, nil).Gap, nil
			},
		} {
			want, err := do(f)
			if err != nil {
				t.Fatal(err)
			}
			got, err := do(k)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(got-want) > 1e-4*math.Max(1e-3, math.Abs(want)) {
				t.Errorf("%s: %v with features, %v with a kernel", name, want, got)
			}
			near(t, name+" gradient", widen(carry().Data), widen(f.Grad.Data), 2e-3)
		}
	}
}

// Least returns the gradient of its value, for stored features and kernels. Its model is the
// best in the span, and respects the bound on the distance from Theta_O.
func TestLeast(t *testing.T) {
	r := rng.Stream(1, "least")
	for round := range 16 {
		n, m, images := 2+r.IntN(4), 12, 40
		a, phi := tensor.NewMat[float32](n, m), tensor.NewMat[float32](images, m)
		r.FillNormal(a.Data, 0, 0.3)
		r.FillNormal(phi.Data, 0, 0.3)
		real := Labels{Form: Gain, Loss: LogisticLoss, Values: tensor.NewMat[float64](images, 1)}
		for i := range real.Values.Data {
			real.Values.Data[i] = float64(1 - 2*r.IntN(2))
		}
		if round%2 == 1 {
			real = Labels{Form: Target, Loss: SoftmaxLoss, Values: tensor.NewMat[float64](images, 3)}
			for i := range images {
				real.Values.Row(i)[r.IntN(3)] = 1
			}
		}
		const lambda = 0.5
		whole, err := Solve(context.Background(), Problem{Features: phi, Labels: real, Lambda: lambda}, 1e-10)
		if err != nil {
			t.Fatal(err)
		}
		d := tensor.NewMat[float32](n, m)
		view := Features{A: a, Theta: whole.Weights, Real: phi, Grad: &d}
		s, err := Least(context.Background(), view, real, lambda)
		if err != nil {
			t.Fatal(err)
		}
		least := func() float64 {
			v, err := Least(context.Background(), Features{A: a, Theta: whole.Weights, Real: phi}, real, lambda)
			if err != nil {
				t.Fatal(err)
			}
			return v.Value
		}
		for range 5 {
			j := r.IntN(len(a.Data))
			if x := slope32(&a.Data[j], 1e-2, least); math.Abs(x-float64(d.Data[j])) > 2e-3*largest(d) {
				t.Errorf("dV/dphi is %v, central difference %v", d.Data[j], x)
			}
		}
		if deviation, bound := view.Distance(s.C), Bound(s.Value*float64(images)-whole.Dual, lambda); deviation > bound*(1+1e-6) {
			t.Errorf("deviation %v, bound %v", deviation, bound)
		}
		// No other coefficients are better.
		at := func(c tensor.Mat[float64]) float64 {
			theta := Combine(a, c)
			return (value(real, Apply(phi, theta)) + lambda/2*frobenius2(theta)) / float64(images)
		}
		if best := at(s.C); math.Abs(best-s.Value) > 1e-5*best {
			t.Errorf("the value is %v, by definition %v", s.Value, best)
		}
		for range 10 {
			c := times(1, s.C)
			for i := range c.Data {
				c.Data[i] += 0.1 * r.Normal64()
			}
			if at(c) < s.Value*(1-1e-6) {
				t.Errorf("other coefficients reach %v, below %v", at(c), s.Value)
			}
		}
		// A kernel gives the same.
		f, k, carry := both(many{phi: a, theta: whole.Weights}, phi)
		if _, err := Least(context.Background(), f, real, lambda); err != nil {
			t.Fatal(err)
		}
		if v, err := Least(context.Background(), k, real, lambda); err != nil || math.Abs(v.Value-s.Value) > 1e-5*s.Value {
			t.Errorf("%v with a kernel, %v with features (%v)", v.Value, s.Value, err)
		}
		near(t, "gradient", widen(carry().Data), widen(f.Grad.Data), 1e-3)
	}
}
