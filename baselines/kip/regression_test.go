package kip

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"dgkip/harness/convex"
	"dgkip/harness/rng"
	"dgkip/harness/teacher"
	"dgkip/harness/tensor"
)

// instance is a small regression. Features and labels are multiples of 1/1024, so
// that small steps away from them are exact in float32.
type instance struct {
	a, b       tensor.Mat[float32]
	y, targets tensor.Mat[float64]
}

const grid = 1.0 / 1024

func newInstance(n, size, dim, outputs int) instance {
	s := rng.Stream(1, "instance")
	round := func() float64 { return math.Round(s.Normal64()/grid) * grid }
	p := instance{
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

// slope differentiates at zero by central differences of two sizes, whose errors of
// second order cancel.
func slope(t *testing.T, f func(h float64) (model, error)) float64 {
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

// near compares a gradient that has been through float32 with one that has not.
func near(t *testing.T, name string, got, want []float64, share float64) {
	t.Helper()
	most := 0.0
	for _, v := range want {
		most = max(most, math.Abs(v))
	}
	if most == 0 {
		t.Fatalf("%s: all derivatives are zero", name)
	}
	for i, v := range want {
		if d := math.Abs(got[i] - v); !(d <= share*most) {
			t.Errorf("%s: derivative %d is %v, central differences give %v", name, i, got[i], v)
		}
	}
}

func TestGradients(t *testing.T) {
	for name, r := range map[string]ridge{
		"jitter": {Jitter: 0.3}, "small jitter": {Jitter: 1e-6}, "fixed": {Fixed: 0.2}, "both": {0.1, 0.1},
	} {
		for _, outputs := range []int{1, 3} {
			p := newInstance(4, 40, 9, outputs)
			dA := tensor.NewMat[float32](4, 9)
			dy := tensor.NewMat[float64](4, outputs)
			m, err := r.fit(p.a, p.b, p.y, p.targets, &dA, dy)
			if err != nil {
				t.Fatal(err)
			}
			plain, err := r.fit(p.a, p.b, p.y, p.targets, nil, tensor.Mat[float64]{})
			if err != nil || plain.Loss != m.Loss {
				t.Errorf("%s: loss %v without gradients, %v with them (%v)", name, plain.Loss, m.Loss, err)
			}
			loss := func() (model, error) { return r.fit(p.a, p.b, p.y, p.targets, nil, tensor.Mat[float64]{}) }
			near(t, name+" features", wide(dA.Data), each32(t, p.a.Data, loss), 1e-6)
			var want []float64
			for i := range p.y.Data {
				at := p.y.Data[i]
				want = append(want, slope(t, func(h float64) (model, error) { p.y.Data[i] = at + h; return loss() }))
				p.y.Data[i] = at
			}
			near(t, name+" labels", dy.Data, want, 1e-9)
		}
	}
}

func TestSolvedGradient(t *testing.T) {
	for _, outputs := range []int{1, 3} {
		p := newInstance(4, 40, 9, outputs)
		zero := tensor.NewMat[float64](outputs, 9)
		dA := tensor.NewMat[float32](4, 9)
		if _, err := solve(p.a, p.b, 1e-3, p.targets, zero, &dA); err != nil {
			t.Fatal(err)
		}
		loss := func() (model, error) { return solve(p.a, p.b, 1e-3, p.targets, zero, nil) }
		// The kernel of set and real images has been through float32.
		near(t, "features", wide(dA.Data), each32(t, p.a.Data, loss), 1e-3)
	}
}

// each32 differentiates in all values.
func each32(t *testing.T, values []float32, loss func() (model, error)) []float64 {
	t.Helper()
	var out []float64
	for i, at := range values {
		out = append(out, slope(t, func(h float64) (model, error) { values[i] = at + float32(h); return loss() }))
		values[i] = at
	}
	return out
}

func wide(v []float32) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}

// The loss is that of the definition, by way of the kernels.
func TestLoss(t *testing.T) {
	for _, outputs := range []int{1, 3} {
		p := newInstance(5, 70, 12, outputs) // more than two blocks of rows
		m, err := ridge{Jitter: 0.1, Fixed: 0.05}.fit(p.a, p.b, p.y, p.targets, nil, tensor.Mat[float64]{})
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
		loss, out := 0.0, convex.Apply(p.b, m.Theta)
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

// Solved labels have the least loss of all, and the model that scores a set finds
// the coefficients again from the labels alone.
func TestSolve(t *testing.T) {
	for _, outputs := range []int{1, 3} {
		p := newInstance(5, 70, 12, outputs)
		best, err := solve(p.a, p.b, 0.3, p.targets, tensor.NewMat[float64](outputs, 12), nil)
		if err != nil {
			t.Fatal(err)
		}
		student(t, p.a, best, 0.3)
		for range 20 {
			p.y = newLike(p.y)
			m, err := ridge{Jitter: 1e-6}.fit(p.a, p.b, p.y, p.targets, nil, tensor.Mat[float64]{})
			if err != nil {
				t.Fatal(err)
			}
			if m.Loss < best.Loss {
				t.Errorf("loss %v, of solved labels %v", m.Loss, best.Loss)
			}
		}
		// The best labels of a regression with a ridge are (K + s I) C.
		same, err := ridge{Fixed: 0.3}.fit(p.a, p.b, best.Labels, p.targets, nil, tensor.Mat[float64]{})
		if err != nil || math.Abs(same.Loss-best.Loss) > 1e-9 {
			t.Errorf("loss %v from the solved labels, %v of their model (%v)", same.Loss, best.Loss, err)
		}
	}
}

var again = rng.Stream(1, "again")

func newLike(y tensor.Mat[float64]) tensor.Mat[float64] {
	out := tensor.NewMat[float64](y.Rows, y.Cols)
	for i := range out.Data {
		out.Data[i] = again.Normal64()
	}
	return out
}

// A ridge of lambda is the one by which a set is scored.
func TestRidgeOfTheScore(t *testing.T) {
	p := newInstance(5, 70, 12, 3)
	m, err := ridge{Fixed: 0.3}.fit(p.a, p.b, p.y, p.targets, nil, tensor.Mat[float64]{})
	if err != nil {
		t.Fatal(err)
	}
	student(t, p.a, m, 0.3)
}

// student compares a model with the one that its labels train.
func student(t *testing.T, a tensor.Mat[float32], m model, lambda float64) {
	t.Helper()
	s, err := teacher.Train(context.Background(), convex.GramOf(a), convex.Labels{Form: convex.Value, Loss: convex.SquaredLoss, Values: m.Labels}, lambda)
	if err != nil {
		t.Fatal(err)
	}
	if d := convex.Distance(s.Weights, m.Theta); d > 1e-4*convex.Norm(m.Theta) {
		t.Errorf("the model that is trained on the set is %v away from the one it was made for, of norm %v", d, convex.Norm(m.Theta))
	}
}

func TestSingular(t *testing.T) {
	p := newInstance(3, 10, 5, 1)
	copy(p.a.Row(1), p.a.Row(0))
	_, err := ridge{}.fit(p.a, p.b, p.y, p.targets, nil, tensor.Mat[float64]{})
	if !errors.Is(err, errSingular) || !strings.Contains(err.Error(), "image 1 of 3") {
		t.Errorf("two images alike: %v", err)
	}
	if _, err := (ridge{Jitter: 1e-6}).fit(p.a, p.b, p.y, p.targets, nil, tensor.Mat[float64]{}); err != nil {
		t.Errorf("with jitter: %v", err)
	}
	p.a.Data[0] = float32(math.NaN())
	if _, err := (ridge{Jitter: 1e-6}).fit(p.a, p.b, p.y, p.targets, nil, tensor.Mat[float64]{}); !errors.Is(err, errSingular) {
		t.Errorf("not a number: %v", err)
	}
}
