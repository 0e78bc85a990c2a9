package nngp

import (
	"context"
	"math"
	"testing"

	"dgkip/harness/features"
	"dgkip/harness/nn"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// others returns the limit kernel of a kind of networks, on images of 8x8 pixels.
func others(t *testing.T, kind string, tangent bool, x []float32) KernelWith {
	t.Helper()
	k := conv(8, 8, 3, 2)
	k.Tangent = tangent
	o, err := k.With(t.Context(), x, nil)
	if kind == "fc" {
		k := usual(8*8*3, 2)
		k.Tangent = tangent
		o, err = k.With(t.Context(), x, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// off is the relative distance of two matrices.
func off(got, want []float64) float64 {
	sum, norm := 0.0, 0.0
	for i, w := range want {
		sum, norm = sum+(got[i]-w)*(got[i]-w), norm+w*w
	}
	return math.Sqrt(sum / norm)
}

// falls fails unless distances from the limit decrease with width, to at most last.
func falls(t *testing.T, name string, distances []float64, last float64) {
	t.Helper()
	for i := 1; i < len(distances); i++ {
		if distances[i] > 0.7*distances[i-1] {
			t.Errorf("%s: relative distances do not decrease: %.4f", name, distances)
			return
		}
	}
	if distances[len(distances)-1] > last {
		t.Errorf("%s: relative distances %.4f, the last one is too large", name, distances)
	}
}

// Inner products of features converge to the kernel as the width and number of networks grow.
func TestFeaturesConvergeToKernel(t *testing.T) {
	const n = 4
	x := images(rng.Stream(2, "wide"), n, 8*8*3)
	gram, _, err := others(t, "conv", false, x)(t.Context(), x, nil)
	if err != nil {
		t.Fatal(err)
	}
	var distances []float64
	for _, width := range []int{16, 64, 256} {
		m, err := features.New(features.Config{Kind: "conv", H: 8, W: 8, C: 3, Nets: 8, Width: width, Depth: 2}, 5)
		if err != nil {
			t.Fatal(err)
		}
		phi, got := tensor.NewMat[float32](n, m.Dim()), tensor.NewMat[float64](n, n)
		if err := m.Features(context.Background(), phi, x, nil); err != nil {
			t.Fatal(err)
		}
		tensor.Gram64(got, phi)
		distances = append(distances, off(got.Data, gram.Data))
	}
	falls(t, "conv", distances, 0.02)
}

// Inner products of gradients converge to the tangent kernel. With targets 1 and -1, the loss is
// a difference of two outputs, whose kernel is twice the kernel of one output.
func TestGradientsConvergeToTangentKernel(t *testing.T) {
	const n, nets = 3, 8
	x := images(rng.Stream(3, "wide"), n, 8*8*3)
	for _, kind := range []string{"conv", "fc"} {
		gram, _, err := others(t, kind, true, x)(t.Context(), x, nil)
		if err != nil {
			t.Fatal(err)
		}
		var distances []float64
		for _, width := range []int{8, 64} {
			net, err := nn.ConvNet[float64](nn.Shape{Kind: "conv", Width: width, Depth: 2}, 8, 8, 3, 2)
			if kind == "fc" {
				net, err = nn.FCNet[float64](8*8*3, 4*width, 2, 2)
			}
			if err != nil {
				t.Fatal(err)
			}
			got := make([]float64, n*n)
			for i := range nets {
				for j, v := range tangents(net, rng.Stream(uint64(i), "tangent", kind), x, n) {
					got[j] += v / nets
				}
			}
			distances = append(distances, off(got, gram.Data))
		}
		falls(t, kind, distances, 0.1)
	}
}

// tangents is the tangent kernel of a random network.
func tangents(net *nn.Net[float64], r *rng.Rand, x []float32, n int) []float64 {
	theta, squares := make([]float64, net.Params()), make([]float64, net.Params())
	for _, p := range net.Tensors() {
		variance := 0.01
		if p.Weight() {
			variance = 2 / float64(p.FanIn)
		}
		for i := p.Offset; i < p.Offset+p.Len; i++ {
			theta[i], squares[i] = math.Sqrt(variance)*r.Normal64(), variance
		}
	}
	pixels := make([]float64, len(x))
	for i, v := range x {
		pixels[i] = float64(v)
	}
	pass, size, targets := net.NewPass(), len(x)/n, []float64{1, -1}
	out := make([]float64, n*n)
	for i := range n {
		along := make([]float64, len(theta))
		pass.Loss(theta, pixels[i*size:][:size], targets, 1)
		pass.Gradient(nn.Grad[float64]{Theta: along})
		for j := range along {
			along[j] *= squares[j]
		}
		for j := range n {
			pass.Loss(theta, pixels[j*size:][:size], targets, 1)
			out[i*n+j] = pass.Tangent(nn.Grad[float64]{Theta: along}, nn.Grad[float64]{}) / 2
		}
	}
	return out
}

// Compilers for arm64 fuse a product and a sum if the product is not rounded explicitly.
func TestFCIsTheSameEverywhere(t *testing.T) {
	hash := uint64(0)
	for i := range 100 {
		r := FC{Size: 1, Depth: 3, Weight: 1.3, Bias: float64(100+i) / 99, Tangent: true}.recursion()
		var steps steps
		hash = 31*hash + math.Float64bits(r.value(0.3, 0.9, 1.1, exact, &steps))
		inXY, inXX := r.slopes(&steps)
		hash = 31*(31*hash+math.Float64bits(inXY)) + math.Float64bits(inXX)
	}
	if hash != 0xcc0f29965c05c950 {
		t.Errorf("the values have the hash %#x", hash)
	}
}
