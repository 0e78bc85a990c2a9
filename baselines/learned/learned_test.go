package learned

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/augment"
	"dgkip/harness/fmath"
	"dgkip/harness/method"
	"dgkip/harness/method/methodtest"
	"dgkip/harness/nn"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// quick has few updates and small turns, as tests need.
func quick() *Learned {
	m := defaults()
	m.Updates, m.Batch, m.Pool, m.Every, m.Epochs, m.Life = 6, 7, 2, 2, 2, 4
	return m
}

func TestContract(t *testing.T) {
	for name, change := range map[string]func(*Learned){
		"flipped":   func(*Learned) {},
		"augmented": func(m *Learned) { m.Augment, m.Loss, m.Start, m.Every, m.Epochs = "dsa", "squared", "means", 1, 3 },
		"free":      func(m *Learned) { m.Colours = false },
		"doubling":  func(m *Learned) { m.Doubling, m.Norm = true, false },
	} {
		t.Run(name, func(t *testing.T) {
			methodtest.Run(t, func() method.Method { m := quick(); change(m); return m }, methodtest.Options{})
		})
	}
}

// problem has the classes "upper" and "lower" and, for three classes, a third of random members.
func problem(classes int) method.Problem {
	data := *methodtest.Data(1)
	if classes == 3 {
		data.Classes = append(slices.Clone(data.Classes), "other")
		data.Train.Labels = slices.Clone(data.Train.Labels)
		for i := range 4 {
			data.Train.Labels[3*i] = 2
		}
	}
	return method.Problem{Data: &data, IPC: 2, Seed: 1, Model: method.Model{Kind: "conv", Width: 4, Depth: 2, Nets: 1}}
}

// oracle computes L from its equations, in float64.
type oracle struct {
	body         *nn.Net[float64]
	theta, reals []float64
	of           []int // classes of the real images
	draw         augment.Draw
	m            *Learned
	outputs      int
}

// newOracle returns the oracle of an update. The features of its network must not be known yet.
func newOracle(t *testing.T, r *run, update int) *oracle {
	t.Helper()
	d := r.begin
	net, err := nn.ConvNet[float64](nn.Shape{Kind: "conv", Width: r.p.Model.Width, Depth: r.p.Model.Depth, Norm: true}, d.H, d.W, d.C, len(d.Classes))
	if err != nil {
		t.Fatal(err)
	}
	one := r.chosen(update)
	o := &oracle{
		body: net.Body(), theta: methodtest.Wide(one.theta[:r.body.Params()]), reals: methodtest.Wide(r.reals), m: r.m, outputs: r.y().Cols,
		draw: r.strategy.Draw(r.stream("augment", update), d.H, d.W),
	}
	for i := range one.labels.Values.Rows {
		row := one.labels.Values.Row(i)
		class := slices.Index(row, slices.Max(row))
		if len(row) == 1 && row[0] > 0 {
			class = 1
		}
		o.of = append(o.of, class)
	}
	return o
}

func (o *oracle) features(x []float64) tensor.Mat[float64] {
	n := len(x) / o.body.Inputs()
	return tensor.MatOf(slices.Clone(o.body.NewPass().Outputs(o.theta, x, n)), n, o.body.Classes())
}

// predictions returns the outputs of the model of images x with labels y on other images, [., K].
func (o *oracle) predictions(x, y, reals []float64) tensor.Mat[float64] {
	return methodtest.Ridge(o.features(x), o.features(reals), tensor.MatOf(y, len(y)/o.outputs, o.outputs), o.m.Jitter)
}

func (o *oracle) loss(x, y []float64) (loss float64) {
	changed := make([]float64, len(x))
	augment.Apply(o.draw, changed, x, len(x)/64, 8, 8, 1)
	f := o.predictions(changed, y, o.reals)
	for i, class := range o.of {
		row := f.Row(i)
		for k, v := range row {
			sign := -1.0
			if k == class && len(row) > 1 || len(row) == 1 && class == 1 {
				sign = 1
			}
			switch {
			case o.m.Loss == "squared":
				loss += (v - sign) * (v - sign) / 2
			case len(row) == 1:
				loss += fmath.Softplus(-sign * v)
			case sign > 0:
				top, logSum := fmath.Softmax(make([]float64, len(row)), row)
				loss += top + logSum - v
			}
		}
	}
	return loss / float64(len(o.of))
}

// The loss follows its equations, and its gradients equal central differences: for every loss, with
// and without augmentation, and with a ridge large enough to matter.
func TestGradient(t *testing.T) {
	for name, change := range map[string]func(*Learned) (classes int){
		"logistic": func(m *Learned) int { m.Augment = ""; return 2 },
		"ridge":    func(m *Learned) int { m.Jitter = 0.3; return 2 },
		"softmax":  func(*Learned) int { return 3 },
		"squared":  func(m *Learned) int { m.Loss = "squared"; return 3 },
		"scaled":   func(m *Learned) int { m.Augment = "scale"; return 2 },
		"rotated":  func(m *Learned) int { m.Augment = "rotate"; return 3 },
		"coloured": func(m *Learned) int { m.Augment = "color"; return 2 },
	} {
		m := quick()
		m.Jitter = 1e-2
		classes := change(m)
		r, err := newRun(problem(classes), m)
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.labels.X {
			r.labels.X[i] *= 1 + 0.3*float64(i)
		}
		for update := range 4 {
			if err := r.prepare(context.Background(), update); err != nil {
				t.Fatal(err)
			}
		}
		const update = 4 // after two turns
		if err := r.prepare(context.Background(), update); err != nil {
			t.Fatal(err)
		}
		r.chosen(update).real.Rows = 0
		o := newOracle(t, r, update)
		got, err := r.gradient(context.Background(), update)
		if err != nil {
			t.Fatal(err)
		}
		x := methodtest.Wide(r.images.X)
		if want := o.loss(x, r.labels.X); math.Abs(got-want) > 1e-5*math.Abs(want) {
			t.Errorf("%s: loss %v, want %v", name, got, want)
		}
		methodtest.Near(t, name+": images", methodtest.Wide(r.images.Grad), methodtest.Differences(x, 7, 1e-5, func(x []float64) float64 { return o.loss(x, r.labels.X) }), 2e-3)
		methodtest.Near(t, name+": labels", r.labels.Grad, methodtest.Differences(r.labels.X, 1, 1e-5, func(y []float64) float64 { return o.loss(x, y) }), 1e-4)
	}
}

// Networks take their turns one after another. A turn changes the weights of a network, draws new real
// images, and replaces a network whose life is over.
func TestPool(t *testing.T) {
	m := quick()
	m.Pool, m.Every, m.Epochs, m.Life, m.Augment = 3, 2, 2, 6, ""
	r, err := newRun(problem(2), m)
	if err != nil {
		t.Fatal(err)
	}
	ages := func() (of []int) {
		for _, one := range r.pool.nets {
			of = append(of, one.Age)
		}
		return of
	}
	if got := ages(); !slices.Equal(got, []int{0, 2, 4}) {
		t.Errorf("initial ages %v", got)
	}
	for i, want := range [][]int{{2, 2, 4}, {2, 4, 4}, {2, 4, 6}, {4, 4, 6}, {4, 6, 6}, {4, 6, 0}, {6, 6, 0}} {
		turn := i + 1
		one := &r.pool.nets[i%3]
		before := slices.Clone(one.theta)
		for update := 2*turn - 1; update <= 2*turn; update++ {
			if err := r.prepare(context.Background(), update); err != nil {
				t.Fatal(err)
			}
		}
		if got := ages(); !slices.Equal(got, want) {
			t.Errorf("turn %d: ages %v, want %v", turn, got, want)
		}
		if slices.Equal(one.theta, before) || one.Turn != turn {
			t.Errorf("turn %d changes nothing", turn)
		}
		if want[i%3] == 0 {
			r.pool.net.InitUniform(before, rng.Stream(1, "learned", "weights", "6"))
			if !slices.Equal(one.theta, before) {
				t.Error("a network was not replaced by a new one")
			}
		}
	}
	first := r.chosen(0)
	drawn := first.real
	if first.Turn = 99; r.chosen(0).real.Data[0] != drawn.Data[0] {
		t.Error("real images were drawn without a turn")
	}
	if first.real.Rows = 0; slices.Equal(r.chosen(0).real.Data, drawn.Data) {
		t.Error("two turns have the same real images")
	}
	r.pool.m.Epochs = 1
	r.images.X[0] = float32(math.Inf(1))
	if err := r.pool.turn(3); err == nil || !strings.Contains(err.Error(), "net_rate") {
		t.Errorf("got %v", err)
	}
}

// A set predicts the labels of new images in new networks. If labels are unrelated to the images, it
// is no better than chance.
func TestLearns(t *testing.T) {
	halves := func(seed uint64, unrelated bool) (of method.Images) {
		of = methodtest.Halves(seed, 400, 1)
		for i := range of.Labels {
			if unrelated {
				of.Labels[i] = i / 2 % 2
			}
		}
		return of
	}
	accuracy := func(unrelated bool) float64 {
		p := problem(2)
		p.Data.Train, p.IPC, p.Model.Width = halves(1, unrelated), 1, 8
		m := quick()
		m.Updates, m.Batch, m.Pool, m.Life, m.Rate = 150, 64, 4, 20, 0.03
		var losses []float64
		d := methodtest.Distill(t, m, p, func(s method.Step) { losses = append(losses, s.Loss) })
		if d.Kind != method.Value || d.LabelWidth() != 1 {
			t.Errorf("labels of kind %s", d.Kind)
		}
		if !unrelated {
			methodtest.Fell(t, "learned", losses, 20, 0.8)
		}
		p.Seed = 9 // other networks
		r, err := newRun(p, m)
		if err != nil {
			t.Fatal(err)
		}
		test := halves(2, unrelated)
		correct := 0.0
		for k := range m.Pool {
			f := newOracle(t, r, k).predictions(methodtest.Wide(d.Images), methodtest.Wide(d.Labels), methodtest.Wide(test.X))
			for i, class := range test.Labels {
				if (f.Row(i)[0] > 0) == (class == 1) {
					correct += 1 / float64(m.Pool*test.Len())
				}
			}
		}
		return correct
	}
	if got := accuracy(false); got < 0.9 {
		t.Errorf("accuracy %v", got)
	}
	if got := accuracy(true); math.Abs(got-0.5) > 0.1 {
		t.Errorf("accuracy %v with unrelated labels", got)
	}
}

// A turn trains a network on the set of that time, with the targets and the augmentation of the package comment.
func TestTurn(t *testing.T) {
	for _, augmented := range []string{"", "dsa"} {
		m := quick()
		m.Augment = augmented
		p := problem(2)
		r, err := newRun(p, m)
		if err != nil {
			t.Fatal(err)
		}
		copy(r.labels.X, []float64{-3, -1, 1, 2}) // of root mean square sqrt(15/4)
		r.images.X[5]++                           // an update
		var targets []float32
		for _, y := range r.labels.X {
			q := 1 / (1 + math.Exp(-2*y/math.Sqrt(15.0/4)))
			targets = append(targets, float32(1-q), float32(q))
		}
		data := nn.Data[float32]{N: 4, X: slices.Clone(r.images.X), Targets: targets}
		if augmented != "" {
			s, err := augment.Matching(augmented, p.Data.Characters)
			if err != nil {
				t.Fatal(err)
			}
			data.Augment = func(x []float32, n int, stream *rng.Rand) { augment.Batch(s, x, n, 8, 8, 1, stream) }
		}
		want := slices.Clone(r.pool.nets[0].theta) // its weights at random
		recipe := nn.Recipe{Epochs: m.Epochs, Batch: 256, Rate: m.NetRate, Momentum: 0.9, Decay: 5e-4}
		training := nn.NewTraining(r.pool.net, want, data, recipe, rng.Stream(1, "learned", "training", "0"))
		if err := training.Run(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		if err := r.prepare(context.Background(), m.Every); err != nil {
			t.Fatal(err)
		}
		methodtest.Near(t, "weights, augment "+augmented, methodtest.Wide(r.pool.nets[0].theta), methodtest.Wide(want), 1e-5)
	}
}

func TestSettings(t *testing.T) {
	for key, change := range map[string]func(*Learned){
		"":         func(*Learned) {},
		"augment":  func(m *Learned) { m.Augment = "dc" },
		"rate":     func(m *Learned) { m.Rate = 0 },
		"jitter":   func(m *Learned) { m.Jitter = 0 },
		"net_rate": func(m *Learned) { m.NetRate = 0 },
	} {
		m := quick()
		change(m)
		err := m.Check()
		var bad *method.BadSetting
		if key == "" && err != nil || key != "" && (!errors.As(err, &bad) || bad.Key != key) {
			t.Errorf("%q: %v", key, err)
		}
	}
	m := defaults()
	for update, want := range map[int]float64{0: 0.01, m.Updates / 2: 0.0051, m.Updates: 0.0002} {
		if got := m.Rate * m.share(update); math.Abs(got-want) > 1e-12 {
			t.Errorf("update %d: rate %v, want %v", update, got, want)
		}
	}
	sizes := method.Sizes{Train: 12, Test: 12, Classes: 2, H: 8, W: 8, C: 1, Smallest: 6, IPC: 7, Model: problem(2).Model}
	if err := m.CheckSizes(sizes); err == nil || !strings.Contains(err.Error(), "dgkip-learned with start = \"real\"") {
		t.Errorf("got %v", err)
	}
	sizes.IPC, sizes.Model.Depth = 1, 4
	if err := m.CheckSizes(sizes); err == nil || !strings.Contains(err.Error(), "too small for 4 blocks") {
		t.Errorf("got %v", err)
	}
}

// The images of a class keep the mean colour of its training images, while each has its own colour.
func TestClassColours(t *testing.T) {
	p := problem(2)
	p.Data = methodtest.Data(3)
	train := p.Data.Train
	for _, colours := range []bool{false, true} {
		m := quick()
		m.Rate, m.Colours = 0.1, colours
		set, err := m.Distill(t.Context(), p, func(method.Step) {})
		if err != nil {
			t.Fatal(err)
		}
		farthest := 0.0
		for class := range 2 {
			for c := range 3 {
				farthest = max(farthest, math.Abs(colour(set.Images, set.Of, class, c)-colour(train.X, train.Labels, class, c)))
			}
		}
		if colours != (farthest < 1e-5) {
			t.Errorf("class_colours = %v: colours are off by up to %v", colours, farthest)
		}
		if a, b := colour(set.Images[:set.Size()], set.Of[:1], 0, 0), colour(train.X, train.Labels, 0, 0); math.Abs(a-b) < 1e-3 {
			t.Error("an image has the mean colour of its class")
		}
	}
}

// colour is the mean of channel c of a class of images with three channels.
func colour(x []float32, of []int, class, c int) float64 {
	sum, n, size := 0.0, 0, len(x)/len(of)
	for i, v := range x {
		if of[i/size] == class && i%3 == c {
			sum, n = sum+float64(v), n+1
		}
	}
	return sum / float64(n)
}
