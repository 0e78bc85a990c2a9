package nngp

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"testing"

	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// convCase is a set, real images, and a linear function of their kernel with random
// coefficients. Pixels are multiples of 1/64, so that steps are exact.
type convCase struct {
	k         Conv
	set, real []float32
	dGram     tensor.Mat[float64]
	dCross    tensor.Mat[float32]
}

func newConvCase(k Conv, r *rng.Rand, n, reals int) convCase {
	size := k.H * k.W * k.C
	c := convCase{k, images(r, n, size), images(r, reals, size), tensor.NewMat[float64](n, n), tensor.NewMat[float32](n, reals)}
	for _, x := range [][]float32{c.set, c.real} {
		for i, v := range x {
			x[i] = float32(math.Round(float64(v)*64) / 64)
		}
	}
	for i := range n {
		for j := range i + 1 {
			c.dGram.Row(i)[j] = r.Normal64()
			c.dGram.Row(j)[i] = c.dGram.Row(i)[j]
		}
	}
	r.FillNormal(c.dCross.Data, 0, 1)
	return c
}

func (c convCase) pass() Pass { return c.images(c.real).NewPass(c.set) }

func (c convCase) images(x []float32) ConvImages {
	return must(c.k.Images(context.Background(), x, nil))
}

func (c convCase) gradient() []float32 {
	p, dx := c.pass(), make([]float32, len(c.set))
	p.Forward(true)
	p.Backward(dx, c.dGram, c.dCross)
	return dx
}

// value computes the function in float64. full computes it by the recursion of all covariances,
// for the terms of one image of the set.
func (c convCase) value(t *testing.T, _ int) float64 {
	t.Helper()
	set := c.images(c.set)
	gram, cross := must(set.Gram(t.Context())), must(set.Wide(t.Context(), c.images(c.real), nil))
	sum := 0.0
	for i, v := range gram.Data {
		sum += v * c.dGram.Data[i]
	}
	for i, v := range cross.Data {
		sum += v * float64(c.dCross.Data[i])
	}
	return sum
}

func (c convCase) full(_ *testing.T, image int) float64 {
	size := c.k.H * c.k.W * c.k.C
	at := func(x []float32, i int) []float32 { return x[i*size:][:size] }
	sum := 0.0
	for j := range c.dGram.Cols {
		both := 2.0
		if j == image {
			both = 1
		}
		sum += both * c.dGram.Row(image)[j] * full(c.k, at(c.set, image), at(c.set, j))
	}
	for j, v := range c.dCross.Row(image) {
		sum += float64(v) * full(c.k, at(c.set, image), at(c.real, j))
	}
	return sum
}

// check compares the gradient in some pixels with differences of a function.
func (c convCase) check(t *testing.T, r *rng.Rand, value func(t *testing.T, image int) float64, pixels int, bound float64) {
	t.Helper()
	dx := c.gradient()
	largest := 0.0
	for _, v := range dx {
		largest = max(largest, math.Abs(float64(v)))
	}
	for range pixels {
		i := r.IntN(len(dx))
		difference := func(step float32) float64 {
			x := c.set[i]
			defer func() { c.set[i] = x }()
			c.set[i] = x + step
			up := value(t, i/(len(dx)/c.dGram.Rows))
			c.set[i] = x - step
			return (up - value(t, i/(len(dx)/c.dGram.Rows))) / (2 * float64(step))
		}
		want := (4*difference(1./512) - difference(1./256)) / 3
		if got := float64(dx[i]); !(math.Abs(got-want) <= bound*largest) {
			t.Errorf("%+v: the gradient in value %d is %v, not %v, by %.2g of the largest", c.k, i, got, want, (got-want)/largest)
		}
	}
}

func TestConvGradientMatchesFullRecursion(t *testing.T) {
	r := rng.Stream(1, "conv gradient")
	for _, k := range []Conv{
		conv(8, 8, 1, 3), conv(8, 8, 3, 2), conv(9, 7, 2, 2), conv(2, 3, 1, 1), conv(11, 14, 1, 3),
		{H: 8, W: 8, C: 1, Depth: 2, Weight: 1, Bias: 0.5}, {H: 8, W: 8, C: 1, Depth: 3, Weight: 1.2},
	} {
		for _, k.Tangent = range []bool{false, true} {
			c := newConvCase(k, r, 3, 2)
			c.check(t, r, c.full, 6, 2e-7)
		}
	}
}

// Gradients are correct with partial groups on both sides and at every place of 32x32 pixels.
func TestConvGradient(t *testing.T) {
	r := rng.Stream(1, "conv differences")
	for _, tangent := range []bool{false, true} {
		k := conv(32, 32, 3, 3)
		k.Tangent = tangent
		c := newConvCase(k, r, 2, 9)
		c.check(t, r, c.value, 4, 2e-7)
		k.H, k.W, k.Depth = 12, 12, 2
		c = newConvCase(k, r, 9, 13)
		c.check(t, r, c.value, 16, 2e-7)
	}
}

// The gradient is finite and correct for images that are equal, fully or in part. At the kink of
// the tangent kernel, differences over both sides are zero, too.
func TestConvGradientOfEqualImages(t *testing.T) {
	r := rng.Stream(1, "equal")
	for _, tangent := range []bool{false, true} {
		k := conv(8, 8, 1, 3)
		k.Tangent = tangent
		c := newConvCase(k, r, 3, 3)
		copy(c.set[64:128], c.set[:64])
		copy(c.real, c.set[:64])
		copy(c.real[64:96], c.set[:32])
		c.check(t, r, c.full, 12, 1e-4)                // differences see the third power of the angle
		for _, x := range [][]float32{c.set, c.real} { // digits on a black ground
			for i := range x {
				if row, column := i%64/8, i%8; min(row, column) < 2 || max(row, column) > 5 {
					x[i] = -0.5
				}
			}
		}
		c.check(t, r, c.full, 12, 1e-4)
		c.k.Bias = 0
		clear(c.set)
		for i, v := range c.gradient() {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				t.Fatalf("the gradient in value %d is %v where an image is black", i, v)
			}
		}
	}
}

// The bits are the same on every path and for every number of threads.
func TestConvGradientSameBits(t *testing.T) {
	defer tensor.Use(tensor.Path())
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	want := map[bool]string{false: "5ed14c017ecaad21", true: "5b1dcaf3ab6ff8a5"}
	for _, path := range tensor.Paths() {
		if err := tensor.Use(path); err != nil {
			t.Fatal(err)
		}
		for threads := 1; threads <= 3; threads++ {
			runtime.GOMAXPROCS(threads)
			for tangent, want := range want {
				k, h := conv(14, 14, 3, 2), sha256.New()
				k.Tangent = tangent
				binary.Write(h, binary.LittleEndian, newConvCase(k, rng.Stream(1, "bits"), 3, 17).gradient())
				if got := fmt.Sprintf("%x", h.Sum(nil)[:8]); got != want {
					t.Errorf("on %s with %d threads, tangent %v: %s, not %s", path, threads, tangent, got, want)
				}
			}
		}
	}
}

// BenchmarkConvPass times an evaluation with its gradient, with two set images and 24 others on
// one thread.
func BenchmarkConvPass(b *testing.B) {
	tangent := conv(32, 32, 3, 3)
	tangent.Tangent = true
	for _, k := range []Conv{conv(32, 32, 3, 3), tangent, conv(28, 28, 1, 3)} {
		for _, path := range tensor.Paths() {
			b.Run(fmt.Sprintf("%dx%dx%d/%v/%s", k.H, k.W, k.C, k.Tangent, path), func(b *testing.B) {
				defer tensor.Use(tensor.Path())
				if err := tensor.Use(path); err != nil {
					b.Fatal(err)
				}
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
				c := newConvCase(k, rng.Stream(1, "bench"), 2, 24)
				p, dx := c.pass(), make([]float32, len(c.set))
				for b.Loop() {
					p.Forward(true)
					p.Backward(dx, c.dGram, c.dCross)
				}
			})
		}
	}
}
