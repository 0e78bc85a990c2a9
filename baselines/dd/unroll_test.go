package dd

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"dgkip/harness/method/methodtest"
	"dgkip/harness/nn"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// problem is a small distillation with the variables that are learned.
type problem[F tensor.Float] struct {
	u         *unroll[F]
	first     []F
	x, rho, z []F // images, rates and labels before softplus and softmax
	real      [][]F
	labels    []int
}

// gradient returns the loss and the gradients of x, rho and z.
func (p *problem[F]) gradient(t *testing.T) (loss float64, dx, drho, dz []F) {
	t.Helper()
	ctx := context.Background()
	classes := p.u.net.Classes()
	in := learned[F]{X: p.x, Targets: make([]F, len(p.z)), Rates: make([]F, len(p.rho))}
	softplus(in.Rates, p.rho)
	nn.Softmax(in.Targets, p.z, classes)
	if err := p.u.run(ctx, p.first, in); err != nil {
		t.Fatal(err)
	}
	loss, err := p.u.outer(ctx, len(p.real), p.realImage)
	if err != nil {
		t.Fatal(err)
	}
	grad := learned[F]{X: make([]F, len(p.x)), Rates: make([]F, len(p.rho)), Targets: make([]F, len(p.z))}
	if err := p.u.sweep(ctx, in.Rates, grad); err != nil {
		t.Fatal(err)
	}
	throughSoftplus(grad.Rates, p.rho)
	nn.ThroughSoftmax(grad.Targets, in.Targets, classes)
	return loss, grad.X, grad.Rates, grad.Targets
}

// realImage copies an image of the real batch.
func (p *problem[F]) realImage(x []F, i int) int {
	copy(x, p.real[i])
	return p.labels[i]
}

// vectors are values computed by PyTorch's autograd in float64.
type vectors struct {
	W0, W3 []methodtest.Array
	X      methodtest.Array `json:"x_syn"`
	Z      methodtest.Array `json:"label_logits_syn"`
	Rho    methodtest.Array `json:"rho"`
	Real   methodtest.Array `json:"x_real"`
	Labels []int            `json:"y_real"`
	Loss   float64          `json:"loss"`
	DX     methodtest.Array `json:"d_x_syn"`
	DZ     methodtest.Array `json:"d_label_logits_syn"`
	DRho   methodtest.Array `json:"d_rho"`
}

// flat converts linear layers from PyTorch's layout [out, in] into our vector.
func flat[F tensor.Float](list []methodtest.Array) (theta []F) {
	for _, a := range list {
		rows, cols := 1, a.Shape[0]
		if len(a.Shape) == 2 {
			rows, cols = a.Shape[1], a.Shape[0]
		}
		for i := range rows {
			for o := range cols {
				theta = append(theta, F(a.Data[o*rows+i]))
			}
		}
	}
	return theta
}

func TestVectors(t *testing.T) {
	t.Run("float64", func(t *testing.T) { checkVectors[float64](t, 1e-9) })
	t.Run("float32", func(t *testing.T) { checkVectors[float32](t, 1e-4) })
}

func checkVectors[F tensor.Float](t *testing.T, tol float64) {
	b, err := os.ReadFile("testdata/dd_unroll.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	net, err := nn.FCNet[F](12, 5, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	p := &problem[F]{
		u: newUnroll(net, newPlan(1, 2, 3, 1), 4), first: flat[F](v.W0),
		x: methodtest.Convert[F](v.X.Data), rho: methodtest.Convert[F](v.Rho.Data), z: methodtest.Convert[F](v.Z.Data), labels: v.Labels,
	}
	for i := range v.Labels {
		p.real = append(p.real, methodtest.Convert[F](v.Real.Data[i*12:][:12]))
	}
	loss, dx, drho, dz := p.gradient(t)
	methodtest.Near(t, "weights", p.u.w[3], flat[float64](v.W3), tol)
	methodtest.Near(t, "loss", []float64{loss}, []float64{v.Loss}, tol)
	methodtest.Near(t, "images", dx, v.DX.Data, tol)
	methodtest.Near(t, "rates", drho, v.DRho.Data, tol)
	methodtest.Near(t, "labels", dz, v.DZ.Data, tol)
}

// small returns a problem with IPC images of three classes, 8x8 pixels in two channels. Its rates are
// large enough to matter.
func small[F tensor.Float](t *testing.T, kind string, ipc, steps, epochs int) *problem[F] {
	t.Helper()
	const h, w, ch, classes = 8, 8, 2, 3
	net, err := nn.FCNet[F](h*w*ch, 6, 2, classes)
	if kind != "fc" {
		net, err = nn.ConvNet[F](nn.Shape{Kind: "conv", Width: 4, Depth: 2, FirstPad: 2, Norm: kind == "norm"}, h, w, ch, classes)
	}
	if err != nil {
		t.Fatal(err)
	}
	draw := rng.Stream(7, "unroll", kind)
	normal := func(n int, sd float64) []F { return methodtest.Normal[F](draw, n, sd) }
	p := &problem[F]{
		u: newUnroll(net, newPlan(ipc, classes, steps, epochs), 5), first: make([]F, net.Params()),
		x: normal(ipc*classes*net.Inputs(), 1), z: normal(ipc*classes*classes, 1), rho: normal(steps*epochs, 0.5),
	}
	net.InitUniform(p.first, draw)
	for i := range p.rho {
		p.rho[i] -= 2
	}
	for i := range 7 { // more than a chunk
		x := normal(net.Inputs(), 1)
		p.real, p.labels = append(p.real, x), append(p.labels, i%classes)
	}
	return p
}

// TestGradient compares with central differences through five steps.
func TestGradient(t *testing.T) {
	for _, kind := range []string{"fc", "plain", "norm"} {
		t.Run(kind, func(t *testing.T) {
			p := small[float64](t, kind, 2, 5, 1)
			_, dx, drho, dz := p.gradient(t)
			check := func(what string, x, g []float64, every int) {
				t.Helper()
				const eps = 1e-5
				var got, want []float64
				for i := 0; i < len(x); i += every {
					old := x[i]
					x[i] = old + eps
					up := p.loss(t)
					x[i] = old - eps
					down := p.loss(t)
					x[i] = old
					got, want = append(got, g[i]), append(want, (up-down)/(2*eps))
				}
				methodtest.Near(t, what, got, want, 1e-6)
			}
			every := 5
			if testing.Short() {
				every = 50
			}
			check("images", p.x, dx, every)
			check("rates", p.rho, drho, 1)
			check("labels", p.z, dz, 1)
		})
	}
}

// loss runs only the forward part.
func (p *problem[F]) loss(t *testing.T) float64 {
	t.Helper()
	in := learned[F]{X: p.x, Targets: make([]F, len(p.z)), Rates: make([]F, len(p.rho))}
	softplus(in.Rates, p.rho)
	nn.Softmax(in.Targets, p.z, p.u.net.Classes())
	if err := p.u.run(context.Background(), p.first, in); err != nil {
		t.Fatal(err)
	}
	loss, err := p.u.outer(context.Background(), len(p.real), p.realImage)
	if err != nil {
		t.Fatal(err)
	}
	return loss
}

func TestPlan(t *testing.T) {
	for _, c := range []struct {
		ipc, steps, epochs int
		slots, sequence    string
	}{
		{1, 3, 2, "[[0 1]]", "[0 0 0 0 0 0]"},
		{2, 3, 2, "[[0 2] [1 3]]", "[0 1 0 1 0 1]"},
		{3, 3, 2, "[[0 3] [1 4] [2 5]]", "[0 1 2 0 1 2]"},
		{5, 2, 1, "[[0 2 4 5 7 9] [1 3 6 8]]", "[0 1]"},
	} {
		p := newPlan(c.ipc, 2, c.steps, c.epochs)
		if got := fmt.Sprint(p.of); got != c.slots {
			t.Errorf("ipc %d: slots %s, want %s", c.ipc, got, c.slots)
		}
		if got := fmt.Sprint(p.steps); got != c.sequence {
			t.Errorf("ipc %d: steps %s, want %s", c.ipc, got, c.sequence)
		}
	}
}

func TestSoftplus(t *testing.T) {
	for _, r := range []float64{1e-6, 0.02, 1, 30, 1000} {
		back := []float64{0}
		softplus(back, []float64{inverseSoftplus(r)})
		methodtest.Near(t, fmt.Sprint(r), back, []float64{r}, 1e-9)
	}
}

// A value that is not finite is reported with the step at which it appears.
func TestDiverged(t *testing.T) {
	for _, c := range []struct {
		step int
		want string
	}{{0, "inner step 2 of 4: its loss is NaN"}, {2, "inner step 4 of 4"}, {3, "after all 4 inner steps: the loss of the real images"}} {
		p := small[float32](t, "fc", 1, 4, 1)
		in := learned[float32]{X: p.x, Targets: make([]float32, len(p.z)), Rates: []float32{.1, .1, .1, .1}}
		nn.Softmax(in.Targets, p.z, 3)
		in.Rates[c.step] = math.MaxFloat32
		err := p.u.run(context.Background(), p.first, in)
		if err == nil {
			_, err = p.u.outer(context.Background(), len(p.real), p.realImage)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "hint: ") {
			t.Errorf("step %d: got %v, want %s", c.step, err, c.want)
		}
	}
}
