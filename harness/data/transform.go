package data

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"dgkip/harness/tensor"
)

// Transform maps pixels to the numbers that networks and kernels use, and back. It is fitted to the
// training images of a Set.
type Transform struct {
	Kind     string    // one of kinds
	Mean, SD []float64 // [channel], of pixels / 255

	Shape
	table [][256]float32 // [channel], standardised values of bytes
	zca   *whitening
}

// kinds are the kinds of Transform.
var kinds = []string{"standard", "zca", "norm-zca"}

// Fit returns the Transform of a kind, fitted to the training images of s:
//
//	standard  standardises each channel; "" means the same
//	zca       standardises, and then whitens with regulariser 0.1 trace/d
//	norm-zca  also brings each standardised image to mean zero and norm one before it whitens
//
// Whitening images of d values takes 30 to 40 d^3 multiplications in float32 to fit, and d^2 for each
// image to apply. Fit returns an error if ctx is done.
func Fit(ctx context.Context, kind string, s *Set) (*Transform, error) {
	if kind == "" {
		kind = "standard"
	}
	if !slices.Contains(kinds, kind) {
		return nil, hint(fmt.Errorf("%w: preprocess = %q", ErrConfig, kind), "it can be %s", strings.Join(kinds, ", "))
	}
	t := &Transform{Kind: kind, Shape: s.Shape, Mean: make([]float64, s.Ch), SD: make([]float64, s.Ch)}
	t.table = make([][256]float32, s.Ch)
	for c := range s.Ch {
		t.Mean[c], t.SD[c] = moments(s.Train.Images[c:], s.Ch)
		for v := range t.table[c] {
			t.table[c][v] = float32((float64(v)/255 - t.Mean[c]) / t.SD[c])
		}
	}
	if kind != "standard" {
		var err error
		if t.zca, err = whiten(ctx, s.Train.Images, s.Train.Len(), t); err != nil {
			return nil, at(s.Name, err)
		}
	}
	return t, nil
}

// moments returns the mean and the population standard deviation of every step-th byte, divided by
// 255. Sums are exact. If the deviation is zero, it returns 1, so that a constant channel becomes zero.
func moments(x []byte, step int) (mean, sd float64) {
	var n, sum, squares uint64
	for i := 0; i < len(x); i += step {
		v := uint64(x[i])
		n, sum, squares = n+1, sum+v, squares+v*v
	}
	// n^2 times the variance is n * squares - sum^2, in 128 bits.
	h1, l1 := bits.Mul64(n, squares)
	h2, l2 := bits.Mul64(sum, sum)
	low, borrow := bits.Sub64(l1, l2, 0)
	high, _ := bits.Sub64(h1, h2, borrow)
	spread := math.Sqrt(float64(float64(high)*0x1p64) + float64(low))
	if spread == 0 {
		return float64(sum) / float64(255*n), 1
	}
	return float64(sum) / float64(255*n), spread / float64(255*n)
}

// Apply transforms images, bytes [n, h, w, channel], to numbers of the same shape.
func (t *Transform) Apply(ctx context.Context, images []byte) ([]float32, error) {
	if len(images)%t.Dim() != 0 {
		panic("data.Transform: part of an image")
	}
	out := make([]float32, len(images))
	if t.zca != nil {
		return out, t.zca.apply(ctx, out, images, t)
	}
	for i := 0; i < len(images); i += t.Ch {
		for c := range t.Ch {
			out[i+c] = t.table[c][images[i+c]]
		}
	}
	return out, nil
}

// Pixels is Apply for pixel values from 0 to 1. Learned images may leave this range.
func (t *Transform) Pixels(pixels []float32) []float32 {
	d := t.Dim()
	if len(pixels)%d != 0 {
		panic("data.Transform: part of an image")
	}
	out, z := make([]float32, len(pixels)), make([]float64, d)
	for from := 0; from < len(pixels); from += d {
		for i, v := range pixels[from : from+d] {
			z[i] = (float64(v) - t.Mean[i%t.Ch]) / t.SD[i%t.Ch]
		}
		if t.zca != nil {
			t.zca.centre(out[from:from+d], z, t)
			continue
		}
		for i, v := range z {
			out[from+i] = float32(v)
		}
	}
	if t.zca != nil {
		x := tensor.MatOf(out, len(out)/d, d)
		out = make([]float32, len(out))
		t.zca.whitened(out, x)
	}
	return out
}

// Invert maps transformed images [n, h, w, channel] back to the scale of bytes, from 0 for black to
// 255 for white, without clipping. "norm-zca" loses the mean and the norm of each image, so Invert
// gives all images average ones.
func (t *Transform) Invert(x []float32) []float32 {
	if len(x)%t.Dim() != 0 {
		panic("data.Transform: part of an image")
	}
	if t.zca != nil {
		x = t.zca.invert(x)
	}
	out := make([]float32, len(x))
	for i, v := range x {
		c := i % t.Ch
		out[i] = float32(mul(255, mul(float64(v), t.SD[c])+t.Mean[c]))
	}
	return out
}
