package frepo

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dgkip/harness/augment"
	"dgkip/harness/method"
	"dgkip/harness/method/methodtest"
	"dgkip/harness/nn"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// quick has few updates, as tests need.
func quick() *FRePo {
	m := defaults()
	m.Updates, m.Batch, m.Pool, m.Life, m.Rate = 6, 7, 2, 3, 0.01
	return m
}

func TestContract(t *testing.T) {
	for name, change := range map[string]func(*FRePo){
		"learned": func(*FRePo) {},
		"fixed": func(m *FRePo) {
			m.Start, m.Labels, m.Mirror, m.NetBatch, m.Doubling, m.Norm = "noise", "fixed", false, 3, false, true
		},
	} {
		t.Run(name, func(t *testing.T) {
			methodtest.Run(t, func() method.Method { m := quick(); change(m); return m }, methodtest.Options{})
		})
	}
}

func problem(channels int) method.Problem {
	return method.Problem{Data: methodtest.Data(channels), IPC: 2, Seed: 1, Model: method.Model{Kind: "conv", Width: 4, Depth: 2, Nets: 1}}
}

// oracle computes L from its equations, in float64.
type oracle struct {
	body            *nn.Net[float64]
	theta, reals    []float64
	targets         tensor.Mat[float64]
	h, w, c         int
	jitter          float64
	mirror, margins bool
}

func newOracle(t *testing.T, r *run, update int) *oracle {
	t.Helper()
	d, m := r.begin, r.m
	net, err := nn.ConvNet[float64](m.shape(r.p.Model), d.H, d.W, d.C, len(d.Classes))
	if err != nil {
		t.Fatal(err)
	}
	r.draw(update)
	body := net.Body()
	return &oracle{
		body: body, theta: methodtest.Wide(r.pool.theta(update)[:body.Params()]), reals: methodtest.Wide(r.reals), targets: r.wanted, h: d.H, w: d.W, c: d.C,
		jitter: m.Jitter, mirror: r.mirror, margins: m.Margin && m.Labels == "learned",
	}
}

func (o *oracle) features(x []float64) tensor.Mat[float64] {
	n := len(x) / o.body.Inputs()
	return tensor.MatOf(slices.Clone(o.body.NewPass().Outputs(o.theta, x, n)), n, o.body.Classes())
}

func (o *oracle) loss(x, y []float64) (loss float64) {
	k := o.targets.Cols
	n0 := len(y) / k
	if o.margins {
		for i := range n0 {
			row := slices.Sorted(slices.Values(y[i*k:][:k]))
			loss -= min(row[k-1]-row[k-2], 1/float64(k)) / float64(n0)
		}
	}
	if o.mirror {
		turned := make([]float64, len(x))
		augment.Apply(augment.Flip(), turned, x, n0, o.h, o.w, o.c)
		x, y = slices.Concat(x, turned), slices.Concat(y, y)
	}
	p := methodtest.Ridge(o.features(x), o.features(o.reals), tensor.MatOf(y, len(y)/k, k), o.jitter)
	for i, v := range p.Data {
		e := v - o.targets.Data[i]
		loss += e * e / float64(2*p.Rows)
	}
	return loss
}

// The loss follows its equations, and its gradients equal central differences: with and without mirror
// images, with a ridge large enough to matter, and for labels within and beyond the margin.
func TestGradient(t *testing.T) {
	for name, change := range map[string]func(*FRePo){
		"plain":    func(m *FRePo) { m.Mirror, m.Margin = false, false },
		"ridge":    func(m *FRePo) { m.Mirror, m.Margin, m.Jitter = false, false, 0.3 },
		"margin":   func(m *FRePo) { m.Mirror, m.Jitter = false, 1e-2 },
		"mirrored": func(m *FRePo) { m.Jitter = 1e-2 },
	} {
		m := quick()
		m.Jitter = 1e-3
		change(m)
		r, err := newRun(problem(3), m)
		if err != nil {
			t.Fatal(err)
		}
		copy(r.labels.X, []float64{0.3, 0.1, 0.9, -0.2, -0.4, -0.1, 0.2, 0.5}) // two of the four have a margin below 1/2
		const update = 3
		got, err := r.gradient(context.Background(), update)
		if err != nil {
			t.Fatal(err)
		}
		o := newOracle(t, r, update)
		x := methodtest.Wide(r.images.X)
		if want := o.loss(x, r.labels.X); math.Abs(got-want) > 1e-5*math.Abs(want) {
			t.Errorf("%s: loss %v, want %v", name, got, want)
		}
		methodtest.Near(t, name+": images", methodtest.Wide(r.images.Grad), methodtest.Differences(x, 11, 1e-5, func(x []float64) float64 { return o.loss(x, r.labels.X) }), 2e-3)
		methodtest.Near(t, name+": labels", r.labels.Grad, methodtest.Differences(r.labels.X, 1, 1e-5, func(y []float64) float64 { return o.loss(x, y) }), 1e-4)
	}
}

// Results do not depend on the parts in which images go through a network.
func TestParts(t *testing.T) {
	p := problem(1)
	train := &p.Data.Train
	train.X, train.Labels = slices.Repeat(train.X, 30), slices.Repeat(train.Labels, 30)
	noise := make([]float32, len(train.X))
	rng.Stream(5).FillNormal(noise, 0, 0.3)
	for i, v := range noise {
		train.X[i] += v
	}
	p.IPC = 70
	m := quick()
	m.Batch, m.Jitter = 300, 1e-2
	r, err := newRun(p, m)
	if err != nil {
		t.Fatal(err)
	}
	loss, err := r.gradient(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	o := newOracle(t, r, 0)
	if want := o.loss(methodtest.Wide(r.images.X), r.labels.X); math.Abs(loss-want) > 1e-4*math.Abs(want) {
		t.Errorf("loss %v, want %v", loss, want)
	}
	// One value of every part.
	x, dx := methodtest.Wide(r.images.X), methodtest.Wide(r.images.Grad)
	at := []int{64*3 + 20, 64*130 + 11}
	want := methodtest.Differences([]float64{x[at[0]], x[at[1]]}, 1, 1e-5, func(v []float64) float64 {
		y := slices.Clone(x)
		y[at[0]], y[at[1]] = v[0], v[1]
		return o.loss(y, r.labels.X)
	})
	methodtest.Near(t, "gradient", []float64{dx[at[0]], dx[at[1]]}, want, 2e-2)
}

// The gradient of a network's training equals a central difference, in one part or several.
func TestNetworkGradient(t *testing.T) {
	net, err := quick().shape(problem(1).Model).Net(8, 8, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	wideNet, err := nn.ConvNet[float64](quick().shape(problem(1).Model), 8, 8, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	p := newPool(net, 1, 9, 1e-3, 1)
	for _, n := range []int{5, together + 3} {
		x, y := make([]float32, n*64), make([]float32, n*2)
		s := rng.Stream(1, strconv.Itoa(n))
		s.FillNormal(x, 0, 1)
		s.FillNormal(y, 0, 1)
		theta := p.theta(0)
		p.gradient(theta, x, y, n)
		x64, y64 := methodtest.Wide(x), methodtest.Wide(y)
		pass := wideNet.NewPass()
		want := methodtest.Differences(methodtest.Wide(theta), 7, 1e-5, func(theta []float64) (loss float64) {
			for i, f := range pass.Outputs(theta, x64, n) {
				loss += (f - y64[i]) * (f - y64[i]) / float64(2*n)
			}
			return loss
		})
		methodtest.Near(t, "network", methodtest.Wide(p.grad), want, 1e-3)
	}
}

// The rate falls to a tenth like a cosine.
func TestRate(t *testing.T) {
	m := defaults()
	for update, want := range map[int]float64{0: 3e-4, m.Updates / 2: 1.65e-4, m.Updates: 3e-5} {
		if got := m.Rate * m.share(update); math.Abs(got-want) > 1e-12 {
			t.Errorf("update %d: rate %v, want %v", update, got, want)
		}
	}
}

// Initial ages are spread over a life, and a network is replaced after 102 updates.
func TestPool(t *testing.T) {
	m := defaults()
	net, err := m.shape(problem(1).Model).Net(8, 8, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	ages := func(p *pool) (of []int) {
		for _, one := range p.nets {
			of = append(of, one.age)
		}
		return of
	}
	p := newPool(net, m.Pool, m.Life, m.NetRate, 1)
	if got := ages(p); !slices.Equal(got, []int{0, 10, 20, 30, 40, 50, 60, 70, 80, 90}) {
		t.Errorf("ages %v", got)
	}
	p = newPool(net, 1, m.Life, m.NetRate, 1)
	x, y := make([]float32, 64), []float32{1, -1}
	first := slices.Clone(p.theta(0))
	for update := range 102 {
		if got := p.nets[0].age; got != update {
			t.Fatalf("age %d in update %d", got, update)
		}
		if err := p.trainOrReplace(update, x, y, 1); err != nil {
			t.Fatal(err)
		}
	}
	if p.nets[0].age != 0 || slices.Equal(p.theta(0), first) {
		t.Errorf("after 102 updates the age is %d, or the weights have not changed", p.nets[0].age)
	}
	if again := p.fresh("101"); !slices.Equal(p.theta(0), again.weights.X) {
		t.Error("the network was not replaced by a new one")
	}
}

// With a pool of one network, a life of one update and fixed labels, FRePo is RFAD: every update has the
// loss of a regression in a newly drawn network.
func TestRFAD(t *testing.T) {
	m := quick()
	m.Pool, m.Life, m.Labels = 1, 1, "fixed"
	p := problem(1)
	r, err := newRun(p, m)
	if err != nil {
		t.Fatal(err)
	}
	var x []float64
	methodtest.Distill(t, m, p, func(s method.Step) {
		if s.Update > 0 {
			update := s.Update - 1
			name := []string{"start", "0"}
			if update > 0 {
				name = []string{strconv.Itoa(update - 1)}
			}
			one := r.pool.fresh(name...)
			r.pool.nets[0] = one
			if want := newOracle(t, r, update).loss(x, r.labels.X); math.Abs(s.Loss-want) > 1e-3*want {
				t.Errorf("update %d: loss %v, want %v", s.Update, s.Loss, want)
			}
		}
		x = methodtest.Wide(s.Distilled().Images)
	})
}

// A set predicts the labels of new images in new networks. A set learned from random labels is no better
// than chance.
func TestLearns(t *testing.T) {
	accuracy := func(unrelated bool) float64 {
		p := problem(1)
		data := *p.Data
		data.Train = methodtest.Halves(1, 200, 0.6)
		if unrelated {
			for i := range data.Train.Labels { // equally many of both classes
				data.Train.Labels[i] = i / 2 % 2
			}
		}
		p.Data, p.IPC = &data, 1
		m := quick()
		m.Updates, m.Batch, m.Pool, m.Life, m.Rate, m.NetRate = 150, 64, 4, 20, 0.02, 3e-3
		var losses []float64
		d := methodtest.Distill(t, m, p, func(s method.Step) { losses = append(losses, s.Loss) })
		if !unrelated {
			methodtest.Fell(t, "frepo", losses, 20, 1)
		}
		r, err := newRun(p, m)
		if err != nil {
			t.Fatal(err)
		}
		test := methodtest.Halves(2, 200, 0.6)
		correct := 0.0
		for k := range 4 {
			one := r.pool.fresh("test", strconv.Itoa(k))
			r.pool.nets = []network{one}
			o := newOracle(t, r, 0)
			f := methodtest.Ridge(o.features(methodtest.Wide(d.Images)), o.features(methodtest.Wide(test.X)), tensor.MatOf(methodtest.Wide(d.Labels), 2, 2), 0)
			for i, y := range test.Labels {
				if f.Row(i)[y] > f.Row(i)[1-y] {
					correct++
				}
			}
		}
		return correct / 800
	}
	if got := accuracy(false); got < 0.85 {
		t.Errorf("accuracy %v", got)
	}
	if got := accuracy(true); math.Abs(got-0.5) > 0.1 {
		t.Errorf("accuracy %v with unrelated labels", got)
	}
}

func TestSettings(t *testing.T) {
	m := quick()
	m.Rate, m.Jitter, m.NetRate = 0, 0, 1e9
	err := m.Check()
	for _, key := range []string{"rate", "jitter", "net_rate"} {
		if err == nil || !strings.Contains(err.Error(), key+" must be positive") {
			t.Errorf("%s: %v", key, err)
		}
	}
	var bad *method.BadSetting
	if !errors.As(err, &bad) {
		t.Errorf("got %v", err)
	}
	m = quick()
	sizes := method.Sizes{Train: 12, Test: 12, Classes: 2, H: 8, W: 8, C: 3, Smallest: 6, IPC: 7, Model: problem(1).Model}
	if err := m.CheckSizes(sizes); err == nil || !strings.Contains(err.Error(), "frepo with start") {
		t.Errorf("got %v", err)
	}
	sizes.IPC, sizes.Model.Depth = 1, 4
	if err := m.CheckSizes(sizes); err == nil || !strings.Contains(err.Error(), "too small for 4 blocks") {
		t.Errorf("got %v", err)
	}
	sizes.Classes = 1
	if err := m.CheckSizes(sizes); err == nil || !strings.Contains(err.Error(), "frepo needs at least two classes") {
		t.Errorf("got %v", err)
	}
}
