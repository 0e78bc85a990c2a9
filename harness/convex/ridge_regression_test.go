package convex

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// regressionInstance is a small regression. Its features and labels are multiples of 1/1024, so
// that small steps are exact in float32.
type regressionInstance struct {
	a, b       tensor.Mat[float32]
	y, targets tensor.Mat[float64]
}

const grid = 1.0 / 1024

func newRegression(n, size, dim, outputs int) regressionInstance {
	s := rng.Stream(1, "instance")
	round := func() float64 { return math.Round(s.Normal64()/grid) * grid }
	p := regressionInstance{
		tensor.NewMat[float32](n, dim), tensor.NewMat[float32](size, dim),
		tensor.NewMat[float64](n, outputs), tensor.NewMat[float64](size, outputs),
	}
	for _, m := range []tensor.Mat[float32]{p.a, p.b} {
		for i := range m.Data {
			m.Data[i] = float32(round())
		}
	}
	for _, m := range []tensor.Mat[float64]{p.y, p.targets} {
		for i := range m.Data {
			m.Data[i] = round()
		}
	}
	return p
}

func (p regressionInstance) view(grad *tensor.Mat[float32]) Features {
	return Features{A: p.a, Real: p.b, Grad: grad}
}

// reals are the real labels for every loss.
func (p regressionInstance) reals() []Labels {
	loss := LogisticLoss
	if p.targets.Cols > 1 {
		loss = SoftmaxLoss
	}
	return []Labels{Values(p.targets), {Form: Target, Loss: loss, Values: p.targets}}
}

// solved returns the best regression on the features and its solved labels. Value is twice the loss.
func (p regressionInstance) solved(lambda float64) (Regression, tensor.Mat[float64], error) {
	s, err := Fit(p.view(nil), p.targets)
	if err != nil {
		return Regression{}, s.C, err
	}
	return Regression{C: s.C, Loss: s.Value / 2}, s.Labels(SquaredLoss, lambda).Values, nil
}

// slope differentiates at zero by central differences of two sizes, whose second-order errors
// cancel.
func slope(t *testing.T, f func(h float64) (Regression, error)) float64 {
	t.Helper()
	at := func(h float64) float64 {
		m, err := f(h)
		if err != nil {
			t.Fatal(err)
		}
		return m.Loss
	}
	one := (at(grid) - at(-grid)) / (2 * grid)
	two := (at(2*grid) - at(-2*grid)) / (4 * grid)
	return (4*one - two) / 3
}

func TestRidgeGradients(t *testing.T) {
	for name, r := range map[string]Ridge{
		"jitter": {Jitter: 0.3}, "small jitter": {Jitter: 1e-6}, "fixed": {Fixed: 0.2}, "both": {0.1, 0.1},
	} {
		for _, outputs := range []int{1, 3} {
			p := newRegression(4, 40, 9, outputs)
			for _, real := range p.reals() {
				name := name + " " + string(real.Loss)
				dA := tensor.NewMat[float32](4, 9)
				dy := tensor.NewMat[float64](4, outputs)
				m, err := r.Fit(p.view(&dA), p.y, real, dy)
				if err != nil {
					t.Fatal(err)
				}
				plain, err := r.Fit(p.view(nil), p.y, real, tensor.Mat[float64]{})
				if err != nil || plain.Loss != m.Loss {
					t.Errorf("%s: loss %v without gradients, %v with them (%v)", name, plain.Loss, m.Loss, err)
				}
				loss := func() (Regression, error) { return r.Fit(p.view(nil), p.y, real, tensor.Mat[float64]{}) }
				near(t, name+" features", widen(dA.Data), each32(t, p.a.Data, loss), 1e-6)
				var want []float64
				for i := range p.y.Data {
					at := p.y.Data[i]
					want = append(want, slope(t, func(h float64) (Regression, error) { p.y.Data[i] = at + h; return loss() }))
					p.y.Data[i] = at
				}
				near(t, name+" labels", dy.Data, want, 1e-9)
			}
		}
	}
}

// each32 differentiates with respect to every value.
func each32(t *testing.T, values []float32, loss func() (Regression, error)) []float64 {
	t.Helper()
	var out []float64
	for i, at := range values {
		out = append(out, slope(t, func(h float64) (Regression, error) { values[i] = at + float32(h); return loss() }))
		values[i] = at
	}
	return out
}

// The loss matches its definition in terms of kernels.
func TestRidgeLoss(t *testing.T) {
	for _, outputs := range []int{1, 3} {
		p := newRegression(5, 70, 12, outputs) // more than two blocks of rows
		m, err := Ridge{Jitter: 0.1, Fixed: 0.05}.Fit(p.view(nil), p.y, Values(p.targets), tensor.Mat[float64]{})
		if err != nil {
			t.Fatal(err)
		}
		k, cross := tensor.NewMat[float64](5, 5), tensor.NewMat[float64](70, 5)
		tensor.Gram64(k, p.a)
		tensor.Cross64(cross, p.b, p.a)
		trace := 0.0
		for i := range 5 {
			trace += k.Row(i)[i]
		}
		for i := range 5 { // (K + s I) C is y
			for q := range outputs {
				sum := (0.1*trace/5 + 0.05) * m.C.Row(i)[q]
				for j := range 5 {
					sum += k.Row(i)[j] * m.C.Row(j)[q]
				}
				if math.Abs(sum-p.y.Row(i)[q]) > 1e-12 {
					t.Errorf("label %d %d: %v, want %v", i, q, sum, p.y.Row(i)[q])
				}
			}
		}
		loss, out := 0.0, Apply(p.b, Combine(p.a, m.C))
		for i := range 70 {
			for q := range outputs {
				f := 0.0
				for j := range 5 {
					f += cross.Row(i)[j] * m.C.Row(j)[q]
				}
				if math.Abs(f-out.Row(i)[q]) > 1e-12*(1+math.Abs(f)) {
					t.Errorf("output %d %d: %v, want %v", i, q, out.Row(i)[q], f)
				}
				loss += (f - p.targets.Row(i)[q]) * (f - p.targets.Row(i)[q]) / 140
			}
		}
		if math.Abs(loss-m.Loss) > 1e-12*loss {
			t.Errorf("loss %v, want %v", m.Loss, loss)
		}
	}
}

// Solved labels have the smallest loss of all labels, and training on them recovers the
// coefficients.
func TestSolvedLabelsAreBest(t *testing.T) {
	r := rng.Stream(1, "again")
	for _, outputs := range []int{1, 3} {
		p := newRegression(5, 70, 12, outputs)
		best, labels, err := p.solved(0.3)
		if err != nil {
			t.Fatal(err)
		}
		student(t, p.a, best, labels, 0.3)
		for range 20 {
			p.y = normals(r, 5, outputs, 1)
			m, err := Ridge{Jitter: 1e-6}.Fit(p.view(nil), p.y, Values(p.targets), tensor.Mat[float64]{})
			if err != nil {
				t.Fatal(err)
			}
			if m.Loss < best.Loss {
				t.Errorf("loss %v of random labels is below %v of solved labels", m.Loss, best.Loss)
			}
		}
		// With a ridge s, the best labels are (K + s I) C.
		same, err := Ridge{Fixed: 0.3}.Fit(p.view(nil), labels, Values(p.targets), tensor.Mat[float64]{})
		if err != nil || math.Abs(same.Loss-best.Loss) > 1e-9 {
			t.Errorf("solved labels give the loss %v, not %v (%v)", same.Loss, best.Loss, err)
		}
	}
}

// student fails if training on the labels y gives another model than m.
func student(t *testing.T, a tensor.Mat[float32], m Regression, y tensor.Mat[float64], lambda float64) {
	t.Helper()
	s, err := Solve(context.Background(), Problem{Gram: GramOf(a), Labels: Values(y), Lambda: lambda}, 1e-12)
	if err != nil {
		t.Fatal(err)
	}
	theta := Combine(a, m.C)
	if d := Distance(Combine(a, s.C), theta); d > 1e-4*Norm(theta) {
		t.Errorf("the trained model is %v from the regression of norm %v", d, Norm(theta))
	}
}

func TestRidgeSingular(t *testing.T) {
	p := newRegression(3, 10, 5, 1)
	copy(p.a.Row(1), p.a.Row(0))
	_, err := Ridge{}.Fit(p.view(nil), p.y, Values(p.targets), tensor.Mat[float64]{})
	if !errors.Is(err, ErrSingular) || !strings.Contains(err.Error(), "image 1 of 3") {
		t.Errorf("two equal images: %v", err)
	}
	if _, err := (Ridge{Jitter: 1e-6}).Fit(p.view(nil), p.y, Values(p.targets), tensor.Mat[float64]{}); err != nil {
		t.Errorf("with jitter: %v", err)
	}
	p.a.Data[0] = float32(math.NaN())
	if _, err := (Ridge{Jitter: 1e-6}).Fit(p.view(nil), p.y, Values(p.targets), tensor.Mat[float64]{}); !errors.Is(err, ErrSingular) {
		t.Errorf("NaN: %v", err)
	}
}

// A regression on inner products of features has the same gradients and predictions as one on
// the features.
func TestKernelRegressionMatchesFeatures(t *testing.T) {
	for _, r := range []Ridge{{Jitter: 0.3}, {Fixed: 0.2}} {
		const n, dim, outputs = 4, 9, 3
		p := newRegression(n, 40, dim, outputs)
		for _, real := range p.reals() {
			f, k, carry := both(many{phi: p.a, theta: tensor.NewMat[float64](outputs, dim)}, p.b)
			wantLabels, dy := tensor.NewMat[float64](n, outputs), tensor.NewMat[float64](n, outputs)
			want, err := r.Fit(f, p.y, real, wantLabels)
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.Fit(k, p.y, real, dy)
			if err != nil || math.Abs(got.Loss-want.Loss) > 1e-6*want.Loss {
				t.Fatalf("loss %v, not %v (%v)", got.Loss, want.Loss, err)
			}
			near(t, "labels", dy.Data, wantLabels.Data, 1e-5)
			near(t, "features", widen(carry().Data), widen(f.Grad.Data), 1e-5)
			loss, out, norm := want.Predict(f, real)
			if loss != want.Loss {
				t.Errorf("Fit returns the loss %v, Predict %v", want.Loss, loss)
			}
			same, again, size := got.Predict(k, real)
			if math.Abs(same-loss) > 1e-6*loss || math.Abs(size-norm) > 1e-6*norm {
				t.Errorf("loss %v and norm %v, not %v and %v", same, size, loss, norm)
			}
			near(t, "outputs", again.Data, out.Data, 1e-6)
		}
	}
}
