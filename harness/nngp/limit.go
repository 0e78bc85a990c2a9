package nngp

import (
	"context"
	"errors"
	"fmt"
	"math"

	"dgkip/harness/fmath"
	"dgkip/harness/tensor"
)

// Beside returns the kernel within a set, [n, n], and between the set and fixed other images,
// [n, N]. If ctx is done, it stops with the context's error. It calls progress, unless nil, with
// the fraction done.
type Beside func(ctx context.Context, set []float32, progress func(done float64)) (gram, cross tensor.Mat[float64], err error)

// FC is like Kernel, but for any deviations of weights and biases, and in float64. With Tangent,
// it is the neural tangent kernel of such networks with a linear read-out,
//
//	k(x, y) = Weight^2 (T + k) + Bias^2.
//
// T starts at zero. The weights of a layer map it to Weight^2 T + s_xy, and ReLU maps it to
// (pi - t)/(2 pi) T.
type FC struct {
	Size, Depth  int     // values of an image, hidden layers
	Weight, Bias float64 // as in Conv
	Tangent      bool
}

// Check returns an error if a size or a standard deviation is not valid.
func (k FC) Check() error {
	if min(k.Size, k.Depth) < 1 || k.Depth > MaxDepth {
		return fmt.Errorf("nngp: sizes of a fully connected kernel must be positive, and its depth at most %d", MaxDepth)
	}
	return checkDeviations(k.Weight, k.Bias)
}

func checkDeviations(weight, bias float64) error {
	if !(weight > 0) || !(bias >= 0) || math.IsInf(weight+bias, 0) {
		return errors.New("nngp: standard deviations must be positive for weights, and not negative for biases")
	}
	return nil
}

// value is the kernel of two images, given x'y/d, x'x/d and y'y/d.
func (k FC) value(xy, xx, yy float64) float64 {
	a, b, t := k.Weight*k.Weight, float64(k.Bias*k.Bias), 0.0
	for range k.Depth {
		s, sx, sy := float64(a*xy)+b, float64(a*xx)+b, float64(a*yy)+b
		t = float64(a*t) + s
		r := math.Sqrt(sx * sy)
		if s = max(-r, min(r, s)); r-s <= 1e-13*r {
			s = r // equal images, as in layer
		}
		rest := math.Pi
		if r > 0 {
			rest -= fmath.Acos(s / r)
		}
		xy = (math.Sqrt((r-s)*(r+s)) + float64(rest*s)) / (2 * math.Pi)
		t *= rest / (2 * math.Pi)
		xx, yy = sx/2, sy/2
	}
	if k.Tangent {
		return float64(a*(t+xy)) + b
	}
	return xy
}

// Others returns a Beside with x, [n, Size], as the other images.
func (k FC) Others(_ context.Context, x []float32, _ func(done float64)) (Beside, error) {
	others, d := NewImages(x, k.Size), float64(k.Size)
	return func(ctx context.Context, set []float32, _ func(done float64)) (gram, cross tensor.Mat[float64], err error) {
		v := NewImages(set, k.Size)
		gram, cross = tensor.NewMat[float64](v.Len(), v.Len()), tensor.NewMat[float64](v.Len(), others.Len())
		tensor.Gram64(gram, v.X)
		tensor.Cross64(cross, v.X, others.X)
		tensor.Parallel(v.Len(), func(i int) {
			row := gram.Row(i)
			for j := range row {
				if row[j] /= d; i == j {
					row[j] = v.self[i]
				}
				row[j] = k.value(row[j], v.self[i], v.self[j])
			}
			row = cross.Row(i)
			for j := range row {
				row[j] = k.value(row[j]/d, v.self[i], others.self[j])
			}
		})
		return gram, cross, ctx.Err()
	}, k.Check()
}

// Others returns a Beside with x, [n, H, W, C], as the other images.
func (k Conv) Others(ctx context.Context, x []float32, progress func(done float64)) (Beside, error) {
	others, err := k.Images(ctx, x, progress)
	return func(ctx context.Context, set []float32, progress func(done float64)) (gram, cross tensor.Mat[float64], err error) {
		v, err := k.Images(ctx, set, nil)
		if err != nil {
			return gram, cross, err
		}
		if gram, err = k.Gram(ctx, v); err != nil {
			return gram, cross, err
		}
		cross, err = k.Cross(ctx, v, others, progress)
		return gram, cross, err
	}, err
}
