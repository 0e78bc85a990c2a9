package features

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/nn"
	"dgkip/harness/nngp"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// array is an array of reference values in row-major order.
type array struct {
	Shape []int
	Data  []float64
}

// vectors are reference values computed with automatic differentiation in float64. Images are
// [n, channel, row, column], weights [out, in, ...] for each network and layer, and conv maps are
// flattened as [channel, row, column].
type vectors struct {
	X, Phi, Cotangent array
	DX                array `json:"d_x"`
	Weights           []array
}

func load(t *testing.T, name string) (v vectors) {
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

// lastChannel moves the second axis to the end: [n, c, ...] becomes [n, ..., c].
func lastChannel(a array) []float32 {
	n, c := a.Shape[0], a.Shape[1]
	rest := len(a.Data) / (n * c)
	out := make([]float32, len(a.Data))
	for i := range n {
		for k := range c {
			for r := range rest {
				out[(i*rest+r)*c+k] = float32(a.Data[(i*c+k)*rest+r])
			}
		}
	}
	return out
}

// inOut returns weights [out, in, taps] as [taps, in, out].
func inOut(a array) []float32 {
	out, in := a.Shape[0], a.Shape[1]
	taps := len(a.Data) / (out * in)
	w := make([]float32, len(a.Data))
	for o := range out {
		for i := range in {
			for t := range taps {
				w[(t*in+i)*out+o] = float32(a.Data[(o*in+i)*taps+t])
			}
		}
	}
	return w
}

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

func TestReferenceValues(t *testing.T) {
	for _, c := range []struct {
		file string
		cfg  Config
	}{
		{"features_fc.json", Config{Kind: "fc", H: 8, W: 8, C: 1, Nets: 2, Width: 6}},
		{"features_conv.json", Config{Kind: "conv", H: 8, W: 8, C: 1, Nets: 2, Width: 4}},
		{"features_conv.json", Config{Kind: "conv", H: 8, W: 8, C: 1, Nets: 2, Width: 4, Algorithm: tensor.Winograd}},
	} {
		v := load(t, c.file)
		m, err := of(c.cfg, func(net, layer int, _ []nn.Tensor, theta []float32) {
			at := 2 * (3*net + layer)
			b := theta[copy(theta, inOut(v.Weights[at])):]
			for i, x := range v.Weights[at+1].Data {
				b[i] = float32(x)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		n := v.X.Shape[0]
		x := lastChannel(v.X)
		// The last maps of these networks have one pixel, so the layout does not matter.
		want, dphi := tensor.NewMat[float32](n, m.Dim()), tensor.NewMat[float32](n, m.Dim())
		for i := range want.Data {
			want.Data[i], dphi.Data[i] = float32(v.Phi.Data[i]), float32(v.Cotangent.Data[i])
		}
		phi := tensor.NewMat[float32](n, m.Dim())
		if err := m.Features(context.Background(), phi, x, nil); err != nil {
			t.Fatal(err)
		}
		near(t, c.file+" phi", phi.Data, want.Data, 1e-4)
		p := m.NewPass()
		clear(phi.Data)
		p.Forward(phi, x)
		near(t, c.file+" phi of a pass", phi.Data, want.Data, 1e-4)
		dx := make([]float32, len(x))
		p.Backward(dx, dphi)
		near(t, c.file+" dx", dx, lastChannel(v.DX), 1e-4)
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
				tensor.NewConv(w64, in, cfg.Width, tensor.Direct).Forward(y, a, n, h, w, tensor.Epilogue[float64]{Bias: b64, ReLU: true})
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

// The Gram matrix of the FC map converges to the NNGP kernel as width and number of networks grow.
func TestNNGP(t *testing.T) {
	const n, h, w, c = 6, 4, 4, 3
	x := draw(n*h*w*c, "nngp")
	want := nngp.FC{Size: h * w * c, Depth: 3, Weight: math.Sqrt2, Bias: 0.1}.Gram(nngp.NewImages(x, h*w*c))
	norm := 0.0
	for _, v := range want.Data {
		norm += v * v
	}
	var errs []float64
	for _, size := range []int{16, 128, 1024} {
		m, err := New(Config{Kind: "fc", H: h, W: w, C: c, Nets: max(4, size/16), Width: size}, 5)
		if err != nil {
			t.Fatal(err)
		}
		phi, gram := tensor.NewMat[float32](n, m.Dim()), tensor.NewMat[float32](n, n)
		if err := m.Features(context.Background(), phi, x, nil); err != nil {
			t.Fatal(err)
		}
		tensor.Gram(gram, phi)
		sum := 0.0
		for i, v := range gram.Data {
			sum += (float64(v) - want.Data[i]) * (float64(v) - want.Data[i])
		}
		errs = append(errs, math.Sqrt(sum/norm))
		if size == 128 && testing.Short() {
			break
		}
	}
	t.Logf("relative errors %.4f", errs)
	for i := 1; i < len(errs); i++ {
		if errs[i] > errs[i-1]/2 {
			t.Errorf("the error falls too little, from %.4f to %.4f", errs[i-1], errs[i])
		}
	}
	if last := errs[len(errs)-1]; len(errs) == 3 && last > 0.03 {
		t.Errorf("the relative error of the widest map is %.4f", last)
	}
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

func TestPanics(t *testing.T) {
	m, err := New(Config{Kind: "fc", H: 2, W: 2, C: 1, Nets: 2, Width: 3}, 1)
	if err != nil {
		t.Fatal(err)
	}
	mat := tensor.NewMat[float32]
	narrow, short := mat(2, 6), mat(2, 6)
	narrow.Stride, short.Data = 5, short.Data[:11]
	p := m.NewPass()
	p.Forward(mat(2, 6), make([]float32, 8))
	features := func(phi tensor.Mat[float32], x int) func() {
		return func() { _ = m.Features(context.Background(), phi, make([]float32, x), nil) }
	}
	for _, c := range []struct {
		message string
		f       func()
	}{
		{"features: Map.Features: x is not a whole number of images", features(mat(2, 6), 7)},
		{"features: Map.Features: phi does not fit", features(mat(2, 5), 8)},
		{"features: Map.Features: phi does not fit", features(narrow, 8)},
		{"features: Map.Features: phi does not fit", features(short, 8)},
		{"features: Pass.Forward: x is not a whole number of images", func() { m.NewPass().Forward(mat(2, 6), make([]float32, 7)) }},
		{"features: Pass.Forward: phi does not fit", func() { m.NewPass().Forward(short, make([]float32, 8)) }},
		{"features: Pass.Backward: shapes do not fit", func() { p.Backward(make([]float32, 7), mat(2, 6)) }},
		{"features: Pass.Backward: shapes do not fit", func() { p.Backward(make([]float32, 8), narrow) }},
	} {
		func() {
			defer func() {
				if r := recover(); r != c.message {
					t.Errorf("recovered %v, want %q", r, c.message)
				}
			}()
			c.f()
		}()
	}
}

// The bits of features and gradients of small maps equal the recorded ones on every processor.
func TestGolden(t *testing.T) {
	var got strings.Builder
	for _, m := range small(t) {
		for _, algo := range []tensor.Algorithm{tensor.Auto, tensor.Direct} {
			cfg := m.cfg
			cfg.Algorithm = algo
			m, err := New(cfg, 7, "test")
			if err != nil {
				t.Fatal(err)
			}
			const n = 2
			phi, dx := run(m.NewPass(), draw(n*m.in, "x"), draw(n*m.Dim(), "dphi"))
			h := fnv.New64a()
			for _, v := range [][]float32{phi, dx} {
				if err := binary.Write(h, binary.LittleEndian, v); err != nil {
					t.Fatal(err)
				}
			}
			fmt.Fprintf(&got, "%s %dx%dx%d algorithm %d: %016x\n", cfg.Kind, cfg.H, cfg.W, cfg.C, algo, h.Sum64())
		}
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
