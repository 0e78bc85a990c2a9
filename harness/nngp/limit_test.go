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

// limit returns the limit kernel of a kind of networks for images of 8x8 pixels.
func limit(t *testing.T, kind string, tangent bool, x []float32) tensor.Mat[float64] {
	if kind == "fc" {
		k := usual(8*8*3, 2)
		k.Tangent = tangent
		return must(k.images(x).Gram(t.Context()))
	}
	k := conv(8, 8, 3, 2)
	k.Tangent = tangent
	return must(must(k.Images(t.Context(), x, nil)).Gram(t.Context()))
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
	for kind, width := range map[string]int{"conv": 16, "fc": 64} {
		gram := limit(t, kind, false, x)
		var distances []float64
		for _, width := range []int{width, 4 * width, 16 * width} {
			m := must(features.New(features.Config{Kind: kind, H: 8, W: 8, C: 3, Nets: 8, Width: width, Depth: 2}, 5))
			phi, got := tensor.NewMat[float32](n, m.Dim()), tensor.NewMat[float64](n, n)
			if err := m.Features(context.Background(), phi, x, nil); err != nil {
				t.Fatal(err)
			}
			tensor.Gram64(got, phi)
			distances = append(distances, off(got.Data, gram.Data))
		}
		falls(t, kind, distances, 0.03)
	}
}

// Inner products of gradients converge to the tangent kernel. With targets 1 and -1, the loss is
// a difference of two outputs, whose kernel is twice the kernel of one output.
func TestGradientsConvergeToTangentKernel(t *testing.T) {
	const n, nets = 3, 8
	x := images(rng.Stream(3, "wide"), n, 8*8*3)
	for _, kind := range []string{"conv", "fc"} {
		gram := limit(t, kind, true, x)
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
