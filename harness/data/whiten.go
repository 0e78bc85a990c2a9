package data

import (
	"context"
	"fmt"
	"math"

	"dgkip/harness/tensor"
)

// whitening is the map A^(-1/2) (z - m) of an image z standardised by channel. A is C + r I with
// r = 0.1 trace(C)/d; m and C are the mean and covariance of z over the training images. Products
// come from package tensor, so the map is the same on every machine.
//
// With "norm-zca", each z is first reduced by its own mean and divided by its norm. Then m is zero and
// C is the mean of z z^T, as in Shankar et al. (2020, Neural kernels without tangents) and later
// kernel methods. An image's brightness and contrast then have no effect.
type whitening struct {
	d             int
	norm          float64        // mean norm that images are divided by
	mean          []float64      // [d]
	root, inverse *tensor.Packed // [d, d], A^(1/2) and A^(-1/2)
}

// norms reports whether images are brought to norm one before whitening.
func (t *Transform) norms() bool { return t.Kind == "norm-zca" }

// maxWhitened is the largest number d of values in an image. The d x d matrices then take about 40 GB.
const maxWhitened = 1 << 15

// lot is the number of images that are converted to floating point at a time.
const lot = 1024

func whiten(ctx context.Context, images []byte, n int, t *Transform) (*whitening, error) {
	d := t.Dim()
	if d > maxWhitened {
		return nil, hint(fmt.Errorf("%w: images of %d values are too large to be whitened", ErrShape, d), "at most %d values are allowed; scale the images down", maxWhitened)
	}
	w, a := &whitening{d: d, norm: 1, mean: make([]float64, d)}, make([]float64, d*d)
	if t.norms() {
		w.norm = averageNorm(images, n, t)
	} else {
		sums := make([]uint64, d)
		for i, v := range images {
			sums[i%d] += uint64(v)
		}
		for i, sum := range sums {
			w.mean[i] = (float64(sum)/float64(255*n) - t.Mean[i%t.Ch]) / t.SD[i%t.Ch]
		}
	}
	part := tensor.NewMat[float64](d, d)
	for from := 0; from < n; from += lot {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x := w.centred(images[from*d:min(from+lot, n)*d], t)
		turned := tensor.NewMat[float32](d, x.Rows)
		for i, v := range x.Data {
			turned.Row(i % d)[i/d] = v
		}
		tensor.Gram64(part, turned)
		for i, v := range part.Data {
			a[i] += v / float64(n)
		}
	}
	trace := 0.0
	for i := range d {
		trace += a[i*d+i]
	}
	if trace == 0 {
		return nil, hint(fmt.Errorf("%w: all training images are the same, or each has a single colour, so they cannot be whitened", ErrConfig), "write preprocess = \"standard\"")
	}
	ridge := float64(0.1*trace) / float64(d)
	for i := range d {
		a[i*d+i] += ridge
	}
	root, inverse, err := roots(ctx, a, d, ridge)
	if err != nil {
		return nil, err
	}
	w.root, w.inverse = tensor.Pack(root, tensor.NN), tensor.Pack(inverse, tensor.NN)
	return w, nil
}

// centred standardises images by channel, and then centres them.
func (w *whitening) centred(images []byte, t *Transform) tensor.Mat[float32] {
	x := tensor.NewMat[float32](len(images)/w.d, w.d)
	z := make([]float64, w.d)
	for k := range x.Rows {
		t.standardise(z, images[k*w.d:])
		w.centre(x.Row(k), z, t)
	}
	return x
}

// centre subtracts the mean training image from a standardised image z. With "norm-zca" it subtracts
// the mean of z instead, and divides by the norm. It changes z.
func (w *whitening) centre(to []float32, z []float64, t *Transform) {
	norm := 1.0
	if t.norms() {
		norm = unbias(z)
	}
	for i, v := range z {
		to[i] = float32((v - w.mean[i]) / norm)
	}
}

// standardise sets z to the first image, standardised by channel.
func (t *Transform) standardise(z []float64, images []byte) {
	for i := range z {
		c := i % t.Ch
		z[i] = (float64(images[i])/255 - t.Mean[c]) / t.SD[c]
	}
}

// unbias subtracts the mean of an image, and returns the norm of the result. If all values are equal,
// the result is zero, and unbias returns 1.
func unbias(z []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, v := range z {
		sum += v
	}
	mean := sum / float64(len(z))
	for i := range z {
		z[i] -= mean
		squares += float64(z[i] * z[i])
	}
	if squares <= 1e-20*float64(len(z)) { // only rounding errors of the mean
		clear(z)
		return 1
	}
	return math.Sqrt(squares)
}

// averageNorm returns the mean of the norms that images are divided by.
func averageNorm(images []byte, n int, t *Transform) float64 {
	sum, z := 0.0, make([]float64, t.Dim())
	for k := range n {
		t.standardise(z, images[k*len(z):])
		sum += unbias(z)
	}
	return sum / float64(n)
}

// apply whitens images into out.
func (w *whitening) apply(ctx context.Context, out []float32, images []byte, t *Transform) error {
	for ; len(images) > 0; images = images[min(lot*w.d, len(images)):] {
		if err := ctx.Err(); err != nil {
			return err
		}
		x := w.centred(images[:min(lot*w.d, len(images))], t)
		w.whitened(out[:len(x.Data)], x)
		out = out[len(x.Data):]
	}
	return nil
}

// whitened whitens centred images into out.
func (w *whitening) whitened(out []float32, x tensor.Mat[float32]) {
	tensor.MulPacked(tensor.MatOf(out, x.Rows, w.d), x, w.inverse, nil, false)
}

// invert maps whitened images back to standardised images.
func (w *whitening) invert(x []float32) []float32 {
	n := len(x) / w.d
	out := tensor.NewMat[float32](n, w.d)
	tensor.MulPacked(out, tensor.MatOf(x, n, w.d), w.root, nil, false)
	for i := range out.Data {
		out.Data[i] = float32(mul(w.norm, float64(out.Data[i]))) + float32(w.mean[i%w.d])
	}
	return out.Data
}

// roots returns A^(1/2) and A^(-1/2) of a symmetric [d, d] matrix with all eigenvalues
// at least low > 0, by the coupled Newton-Schulz iteration
//
//	T = (3 I - s^2 Z Y) s/2,  Y <- Y T,  Z <- T Z
//
// from Y = A/norm and Z = I. Each step maps an eigenvalue x^2 of Z Y, with l <= x <= 1, to the square
// of x s (3 - s^2 x^2)/2. The scale s of Chen and Chow (2014) raises l the most, and no x above 1.
func roots(ctx context.Context, a []float64, d int, low float64) (y, z tensor.Mat[float32], err error) {
	norm := 0.0
	for _, v := range a {
		norm += float64(v * v)
	}
	norm = math.Sqrt(norm)
	y, z = tensor.NewMat[float32](d, d), tensor.NewMat[float32](d, d)
	t, next := tensor.NewMat[float32](d, d), tensor.NewMat[float32](d, d)
	for i, v := range a {
		y.Data[i] = float32(v / norm)
	}
	for i := range d {
		z.Row(i)[i] = 1
	}
	l := math.Sqrt(low / norm)
	for last := false; !last; {
		last = l > 1-1e-4 // one more step reduces the error to that of float32
		s := math.Sqrt(3 / (1 + l + float64(l*l)))
		l = float64(l*s) / 2 * (3 - float64(float64(s*s)*float64(l*l)))
		tensor.Mul(t, z, y, tensor.NN, false)
		for i, v := range t.Data {
			t.Data[i] = float32(-s * s * s / 2 * float64(v))
		}
		for i := range d {
			t.Row(i)[i] += float32(1.5 * s)
		}
		if err := ctx.Err(); err != nil {
			return y, z, err
		}
		tensor.Mul(next, y, t, tensor.NN, false)
		y, next = next, y
		tensor.Mul(next, t, z, tensor.NN, false)
		z, next = next, z
	}
	up := math.Sqrt(norm)
	for i := range y.Data {
		y.Data[i], z.Data[i] = float32(up*float64(y.Data[i])), float32(float64(z.Data[i])/up)
	}
	return y, z, nil
}
