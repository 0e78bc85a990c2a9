package tangent

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/augment"
	"dgkip/harness/method"
	"dgkip/harness/method/methodtest"
	"dgkip/harness/nn"
	"dgkip/harness/rng"
)

// quick has few updates and steps, as tests need.
func quick() *Tangent {
	m := defaults()
	m.Updates, m.Trajectories, m.Ages, m.NetBatch = 6, 2, []int{0, 1, 3}, 5
	return m
}

func TestContract(t *testing.T) {
	for name, change := range map[string]func(*Tangent){
		"flipped":   func(*Tangent) {},
		"augmented": func(m *Tangent) { m.Augment, m.Detached, m.Schedule, m.Ages = "dsa", true, "", []int{1, 2} },
	} {
		t.Run(name, func(t *testing.T) {
			methodtest.Run(t, func() method.Method { m := quick(); change(m); return m }, methodtest.Options{})
		})
	}
}

func problem() method.Problem {
	return method.Problem{Data: methodtest.Data(1), IPC: 2, Seed: 1, Model: method.Model{Kind: "conv", Width: 8, Depth: 2, Nets: 1}}
}

// place is a network at given weights, the change of its weights by training, and a set.
type place struct {
	net              *nn.Net[float64]
	m                *matcher[float64]
	theta, d, x, y   []float64
	h, w, c, n, many int
}

func newPlace(t *testing.T, norm bool) *place {
	t.Helper()
	p := &place{h: 8, w: 8, c: 2, n: 3, many: 3}
	net, err := nn.ConvNet[float64](nn.Shape{Kind: "conv", Width: 3, Depth: 2, Norm: norm}, p.h, p.w, p.c, p.many)
	if err != nil {
		t.Fatal(err)
	}
	r := rng.Stream(3, "place")
	p.net, p.m = net, newMatcher(net, p.h, p.w, p.c)
	p.theta = make([]float64, net.Params())
	net.InitUniform(p.theta, r)
	p.x = methodtest.Normal[float64](r, p.n*net.Inputs(), 1)
	p.y = make([]float64, p.n*p.many)
	for i := range p.n {
		p.y[i*p.many+i] = 1
	}
	// The training direction is a descent direction on S, so the gap is below one.
	pass := net.NewPass()
	pass.Loss(p.theta, p.x, p.y, p.n)
	g := make([]float64, net.Params())
	pass.Gradient(nn.Grad[float64]{Theta: g})
	p.d = methodtest.Normal[float64](r, net.Params(), 1)
	for i := range p.d {
		p.d[i] = 0.01*p.d[i] - g[i]
	}
	return p
}

// The gradient equals a central difference: of the gap if it goes through b, and otherwise of the
// outputs' directional derivative weighted by b.
func TestGradient(t *testing.T) {
	for _, name := range []string{"", "color", "crop", "cutout", "scale", "rotate"} {
		strategy, err := augment.New(name, false)
		if err != nil {
			t.Fatal(err)
		}
		p := newPlace(t, name != "crop")
		draw := strategy.Draw(rng.Stream(1, name), p.h, p.w)
		dx, other := make([]float64, len(p.x)), make([]float64, len(p.x))
		g := p.m.match(p.theta, p.d, draw, p.x, p.y, false, dx)
		if !(g > 0 && g < 0.999) {
			t.Fatalf("%q: the gap is %v, which tests nothing", name, g)
		}
		methodtest.Near(t, name+" through b", dx, methodtest.Differences(p.x, 1, 1e-6, func(x []float64) float64 {
			return p.m.match(p.theta, p.d, draw, x, p.y, false, other)
		}), 1e-6)

		if held := p.m.match(p.theta, p.d, draw, p.x, p.y, true, dx); math.Abs(held-g) > 1e-12 {
			t.Errorf("%q: the gap is %v with b held, and %v without", name, held, g)
		}
		v, b := slices.Clone(p.m.v), slices.Clone(p.m.b)
		pass, grad := p.net.NewPass(), make([]float64, p.net.Params())
		methodtest.Near(t, name+" b held", dx, methodtest.Differences(p.x, 1, 1e-6, func(x []float64) float64 {
			changed := make([]float64, len(x))
			augment.Apply(draw, changed, x, p.n, p.h, p.w, p.c)
			pass.Outputs(p.theta, changed, p.n)
			pass.Linear(b)
			pass.Gradient(nn.Grad[float64]{Theta: grad})
			return dot(grad, v)
		}), 1e-6)
	}
}

// The gap follows its definition. It does not depend on the scale of s or of a tensor of d, is zero along
// -d, and is one without derivative if no positive lambda is best.
func TestGap(t *testing.T) {
	tensors := []nn.Tensor{
		{Kind: nn.LinearWeight, Shape: []int{2, 1}, Offset: 0, Len: 2},
		{Kind: nn.Bias, Shape: []int{1}, Offset: 2, Len: 1},
		{Kind: nn.LinearWeight, Shape: []int{2, 1}, Offset: 3, Len: 2},
		{Kind: nn.LinearWeight, Shape: []int{1, 1}, Offset: 5, Len: 1},
	}
	d := []float64{3, 4, 9, 0, 2, 0} // lengths 5 and 2; the last tensor does not change
	s := []float64{-5, 0, 9, 2, -2, 7}
	v := make([]float64, 6)
	// Over the squares of the lengths: <-s,d> = 15/25 + 4/4, |s|^2 = 25/25 + 8/4, |d|^2 = 2.
	want := 1 - 1.6*1.6/(3*2)
	if g := gap(v, s, d, tensors); math.Abs(g-want) > 1e-15 {
		t.Errorf("gap %v, want %v", g, want)
	}
	methodtest.Near(t, "derivative", v, methodtest.Differences(s, 1, 1e-6, func(s []float64) float64 { return gap(make([]float64, 6), s, d, tensors) }), 1e-8)
	if v[2] != 0 || v[5] != 0 {
		t.Errorf("a bias or a constant tensor has the derivative %v", v)
	}
	minus := func(x []float64) []float64 {
		y := make([]float64, len(x))
		for i, v := range x {
			y[i] = -3 * v
		}
		return y
	}
	if g := gap(v, minus(d), d, tensors); math.Abs(g) > 1e-15 {
		t.Errorf("gap %v along -d, want 0", g)
	}
	for name, s := range map[string][]float64{"uphill": d, "no gradient": make([]float64, 6)} {
		if g := gap(v, s, d, tensors); g != 1 || slices.ContainsFunc(v, func(v float64) bool { return v != 0 }) {
			t.Errorf("%s: gap %v, derivative %v", name, g, v)
		}
	}
}

// With one step and no momentum, the gap is gradient matching: one minus the squared cosine between the
// gradients on S and on the real batch.
func TestOneStepIsGradientMatching(t *testing.T) {
	p := problem()
	m := quick()
	m.Ages, m.Trajectories, m.NetMomentum, m.NetBatch, m.Augment = []int{0, 1}, 1, 0, 100, ""
	r, err := newRun(context.Background(), p, m)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.gradient(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	net, err := m.Shape(p.Model).Net(8, 8, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	gradient := func(x, y []float32, n int) []float32 {
		g := make([]float32, net.Params())
		pass := net.NewPass()
		pass.Loss(r.trajectories[0][0], x, y, n)
		pass.Gradient(nn.Grad[float32]{Theta: g})
		return g
	}
	train := p.Data.Train
	ofReal := gradient(train.X, method.OneHot(train.Labels, 2), train.Len())
	ofSyn := gradient(r.begin.Images, r.begin.Labels, r.begin.Len())
	var rr, ss, rs float64
	for _, t := range net.Tensors() {
		if t.Weight() {
			a, b := ofReal[t.Offset:][:t.Len], ofSyn[t.Offset:][:t.Len]
			rr++
			ss += dot(b, b) / dot(a, a)
			rs += dot(a, b) / dot(a, a)
		}
	}
	if want := 1 - rs*rs/(rr*ss); math.Abs(got-want) > 1e-4*want {
		t.Errorf("gap %v, want %v", got, want)
	}
}

// Theorem 3.2 holds in tangent features for any lambda: the distance of D from the minimiser on S is at
// most the two terms. With one weight tensor, the first term is the gap.
func TestTheorem(t *testing.T) {
	for name, last := range map[string]bool{"all weights": false, "the last tensor": true} {
		t.Run(name, func(t *testing.T) { checkTheorem(t, last) })
	}
}

func checkTheorem(t *testing.T, last bool) {
	p := newPlace(t, false)
	k, params := p.many, p.net.Params()
	unit := make([]float64, params) // 1 for weights that count
	for i := len(p.m.tensors) - 1; i >= 0; i-- {
		if l := p.m.tensors[i]; l.Weight() {
			for j := range l.Len {
				unit[l.Offset+j] = 1
			}
			if last {
				p.m.tensors = []nn.Tensor{l}
				break
			}
		}
	}
	product := func(a, b []float64) (sum float64) {
		for i, u := range unit {
			sum += u * a[i] * b[i]
		}
		return sum
	}
	// z and, row by row, the gradients of all outputs.
	pass := p.net.NewPass()
	z := slices.Clone(pass.Outputs(p.theta, p.x, p.n))
	g := make([][]float64, p.n*k)
	for i := range g {
		one := make([]float64, len(z))
		one[i] = 1
		g[i] = make([]float64, params)
		pass.Outputs(p.theta, p.x, p.n)
		pass.Linear(one)
		pass.Gradient(nn.Grad[float64]{Theta: g[i]})
		for j, u := range unit {
			g[i][j] *= u
		}
	}
	outputs := func(theta []float64) []float64 {
		o := slices.Clone(z)
		for i := range o {
			o[i] += product(g[i], theta)
		}
		return o
	}
	// model returns sum_i <b_i, g_i> / lambda for b = y - q.
	model := func(q []float64, lambda float64) []float64 {
		theta := make([]float64, params)
		for i, row := range g {
			for j, v := range row {
				theta[j] += (p.y[i] - q[i]) * v / lambda
			}
		}
		return theta
	}
	softmax := func(z []float64) []float64 {
		q := make([]float64, len(z))
		nn.Softmax(q, z, k)
		return q
	}
	distance := func(a, b []float64) float64 {
		e := make([]float64, params)
		for i := range e {
			e[i] = a[i] - b[i]
		}
		return product(e, e)
	}
	q, qd := softmax(z), softmax(outputs(p.d))
	var kl float64
	for i := range q {
		kl += q[i] * math.Log(q[i]/qd[i])
	}
	v := model(q, 1)
	best := product(v, v) / product(v, p.d)
	var lipschitz float64
	for _, row := range g {
		lipschitz += product(row, row)
	}
	for _, factor := range []float64{0.3, 1, 3, 30} {
		lambda := factor * best
		theta := make([]float64, params)
		for range 4000 { // gradient descent on P
			to := model(softmax(outputs(theta)), lambda)
			step := lambda / (lambda + lipschitz)
			for i := range theta {
				theta[i] += step * (to[i] - theta[i])
			}
		}
		if r := distance(theta, model(softmax(outputs(theta)), lambda)); r > 1e-8*product(p.d, p.d) {
			t.Fatalf("lambda %g: the gradient at the minimiser is %g", lambda, r)
		}
		bound := distance(p.d, model(q, lambda)) + 2/lambda*kl
		if got := distance(p.d, theta); got > bound*(1+1e-6) {
			t.Errorf("lambda %g: the squared distance %g exceeds the bound %g", lambda, got, bound)
		}
		if factor == 1 && last {
			want := p.m.match(p.theta, p.d, augment.Draw{}, p.x, p.y, false, make([]float64, len(p.x)))
			if got := distance(p.d, model(q, lambda)) / product(p.d, p.d); math.Abs(got-want) > 1e-9 {
				t.Errorf("the first term is %g of |D|^2, but the gap is %g", got, want)
			}
		}
	}
}

// The gap falls, networks trained on the set are better than those trained on its start, and labels stay.
func TestLearns(t *testing.T) {
	m := quick()
	m.Updates, m.Ages, m.NetBatch = 80, []int{0, 10, 30}, 6
	var losses []float64
	d := methodtest.Distill(t, m, problem(), func(s method.Step) { losses = append(losses, s.Loss) })
	methodtest.Fell(t, "gaps", losses, 8, 0.8)
	if d.Kind != method.Hard || !slices.Equal(d.Labels, []float32{1, 0, 1, 0, 0, 1, 0, 1}) {
		t.Errorf("labels %v, %s", d.Labels, d.Kind)
	}
}

// Runs with different seeds and sizes share trajectories, but not initial images.
func TestTrajectoriesAreShared(t *testing.T) {
	var at [2]*run
	shared := new(method.Shared)
	for i := range at {
		p := problem()
		p.Seed, p.IPC, p.Shared = uint64(i), 1+i, shared
		var err error
		if at[i], err = newRun(context.Background(), p, quick()); err != nil {
			t.Fatal(err)
		}
	}
	for k := range at[0].trajectories {
		if &at[0].trajectories[k][0][0] != &at[1].trajectories[k][0][0] {
			t.Errorf("trajectory %d was computed twice", k)
		}
	}
	if w := at[0].trajectories; slices.Equal(w[0][2], w[1][2]) || len(w[0]) != 3 {
		t.Error("two trajectories are equal")
	}
	p, m := problem(), quick()
	m.NetRate = 1e30
	if _, err := newRun(context.Background(), p, m); err == nil || !strings.Contains(err.Error(), "net_rate") {
		t.Errorf("got %v", err)
	}
}

func TestSettings(t *testing.T) {
	for key, change := range map[string]func(*Tangent){
		"":         func(*Tangent) {},
		"ages":     func(m *Tangent) { m.Ages = []int{5, 5} },
		"augment":  func(m *Tangent) { m.Augment = "dc" },
		"rate":     func(m *Tangent) { m.Rate = 0 },
		"net_rate": func(m *Tangent) { m.NetRate = 0 },
	} {
		m := quick()
		change(m)
		err := m.Check()
		var bad *method.BadSetting
		if key == "" && err != nil || key != "" && (!errors.As(err, &bad) || bad.Key != key) {
			t.Errorf("%q: %v", key, err)
		}
	}
	m := quick()
	m.Ages = []int{3}
	if m.Check() == nil {
		t.Error("a single age is accepted")
	}
	sizes := method.Sizes{Train: 12, Test: 12, Classes: 2, H: 8, W: 8, C: 1, Smallest: 6, IPC: 7, Model: problem().Model}
	if err := m.CheckSizes(sizes); err == nil || !strings.Contains(err.Error(), "dgkip-tangent with start") {
		t.Errorf("got %v", err)
	}
	sizes.IPC, sizes.Model.Depth = 1, 4
	if err := m.CheckSizes(sizes); err == nil || !strings.Contains(err.Error(), "too small for 4 blocks") {
		t.Errorf("got %v", err)
	}
}
