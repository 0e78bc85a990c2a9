package data

import (
	"context"
	"fmt"

	"dgkip/harness/tensor"
)

// whitening is the map W (z - m) with W = A^(-1/2), A = C + r I: z an image
// standardised by channel, m and C mean and covariance of these over the training
// images, and r = 0.1 trace(C)/d.
//
// C follows from exact sums of bytes and their products. A is brought to tridiagonal
// form T = Q^T A Q by reflections, and no eigenvectors are computed: T^(-1/2) is an
// integral of inverses of T + s I, whose elements follow from two recurrences, and
// the reflections bring it back. This takes a fraction of the time of an
// eigendecomposition, and only sums, products, quotients and square roots, so that
// it is the same on every machine.
type whitening struct {
	d      int
	mean   []float64 // [d]
	a, w   []float64 // [d, d], symmetric
	packed *tensor.Packed
}

// rows calls f for 0, ..., n-1. Each row's result must not depend on who computes it.
func rows(ctx context.Context, n int, f func(i int)) error {
	tensor.Parallel(n, func(i int) {
		if ctx.Err() == nil {
			f(i)
		}
	})
	return ctx.Err()
}

func whiten(ctx context.Context, images []byte, n int, t *Transform) (*whitening, error) {
	d := t.dim()
	z := &whitening{d: d, mean: make([]float64, d)}
	sums, products, err := gram(ctx, images, n, d)
	if err != nil {
		return nil, err
	}
	trace := 0.0
	z.a = make([]float64, d*d)
	for i := range d {
		ci := i % t.ch
		z.mean[i] = (sums[i]/float64(255*n) - t.Mean[ci]) / t.SD[ci]
		for k := range d {
			// n^2 times the covariance of bytes is an integer below 2^53.
			whole := mul(float64(n), products[i*d+k]) - mul(sums[i], sums[k])
			z.a[i*d+k] = whole / mul(mul(t.SD[ci], t.SD[k%t.ch]), mul(float64(255*n), float64(255*n)))
		}
		trace += z.a[i*d+i]
	}
	if trace == 0 {
		return nil, fmt.Errorf("%w: all training images are the same; they cannot be whitened", ErrShape)
	}
	ridge := float64(0.1*trace) / float64(d)
	for i := range d {
		z.a[i*d+i] += ridge
	}
	if z.w, err = inverseRoot(ctx, z.a, d, ridge); err != nil {
		return nil, err
	}
	w := tensor.NewMat[float32](d, d)
	for i, v := range z.w {
		w.Data[i] = float32(v)
	}
	z.packed = tensor.Pack(w, tensor.NN) // W is symmetric
	return z, nil
}

// lot is the number of images brought to floating point at a time.
const lot = 1024

// apply whitens images.
func (z *whitening) apply(ctx context.Context, out []float32, images []byte, t *Transform) error {
	d := z.d
	n := len(images) / d
	for from := 0; from < n; from += lot {
		if err := ctx.Err(); err != nil {
			return err
		}
		x := tensor.NewMat[float32](min(lot, n-from), d)
		for i := range x.Data {
			c := i % t.ch
			x.Data[i] = float32((float64(images[from*d+i])/255-t.Mean[c])/t.SD[c] - z.mean[i%d])
		}
		tensor.MulPacked(tensor.MatOf(out[from*d:from*d+len(x.Data)], x.Rows, d), x, z.packed, nil, false)
	}
	return nil
}

// invert replaces a whitened image x by z = A W x + m.
func (z *whitening) invert(x []float64) {
	y := make([]float64, z.d)
	for _, m := range [2][]float64{z.w, z.a} {
		for i := range y {
			y[i] = dot(m[i*z.d:(i+1)*z.d], x)
		}
		copy(x, y)
	}
	for i := range x {
		x[i] += z.mean[i]
	}
}

// dot adds four interleaved sums.
func dot(a, b []float64) float64 {
	var s0, s1, s2, s3 float64
	b = b[:len(a)]
	for len(a) >= 4 && len(b) >= 4 {
		s0 += float64(a[0] * b[0])
		s1 += float64(a[1] * b[1])
		s2 += float64(a[2] * b[2])
		s3 += float64(a[3] * b[3])
		a, b = a[4:], b[4:]
	}
	for i := range a {
		s0 += float64(a[i] * b[i])
	}
	return (s0 + s1) + (s2 + s3)
}

// gram returns the sums over n images of their d bytes and of the products of each
// two. They are integers below 2^53, so that float64 holds them without rounding.
func gram(ctx context.Context, images []byte, n, d int) (sums, products []float64, err error) {
	sums = make([]float64, d)
	products = make([]float64, d*d)
	part := tensor.NewMat[float64](d, d)
	for from := 0; from < n; from += lot {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		x := tensor.NewMat[float32](d, min(lot, n-from)) // [value, image]
		for i, v := range images[from*d : (from+x.Cols)*d] {
			sums[i%d] += float64(v)
			x.Row(i % d)[i/d] = float32(v)
		}
		tensor.Gram64(part, x)
		for i, v := range part.Data {
			products[i] += v
		}
	}
	return sums, products, ctx.Err()
}
