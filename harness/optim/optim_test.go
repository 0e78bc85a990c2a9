package optim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"
)

// rules returns every optimiser for n parameters, with settings that use all code paths.
func rules[F Float](n int) map[string]Optimizer[F] {
	return map[string]Optimizer[F]{
		"SGD":          NewSGD[F](n, SGDConfig{LR: 0.1}),
		"SGD momentum": NewSGD[F](n, SGDConfig{LR: 0.05, Momentum: 0.9, WeightDecay: 1e-3}),
		"Adam":         NewAdam[F](n, AdamConfig{LR: 0.05}),
		"AdaBelief":    NewAdaBelief[F](n, AdamConfig{}),
		"LAMB":         NewLAMB[F](n, AdamConfig{LR: 0.01}),
	}
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
	o := NewAdaBelief[F](len(w), AdamConfig{})
	for k, g := range grads {
		o.Step(w, convert[F](g.Data))
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
	sgd := NewSGD[float64](1, SGDConfig{LR: 0.5, Momentum: 0.5, WeightDecay: 0.25})
	sgd.Step(w, []float64{1}) // v = 1 + 0.25
	check("SGD, step 1", w[0], 0.375)
	sgd.Step(w, []float64{2}) // v = 0.625 + 2 + 0.09375
	check("SGD, step 2", w[0], 0.375-2.71875/2)
	sgd.SetLR(0)
	sgd.Step(w, []float64{9})
	check("SGD at rate 0", w[0], 0.375-2.71875/2)

	// With beta = 1/2 and gradients 2, then -1: m' = 2, 0; s' = 4, 2.
	w = []float64{1}
	adam := newAdam[float64]("Adam", 1, AdamConfig{LR: 0.3, Beta1: 0.5, Beta2: 0.5}, 0, 1)
	adam.Step(w, []float64{2})
	check("Adam, step 1", w[0], 1-0.3*2/(2+1))
	adam.Step(w, []float64{-1})
	check("Adam, step 2", w[0], 0.8)
	adam.Step(w, []float64{4}) // m = 2, s = 8.75, both over 7/8
	check("Adam, step 3", w[0], 0.8-0.3*(16.0/7)/(math.Sqrt(10)+1))

	// m = 1, g-m = 1, s = 1/2 + 1, s' = 3.
	w = []float64{1}
	belief := newAdam[float64]("AdaBelief", 1, AdamConfig{LR: 0.3, Beta1: 0.5, Beta2: 0.5}, 0, 1)
	belief.Step(w, []float64{2})
	check("AdaBelief, step 1", w[0], 1-0.3*2/(math.Sqrt(3)+1))

	// m' = 2, 0; s' = 4, 0: u = 2/3, 0, scaled to the norm 5 of the parameters. In the
	// next step m' = 0, 0, so the direction is zero.
	w = []float64{3, -4}
	lamb := newAdam[float64]("LAMB", 2, AdamConfig{LR: 0.3, Beta1: 0.5, Beta2: 0.5}, 0, 1)
	lamb.Step(w, []float64{2, 0})
	check("LAMB, step 1", w[0], 3-0.3*5)
	lamb.Step(w, []float64{-1, 0})
	check("LAMB, step 2", w[0], 1.5)
	check("LAMB, no gradient", w[1], -4)
	w = []float64{0}
	newAdam[float64]("LAMB", 1, AdamConfig{LR: 0.3}, 0, 1).Step(w, []float64{-1})
	check("LAMB, from zero", w[0], 0.3*0.5)
}

func TestDefaults(t *testing.T) {
	for name, want := range map[string]float64{"SGD": 1e-2, "Adam": 1e-3, "AdaBelief": 1e-2, "LAMB": 1e-3} {
		o := map[string]Optimizer[float32]{
			"SGD":       NewSGD[float32](1, SGDConfig{}),
			"Adam":      NewAdam[float32](1, AdamConfig{}),
			"AdaBelief": NewAdaBelief[float32](1, AdamConfig{}),
			"LAMB":      NewLAMB[float32](1, AdamConfig{}),
		}[name]
		if o.LR() != want {
			t.Errorf("%s: default rate %v, want %v", name, o.LR(), want)
		}
	}
	// The first step of Adam has the length of the rate for any gradient.
	w := []float64{0}
	NewAdam[float64](1, AdamConfig{}).Step(w, []float64{-7})
	if math.Abs(w[0]-1e-3) > 1e-10 {
		t.Errorf("Adam stepped to %v", w[0])
	}
}

// The length of a LAMB step is the rate times the norm of the parameters, for any gradient.
func TestLAMBLength(t *testing.T) {
	norm := func(x []float32) (sum float64) {
		for _, v := range x {
			sum += float64(v) * float64(v)
		}
		return math.Sqrt(sum)
	}
	for _, scale := range []float32{1e-6, 1, 1e6} {
		w, g := make([]float32, 3000), make([]float32, 3000)
		for i := range w {
			w[i], g[i] = float32(i%13)/7-1, scale*(float32(i%17)/3-2)
		}
		o := NewLAMB[float32](len(w), AdamConfig{LR: 3e-4})
		for range 3 {
			before, length := slices.Clone(w), norm(w)
			o.Step(w, g)
			for i, v := range w {
				before[i] -= v
			}
			if got := norm(before) / length; math.Abs(got/3e-4-1) > 1e-3 {
				t.Errorf("gradients of scale %v move by %v of the length", scale, got)
			}
		}
	}
}

func TestQuadratic(t *testing.T) {
	t.Run("float64", quadratic[float64])
	t.Run("float32", quadratic[float32])
}

// quadratic minimises a stretched parabola whose minimum is not zero.
func quadratic[F Float](t *testing.T) {
	centre, curve := []F{1, -2, 0.5}, []F{1, 3, 0.2}
	for name, o := range rules[F](3) {
		w, g := make([]F, 3), make([]F, 3)
		for step := range 3000 {
			for i := range w {
				g[i] = curve[i] * (w[i] - centre[i])
			}
			if step == 2000 {
				o.SetLR(o.LR() / 10)
			}
			o.Step(w, g)
		}
		for i := range w {
			// Weight decay shifts the minimum.
			if d := math.Abs(float64(w[i] - centre[i])); !(d < 0.01) {
				t.Errorf("%s: parameter %d is %v, want %v", name, i, w[i], centre[i])
			}
		}
	}
}

// TestZeroGradient checks that a gradient that is zero, or underflows when squared, moves
// nothing and causes no NaN.
func TestZeroGradient(t *testing.T) {
	t.Run("float64", zeroGradient[float64])
	t.Run("float32", zeroGradient[float32])
}

func zeroGradient[F Float](t *testing.T) {
	for name, o := range rules[F](2) {
		if name == "SGD momentum" || name == "LAMB" {
			continue // weight decay moves w, and LAMB steps do not shrink with the gradient
		}
		w := []F{3, 3}
		for range 5000 {
			o.Step(w, []F{0, 1e-30})
		}
		if w[0] != 3 || !(w[1] <= 3 && w[1] >= 2.9) {
			t.Errorf("%s: moved to %v", name, w)
		}
	}
}

func TestResume(t *testing.T) {
	t.Run("float64", resume[float64])
	t.Run("float32", resume[float32])
}

// resume checks that a restored optimiser continues with the same bits.
func resume[F Float](t *testing.T) {
	grad := func(w []F) []F {
		g := make([]F, len(w))
		for i := range w {
			g[i] = w[i]*w[i] - F(i)
		}
		return g
	}
	for name, o := range rules[F](3) {
		w := []F{0.3, -0.7, 1.1}
		for range 10 {
			o.Step(w, grad(w))
		}
		o.SetLR(0.017)
		saved, err := o.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		p := rules[F](3)[name]
		if err := p.UnmarshalBinary(saved); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		v := append([]F{}, w...)
		for range 10 {
			o.Step(w, grad(w))
			p.Step(v, grad(v))
		}
		for i := range w {
			if w[i] != v[i] {
				t.Errorf("%s: restored run ends at %v, want %v", name, v, w)
			}
		}
		again, _ := p.MarshalBinary()
		if end, _ := o.MarshalBinary(); !bytes.Equal(end, again) {
			t.Errorf("%s: states differ at the end", name)
		}

		// States that do not fit are refused and change nothing.
		damaged := bytes.Clone(saved)
		head := bytes.IndexByte(saved, 0) + 2 + 8 // then settings, then rate
		for i := head; i < min(head+6*8, len(damaged)); i++ {
			damaged[i] = 0xff // NaN
		}
		for what, bad := range map[string][]byte{
			"empty": nil, "short": saved[:len(saved)-1], "long": append(bytes.Clone(saved), 0), "damaged": damaged,
		} {
			if p.UnmarshalBinary(bad) == nil {
				t.Errorf("%s: accepted a state that is %s", name, what)
			}
		}
		for other, q := range rules[F](3) {
			if other != name && q.UnmarshalBinary(saved) == nil {
				t.Errorf("%s accepted the state of %s", other, name)
			}
		}
		if rules[F](4)[name].UnmarshalBinary(saved) == nil {
			t.Errorf("%s: accepted a state of another length", name)
		}
		if after, _ := p.MarshalBinary(); !bytes.Equal(after, again) {
			t.Errorf("%s: a refused state changed the optimiser", name)
		}
	}
	if rules[float32](3)["Adam"].UnmarshalBinary(mustState(rules[float64](3)["Adam"])) == nil {
		t.Error("a float32 optimiser accepted a float64 state")
	}
}

func mustState[F Float](o Optimizer[F]) []byte {
	b, err := o.MarshalBinary()
	if err != nil {
		panic(err)
	}
	return b
}

func TestBadSettings(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	refused := func(what string, create func()) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("%s was accepted", what)
			}
		}()
		create()
	}
	for _, c := range []SGDConfig{
		{LR: -1}, {LR: nan}, {LR: inf}, {Momentum: 1}, {Momentum: -0.1}, {Momentum: nan},
		{WeightDecay: -1}, {WeightDecay: nan}, {WeightDecay: inf},
	} {
		refused(fmt.Sprintf("%+v", c), func() { NewSGD[float32](1, c) })
	}
	for _, c := range []AdamConfig{
		{LR: -1}, {LR: nan}, {Beta1: 1}, {Beta1: -0.1}, {Beta2: 1}, {Beta2: nan},
	} {
		refused(fmt.Sprintf("%+v", c), func() { NewAdam[float32](1, c) })
	}
	NewAdam[float64](1, AdamConfig{Beta1: math.SmallestNonzeroFloat64})
}

func TestPanics(t *testing.T) {
	want := map[string]string{
		"SGD":          "optim.SGD.Step: wrong number of parameters or gradients",
		"SGD momentum": "optim.SGD.Step: wrong number of parameters or gradients",
		"Adam":         "optim.Adam.Step: wrong number of parameters or gradients",
		"AdaBelief":    "optim.AdaBelief.Step: wrong number of parameters or gradients",
		"LAMB":         "optim.LAMB.Step: wrong number of parameters or gradients",
	}
	expect := func(want string, f func()) {
		t.Helper()
		defer func() {
			t.Helper()
			if got := recover(); got != want {
				t.Errorf("panic %v, want %q", got, want)
			}
		}()
		f()
	}
	for name, o := range rules[float64](2) {
		expect(want[name], func() { o.Step(make([]float64, 3), make([]float64, 2)) })
		expect(want[name], func() { o.Step(make([]float64, 2), make([]float64, 1)) })
		expect(want[name], func() { o.Step(nil, nil) })
		expect("optim: learning rate must be finite and not negative", func() { o.SetLR(-1) })
		expect("optim: learning rate must be finite and not negative", func() { o.SetLR(math.NaN()) })
	}
}

// TestSGDPieces checks that updating many parameters in pieces gives the same bits as updating
// them one by one.
func TestSGDPieces(t *testing.T) {
	const n = 70_001
	for _, cfg := range []SGDConfig{{}, {Momentum: 0.9}, {WeightDecay: 5e-4}, {Momentum: 0.5, WeightDecay: 0.1}} {
		o := NewSGD[float32](n, cfg)
		w, g := make([]float32, n), make([]float32, n)
		for i := range g {
			w[i], g[i] = float32(i%13)/7, float32(i%17)/3-2
		}
		want, slot := slices.Clone(w), make([]float32, n)
		for range 2 {
			o.Step(w, g)
			for i, v := range g {
				v += float32(float32(cfg.WeightDecay) * want[i])
				slot[i] = v + float32(float32(cfg.Momentum)*slot[i])
				want[i] -= float32(float32(0.01) * slot[i])
			}
		}
		if !slices.Equal(w, want) {
			t.Errorf("%+v: pieces give different bits", cfg)
		}
	}
}

func BenchmarkStep(b *testing.B) {
	const n = 1 << 22
	for name, o := range map[string]Optimizer[float32]{
		"SGD":          NewSGD[float32](n, SGDConfig{}),
		"SGD momentum": NewSGD[float32](n, SGDConfig{Momentum: 0.9, WeightDecay: 5e-4}),
		"AdaBelief":    NewAdaBelief[float32](n, AdamConfig{}),
	} {
		b.Run(name, func(b *testing.B) {
			w, g := make([]float32, n), make([]float32, n)
			for i := range g {
				g[i] = float32(i%17) - 8
			}
			for b.Loop() {
				o.Step(w, g)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/parameter")
		})
	}
}
