package nn

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// convCase returns a network with two convolutions that suit Winograd, and n images.
func convCase[F tensor.Float](norm bool, width, n int, algo tensor.Algorithm) netCase[F] {
	net := must(ConvNet[F](Shape{Kind: "conv", Width: width, Depth: 2, Norm: norm, FirstPad: 3}, 11, 14, 3, 3))
	return netCase[F]{fmt.Sprintf("norm=%t width=%d n=%d", norm, width, n), using(algo, net), n}
}

// results holds everything that a Pass computes.
type results[F tensor.Float] struct {
	loss, lossT float64
	logits      []F
	grad, hvp   Grad[F]
}

// everything computes all results at p, with the tangent along d.
func everything[F tensor.Float](pass *Pass[F], p, d Grad[F]) (r results[F]) {
	n := len(p.X) / pass.net.Inputs()
	r.grad, r.hvp = newGrad(pass.net, n), newGrad(pass.net, n)
	r.loss = pass.Loss(p.Theta, p.X, p.Targets, n)
	r.logits = slices.Clone(pass.logits())
	pass.Gradient(r.grad)
	r.lossT = pass.Tangent(d, r.hvp)
	return r
}

func (r results[F]) fields() map[string][]F {
	return map[string][]F{
		"logits":     r.logits,
		"grad theta": r.grad.Theta, "grad x": r.grad.X, "grad targets": r.grad.Targets,
		"hvp theta": r.hvp.Theta, "hvp x": r.hvp.X, "hvp targets": r.hvp.Targets,
	}
}

func sameBits[F tensor.Float](t *testing.T, what string, got, want results[F]) {
	t.Helper()
	if got.loss != want.loss || got.lossT != want.lossT {
		t.Errorf("%s: losses %v, %v, want %v, %v", what, got.loss, got.lossT, want.loss, want.lossT)
	}
	w := want.fields()
	for name, x := range got.fields() {
		if !equalBits(x, w[name]) {
			t.Errorf("%s: %s differs in %.3g of the largest entry", what, name, worst(x, widen(w[name])))
		}
	}
}

func equalBits[F tensor.Float](x, y []F) bool {
	return slices.EqualFunc(x, y, func(a, b F) bool {
		return math.Float64bits(float64(a)) == math.Float64bits(float64(b))
	})
}

func widen[F tensor.Float](x []F) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

// outputs returns the outputs for n images, in memory of the Pass.
func outputs[F tensor.Float](pass *Pass[F], theta, x []F, n int) []F {
	pass.Loss(theta, x, make([]F, n*pass.net.Classes()), n)
	return pass.logits()
}

// TestReuse checks that results do not depend on earlier uses of a Pass.
func TestReuse(t *testing.T) {
	for _, norm := range []bool{false, true} {
		small, big := convCase[float32](norm, 16, 2, tensor.Winograd), convCase[float32](norm, 16, 5, tensor.Winograd)
		used := small.net.NewPass()
		everything(used, point(big, "before"), point(big, "before direction"))
		used.Errors(t.Context(), point(big, "predict").Theta, point(big, "predict").X, make([]int, big.n))
		for _, c := range []netCase[float32]{small, big, small} {
			// The second round changes only the parameters, in place.
			p, d := point(c, "point"), point(c, "direction")
			for round := range 2 {
				got := everything(used, p, d)
				sameBits(t, fmt.Sprint(c.name, " round ", round), got, everything(c.net.NewPass(), p, d))
				copy(p.Theta, point(c, "new").Theta)
				copy(d.Theta, point(c, "new direction").Theta)
			}
		}
	}
}

// TestSkip checks that a result does not depend on which other results are computed.
func TestSkip(t *testing.T) {
	pick := func(g Grad[float32], mask int) Grad[float32] {
		if mask&1 == 0 {
			g.Theta = nil
		}
		if mask&2 == 0 {
			g.X = nil
		}
		if mask&4 == 0 {
			g.Targets = nil
		}
		return g
	}
	match := func(what string, got, want Grad[float32]) {
		t.Helper()
		for i, x := range [][]float32{got.Theta, got.X, got.Targets} {
			if w := [][]float32{want.Theta, want.X, want.Targets}[i]; x != nil && !equalBits(x, w) {
				t.Errorf("%s: field %d differs if it is computed alone", what, i)
			}
		}
	}
	fc := must(FCNet[float32](5, 9, 3, 2))
	for _, c := range []netCase[float32]{convCase[float32](true, 8, 3, tensor.Auto), convCase[float32](false, 8, 3, tensor.Auto), {"fc", fc, 4}} {
		p, d := point(c, "point"), point(c, "direction")
		for dirs := range 8 {
			d := pick(d, dirs)
			all := everything(c.net.NewPass(), p, d)
			pass := c.net.NewPass()
			for first := range 8 {
				for second := range 8 {
					what := fmt.Sprintf("%s: direction %03b, gradient %03b, tangent %03b", c.name, dirs, first, second)
					g, h := pick(newGrad(c.net, c.n), first), pick(newGrad(c.net, c.n), second)
					pass.Loss(p.Theta, p.X, p.Targets, c.n)
					if first > 0 {
						pass.Gradient(g)
					}
					if lossT := pass.Tangent(d, h); lossT != all.lossT {
						t.Errorf("%s: the loss changes by %v, want %v", what, lossT, all.lossT)
					}
					match(what, g, all.grad)
					match(what, h, all.hvp)
				}
			}
		}
	}
}

// TestTangentTwice checks that a Tangent does not affect the next one.
func TestTangentTwice(t *testing.T) {
	c := convCase[float32](true, 8, 3, tensor.Auto)
	p, a := point(c, "point"), point(c, "direction")
	b := Grad[float32]{Targets: point(c, "other").Targets}
	pass := c.net.NewPass()
	want := everything(pass, p, a)
	pass.Tangent(b, newGrad(c.net, c.n))
	pass.Tangent(Grad[float32]{X: a.X}, newGrad(c.net, c.n))
	got := want
	got.hvp, got.grad = newGrad(c.net, c.n), newGrad(c.net, c.n)
	pass.Tangent(a, got.hvp)
	pass.Gradient(got.grad)
	sameBits(t, "again", got, want)
}

// TestGroups checks that groups of images of any size give the same sums.
func TestGroups(t *testing.T) {
	for _, norm := range []bool{false, true} {
		c := convCase[float64](norm, 4, 7, tensor.Auto)
		p, d := point(c, "point"), point(c, "direction")
		want := everything(c.net.NewPass(), p, d).fields()
		for _, group := range []int{1, 3} {
			pass := c.net.NewPass()
			for _, s := range pass.stages {
				if s, ok := s.(*convStage[float64]); ok {
					s.group = group
				}
			}
			for name, x := range everything(pass, p, d).fields() {
				near(t, fmt.Sprintf("%s in groups of %d: %s", c.name, group, name), x, want[name], 1e-12)
			}
		}
	}
}

// TestAgainstFloat64 compares the float32 kernels with the float64 loops.
func TestAgainstFloat64(t *testing.T) {
	for _, norm := range []bool{false, true} {
		for _, algo := range []tensor.Algorithm{tensor.Direct, tensor.Winograd} {
			c, c64 := convCase[float32](norm, 16, 3, algo), convCase[float64](norm, 16, 3, algo)
			p, d := point(c, "point"), point(c, "direction")
			c.net.InitUniform(p.Theta, rng.Stream(5, "theta"))
			wide := func(g Grad[float32]) Grad[float64] {
				return Grad[float64]{widen(g.Theta), widen(g.X), widen(g.Targets)}
			}
			want := everything(c64.net.NewPass(), wide(p), wide(d)).fields()
			for name, x := range everything(c.net.NewPass(), p, d).fields() {
				near(t, fmt.Sprintf("%s algorithm %d: %s", c.name, algo, name), x, want[name], 1e-4)
			}
		}
	}
}

func TestBatches(t *testing.T) {
	c := convCase[float32](true, 4, 2*errorsBatch+3, tensor.Auto)
	p := point(c, "point")
	pass := c.net.NewPass()
	want := slices.Clone(outputs(pass, p.Theta, p.X, c.n))
	size := c.net.Inputs()
	if got := outputs(pass, p.Theta, p.X[errorsBatch*size:2*errorsBatch*size], errorsBatch); !equalBits(got, want[3*errorsBatch:6*errorsBatch]) {
		t.Error("outputs depend on the batch")
	}
	labels := make([]int, c.n)
	wrong := 0
	for i := range labels {
		labels[i] = i % 3
		z := want[3*i:][:3]
		if slices.Index(z, slices.Max(z)) != labels[i] {
			wrong++
		}
	}
	if e, err := pass.Errors(t.Context(), p.Theta, p.X, labels); err != nil || e != wrong || e == 0 || e == c.n {
		t.Errorf("%d errors, want %d; %v", e, wrong, err)
	}
}

// TestErrors checks ties between outputs, and outputs that are NaN.
func TestErrors(t *testing.T) {
	net := build[float64](&linear[float64]{inputs: 1, outputs: 3})
	pass := net.NewPass()
	nan := math.NaN()
	for _, s := range []struct {
		bias  []float64
		wrong [3]int // by label
	}{
		{[]float64{1, 2, 3}, [3]int{1, 1, 0}},
		{[]float64{2, 2, 1}, [3]int{0, 1, 1}},
		{[]float64{0, 0, 0}, [3]int{0, 1, 1}},
		{[]float64{nan, 1, 2}, [3]int{1, 1, 1}},
		{[]float64{1, 2, nan}, [3]int{1, 1, 1}},
	} {
		for y, want := range s.wrong {
			theta := append(make([]float64, 3), s.bias...)
			if got, _ := pass.Errors(t.Context(), theta, []float64{0}, []int{y}); got != want {
				t.Errorf("outputs %v, label %d: %d errors, want %d", s.bias, y, got, want)
			}
		}
	}
}

var raceDetector bool

// TestAllocs checks that a step in steady state allocates no arrays. What remains are
// descriptions of work, a few dozen for each strip of an image.
func TestAllocs(t *testing.T) {
	net := must(ConvNet[float32](Shape{Kind: "conv", Width: 32, Depth: 3, Norm: true}, 32, 32, 3, 2))
	c := netCase[float32]{"allocs", net, 6}
	p, d := point(c, "point"), point(c, "direction")
	g, h := newGrad(net, c.n), newGrad(net, c.n)
	pass := net.NewPass()
	step := func() {
		pass.Loss(p.Theta, p.X, p.Targets, c.n)
		pass.Gradient(Grad[float32]{X: g.X, Targets: g.Targets})
		pass.Tangent(Grad[float32]{Theta: d.Theta}, Grad[float32]{X: h.X, Targets: h.Targets})
	}
	step()
	const blocks = 3 // an image of this size is one strip
	if got := testing.AllocsPerRun(5, step) / float64(blocks*c.n); got > 100 {
		t.Errorf("%.0f allocations for a strip", got)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var before, after runtime.MemStats
	const steps = 5
	runtime.ReadMemStats(&before)
	for range steps {
		step()
	}
	runtime.ReadMemStats(&after)
	activations := uint64(4 * c.n * 32 * 32 * 32)
	if got := (after.TotalAlloc - before.TotalAlloc) / steps; got > activations/2 && !raceDetector {
		t.Errorf("a step allocates %d bytes; the first layer's activations have %d", got, activations)
	}
}
