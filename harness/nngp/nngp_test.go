package nngp

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"dgkip/harness/features"
	"dgkip/harness/fmath"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

func images(r *rng.Rand, n, d int) []float32 {
	x := make([]float32, n*d)
	r.FillNormal(x, 0, 1)
	return x
}

// must returns the result of a function that does not fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// usual returns the kernel of networks with the usual deviations.
func usual(size, depth int) FC {
	return FC{Size: size, Depth: depth, Weight: math.Sqrt2, Bias: 0.1}
}

// kernels returns kernels with several deviations, with and without tangents.
func kernels(size, depth int) []FC {
	k := usual(size, depth)
	other, plain := k, k
	other.Weight, other.Bias = 1, 0.5
	plain.Weight, plain.Bias = 1.2, 0
	all := []FC{k, other, plain}
	for _, k := range slices.Clone(all) {
		k.Tangent = true
		all = append(all, k)
	}
	return all
}

// definition computes the kernel by definition.
func definition(k FC, x, y []float32) float64 {
	dot := func(x, y []float32) float64 {
		sum := 0.0
		for i := range x {
			sum += float64(x[i]) * float64(y[i])
		}
		return sum / float64(len(x))
	}
	a, b := k.Weight*k.Weight, k.Bias*k.Bias
	xy, xx, yy, tangent := dot(x, y), dot(x, x), dot(y, y), 0.0
	for range k.Depth {
		sxy, sxx, syy := a*xy+b, a*xx+b, a*yy+b
		r := math.Sqrt(sxx * syy)
		cos := max(-1, min(1, sxy/r))
		if 1-cos < 1e-13 {
			cos = 1
		}
		t := fmath.Acos(cos)
		xy, xx, yy = r*(math.Sin(t)+(math.Pi-t)*cos)/(2*math.Pi), sxx/2, syy/2
		tangent = (math.Pi - t) / (2 * math.Pi) * (a*tangent + sxy)
	}
	if k.Tangent {
		return a*(tangent+xy) + b
	}
	return xy
}

func TestGramMatchesDefinition(t *testing.T) {
	r := rng.Stream(1, "gram")
	for depth := range 5 {
		x := images(r, 7, 20)
		copy(x[20:40], x[:20]) // equal images
		for j := range 20 {
			x[40+j] = -x[j] // an opposite image
		}
		for _, k := range kernels(20, depth) {
			v := k.images(x)
			gram, cross, norms := must(v.Gram(t.Context())), must(v.Cross(t.Context(), v)), v.norms()
			for i := range 7 {
				for j := range 7 {
					want := definition(k, x[i*20:][:20], x[j*20:][:20])
					if got := gram.Row(i)[j]; math.Abs(got-want) > 1e-7*math.Abs(norms[i]) {
						t.Errorf("%+v: k(%d, %d) is %v, not %v", k, i, j, got, want)
					}
					if got := float64(cross.Row(i)[j]); math.Abs(got-want) > 1e-3*math.Abs(norms[i]) {
						t.Errorf("%+v: k(%d, %d) in float32 is %v, not %v", k, i, j, got, want)
					}
				}
				if math.Abs(norms[i]-gram.Row(i)[i]) > 1e-12 {
					t.Errorf("%+v: norm %v, diagonal %v", k, norms[i], gram.Row(i)[i])
				}
			}
		}
	}
}

// The angle between equal images is zero in spite of rounding errors in their products.
func TestEqualImages(t *testing.T) {
	for _, d := range []int{16, 784, 3072} { // products of far larger images are less exact
		for seed := range 100 {
			x := images(rng.Stream(uint64(seed), "equal"), 1, d)
			gram := must(usual(d, 3).images(append(x, x...)).Gram(t.Context()))
			if off := math.Abs(gram.Row(0)[1]/gram.Row(0)[0] - 1); off > 1e-12 {
				t.Fatalf("%d values, seed %d: the kernel of equal images is off by %v", d, seed, off)
			}
		}
	}
}

// A Gram matrix of the tangent kernel is positive definite.
func TestTangentGram(t *testing.T) {
	const n, d = 10, 64
	k := usual(d, 2)
	k.Tangent = true
	gram := must(k.images(images(rng.Stream(1, "tangent gram"), n, d)).Gram(t.Context()))
	if !new(mat.Cholesky).Factorize(mat.NewSymDense(n, gram.Data)) {
		t.Error("not positive definite")
	}
}

// LowerOf equals the lower half of GramOf.
func TestLowerOf(t *testing.T) {
	const n, d = 300, 20
	v := usual(d, 3).images(images(rng.Stream(1, "lower"), n, d))
	whole := must(v.GramOf(t.Context(), nil))
	strips := must(v.LowerOf(t.Context(), 128, nil))
	if len(strips) != 3 {
		t.Fatal(len(strips))
	}
	for s, strip := range strips {
		for i := range strip.Rows {
			for j, x := range strip.Row(i) {
				row, col := max(128*s+i, j), min(128*s+i, j)
				if x != whole.Row(row)[col] {
					t.Fatalf("entry %d, %d is %v, not %v", 128*s+i, j, x, whole.Row(row)[col])
				}
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := v.LowerOf(ctx, 128, func(float64) { cancel() }); err == nil {
		t.Error("LowerOf ignores its context")
	}
}

// The gradient in the pixels matches central differences of a sum over both matrices, also for
// images that are equal to another one of the set or to a real image. At the kink of the tangent
// kernel, differences over both sides are zero.
func TestBackward(t *testing.T) {
	r := rng.Stream(1, "backward")
	const n, d, reals = 4, 12, 9
	for _, depth := range []int{1, 3} {
		for _, k := range kernels(d, depth) {
			set, others := images(r, n, d), images(r, reals, d)
			copy(set[d:2*d], set[:d])
			copy(others[d:2*d], set[2*d:])
			dGram, dCross := tensor.NewMat[float64](n, n), tensor.NewMat[float32](n, reals)
			r.FillNormal(dCross.Data, 0, 1)
			for i := range n {
				for j := range i + 1 {
					dGram.Row(i)[j] = r.Normal64()
					dGram.Row(j)[i] = dGram.Row(i)[j]
				}
			}
			p := k.images(others).NewPass(set)
			// The differences use the definition in float64, as the pass has the noise of float32.
			value := func() float64 {
				sum := 0.0
				for i := range n {
					for j := range n {
						sum += dGram.Row(i)[j] * definition(k, set[i*d:][:d], set[j*d:][:d])
					}
					for j := range reals {
						sum += float64(dCross.Row(i)[j]) * definition(k, set[i*d:][:d], others[j*d:][:d])
					}
				}
				return sum
			}
			p.Forward(true)
			dx := make([]float32, n*d)
			p.Backward(dx, dGram, dCross)
			for j := range set {
				x := set[j]
				const h = 1.0 / 1024
				set[j] = x + h
				up := value()
				set[j] = x - h
				down := value()
				set[j] = x
				if want := (up - down) / (2 * h); !(math.Abs(float64(dx[j])-want) <= 1e-3) {
					t.Errorf("%+v: gradient %v, central difference %v", k, dx[j], want)
				}
			}
		}
	}
}

// A pass agrees with Gram and Cross, even after its pixels have changed.
func TestForward(t *testing.T) {
	r := rng.Stream(1, "forward")
	set, others := images(r, 3, 10), images(r, 1100, 10)
	for _, k := range kernels(10, 3) {
		real := k.images(others)
		p := real.NewPass(set)
		p.Forward(true)
		r.FillNormal(set, 0, 2)
		gram, cross := p.Forward(false)
		v := k.images(set)
		for i, x := range must(v.Cross(t.Context(), real)).Data {
			if cross.Data[i] != x {
				t.Fatalf("%+v: entry %d is %v, not %v", k, i, cross.Data[i], x)
			}
		}
		for i, x := range must(v.Gram(t.Context())).Data {
			if gram.Data[i] != x {
				t.Fatalf("%+v: entry %d within the set is %v, not %v", k, i, gram.Data[i], x)
			}
		}
	}
}

// BenchmarkUpdate times an update of 20 images of CIFAR-10's size, in the kernel with 10,000 real
// images and through 30 random networks.
func BenchmarkUpdate(b *testing.B) {
	const n, reals, d = 20, 10000, 32 * 32 * 3
	r := rng.Stream(1, "bench")
	set := images(r, n, d)
	k := usual(d, 3)
	for _, k.Tangent = range []bool{false, true} {
		b.Run(fmt.Sprintf("kernel/tangent %v", k.Tangent), func(b *testing.B) {
			p := k.images(images(r, reals, d)).NewPass(set)
			dGram, dCross, dx := tensor.NewMat[float64](n, n), tensor.NewMat[float32](n, reals), make([]float32, len(set))
			r.FillNormal(dCross.Data, 0, 1)
			for b.Loop() {
				p.Forward(true)
				p.Backward(dx, dGram, dCross)
			}
		})
	}
	b.Run("networks", func(b *testing.B) {
		m, err := features.New(features.Config{Kind: "fc", H: 32, W: 32, C: 3, Nets: 30, Width: 1024, Depth: 3}, 1)
		if err != nil {
			b.Fatal(err)
		}
		p, dx := m.NewPass(), make([]float32, len(set))
		phi, dphi := tensor.NewMat[float32](n, m.Dim()), tensor.NewMat[float32](n, m.Dim())
		r.FillNormal(dphi.Data, 0, 1)
		p.Forward(phi, set)
		p.Backward(dx, dphi) // packs the weights
		for b.Loop() {
			p.Forward(phi, set)
			p.Backward(dx, dphi)
		}
	})
}

// All results have the bits of the records on every vector path.
func TestSameBits(t *testing.T) {
	const n, reals, d = 5, 1100, 40
	r := rng.Stream(1, "bits")
	set, others := images(r, n, d), images(r, reals, d)
	copy(set[d:2*d], others[7*d:]) // equal to a real image
	dGram, dCross := tensor.NewMat[float64](n, n), tensor.NewMat[float32](n, reals)
	r.FillNormal(dCross.Data, 0, 1)
	for i := range n {
		for j := range i + 1 {
			dGram.Row(i)[j] = r.Normal64()
			dGram.Row(j)[i] = dGram.Row(i)[j]
		}
	}
	before := tensor.Path()
	defer tensor.Use(before)
	for _, path := range tensor.Paths() {
		if err := tensor.Use(path); err != nil {
			t.Fatal(err)
		}
		for k, want := range map[FC]string{
			usual(d, 0): "8a13643a96706f34", usual(d, 1): "e03ae1f4fdb4dfef", usual(d, 3): "df091d6f38007b86", usual(d, 7): "66577be568bf6219",
			{Size: d, Depth: 3, Weight: 1.5, Bias: 0.2}:                "e8038d0d6601273c",
			{Size: d, Depth: 3, Weight: 1.5, Bias: 0.2, Tangent: true}: "4d7b9c389bfb2a55",
		} {
			real := k.images(others) // packed for this path
			p, dx, h := real.NewPass(set), make([]float32, n*d), sha256.New()
			gram, cross := p.Forward(true)
			p.Backward(dx, dGram, dCross)
			all := must(k.images(others[:200*d]).GramOf(t.Context(), nil))
			for _, v := range []any{gram.Data, cross.Data, dx, all.Data, real.norms()} {
				binary.Write(h, binary.LittleEndian, v)
			}
			if got := fmt.Sprintf("%x", h.Sum(nil)[:8]); got != want {
				t.Errorf("%+v on %s: %s, not %s", k, path, got, want)
			}
		}
	}
}
