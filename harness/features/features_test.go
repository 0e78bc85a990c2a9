package features

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

func near(t *testing.T, name string, got, want []float32, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", name, len(got), len(want))
	}
	worst, scale := 0.0, 0.0
	for i, w := range want {
		worst, scale = max(worst, math.Abs(float64(got[i])-float64(w))), max(scale, math.Abs(float64(w)))
	}
	if !(worst <= tol*scale) {
		t.Errorf("%s: off by %.2g of the largest entry, want at most %.2g", name, worst/scale, tol)
	}
}

// small returns a small map of each kind. The conv maps include odd sizes and enough channels for
// Winograd.
func small(t *testing.T) []*Map {
	t.Helper()
	var ms []*Map
	for _, c := range []Config{
		{Kind: "fc", H: 5, W: 7, C: 3, Nets: 3, Width: 40},
		{Kind: "conv", H: 12, W: 13, C: 3, Nets: 3, Width: 16, Depth: 2},
		{Kind: "conv", H: 28, W: 28, C: 1, Nets: 2, Width: 64},
	} {
		m, err := New(c, 7, "test")
		if err != nil {
			t.Fatal(err)
		}
		ms = append(ms, m)
	}
	return ms
}

func draw(n int, name string) []float32 {
	x := make([]float32, n)
	rng.Stream(1, name).FillNormal(x, 0, 1)
	return x
}

// run returns the features of x and the gradient of <dphi, phi> in x.
func run(p *Pass, x, dphi []float32) (phi, dx []float32) {
	n := p.m.images(x, "")
	phi, dx = make([]float32, n*p.m.Dim()), make([]float32, len(x))
	p.Forward(tensor.MatOf(phi, n, p.m.Dim()), x)
	p.Backward(dx, tensor.MatOf(dphi, n, p.m.Dim()))
	return phi, dx
}

// An image's features and gradient do not depend on other images, on earlier uses of a pass, on
// the number of threads or on the vector path.
func TestSameBits(t *testing.T) {
	for _, m := range small(t) {
		if m.Dim() != m.cfg.Dim() {
			t.Errorf("%v: Map.Dim is %d, Config.Dim %d", m.cfg, m.Dim(), m.cfg.Dim())
		}
		n := 17
		if m.cfg.Kind == "fc" {
			n = 200
		}
		x, dphi := draw(n*m.in, "x"), draw(n*m.Dim(), "dphi")
		phi, dx := run(m.NewPass(), x, dphi)

		whole := make([]float32, len(phi))
		if err := m.Features(context.Background(), tensor.MatOf(whole, n, m.Dim()), x, nil); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(whole, phi) {
			t.Errorf("%v: Features and Forward differ", m.cfg)
		}
		p := m.NewPass()
		for _, i := range []int{0, n / 2, n - 1} {
			a, b := run(p, x[i*m.in:(i+1)*m.in], dphi[i*m.Dim():(i+1)*m.Dim()])
			if !slices.Equal(a, phi[i*m.Dim():(i+1)*m.Dim()]) || !slices.Equal(b, dx[i*m.in:(i+1)*m.in]) {
				t.Errorf("%v: image %d by itself differs", m.cfg, i)
			}
		}
		for _, threads := range []int{1, 2, 3, 7} {
			before := runtime.GOMAXPROCS(threads)
			a, b := run(m.NewPass(), x, dphi)
			runtime.GOMAXPROCS(before)
			if !slices.Equal(a, phi) || !slices.Equal(b, dx) {
				t.Errorf("%v: results differ on %d threads", m.cfg, threads)
			}
		}
	}
	best := tensor.Path()
	defer tensor.Use(best)
	for i, m := range small(t) {
		n := 2
		x, dphi := draw(n*m.in, "x"), draw(n*m.Dim(), "dphi")
		phi, dx := run(m.NewPass(), x, dphi)
		for _, path := range tensor.Paths() {
			if path == "generic" && testing.Short() {
				continue // a hundred times slower
			}
			if err := tensor.Use(path); err != nil {
				t.Fatal(err)
			}
			a, b := run(small(t)[i].NewPass(), x, dphi)
			if !slices.Equal(a, phi) || !slices.Equal(b, dx) {
				t.Errorf("%v: path %s differs from %s", m.cfg, path, best)
			}
		}
		tensor.Use(best)
	}
}

// The gradient matches central differences of an independent float64 network.
func TestGradient(t *testing.T) {
	for _, m := range small(t) {
		const n = 2
		x, dphi := draw(n*m.in, "gx"), draw(n*m.Dim(), "gd")
		phi, dx := run(m.NewPass(), x, dphi)
		ref := func(x []float64) []float64 { return reference(m.cfg, x, n) }
		x64 := make([]float64, len(x))
		for i, v := range x {
			x64[i] = float64(v)
		}
		want := ref(x64)
		w32 := make([]float32, len(want))
		for i, v := range want {
			w32[i] = float32(v)
		}
		near(t, fmt.Sprint(m.cfg, " phi"), phi, w32, 1e-5)
		value := func(x []float64) (sum float64) {
			for i, v := range ref(x) {
				sum += v * float64(dphi[i])
			}
			return sum
		}
		r := rng.Stream(3, "coordinates")
		scale := 0.0
		for _, v := range dx {
			scale = max(scale, math.Abs(float64(v)))
		}
		for range 6 {
			const h = 1e-6
			i := r.IntN(len(x))
			x64[i] += h
			up := value(x64)
			x64[i] -= 2 * h
			down := value(x64)
			x64[i] += h
			if d := (up - down) / (2 * h); math.Abs(d-float64(dx[i])) > 1e-4*scale {
				t.Errorf("%v: d/dx[%d] is %v, central difference %v", m.cfg, i, dx[i], d)
			}
		}
	}
}

// reference computes the features by definition in float64.
func reference(cfg Config, x []float64, n int) []float64 {
	var nets [][]float64
	for net := range cfg.Nets {
		h, w, in := cfg.H, cfg.W, cfg.C
		a := x
		if cfg.Kind == "fc" {
			in, h, w = h*w*in, 1, 1
		}
		for l := range cfg.Depth {
			taps := 1
			if cfg.Kind == "conv" {
				taps = 9
			}
			wt, b := make([]float32, taps*in*cfg.Width), make([]float32, cfg.Width)
			s := rng.Stream(7, "test", "net", fmt.Sprint(net), "layer", fmt.Sprint(l))
			s.FillNormal(wt, 0, float32(math.Sqrt(2/float64(taps*in))))
			s.FillNormal(b, 0, 0.1)
			w64, b64 := make([]float64, len(wt)), make([]float64, len(b))
			for i, v := range wt {
				w64[i] = float64(v)
			}
			for i, v := range b {
				b64[i] = float64(v)
			}
			y := make([]float64, n*h*w*cfg.Width)
			if cfg.Kind == "conv" {
				conv := tensor.NewConv[float64](h, w, in, cfg.Width, tensor.Direct)
				conv.Set(w64)
				conv.Forward(y, a, n, tensor.Epilogue[float64]{Bias: b64, ReLU: true})
				a = make([]float64, n*(h/2)*(w/2)*cfg.Width)
				tensor.Pool(a, y, n, h, w, cfg.Width)
				h, w = h/2, w/2
			} else {
				tensor.Mul(tensor.MatOf(y, n, cfg.Width), tensor.MatOf(a, n, in), tensor.MatOf(w64, in, cfg.Width), tensor.NN, false)
				for i := range y {
					y[i] = max(0, y[i]+b64[i%cfg.Width])
				}
				a = y
			}
			in = cfg.Width
		}
		nets = append(nets, a)
	}
	m := len(nets[0]) / n
	dim := m * cfg.Nets
	phi := make([]float64, n*dim)
	for k, a := range nets {
		for i, v := range a {
			phi[i/m*dim+k*m+i%m] = v / math.Sqrt(float64(dim))
		}
	}
	return phi
}

func TestFeaturesStops(t *testing.T) {
	m := small(t)[0]
	ctx, cancel := context.WithCancel(context.Background())
	x := draw(4*m.in, "x")
	calls := 0
	err := m.Features(ctx, tensor.NewMat[float32](4, m.Dim()), x, func(done float64) {
		calls++
		cancel()
	})
	if !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("stopped with %v after %d calls", err, calls)
	}
	var last float64
	if err := m.Features(context.Background(), tensor.NewMat[float32](4, m.Dim()), x, func(done float64) { last = done }); err != nil || last != 1 {
		t.Errorf("ended with %v at %v", err, last)
	}
}

// Large sets need little memory beyond their features.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("allocates the features of a thousand images")
	}
	m, err := New(Config{Kind: "conv", H: 32, W: 32, C: 3, Nets: 8, Width: 64}, 1)
	if err != nil {
		t.Fatal(err)
	}
	n := 1000
	x := draw(n*m.in, "x")
	phi := tensor.NewMat[float32](n, m.Dim())
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	if err := m.Features(context.Background(), phi, x, nil); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 100 {
		t.Errorf("allocated %d MB for %d MB of features", used, len(phi.Data)>>18)
	}
}

func TestConfigErrors(t *testing.T) {
	for _, c := range []Config{
		{}, {Kind: "cnn", H: 8, W: 8, C: 1}, {Kind: "fc", H: 0, W: 8, C: 1},
		{Kind: "conv", H: 7, W: 32, C: 3}, {Kind: "fc", H: 8, W: 8, C: 1, Nets: -1},
	} {
		if _, err := New(c, 1); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}

// The bits of features and gradients of small maps equal the recorded ones on every processor.
func TestGolden(t *testing.T) {
	var got strings.Builder
	for _, m := range small(t) {
		const n = 2
		phi, dx := run(m.NewPass(), draw(n*m.in, "x"), draw(n*m.Dim(), "dphi"))
		h := fnv.New64a()
		for _, v := range [][]float32{phi, dx} {
			if err := binary.Write(h, binary.LittleEndian, v); err != nil {
				t.Fatal(err)
			}
		}
		fmt.Fprintf(&got, "%s %dx%dx%d: %016x\n", m.cfg.Kind, m.cfg.H, m.cfg.W, m.cfg.C, h.Sum64())
	}
	const file = "testdata/digests.txt"
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, []byte(got.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got\n%srecorded\n%s", got.String(), want)
	}
}

func ExampleMap_Features() {
	m, err := New(Config{Kind: "fc", H: 4, W: 4, C: 1, Nets: 2, Width: 8}, 1)
	if err != nil {
		panic(err)
	}
	images := make([]float32, 3*4*4)
	phi := tensor.NewMat[float32](3, m.Dim())
	if err := m.Features(context.Background(), phi, images, nil); err != nil {
		panic(err)
	}
	fmt.Println(phi.Rows, phi.Cols)
	// Output: 3 16
}
