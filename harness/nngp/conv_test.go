package nngp

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"dgkip/harness/fmath"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// full computes the kernel by definition, with the covariances of all places.
func full(k Conv, x, y []float32) float64 {
	type all [][]float64 // of place p and place q
	make2 := func(n int) all {
		v := make(all, n)
		for i := range v {
			v[i] = make([]float64, n)
		}
		return v
	}
	h, w := k.H, k.W
	pixels := func(x, y []float32) all {
		v := make2(h * w)
		for p := range v {
			for q := range v[p] {
				for c := range k.C {
					v[p][q] += float64(x[p*k.C+c]) * float64(y[q*k.C+c]) / float64(k.C)
				}
			}
		}
		return v
	}
	convolve := func(v all, bias float64) all {
		out := make2(h * w)
		for p := range v {
			for q := range v[p] {
				sum := 0.0
				for dy := -1; dy <= 1; dy++ {
					for dx := -1; dx <= 1; dx++ {
						py, px, qy, qx := p/w+dy, p%w+dx, q/w+dy, q%w+dx
						if min(py, px, qy, qx) >= 0 && max(py, qy) < h && max(px, qx) < w {
							sum += v[py*w+px][qy*w+qx]
						}
					}
				}
				out[p][q] = k.Weight*k.Weight*sum/9 + bias
			}
		}
		return out
	}
	average := func(v all) all {
		out := make2((h / 2) * (w / 2))
		for p := range out {
			for q := range out[p] {
				for i := range 16 {
					a := (2*(p/(w/2))+i&1)*w + 2*(p%(w/2)) + i>>1&1
					b := (2*(q/(w/2))+i>>2&1)*w + 2*(q%(w/2)) + i>>3&1
					out[p][q] += v[a][b] / 16
				}
			}
		}
		return out
	}
	relu := func(v, xx, yy, t all) (all, all) {
		out, slopes := make2(h*w), make2(h*w)
		for p := range v {
			for q := range v[p] {
				r := math.Sqrt(xx[p][p] * yy[q][q])
				if r == 0 {
					continue
				}
				c := max(-1, min(1, v[p][q]/r))
				if 1-c < 1e-15 {
					c = 1
				}
				angle := fmath.Acos(c)
				out[p][q] = r / (2 * math.Pi) * (math.Sqrt((1-c)*(1+c)) + (math.Pi-angle)*c)
				slopes[p][q] = (math.Pi - angle) / (2 * math.Pi) * t[p][q]
			}
		}
		return out, slopes
	}
	xy, xx, yy, t := pixels(x, y), pixels(x, x), pixels(y, y), make2(h*w)
	for range k.Depth {
		b := k.Bias * k.Bias
		xy, xx, yy, t = convolve(xy, b), convolve(xx, b), convolve(yy, b), convolve(t, 0)
		for p := range t {
			for q := range t[p] {
				t[p][q] += xy[p][q]
			}
		}
		sx, sy := xx, yy
		xy, t = relu(xy, sx, sy, t)
		xx, _ = relu(xx, sx, sx, make2(h*w))
		yy, _ = relu(yy, sy, sy, make2(h*w))
		xy, xx, yy, t = average(xy), average(xx), average(yy), average(t)
		h, w = h/2, w/2
	}
	sum, tangents := 0.0, 0.0
	for p := range xy {
		sum, tangents = sum+xy[p][p]/float64(h*w), tangents+t[p][p]/float64(h*w)
	}
	if k.Tangent {
		return k.Weight*k.Weight*(tangents+sum) + k.Bias*k.Bias
	}
	return sum
}

func conv(h, w, c, depth int) Conv {
	return Conv{H: h, W: w, C: c, Depth: depth, Weight: math.Sqrt2, Bias: 0.1}
}

func TestConvMatchesFullRecursion(t *testing.T) {
	r := rng.Stream(1, "conv")
	for _, k := range []Conv{
		conv(8, 8, 1, 3), conv(8, 8, 3, 2), conv(16, 16, 3, 3), conv(9, 7, 2, 2), conv(2, 3, 1, 1), conv(11, 14, 1, 3),
		{H: 8, W: 8, C: 1, Depth: 3, Weight: 1.2}, // a black place has no variance
		{H: 8, W: 8, C: 1, Depth: 2, Weight: 1, Bias: 0.5},
	} {
		n, size := 3, k.H*k.W*k.C
		x := images(r, n, size)
		copy(x[size:], x[:size]) // The first two images differ in one pixel,
		x[size] += 0.5
		clear(x[size/2 : size]) // and half of the first is black.
		clear(x[size+size/2:][:size-size/2])
		for _, k.Tangent = range []bool{false, true} {
			v := must(k.Images(t.Context(), x, nil))
			gram, cross := must(v.Gram(t.Context())), must(v.Wide(t.Context(), v, nil))
			bound := 1e-15
			if k.Tangent {
				bound = 1e-9 // angles of nearly equal places are roots of rounding errors
			}
			for i := range n {
				for j := range n {
					want := full(k, x[i*size:][:size], x[j*size:][:size])
					if got := gram.Row(i)[j]; !(math.Abs(got-want) <= bound*math.Abs(gram.Row(i)[i])) {
						t.Errorf("%+v: k(%d, %d) is %v, not %v, by %.2g", k, i, j, got, want, (got-want)/gram.Row(i)[i])
					}
					if i <= j && gram.Row(i)[j] != cross.Row(i)[j] {
						t.Errorf("%+v: k(%d, %d) is %v in Gram and %v in Cross", k, i, j, gram.Row(i)[j], cross.Row(i)[j])
					}
					if back := cross.Row(j)[i]; math.Abs(back-cross.Row(i)[j]) > bound*back {
						t.Errorf("%+v: k(%d, %d) is %v, but %v with sides exchanged", k, i, j, cross.Row(i)[j], back)
					}
				}
			}
		}
	}
}

// A value depends only on its two images, and the Gram matrix of different images is positive
// definite.
func TestConvGram(t *testing.T) {
	const n = 19
	for _, tangent := range []bool{false, true} {
		k := conv(12, 12, 3, 3)
		k.H, k.Depth, k.Tangent = 8, 2, tangent
		x := images(rng.Stream(1, "gram"), n, k.H*k.W*k.C)
		gram := must(must(k.Images(t.Context(), x, nil)).Gram(t.Context()))
		few := must(k.Images(t.Context(), x[5*k.H*k.W*k.C:][:7*k.H*k.W*k.C], nil))
		for i, row := 0, must(few.Gram(t.Context())); i < 7; i++ {
			for j := range 7 {
				if row.Row(i)[j] != gram.Row(i + 5)[j+5] {
					t.Errorf("k(%d, %d) depends on the other images", i, j)
				}
			}
		}
		for i := range n {
			for j := range n {
				if gram.Row(i)[j] != gram.Row(j)[i] {
					t.Errorf("not symmetric at %d, %d", i, j)
				}
			}
			gram.Row(i)[i] *= 1 + 1e-12
		}
		if !new(mat.Cholesky).Factorize(mat.NewSymDense(n, gram.Data)) {
			t.Error("not positive definite")
		}
		if g := conv(32, 32, 3, 6); g.Check() == nil {
			t.Error("six averages of 32 pixels were accepted")
		}
	}
}

// The bits are the same on every path and for every number of threads.
func TestConvSameBits(t *testing.T) {
	defer tensor.Use(tensor.Path())
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	want := map[bool]string{false: "241cd7f24067864d", true: "506a304f3e4b373a"}
	for _, path := range tensor.Paths() {
		if err := tensor.Use(path); err != nil {
			t.Fatal(err)
		}
		for threads := 1; threads <= 2; threads++ {
			runtime.GOMAXPROCS(threads)
			for _, tangent := range []bool{false, true} {
				k := conv(14, 14, 3, 2)
				k.Tangent = tangent
				r, h := rng.Stream(1, "bits"), sha256.New()
				v := must(k.Images(t.Context(), images(r, 3, 14*14*3), nil))
				w := must(k.Images(t.Context(), images(r, 17, 14*14*3), nil))
				for _, m := range []tensor.Mat[float64]{must(v.Gram(t.Context())), must(v.Wide(t.Context(), w, nil))} {
					binary.Write(h, binary.LittleEndian, m.Data)
				}
				got := fmt.Sprintf("%x", h.Sum(nil)[:8])
				if got != want[tangent] {
					t.Errorf("tangent %v on %s with %d threads: %s, not %s", tangent, path, threads, got, want[tangent])
				}
			}
		}
	}
}
