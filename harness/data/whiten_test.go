package data

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// randomSet is a set of n correlated random images a split.
func randomSet(n, h, w, ch int) *Set {
	r := rng.Stream(3, "random set")
	s := &Set{Name: "random", Shape: Shape{h, w, ch}}
	for _, split := range []*Split{&s.Train, &s.Test} {
		v := 128.0
		for i := range n * h * w * ch {
			if i%(h*w*ch) == 0 {
				v = 128
			}
			v = min(max(v+20*r.Normal64(), 0), 255)
			split.Images = append(split.Images, byte(v))
		}
		for i := range n {
			split.Labels = append(split.Labels, i%2)
		}
	}
	return s
}

// TestRoots multiplies the matrix by its inverse root from both sides, and the roots by
// each other.
func TestRoots(t *testing.T) {
	for _, d := range []int{1, 2, 3, 8, 13, 240} {
		r := rng.Stream(2, "root")
		b := make([]float64, d*d)
		for i := range b {
			b[i] = r.Normal64() / math.Sqrt(float64(d))
			if i%d < d/3 {
				b[i] *= 30
			}
		}
		const low = 0.1
		a := make([]float64, d*d)
		for i := range d {
			for j := range d {
				a[i*d+j] = dot(b[i*d:i*d+d], b[j*d:j*d+d])
			}
			a[i*d+i] += low
		}
		y, z, err := roots(context.Background(), a, d, low)
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for j := range d { // column j of Z A Z - 1 and of Y Z - 1
			az, col := make([]float64, d), make([]float64, d)
			for i := range d {
				col[i] = float64(z.Row(i)[j])
			}
			for i := range d {
				az[i] = dot(a[i*d:i*d+d], col)
			}
			for i := range d {
				one := 0.0
				if i == j {
					one = 1
				}
				var zaz, yz float64
				for k := range d {
					zaz += float64(z.Row(i)[k]) * az[k]
					yz += float64(y.Row(i)[k]) * col[k]
				}
				worst = max(worst, math.Abs(zaz-one), math.Abs(yz-one))
			}
		}
		t.Logf("d=%d: %g", d, worst)
		if worst > 1e-3 {
			t.Errorf("d=%d: the roots are off by %g", d, worst)
		}
	}
}

func TestZCA(t *testing.T) {
	ctx := context.Background()
	for _, shape := range [][3]int{{5, 5, 1}, {4, 3, 3}} {
		s := randomSet(400, shape[0], shape[1], shape[2])
		d := s.Dim()
		tr, err := Fit(ctx, "zca", s)
		if err != nil {
			t.Fatal(err)
		}
		x, err := tr.Apply(ctx, s.Train.Images)
		if err != nil {
			t.Fatal(err)
		}
		// An odd number of images, alone, gives the same numbers.
		y, err := tr.Apply(ctx, s.Train.Images[:3*d])
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range y {
			if v != x[i] {
				t.Fatalf("value %d depends on the batch: %v, %v", i, v, x[i])
			}
		}
		// With regulariser r, the covariance of u is C (C + r)^-1: W A W = 1, so
		// W C W = 1 - r W^2.
		r, root, inverse := 0.0, unpacked(tr.zca.root, d), unpacked(tr.zca.inverse, d)
		for _, v := range root.Data { // trace of A
			r += float64(v) * float64(v)
		}
		r = r / 1.1 * 0.1 / float64(d)
		n := s.Train.Len()
		for i := range d {
			for j := range d {
				sum, mi, mj := 0.0, 0.0, 0.0
				for k := range n {
					sum += float64(x[k*d+i]) * float64(x[k*d+j])
					mi += float64(x[k*d+i])
					mj += float64(x[k*d+j])
				}
				got := sum/float64(n) - mi*mj/float64(n*n)
				want := 0.0
				for k := range d {
					want -= r * float64(inverse.Row(i)[k]) * float64(inverse.Row(k)[j])
				}
				if i == j {
					want++
				}
				if math.Abs(got-want) > 1e-4 {
					t.Fatalf("covariance %d, %d is %v, want %v", i, j, got, want)
				}
			}
		}
		if !slices.Equal(rounded(tr.Invert(x)), s.Train.Images) {
			t.Error("Invert does not undo Apply")
		}
	}
}

// unpacked returns a packed [d, d] matrix, as its product with the identity.
func unpacked(p *tensor.Packed, d int) tensor.Mat[float32] {
	one, out := tensor.NewMat[float32](d, d), tensor.NewMat[float32](d, d)
	for i := range d {
		one.Row(i)[i] = 1
	}
	tensor.MulPacked(out, one, p, nil, false)
	return out
}

// TestNormZCA compares whitened images u with their definition, A^(1/2) u = v. Here v is an image minus
// its mean, divided by its norm, C the mean of v v^T, and A = C + 0.1 tr(C)/d.
func TestNormZCA(t *testing.T) {
	ctx := context.Background()
	s := randomSet(300, 4, 3, 3)
	d, n := s.Dim(), s.Train.Len()
	tr, err := Fit(ctx, "norm-zca", s)
	if err != nil {
		t.Fatal(err)
	}
	u, err := tr.Apply(ctx, s.Train.Images)
	if err != nil {
		t.Fatal(err)
	}
	v, a := make([][]float64, n), make([]float64, d*d)
	for k := range n {
		v[k] = make([]float64, d)
		mean := 0.0
		for i, x := range s.Train.Images[k*d : k*d+d] {
			v[k][i] = (float64(x)/255 - tr.Mean[i%3]) / tr.SD[i%3]
			mean += v[k][i] / float64(d)
		}
		for i := range v[k] {
			v[k][i] -= mean
		}
		norm := math.Sqrt(dot(v[k], v[k]))
		for i := range v[k] {
			v[k][i] /= norm
		}
		for i := range d {
			for j := range d {
				a[i*d+j] += v[k][i] * v[k][j] / float64(n)
			}
		}
	}
	for i := range d {
		a[i*d+i] += 0.1 / float64(d) // tr C = 1
	}
	root := unpacked(tr.zca.root, d)
	for k := range n { // A u = A^(1/2) v
		for i := range d {
			got, want := 0.0, 0.0
			for j := range d {
				got += a[i*d+j] * float64(u[k*d+j])
				want += float64(root.Row(i)[j]) * v[k][j]
			}
			if math.Abs(got-want) > 1e-5 {
				t.Fatalf("image %d, value %d: %v, want %v", k, i, got, want)
			}
		}
	}
	// A restored image has its own pattern and an average contrast.
	back := tr.Invert(u)
	for k := range n {
		z := make([]float64, d)
		for i := range d {
			z[i] = (float64(back[k*d+i])/255 - tr.Mean[i%3]) / tr.SD[i%3]
		}
		norm, along := math.Sqrt(dot(z, z)), dot(z, v[k])
		if math.Abs(along-norm) > 1e-4*norm || math.Abs(norm-tr.zca.norm) > 1e-3*tr.zca.norm {
			t.Fatalf("image %d: norm %v, want %v, of it %v along the image", k, norm, tr.zca.norm, along)
		}
	}
}

// The contrast of an image has no effect, and an image of a single grey becomes zero.
func TestNormZCAOfGreys(t *testing.T) {
	ctx := context.Background()
	s := randomSet(300, 8, 8, 1)
	d := s.Dim()
	tr, err := Fit(ctx, "norm-zca", s)
	if err != nil {
		t.Fatal(err)
	}
	pair := make([]byte, 2*d)
	for i, x := range s.Test.Images[:d] {
		pair[i], pair[d+i] = x/4*4, 40+x/4
	}
	u, err := tr.Apply(ctx, pair)
	if err != nil {
		t.Fatal(err)
	}
	for i := range d {
		if math.Abs(float64(u[i]-u[d+i])) > 1e-4 {
			t.Errorf("value %d of an image is %v, and %v with a quarter of the contrast", i, u[i], u[d+i])
		}
	}
	greys := make([]byte, 256*d)
	for i := range greys {
		greys[i] = byte(i / d)
	}
	if u, err = tr.Apply(ctx, greys); err != nil {
		t.Fatal(err)
	}
	for i, x := range u {
		if x != 0 {
			t.Fatalf("value %d of grey %d is %v", i%d, i/d, x)
		}
	}
}

func TestZCAStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Fit(ctx, "zca", randomSet(10, 4, 4, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// dot is the inner product of two vectors.
func dot(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// Pixels in floating point and as bytes give the same results.
func TestPixels(t *testing.T) {
	s := randomSet(30, 6, 6, 3)
	for _, kind := range kinds {
		tr, err := Fit(context.Background(), kind, s)
		if err != nil {
			t.Fatal(err)
		}
		want, err := tr.Apply(context.Background(), s.Test.Images)
		if err != nil {
			t.Fatal(err)
		}
		pixels := make([]float32, len(s.Test.Images))
		for i, v := range s.Test.Images {
			pixels[i] = float32(v) / 255
		}
		for i, got := range tr.Pixels(pixels) {
			if math.Abs(float64(got-want[i])) > 1e-4*(1+math.Abs(float64(want[i]))) {
				t.Fatalf("%s: value %d is %v, of bytes %v", kind, i, got, want[i])
			}
		}
	}
}
