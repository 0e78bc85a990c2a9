package teacher

import (
	"math"

	"dgkip/harness/convex"
	"dgkip/harness/method"
)

// Dim is the number of features that a model's networks make of an image; an exact
// kernel has none.
func Dim(m method.Model, h, w int) int {
	if m.Exact() {
		return 0
	}
	return Config(m, h, w, 1).Dim()
}

// Flops is the number of multiplications and additions that an image's features
// take; the gradient in the image takes as many again. 0 for an exact kernel: see pairs.
func Flops(m method.Model, h, w, c int) float64 {
	if m.Exact() {
		return 0
	}
	return Config(m, h, w, c).Flops()
}

// pairs is what an exact kernel takes for inner products of images: a product of their
// pixels, and some fifty operations in each layer.
func pairs(s method.Sizes, n float64) float64 {
	return n * (2*float64(s.H*s.W*s.C) + 50*float64(s.Model.Depth))
}

// ImageBytes is the memory of the images themselves.
func ImageBytes(s method.Sizes) int64 { return 4 * int64(s.H*s.W*s.C) * int64(s.Train+s.Test) }

// Estimate is what Theta_O takes, and the memory for it beside the images.
func Estimate(s method.Sizes, loss convex.Loss) method.Estimate {
	n, dim := float64(s.Train), float64(Dim(s.Model, s.H, s.W))
	e := method.Estimate{
		Shared: n * Flops(s.Model, s.H, s.W, s.C),
		Bytes:  int64(4*n*dim) + convex.SolverBytes(loss, s.Train, int(dim), s.Classes),
	}
	if loss == convex.SoftmaxLoss {
		k := float64(s.Classes)
		if s.Model.Exact() { // one triangle of the Gram matrix, which a pass reads twice
			e.Shared += pairs(s, n*n/2) + 40*4*n*n*k
			return e
		}
		// The fewer images, the more often each is seen: 686 times of 675, some 80 times of
		// 60,000. Its probabilities take one thread as long as these operations take all.
		const probabilities = 80_000
		e.Shared += 20_000 / math.Sqrt(n) * n * k * (4*dim + probabilities)
		return e
	}
	gram := n * n * dim // one triangle of the matrix
	if s.Model.Exact() {
		gram = pairs(s, n*n) // all of it
	}
	e.Shared += gram + convex.SolverFlops(loss, s.Train, int(dim))
	return e
}

// TestEstimate is what it takes to show the test images, and the memory for it beside the
// images: to a set, and also to Theta_O if real says so.
func TestEstimate(s method.Sizes, real bool) method.Estimate {
	n := float64(s.Test)
	if !s.Model.Exact() {
		return method.Estimate{Shared: n * Flops(s.Model, s.H, s.W, s.C), Bytes: int64(4 * n * float64(Dim(s.Model, s.H, s.W)))}
	}
	others := float64(s.IPC * s.Classes)
	if real {
		others += float64(s.Train)
	}
	return method.Estimate{Shared: pairs(s, n*others), Bytes: int64(4 * n * others)}
}

// PassEstimate is what a pass takes in an update: forward for every image of the set,
// and back to its pixels. In an exact kernel these go beside all the real images.
func PassEstimate(s method.Sizes) method.Estimate {
	n, dim, pixels := float64(s.IPC*s.Classes), float64(Dim(s.Model, s.H, s.W)), float64(s.H*s.W*s.C)
	if s.Model.Exact() {
		all := n * float64(s.Train)
		return method.Estimate{
			Flops: pairs(s, all) + 2*all*pixels,
			// Inner products, their gradient, two slopes, and what comes of them.
			Bytes: int64(5*4*all + 16*n*pixels),
		}
	}
	flops := Flops(s.Model, s.H, s.W, s.C)
	return method.Estimate{
		Flops: 2 * n * flops,
		// Features and their gradients, and what the backward pass keeps.
		Bytes: int64(n*(8*dim+16*pixels) + 4*n*flops/1000),
	}
}

// MapBytes is the memory of a feature map, and of its way back to the images if back says
// so. A fully connected map has its weights in the order in which products read them, and
// for the way back in another. A convolution keeps its weights, and for each way a form for
// Winograd's algorithm, which has 36 values in place of 9.
func MapBytes(s method.Sizes, back bool) int64 {
	if s.Model.Exact() {
		return 0
	}
	net, err := s.Model.Shape().Features(max(1, s.H), max(1, s.W), max(1, s.C))
	if err != nil {
		return 0
	}
	own, way, ways := int64(0), int64(4), int64(1)
	if s.Model.Shape().Convolves() {
		own, way = 4, 16
	}
	if back {
		ways = 2
	}
	return (own + ways*way) * int64(net.Params()) * int64(s.Model.Nets)
}
