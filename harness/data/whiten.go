package data

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
)

// whitening is the map W (z - m) with W = A^(-1/2), A = C + r I: z an image
// standardised by channel, m and C mean and covariance of these over the training
// images, and r = 0.1 trace(C)/d.
//
// A is brought to tridiagonal form T = Q^T A Q by reflections, and no eigenvectors
// are computed: T^(-1/2) is an integral of inverses of T + s I, whose elements
// follow from two recurrences, and the reflections bring it back. This takes a
// fraction of the time of an eigendecomposition, and only sums, products,
// quotients and square roots, so that it is the same on every machine.
type whitening struct {
	d    int
	mean []float64 // [d]
	a, w []float64 // [d, d], symmetric
}

// rows shares the rows 0, ..., n-1 out among processors. Each row's result must
// not depend on who computes it.
func rows(ctx context.Context, n int, f func(i int)) error {
	workers := min(runtime.GOMAXPROCS(0), n)
	var wait sync.WaitGroup
	for k := range workers {
		wait.Go(func() {
			for i := k; i < n && ctx.Err() == nil; i += workers {
				f(i)
			}
		})
	}
	wait.Wait()
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
		z.mean[i] = (float64(sums[i])/float64(255*n) - t.Mean[ci]) / t.SD[ci]
		for k := range d {
			// n^2 times the covariance of bytes is an integer below 2^53.
			whole := float64(int64(n)*products[i*d+k] - sums[i]*sums[k])
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
	z.w, err = inverseRoot(ctx, z.a, d, ridge)
	return z, err
}

// lot is the number of images multiplied at a time.
const lot = 64

// apply whitens images.
func (z *whitening) apply(ctx context.Context, out []float32, images []byte, t *Transform) error {
	d := z.d
	n := len(images) / d
	for from := 0; from < n; from += lot {
		m := min(lot, n-from)
		x := make([]float64, m*d)
		for i, v := range images[from*d : (from+m)*d] {
			c := i % t.ch
			x[i] = (float64(v)/255-t.Mean[c])/t.SD[c] - z.mean[i%d]
		}
		err := rows(ctx, (d+3)/4, func(q int) {
			for i := 0; i < m; i += 2 {
				z.four(out[from*d:], x, 4*q, i, m)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// four computes up to four values, from row on, of the images i and i+1 below m.
func (z *whitening) four(out []float32, x []float64, row, i, m int) {
	d := z.d
	r := [4][]float64{}
	for k := range r {
		j := min(row+k, d-1)
		r[k] = z.w[j*d : j*d+d]
	}
	j := min(i+1, m-1)
	x0, x1 := x[i*d:i*d+d], x[j*d:j*d+d]
	r0, r1, r2, r3 := r[0][:len(x0)], r[1][:len(x0)], r[2][:len(x0)], r[3][:len(x0)]
	x1 = x1[:len(x0)]
	var a0, a1, a2, a3, b0, b1, b2, b3 float64
	for k, u := range x0 {
		v := x1[k]
		a0 += float64(r0[k] * u)
		a1 += float64(r1[k] * u)
		a2 += float64(r2[k] * u)
		a3 += float64(r3[k] * u)
		b0 += float64(r0[k] * v)
		b1 += float64(r1[k] * v)
		b2 += float64(r2[k] * v)
		b3 += float64(r3[k] * v)
	}
	for k, v := range [4][2]float64{{a0, b0}, {a1, b1}, {a2, b2}, {a3, b3}} {
		if row+k < d {
			out[i*d+row+k] = float32(v[0])
			out[j*d+row+k] = float32(v[1]) // the same where i is the last
		}
	}
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

// gram returns the sums over n images of their d bytes and of the products of
// each two. It multiplies a byte by two others at a time, which lie in one word
// far enough apart.
func gram(ctx context.Context, images []byte, n, d int) (sums, products []int64, err error) {
	const chunk = 1024 // images; keeps sums of products below 2^32
	pairs, quads := (d+1)/2, (d+3)/4
	sums, products = make([]int64, d), make([]int64, d*d)
	pixel := make([]uint64, 4*quads*chunk) // [value, image]
	two := make([]uint64, pairs*chunk)     // values 2p and 2p+1 in one word
	for from := 0; from < n; from += chunk {
		m := min(chunk, n-from)
		clear(pixel)
		clear(two)
		err := rows(ctx, d, func(k int) {
			row := pixel[k*chunk : k*chunk+m]
			for i := range row {
				v := images[(from+i)*d+k]
				row[i] = uint64(v)
				sums[k] += int64(v)
			}
		})
		if err == nil {
			err = rows(ctx, pairs, func(p int) {
				word, a := two[p*chunk:(p+1)*chunk], pixel[2*p*chunk:]
				copy(word, a)
				if 2*p+1 < d {
					for i, v := range a[chunk : 2*chunk] {
						word[i] |= v << 32
					}
				}
			})
		}
		if err == nil {
			err = rows(ctx, quads, func(q int) {
				for p := 2 * q; p < pairs; p++ { // the upper half; 4q = 2(2q)
					addProducts(products, pixel[4*q*chunk:(4*q+4)*chunk], two[p*chunk:p*chunk+m], 4*q, 2*p, d)
				}
			})
		}
		if err != nil {
			return nil, nil, err
		}
	}
	for i := range d {
		for k := range i {
			products[i*d+k] = products[k*d+i]
		}
	}
	return sums, products, nil
}

// addProducts adds the products of four values, from row on, with the two of word,
// from col on.
func addProducts(products []int64, four, word []uint64, row, col, d int) {
	chunk := len(four) / 4
	x0, x1, x2, x3 := four[:chunk], four[chunk:2*chunk], four[2*chunk:3*chunk], four[3*chunk:]
	x0, x1, x2, x3 = x0[:len(word)], x1[:len(word)], x2[:len(word)], x3[:len(word)]
	var s0, s1, s2, s3 uint64
	for i, w := range word {
		s0 += x0[i] * w
		s1 += x1[i] * w
		s2 += x2[i] * w
		s3 += x3[i] * w
	}
	for k, v := range [4]uint64{s0, s1, s2, s3} {
		if row+k < d {
			products[(row+k)*d+col] += int64(v & math.MaxUint32)
			if col+1 < d {
				products[(row+k)*d+col+1] += int64(v >> 32)
			}
		}
	}
}
