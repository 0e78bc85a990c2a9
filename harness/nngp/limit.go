package nngp

import (
	"context"

	"dgkip/harness/tensor"
)

// KernelWith returns the kernel within a set, [n, n], and between the set and fixed other images,
// [n, N]. If ctx is done, it stops with the context's error. It calls progress, unless nil, with
// the fraction done.
type KernelWith func(ctx context.Context, set []float32, progress func(done float64)) (gram, cross tensor.Mat[float64], err error)

// With returns the kernel with x, [n, Size]. All products are in float64. Because this takes little time,
// the kernel ignores progress, and reads ctx only at the end.
func (k FC) With(_ context.Context, x []float32, _ func(done float64)) (KernelWith, error) {
	if err := k.Check(); err != nil {
		return nil, err
	}
	others := NewImages(x, k.Size)
	return func(ctx context.Context, set []float32, _ func(done float64)) (gram, cross tensor.Mat[float64], err error) {
		v := NewImages(set, k.Size)
		cross = tensor.NewMat[float64](v.Len(), others.Len())
		tensor.Cross64(cross, v.X, others.X)
		k.ofDots(cross, v, others)
		return k.Gram(v), cross, ctx.Err()
	}, nil
}

// With returns the kernel with x, [n, H, W, C].
func (k Conv) With(ctx context.Context, x []float32, progress func(done float64)) (KernelWith, error) {
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
