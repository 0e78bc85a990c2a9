package dc

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"dgkip/harness/augment"
	"dgkip/harness/method/methodtest"
	"dgkip/harness/nn"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// vectors are values computed by PyTorch's autograd in float64.
type vectors struct {
	Params    []methodtest.Array `json:"params"`
	XReal     methodtest.Array   `json:"x_real"`
	XSyn      methodtest.Array   `json:"x_syn"`
	LogitsSyn methodtest.Array   `json:"label_logits_syn"`
	GradReal  []methodtest.Array `json:"grad_real"`
	Distance  float64            `json:"distance"`
	DX        methodtest.Array   `json:"d_x_syn"`
	DLogits   methodtest.Array   `json:"d_label_logits_syn"`
}

// flat converts parameters from PyTorch's layout into our vector. The linear layer reads maps of
// the given number of pixels.
func flat(list []methodtest.Array, pixels int) []float64 {
	var out []float64
	for _, a := range list {
		switch len(a.Shape) {
		case 4: // [out, in, 3, 3] -> [3, 3, in, out]
			o, in := a.Shape[0], a.Shape[1]
			t := make([]float64, len(a.Data))
			for i, v := range a.Data {
				t[(i%9*in+i/9%in)*o+i/(9*in)] = v
			}
			out = append(out, t...)
		case 2: // [out, (c, h, w)] -> [(h, w, c), out]
			o, c := a.Shape[0], a.Shape[1]/pixels
			t := make([]float64, len(a.Data))
			for i, v := range a.Data {
				t[(i%pixels*c+i/pixels%c)*o+i/(c*pixels)] = v
			}
			out = append(out, t...)
		default:
			out = append(out, a.Data...)
		}
	}
	return out
}

func TestVectors(t *testing.T) {
	b, err := os.ReadFile("testdata/dc_distance.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	t.Run("float64", func(t *testing.T) { checkVectors[float64](t, v, 1e-9) })
	t.Run("float32", func(t *testing.T) { checkVectors[float32](t, v, 1e-4) })
}

func checkVectors[F tensor.Float](t *testing.T, v vectors, tol float64) {
	size, syn := v.XReal.Shape[0], v.XSyn.Shape[0]
	c, h, w := v.XSyn.Shape[1], v.XSyn.Shape[2], v.XSyn.Shape[3]
	k := v.LogitsSyn.Shape[1]
	net, err := nn.ConvNet[F](nn.Shape{Kind: "conv", Width: v.Params[0].Shape[0], Depth: 2, Norm: true}, h, w, c, k)
	if err != nil {
		t.Fatal(err)
	}
	const pixels = 2 * 2
	hard := make([]F, size*k)
	for i := range size {
		hard[i*k] = 1
	}
	soft := make([]F, syn*k)
	nn.Softmax(soft, methodtest.Convert[F](v.LogitsSyn.Data), k)
	m := newMatcher(net, h, w, c)
	dx, dz := make([]F, syn*h*w*c), make([]F, syn*k)
	d := m.match(methodtest.Convert[F](flat(v.Params, pixels)), augment.Draw{},
		batch[F]{size, methodtest.NHWC[F](v.XReal), hard}, batch[F]{syn, methodtest.NHWC[F](v.XSyn), soft}, dx, dz)
	nn.ThroughSoftmax(dz, soft, k)
	methodtest.Near(t, "real gradient", m.ofReal, flat(v.GradReal, pixels), tol)
	methodtest.Near(t, "distance", []float64{d}, []float64{v.Distance}, tol)
	methodtest.Near(t, "gradient in images", dx, methodtest.NHWC[float64](v.DX), tol)
	methodtest.Near(t, "gradient in label logits", dz, v.DLogits.Data, tol)
}

// problem holds all that a matching distance depends on.
type problem struct {
	m         *matcher[float64]
	theta     []float64
	draw      augment.Draw
	real      batch[float64]
	x, logits []float64
	n, k      int
}

func newProblem(t *testing.T, net *nn.Net[float64], h, w, c int, draw augment.Draw) *problem {
	t.Helper()
	const size = 5
	p := &problem{m: newMatcher(net, h, w, c), draw: draw, n: 2, k: net.Classes()}
	r := rng.Stream(3, "problem")
	normal := func(n int) []float64 { return methodtest.Normal[float64](r, n, 1) }
	p.theta = make([]float64, net.Params())
	net.InitUniform(p.theta, r)
	p.real = batch[float64]{size, normal(size * h * w * c), make([]float64, size*p.k)}
	for i := range size {
		p.real.targets[i*p.k] = 1
	}
	p.x, p.logits = normal(p.n*h*w*c), normal(p.n*p.k)
	return p
}

// distance returns D and its gradients with respect to images and label logits.
func (p *problem) distance(x, logits []float64) (d float64, dx, dz []float64) {
	targets := make([]float64, len(logits))
	nn.Softmax(targets, logits, p.k)
	dx, dz = make([]float64, len(x)), make([]float64, len(logits))
	d = p.m.match(p.theta, p.draw, p.real, batch[float64]{p.n, x, targets}, dx, dz)
	nn.ThroughSoftmax(dz, targets, p.k)
	return d, dx, dz
}

func TestGradients(t *testing.T) {
	const h, w, c = 8, 8, 2
	conv := func(norm bool) *nn.Net[float64] {
		net, err := nn.ConvNet[float64](nn.Shape{Kind: "conv", Width: 3, Depth: 2, Norm: norm, FirstPad: 2}, h, w, c, 3)
		if err != nil {
			t.Fatal(err)
		}
		return net
	}
	fc, err := nn.FCNet[float64](h*w*c, 5, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string, net *nn.Net[float64], draw augment.Draw) {
		t.Run(name, func(t *testing.T) {
			p := newProblem(t, net, h, w, c, draw)
			_, dx, dz := p.distance(p.x, p.logits)
			methodtest.Near(t, "images", dx, methodtest.Differences(p.x, 1, 1e-6, func(x []float64) float64 { d, _, _ := p.distance(x, p.logits); return d }), 1e-6)
			methodtest.Near(t, "label logits", dz, methodtest.Differences(p.logits, 1, 1e-6, func(z []float64) float64 { d, _, _ := p.distance(p.x, z); return d }), 1e-6)
		})
	}
	check("conv", conv(true), augment.Draw{})
	check("conv without norm", conv(false), augment.Draw{})
	check("fc", fc, augment.Draw{})
	for _, name := range []string{"color", "crop", "cutout", "flip", "scale", "rotate"} {
		s, err := augment.New(name, false)
		if err != nil {
			t.Fatal(err)
		}
		r := rng.Stream(2, name)
		draw := s.Draw(r, h, w)
		for draw == (augment.Draw{}) { // half of all flips do nothing
			draw = s.Draw(r, h, w)
		}
		check(name, fc, draw)
		check(name+", conv", conv(true), draw)
	}
}

// The distance follows its definition. It ignores biases, and allows rows without gradient.
func TestDistance(t *testing.T) {
	tensors := []nn.Tensor{
		{Kind: nn.LinearWeight, Shape: []int{3, 2}, Offset: 0, Len: 6},
		{Kind: nn.Bias, Shape: []int{2}, Offset: 6, Len: 2},
		{Kind: nn.Gain, Shape: []int{1}, Offset: 8, Len: 1},
	}
	// Columns (1, 2, 2) and (0, 0, 3) against (2, 4, 4) and (0, 4, 3).
	s := []float64{1, 0, 2, 0, 2, 3, 5, 5, 5}
	r := []float64{2, 0, 4, 4, 4, 3, -5, -5, -5}
	v := slices.Repeat([]float64{math.NaN()}, 9)
	want := (1 - 18/(18+1e-6)) + (1 - 9/(15+1e-6))
	if d := distance(v, s, r, tensors); math.Abs(d-want) > 1e-15 {
		t.Errorf("distance %v, want %v", d, want)
	}
	methodtest.Near(t, "derivative", v, methodtest.Differences(s, 1, 1e-6, func(s []float64) float64 { return distance(make([]float64, 9), s, r, tensors) }), 1e-8)
	if !slices.Equal(v[6:], []float64{0, 0, 0}) {
		t.Errorf("derivative in bias and gain: %v", v[6:])
	}
	zero := make([]float64, 9)
	for name, pair := range map[string][2][]float64{"no gradient": {zero, zero}, "none on real images": {s, zero}, "none on synthetic images": {zero, r}} {
		if d := distance(v, pair[0], pair[1], tensors); d != 2 {
			t.Errorf("%s: distance %v, want 2", name, d)
		}
		for _, x := range v {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				t.Errorf("%s: derivative %v", name, v)
			}
		}
	}
}
