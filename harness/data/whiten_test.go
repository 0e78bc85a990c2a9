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

func TestGram(t *testing.T) {
	for _, d := range []int{1, 2, 3, 4, 5, 6, 7, 9} {
		n := 1500
		r := rng.Stream(1, "gram")
		x := make([]byte, n*d)
		for i := range x {
			x[i] = byte(r.IntN(256))
		}
		for i := range d { // the largest sums
			x[i] = 255
		}
		sums, products, err := gram(context.Background(), x, n, d)
		if err != nil {
			t.Fatal(err)
		}
		for a := range d {
			for b := range d {
				var sum, product float64
				for i := range n {
					sum += float64(x[i*d+a])
					product += float64(x[i*d+a]) * float64(x[i*d+b])
				}
				if sums[a] != sum || products[a*d+b] != product {
					t.Fatalf("d=%d: sum %v product %v of %d, %d; want %v, %v", d, sums[a], products[a*d+b], a, b, sum, product)
				}
			}
		}
	}
}

// TestInverseRoot squares the root and multiplies it by the matrix.
func TestInverseRoot(t *testing.T) {
	for _, d := range []int{1, 2, 3, 8, 13, 240} {
		r := rng.Stream(2, "root")
		b := make([]float64, d*d)
		for i := range b {
			b[i] = r.Normal64() / math.Sqrt(float64(d))
			if i%d < d/3 {
				b[i] *= 100
			}
		}
		const low = 1e-2
		a := make([]float64, d*d)
		for i := range d {
			for j := range d {
				a[i*d+j] = dot(b[i*d:i*d+d], b[j*d:j*d+d])
			}
			a[i*d+i] += low
		}
		w, err := inverseRoot(context.Background(), a, d, low)
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for j := range d { // column j of W A W, W symmetric
			y := make([]float64, d)
			z := make([]float64, d)
			for i := range d {
				y[i] = dot(a[i*d:i*d+d], w[j*d:j*d+d])
			}
			for i := range d {
				z[i] = dot(w[i*d:i*d+d], y)
				if i == j {
					z[i]--
				}
				worst = max(worst, math.Abs(z[i]))
			}
		}
		if worst > 1e-8 {
			t.Errorf("d=%d: W A W is off from 1 by %g", d, worst)
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
		for i := range d {
			r += tr.zca.a[i*d+i]
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
				want := -r * dot(tr.zca.w[i*d:i*d+d], tr.zca.w[j*d:j*d+d])
				if i == j {
					want++
				}
				if math.Abs(got-want) > 1e-5 {
					t.Fatalf("covariance %d, %d is %v, want %v", i, j, got, want)
				}
			}
		}
		if back := tr.Bytes(x); string(back) != string(s.Train.Images) {
			t.Error("Bytes does not undo Apply")
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
