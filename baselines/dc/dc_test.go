package dc

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
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

// quick has loops short enough for tests: 3 networks with 3 updates each, and 2 epochs of 2 batches
// between them.
func quick() *DC {
	m := &DC{Defaults()}
	m.Iterations, m.Outer, m.Inner, m.RealBatch, m.NetBatch = 3, 3, 2, 4, 3
	return m
}

func TestContract(t *testing.T) {
	for name, change := range map[string]func(*DC){
		"learned labels": func(*DC) {},
		"fixed labels":   func(m *DC) { m.Labels = "fixed" },
		"real images":    func(m *DC) { m.Start, m.Norm = "real", false },
		"one update":     func(m *DC) { m.Iterations, m.Outer = 5, 1 },
	} {
		t.Run(name, func(t *testing.T) {
			methodtest.Run(t, func() method.Method { m := quick(); change(m); return m }, methodtest.Options{})
		})
	}
}

func problemOf(kind string, ipc int) method.Problem {
	return method.Problem{
		Data: methodtest.Data(1), IPC: ipc, Seed: 1,
		Model: method.Model{Kind: kind, Width: 8, Depth: 2, Nets: 1},
	}
}

// Distances fall, and networks trained on the set are better than those trained on noise.
func TestLearns(t *testing.T) {
	for _, kind := range []string{"conv", "fc"} {
		m := &DC{Defaults()}
		m.Iterations = 60
		if kind == "fc" {
			m.Rate = 0.1
		}
		p := problemOf(kind, 1)
		var losses []float64
		d := methodtest.Distill(t, m, p, func(s method.Step) { losses = append(losses, s.Loss) })
		methodtest.Fell(t, kind, losses, 10, 0.8)
		train := p.Data.Train
		net, err := m.Shape(p.Model).Net(train.H, train.W, train.C, 2)
		if err != nil {
			t.Fatal(err)
		}
		errs := func(d *method.Distilled) (wrong int) {
			targets := slices.Clone(d.Labels)
			if d.Kind == method.Logits {
				nn.Softmax(targets, d.Labels, 2)
			}
			for i := range 5 {
				theta := make([]float32, net.Params())
				net.InitUniform(theta, rng.Stream(uint64(i), "test"))
				data := nn.Data[float32]{N: d.Len(), X: d.Images, Targets: targets}
				trainNet(t, net, theta, data, nn.Recipe{Epochs: 100, Batch: 256, Rate: 0.01, Momentum: 0.9}, rng.Stream(1, "order"))
				count, _ := net.NewPass().Errors(t.Context(), theta, train.X, train.Labels)
				wrong += count
			}
			return wrong
		}
		m.Iterations = 0
		begin := methodtest.Distill(t, m, p, nil)
		if before, after := errs(begin), errs(d); after > 5*train.Len()/10 || after >= before {
			t.Errorf("%s: %d of %d wrong, %d at first", kind, after, 5*train.Len(), before)
		}
	}
}

func TestLabels(t *testing.T) {
	m := quick()
	m.Margin = 3
	m.Iterations = 0
	if d := methodtest.Distill(t, m, problemOf("fc", 2), nil); d.Kind != method.Logits || !slices.Equal(d.Labels, []float32{3, 0, 3, 0, 0, 3, 0, 3}) {
		t.Errorf("initial labels %v, %s", d.Labels, d.Kind)
	}
	m.Iterations, m.LabelRate = 3, 5
	fast := methodtest.Distill(t, m, problemOf("fc", 2), nil)
	if slices.Contains(fast.Labels, 3) {
		t.Errorf("labels %v were not learned", fast.Labels)
	}
	m.LabelRate = 1
	if slow := methodtest.Distill(t, m, problemOf("fc", 2), nil); slices.Equal(slow.Labels, fast.Labels) {
		t.Error("label_rate has no effect")
	}
	m.Labels = "fixed"
	if d := methodtest.Distill(t, m, problemOf("fc", 2), nil); d.Kind != method.Hard || !slices.Equal(d.Labels, []float32{1, 0, 1, 0, 0, 1, 0, 1}) {
		t.Errorf("fixed labels %v, %s", d.Labels, d.Kind)
	}
}

func TestLoops(t *testing.T) {
	for _, c := range []struct{ ipc, outer, inner int }{
		{1, 1, 1}, {2, 2, 6}, {5, 5, 23}, {10, 10, 50}, {15, 15, 37}, {20, 20, 25}, {30, 30, 20}, {40, 40, 15}, {45, 45, 12}, {50, 50, 10}, {100, 50, 10},
	} {
		if outer, inner := Defaults().loops(c.ipc); outer != c.outer || inner != c.inner {
			t.Errorf("ipc %d: %d, %d, want %d, %d", c.ipc, outer, inner, c.outer, c.inner)
		}
	}
	s := Defaults()
	s.Outer, s.Inner = 3, 7
	if outer, inner := s.loops(50); outer != 3 || inner != 7 {
		t.Errorf("settings give %d, %d", outer, inner)
	}
}

func TestErrors(t *testing.T) {
	expect := func(err error, part string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("got %v, want %q", err, part)
		}
	}
	m := quick()
	distilled := func(m *DC, p method.Problem) error {
		_, err := m.Distill(context.Background(), p, func(method.Step) {})
		return err
	}
	chosen := quick()
	chosen.Start = "real"
	expect(distilled(chosen, problemOf("conv", 7)), "only 6")
	p := problemOf("conv", 1)
	p.Model.Depth = 5
	expect(distilled(m, p), "too small")
	p = problemOf("conv", 1)
	p.Data.Train.Labels = make([]int, p.Data.Train.Len())
	expect(distilled(m, p), "class lower of halves has no training images")

	bad := quick()
	bad.NetRate = 0
	var setting *method.BadSetting
	if err := bad.Check(); !errors.As(err, &setting) || setting.Key != "net_rate" {
		t.Errorf("got %v", err)
	}
	still := quick()
	still.Labels, still.Margin, still.LabelRate = "fixed", 2, 0.1
	if err := still.Check(); err == nil || err.Error() != "label_rate has no effect with labels = \"fixed\"\nmargin has no effect with labels = \"fixed\"" {
		t.Errorf("settings of labels that are fixed: %v", err)
	}
	if err := m.Check(); err != nil {
		t.Error(err)
	}
	sizes := method.Sizes{Train: 12, Test: 12, Classes: 2, H: 8, W: 8, C: 1, Smallest: 6, IPC: 7, Model: p.Model}
	if err := m.CheckSizes(sizes); err != nil {
		t.Errorf("noise needs no images: %v", err)
	}
	expect(chosen.CheckSizes(sizes), "dc with start")
	sizes.IPC, sizes.Model.Depth = 1, 4
	expect(m.CheckSizes(sizes), "dc: images of 8x8 pixels are too small")
}

// The bits of whole runs equal the recorded ones. This detects a compiler that fuses operations on
// some processor.
func TestGolden(t *testing.T) {
	strategy, err := augment.New("dsa", false)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"conv": "896401139f67d97c", "conv, augmented": "4402498854fd325f",
		"fc": "bbff4b98967d7259", "fc, augmented": "19bb38ab4c9da665",
	}
	for _, kind := range []string{"conv", "fc"} {
		for name, s := range map[string]augment.Strategy{kind: {}, kind + ", augmented": strategy} {
			d, err := Condense(context.Background(), problemOf(kind, 2), "dc", quick().Settings, s, func(method.Step) {})
			if err != nil {
				t.Fatal(err)
			}
			h := fnv.New64a()
			for _, v := range slices.Concat(d.Images, d.Labels) {
				fmt.Fprintf(h, "%08x", math.Float32bits(v))
			}
			if got := fmt.Sprintf("%016x", h.Sum64()); got != want[name] {
				t.Errorf("%s: %s, recorded %s", name, got, want[name])
			}
		}
	}
}
