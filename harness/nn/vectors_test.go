package nn

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"dgkip/harness/tensor"
)

// array is a tensor in PyTorch's layout.
type array struct {
	Shape []int     `json:"shape"`
	Data  []float64 `json:"data"`
}

// vectors are values computed by PyTorch's autograd in float64.
type vectors struct {
	X           array   `json:"x"`
	LabelLogits array   `json:"label_logits"`
	Params      []array `json:"params"`
	Logits      array   `json:"logits"`
	Loss        float64 `json:"loss"`
	GradParams  []array `json:"grad_params"`
	GradX       array   `json:"grad_x"`
	GradLabels  array   `json:"grad_label_logits"`
	V           []array `json:"v"`
	HvpParams   []array `json:"hvp_params"`
	HvpX        array   `json:"hvp_x"`
	HvpLabels   array   `json:"hvp_label_logits"`
}

func readVectors(t *testing.T, name string) (v vectors) {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// hwc turns [n, c, h, w] into [n, h, w, c].
func hwc(a array) []float64 {
	n, c, h, w := a.Shape[0], a.Shape[1], a.Shape[2], a.Shape[3]
	out := make([]float64, len(a.Data))
	for i := range n {
		for k := range c {
			for p := range h * w {
				out[(i*h*w+p)*c+k] = a.Data[(i*c+k)*h*w+p]
			}
		}
	}
	return out
}

// flat converts parameters from PyTorch's layout into our vector. The linear layer reads maps
// of the given number of pixels.
func flat(list []array, pixels int) []float64 {
	var out []float64
	for _, a := range list {
		switch len(a.Shape) {
		case 4: // [out, in, 3, 3] -> [3, 3, in, out]
			o, in := a.Shape[0], a.Shape[1]
			t := make([]float64, len(a.Data))
			for i := range o {
				for j := range in {
					for k := range 9 {
						t[(k*in+j)*o+i] = a.Data[(i*in+j)*9+k]
					}
				}
			}
			out = append(out, t...)
		case 2: // [out, (c, h, w)] -> [(h, w, c), out]
			o, c := a.Shape[0], a.Shape[1]/pixels
			t := make([]float64, len(a.Data))
			for i := range o {
				for k := range c {
					for p := range pixels {
						t[(p*c+k)*o+i] = a.Data[(i*c+k)*pixels+p]
					}
				}
			}
			out = append(out, t...)
		default:
			out = append(out, a.Data...)
		}
	}
	return out
}

func convert[F tensor.Float](x []float64) []F {
	y := make([]F, len(x))
	for i, v := range x {
		y[i] = F(v)
	}
	return y
}

// worst returns the largest difference, relative to want's largest entry.
func worst[F tensor.Float](got []F, want []float64) float64 {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	var d, scale float64
	for i, w := range want {
		e := math.Abs(float64(got[i]) - w)
		if !(e <= d) { // also for NaN
			d = e
		}
		scale = max(scale, math.Abs(w))
	}
	if d == 0 {
		return 0
	}
	return d / scale
}

func near[F tensor.Float](t *testing.T, what string, got []F, want []float64, tol float64) {
	t.Helper()
	if e := worst(got, want); !(e <= tol) {
		t.Errorf("%s: error %.3g of the largest entry, want at most %g", what, e, tol)
	}
}

func TestVectors(t *testing.T) {
	for _, norm := range []bool{true, false} {
		name := map[bool]string{true: "convnet_norm.json", false: "convnet_plain.json"}[norm]
		t.Run(name, func(t *testing.T) {
			v := readVectors(t, name)
			t.Run("float64", func(t *testing.T) { checkVectors[float64](t, v, norm, tensor.Auto, 1e-9) })
			t.Run("float32", func(t *testing.T) { checkVectors[float32](t, v, norm, tensor.Direct, 1e-4) })
			t.Run("float32 winograd", func(t *testing.T) { checkVectors[float32](t, v, norm, tensor.Winograd, 1e-4) })
		})
	}
}

func checkVectors[F tensor.Float](t *testing.T, v vectors, norm bool, algo tensor.Algorithm, tol float64) {
	n, ch, h, w := v.X.Shape[0], v.X.Shape[1], v.X.Shape[2], v.X.Shape[3]
	k := v.LabelLogits.Shape[1]
	net := using(algo, must(ConvNet[F](Shape{Kind: "conv", Width: v.Params[0].Shape[0], Depth: 3, Norm: norm}, h, w, ch, k)))
	pixels := (h / 8) * (w / 8)
	theta, x := convert[F](flat(v.Params, pixels)), convert[F](hwc(v.X))

	// The labels are learned as logits, so derivatives go through a softmax.
	targets := make([]F, n*k)
	Softmax(targets, convert[F](v.LabelLogits.Data), k)

	pass := net.NewPass()
	loss := pass.Loss(theta, x, targets, n)
	near(t, "loss", []float64{loss}, []float64{v.Loss}, tol)
	near(t, "logits", pass.logits(), v.Logits.Data, tol)
	g := newGrad(net, n)
	pass.Gradient(g)
	near(t, "grad params", g.Theta, flat(v.GradParams, pixels), tol)
	near(t, "grad x", g.X, hwc(v.GradX), tol)
	ThroughSoftmax(g.Targets, targets, k)
	near(t, "grad label logits", g.Targets, v.GradLabels.Data, tol)
	hv := newGrad(net, n)
	pass.Tangent(Grad[F]{Theta: convert[F](flat(v.V, pixels))}, hv)
	near(t, "hvp params", hv.Theta, flat(v.HvpParams, pixels), tol)
	near(t, "hvp x", hv.X, hwc(v.HvpX), tol)
	ThroughSoftmax(hv.Targets, targets, k)
	near(t, "hvp label logits", hv.Targets, v.HvpLabels.Data, tol)
}

// newGrad returns memory for all gradients, filled with values that must be overwritten.
func newGrad[F tensor.Float](net *Net[F], n int) Grad[F] {
	g := Grad[F]{
		Theta:   make([]F, net.Params()),
		X:       make([]F, n*net.Inputs()),
		Targets: make([]F, n*net.Classes()),
	}
	for _, x := range [][]F{g.Theta, g.X, g.Targets} {
		for i := range x {
			x[i] = F(math.NaN())
		}
	}
	return g
}
