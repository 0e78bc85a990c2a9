package dd

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/nn"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// problem is a small distillation with the variables that are learned.
type problem[F tensor.Float] struct {
	u           *unroll[F]
	first       []F
	x, rho, z   []F // images, rates and labels before softplus and softmax
	real        [][]F
	labels      []int
	fixedLabels bool
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
	grad := learned[F]{X: make([]F, len(p.x)), Rates: make([]F, len(p.rho))}
	if !p.fixedLabels {
		grad.Targets = make([]F, len(p.z))
	}
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

func near[F tensor.Float](t *testing.T, what string, got []F, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d values, want %d", what, len(got), len(want))
		return
	}
	var worst, scale float64
	for i, w := range want {
		if e := math.Abs(float64(got[i]) - w); !(e <= worst) { // also for NaN
			worst = e
		}
		scale = max(scale, math.Abs(w))
	}
	if !(worst <= tol*scale) || scale == 0 {
		t.Errorf("%s: error %.3g of the largest entry %.3g, want at most %g", what, worst/scale, scale, tol)
	}
}

type array struct {
	Shape []int     `json:"shape"`
	Data  []float64 `json:"data"`
}

// vectors are values computed by PyTorch's autograd in float64.
type vectors struct {
	W0, W3 []array
	X      array   `json:"x_syn"`
	Z      array   `json:"label_logits_syn"`
	Rho    array   `json:"rho"`
	Real   array   `json:"x_real"`
	Labels []int   `json:"y_real"`
	Loss   float64 `json:"loss"`
	DX     array   `json:"d_x_syn"`
	DZ     array   `json:"d_label_logits_syn"`
	DRho   array   `json:"d_rho"`
}

// flat converts linear layers from PyTorch's layout [out, in] into our vector.
func flat[F tensor.Float](list []array) (theta []F) {
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

func convert[F tensor.Float](x []float64) []F {
	y := make([]F, len(x))
	for i, v := range x {
		y[i] = F(v)
	}
	return y
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
		x: convert[F](v.X.Data), rho: convert[F](v.Rho.Data), z: convert[F](v.Z.Data), labels: v.Labels,
	}
	for i := range v.Labels {
		p.real = append(p.real, convert[F](v.Real.Data[i*12:][:12]))
	}
	loss, dx, drho, dz := p.gradient(t)
	near(t, "weights", p.u.w[3], flat[float64](v.W3), tol)
	near(t, "loss", []float64{loss}, []float64{v.Loss}, tol)
	near(t, "images", dx, v.DX.Data, tol)
	near(t, "rates", drho, v.DRho.Data, tol)
	near(t, "labels", dz, v.DZ.Data, tol)
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
	normal := func(n int, sd float64) []F {
		x := make([]F, n)
		for i := range x {
			x[i] = F(sd * draw.Normal64())
		}
		return x
	}
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
				near(t, what, got, want, 1e-6)
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

// Without gradients of the labels, the other gradients are the same.
func TestFixedLabels(t *testing.T) {
	p := small[float64](t, "fc", 2, 3, 2)
	_, dx, drho, _ := p.gradient(t)
	p.fixedLabels = true
	if _, x, r, _ := p.gradient(t); !slices.Equal(x, dx) || !slices.Equal(r, drho) {
		t.Error("fixed labels change the other gradients")
	}
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
	for ipc := 1; ipc <= 25; ipc++ {
		for _, steps := range []int{1, 4, 10} {
			p := newPlan(ipc, 3, steps, 3)
			if len(p.steps) != 3*steps || len(p.slotOf) != 3*ipc || len(p.of) != min(steps, ipc) {
				t.Fatalf("ipc %d, %d steps: %+v", ipc, steps, p)
			}
			seen := 0
			for s, images := range p.of {
				count := make([]int, 3)
				for _, i := range images {
					count[i/ipc]++
					seen++
					if p.slotOf[i] != s {
						t.Errorf("image %d is in slot %d, but slotOf is %d", i, s, p.slotOf[i])
					}
				}
				if low := ipc / len(p.of); count[0] < low || count[0] > low+1 || count[1] != count[0] || count[2] != count[0] {
					t.Errorf("ipc %d, %d steps: slot %d has %v images", ipc, steps, s, count)
				}
			}
			if seen != 3*ipc {
				t.Errorf("ipc %d: %d images in slots", ipc, seen)
			}
		}
	}
}

func TestSoftplus(t *testing.T) {
	for _, r := range []float64{1e-6, 0.02, 1, 30, 1000} {
		back := []float64{0}
		softplus(back, []float64{inverseSoftplus(r)})
		near(t, fmt.Sprint(r), back, []float64{r}, 1e-9)
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
