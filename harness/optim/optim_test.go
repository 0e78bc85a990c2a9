package optim

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"
)

// rules are all rules, with settings that use all code paths.
var rules = map[string]Rule{
	"SGD":          SGD(0.1, 0, 0),
	"SGD momentum": SGD(0.05, 0.9, 1e-3),
	"Adam":         Adam(0.05, 0.9, 0.999),
	"AdaBelief":    AdaBelief(0.01, 0.9, 0.999),
	"LAMB":         LAMB(0.01, 0.9, 0.999),
}

// vectors is a list of arrays as stored in testdata.
type vectors []struct{ Data []float64 }

// TestAdaBeliefReference compares with a trajectory of the original implementation.
func TestAdaBeliefReference(t *testing.T) {
	raw, err := os.ReadFile("testdata/adabelief.json")
	if err != nil {
		t.Fatal(err)
	}
	var ref struct{ Params, Grads vectors }
	if err := json.Unmarshal(raw, &ref); err != nil {
		t.Fatal(err)
	}
	if len(ref.Grads) == 0 || len(ref.Params) != len(ref.Grads)+1 {
		t.Fatalf("%d parameters and %d gradients", len(ref.Params), len(ref.Grads))
	}
	t.Run("float64", func(t *testing.T) { followReference[float64](t, ref.Params, ref.Grads, 1e-9) })
	t.Run("float32", func(t *testing.T) { followReference[float32](t, ref.Params, ref.Grads, 1e-4) })
}

func followReference[F Float](t *testing.T, params, grads vectors, tol float64) {
	w := convert[F](params[0].Data)
	o := New[F](AdaBelief(0.01, 0.9, 0.999), len(w))
	for k, g := range grads {
		o.Step(w, convert[F](g.Data), 0.01)
		worst, largest := 0.0, 0.0
		for i, want := range params[k+1].Data {
			worst = max(worst, math.Abs(float64(w[i])-want))
			largest = max(largest, math.Abs(want))
		}
		if !(worst <= tol*largest) {
			t.Errorf("step %d: error %v of %v", k+1, worst, largest)
		}
	}
}

func convert[F Float](x []float64) []F {
	y := make([]F, len(x))
	for i, v := range x {
		y[i] = F(v)
	}
	return y
}

// TestHandComputed checks steps whose results are exact or were computed by hand.
func TestHandComputed(t *testing.T) {
	check := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-15 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	w := []float64{1}
	sgd := New[float64](SGD(0.5, 0.5, 0.25), 1)
	sgd.Step(w, []float64{1}, 0.5) // v = 1 + 0.25
	check("SGD, step 1", w[0], 0.375)
	sgd.Step(w, []float64{2}, 0.5) // v = 0.625 + 2 + 0.09375
	check("SGD, step 2", w[0], 0.375-2.71875/2)
	sgd.Step(w, []float64{9}, 0)
	check("SGD at rate 0", w[0], 0.375-2.71875/2)

	with1 := func(rule Rule, n int) *Optimizer[float64] {
		rule.eps = 1
		return New[float64](rule, n)
	}

	// With beta = 1/2 and gradients 2, then -1: m' = 2, 0; s' = 4, 2.
	w = []float64{1}
	adam := with1(Adam(0.3, 0.5, 0.5), 1)
	adam.Step(w, []float64{2}, 0.3)
	check("Adam, step 1", w[0], 1-0.3*2/(2+1))
	adam.Step(w, []float64{-1}, 0.3)
	check("Adam, step 2", w[0], 0.8)
	adam.Step(w, []float64{4}, 0.3) // m = 2, s = 8.75, both over 7/8
	check("Adam, step 3", w[0], 0.8-0.3*(16.0/7)/(math.Sqrt(10)+1))

	// m = 1, g-m = 1, s = 1/2 + 1, s' = 3.
	w = []float64{1}
	with1(AdaBelief(0.3, 0.5, 0.5), 1).Step(w, []float64{2}, 0.3)
	check("AdaBelief, step 1", w[0], 1-0.3*2/(math.Sqrt(3)+1))

	// m' = 2, 0; s' = 4, 0: u = 2/3, 0, scaled to the norm 5 of the parameters. In the
	// next step m' = 0, 0, so the direction is zero.
	w = []float64{3, -4}
	lamb := with1(LAMB(0.3, 0.5, 0.5), 2)
	lamb.Step(w, []float64{2, 0}, 0.3)
	check("LAMB, step 1", w[0], 3-0.3*5)
	lamb.Step(w, []float64{-1, 0}, 0.3)
	check("LAMB, step 2", w[0], 1.5)
	check("LAMB, no gradient", w[1], -4)
	w = []float64{0}
	with1(LAMB(0.3, 0.9, 0.999), 1).Step(w, []float64{-1}, 0.3)
	check("LAMB, from zero", w[0], 0.3*0.5)
}

func TestResume(t *testing.T) {
	t.Run("float64", resume[float64])
	t.Run("float32", resume[float32])
}

// resume checks that a restored optimiser continues with the same bits, and that states of other
// lengths are refused.
func resume[F Float](t *testing.T) {
	steps := func(o *Optimizer[F], w []F) {
		for range 10 {
			g := make([]F, len(w))
			for i := range w {
				g[i] = w[i]*w[i] - F(i)
			}
			o.Step(w, g, 0.017)
		}
	}
	for name, rule := range rules {
		o, p := New[F](rule, 3), New[F](rule, 3)
		w := []F{0.3, -0.7, 1.1}
		steps(o, w)
		saved, err := o.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range [][]byte{nil, saved[:len(saved)-1], append(slices.Clone(saved), 0)} {
			if p.UnmarshalBinary(bad) == nil {
				t.Errorf("%s: %d bytes of %d were restored", name, len(bad), len(saved))
			}
		}
		if err := p.UnmarshalBinary(saved); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		v := slices.Clone(w)
		steps(o, w)
		steps(p, v)
		if !slices.Equal(w, v) {
			t.Errorf("%s: restored run ends at %v, want %v", name, v, w)
		}
	}
}

// TestSGDPieces checks that updating many parameters in pieces gives the same bits as updating
// them one by one.
func TestSGDPieces(t *testing.T) {
	const n = 70_001
	for _, rule := range []Rule{SGD(0.01, 0, 0), SGD(0.01, 0.9, 0), SGD(0.01, 0, 5e-4), SGD(0.01, 0.5, 0.1)} {
		o := New[float32](rule, n)
		w, g := make([]float32, n), make([]float32, n)
		for i := range g {
			w[i], g[i] = float32(i%13)/7, float32(i%17)/3-2
		}
		want, slot := slices.Clone(w), make([]float32, n)
		for range 2 {
			o.Step(w, g, 0.01)
			for i, v := range g {
				v += float32(float32(rule.decay) * want[i])
				slot[i] = v + float32(float32(rule.momentum)*slot[i])
				want[i] -= float32(float32(0.01) * slot[i])
			}
		}
		if !slices.Equal(w, want) {
			t.Errorf("%+v: pieces give different bits", rule)
		}
	}
}

func BenchmarkStep(b *testing.B) {
	const n = 1 << 22
	for _, name := range []string{"SGD", "SGD momentum", "AdaBelief"} {
		b.Run(name, func(b *testing.B) {
			o := New[float32](rules[name], n)
			w, g := make([]float32, n), make([]float32, n)
			for i := range g {
				g[i] = float32(i%17) - 8
			}
			for b.Loop() {
				o.Step(w, g, 0.01)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/parameter")
		})
	}
}
