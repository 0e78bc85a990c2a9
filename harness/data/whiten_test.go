package data

import (
	"context"
	"errors"
	"math"
	"testing"

	"dgkip/harness/rng"
)

// randomSet is a set of n correlated random images a split.
func randomSet(n, h, w, ch int) *Set {
	r := rng.Stream(3, "random set")
	s := &Set{Name: "random", H: h, W: w, Ch: ch}
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
		r := 0.0
		for _, v := range tr.zca.root.Data { // trace of A
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
					want -= r * float64(tr.zca.inverse.Row(i)[k]) * float64(tr.zca.inverse.Row(k)[j])
				}
				if i == j {
					want++
				}
				if math.Abs(got-want) > 1e-4 {
					t.Fatalf("covariance %d, %d is %v, want %v", i, j, got, want)
				}
			}
		}
		if back := tr.Bytes(x); string(back) != string(s.Train.Images) {
			t.Error("Bytes does not undo Apply")
		}
	}
}

// TestNormZCA holds whitened images to the definition, and to what it is for: an image's
// brightness and contrast do not count.
func TestNormZCA(t *testing.T) {
	ctx := context.Background()
	s := randomSet(300, 5, 4, 1)
	d, n := s.Dim(), s.Train.Len()
	for i := range d {
		s.Test.Images[i] = 40 + s.Test.Images[d+i]/4 // the second image with a quarter of its contrast
		s.Test.Images[d+i] = s.Test.Images[d+i] / 4 * 4
	}
	clear(s.Test.Images[2*d : 3*d])
	tr, err := Fit(ctx, "norm-zca", s)
	if err != nil {
		t.Fatal(err)
	}
	x, err := tr.Apply(ctx, s.Train.Images)
	if err != nil {
		t.Fatal(err)
	}
	// A x is z over its norm, with A = C + 0.1 tr(C)/d and x = A^(-1/2) z; tr C = 1.
	z, c := make([][]float64, n), make([]float64, d*d)
	for k := range n {
		z[k] = make([]float64, d)
		mean, norm := 0.0, 0.0
		for i, v := range s.Train.Images[k*d : k*d+d] {
			z[k][i] = (float64(v)/255 - tr.Mean[0]) / tr.SD[0]
			mean += z[k][i] / float64(d)
		}
		for i := range z[k] {
			z[k][i] -= mean
			norm += z[k][i] * z[k][i]
		}
		for i := range z[k] {
			z[k][i] /= math.Sqrt(norm)
		}
		for i := range d {
			for j := range d {
				c[i*d+j] += z[k][i] * z[k][j] / float64(n)
			}
		}
	}
	for i := range d {
		c[i*d+i] += 0.1 / float64(d)
	}
	for k := range n { // A^(1/2) twice
		half := make([]float64, d)
		for i := range d {
			for j := range d {
				half[i] += float64(tr.zca.root.Row(i)[j]) * z[k][j]
			}
		}
		for i := range d {
			got := 0.0
			for j := range d {
				got += c[i*d+j] * float64(x[k*d+j])
			}
			if math.Abs(got-half[i]) > 1e-5 {
				t.Fatalf("image %d, value %d: %v, want %v", k, i, got, half[i])
			}
		}
	}
	y, err := tr.Apply(ctx, s.Test.Images[:3*d])
	if err != nil {
		t.Fatal(err)
	}
	for i := range d {
		if math.Abs(float64(y[i]-y[d+i])) > 1e-4 {
			t.Errorf("value %d of an image with less contrast: %v, %v", i, y[i], y[d+i])
		}
		if y[2*d+i] != 0 {
			t.Errorf("value %d of a black image is %v", i, y[2*d+i])
		}
	}
	// Restored, an image has its own pattern with an average contrast.
	back := tr.Invert(x)
	for k := range n {
		var own, got, both float64
		for i := range d {
			v := (float64(back[k*d+i])/255 - tr.Mean[0]) / tr.SD[0]
			own, got, both = own+z[k][i]*z[k][i], got+v*v, both+z[k][i]*v
		}
		if math.Abs(both-math.Sqrt(own*got)) > 1e-4*both || math.Abs(math.Sqrt(got)-tr.zca.norm) > 1e-3*tr.zca.norm {
			t.Fatalf("image %d: norm %v, want %v; product %v of %v", k, math.Sqrt(got), tr.zca.norm, both, math.Sqrt(own*got))
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
