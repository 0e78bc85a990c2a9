package data

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"dgkip/harness/rng"
)

func builtinSet(t *testing.T, name string) *Set {
	t.Helper()
	s, err := Load(context.Background(), name, nil, Options{Offline: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// isSlow reports whether the flag is set that convnet_test.go declares.
func isSlow() bool { return flag.Lookup("slow").Value.String() == "true" }

// TestGoldenBuiltin freezes every pixel of the built-in sets.
func TestGoldenBuiltin(t *testing.T) {
	for name, want := range map[string]string{
		"glyphs":   "abaae4898e16212e73d288138fde94290d971c80ec99eaae14a3283888c432b4",
		"garments": "6b5be0d8730bc08f70a84c093645ce8759d30b57ae2714b9cb04f20c310d0dce",
		"vehicles": "0ad940a4af0ffb2ea067f5c600c9c04ac4a33d2d6644ef208ed341f4a60819e0",
		"symbols":  "ff2d9d5a5563d3ebb9c26fe88350a00fdfbd744a523314d907bd8fb4fe3e2114",
	} {
		if got := builtinSet(t, name).Digest; got != want {
			t.Errorf("%s has digest %s, want %s", name, got, want)
		}
	}
}

func TestBuiltin(t *testing.T) {
	for _, b := range builtins {
		s := builtinSet(t, b.Name)
		if !s.BuiltIn || s.Train.Len() != builtinTrain || s.Test.Len() != builtinTest || s.Dim() != b.shape().dim() {
			t.Errorf("%s: %d and %d images of %dx%dx%d", s.Name, s.Train.Len(), s.Test.Len(), s.H, s.W, s.Ch)
		}
		for _, split := range []Split{s.Train, s.Test} {
			count := make([]int, len(b.Classes))
			for _, l := range split.Labels {
				count[l]++
			}
			for k, n := range count {
				if n != split.Len()/len(b.Classes) {
					t.Errorf("%s: %d of %d images in class %d", s.Name, n, split.Len(), k)
				}
			}
		}
		turned, err := Load(context.Background(), b.Name, []int{1, 0}, Options{})
		if err != nil || turned.Digest == s.Digest || turned.Classes[0] != b.Classes[1] || turned.Train.Labels[0] != 1 {
			t.Errorf("%s turned: %v", s.Name, err)
		}
		if _, err := Load(context.Background(), b.Name, []int{len(b.Classes)}, Options{}); !errors.Is(err, ErrClass) {
			t.Errorf("%s: %v", s.Name, err)
		}
		// A picture depends on its own stream only, not on who draws it.
		procs := runtime.GOMAXPROCS(3)
		few := b.split(builtinSeed, "train", 7)
		runtime.GOMAXPROCS(procs)
		if !slices.Equal(few.Images, s.Train.Images[:7*s.Dim()]) {
			t.Errorf("%s: drawn by three, images differ", s.Name)
		}
		if other := b.split(builtinSeed+1, "train", 1); slices.Equal(other.Images, s.Train.Images[:s.Dim()]) {
			t.Errorf("%s: the seed does nothing", s.Name)
		}
	}
}

// TestDifficulty measures how hard the built-in sets are. They must be neither
// solved by a random image of each class nor by a linear function of the pixels.
func TestDifficulty(t *testing.T) {
	if !isSlow() {
		t.Skip("SKIPPED: fits linear models; -slow runs it")
	}
	for _, b := range builtins {
		s := builtinSet(t, b.Name)
		tr, err := Fit(context.Background(), "", s)
		if err != nil {
			t.Fatal(err)
		}
		x, _ := tr.Apply(context.Background(), s.Train.Images)
		xt, _ := tr.Apply(context.Background(), s.Test.Images)
		one := nearest(s, x, xt)
		line := 0.0
		for _, lambda := range []float64{0.01, 0.1, 1} {
			line = max(line, linear(s, x, xt, lambda))
		}
		t.Logf("%s: nearest of one random image a class %.3f, linear %.3f", b.Name, one, line)
		chance := 1 / float64(len(b.Classes))
		if one > 0.9 || one < chance {
			t.Errorf("%s: nearest of one random image a class scores %.3f", b.Name, one)
		}
		if line >= 0.97 || line < chance+0.4*(1-chance) {
			t.Errorf("%s: a linear model scores %.3f", b.Name, line)
		}
	}
}

// nearest is the mean test accuracy of the nearest of random images, one of each
// class.
func nearest(s *Set, x, xt []float32) float64 {
	const draws = 30
	d, n, r, right := s.Dim(), len(s.Classes), rng.Stream(1, "draws"), 0
	distance := func(a, b []float32) (sum float64) {
		for i, v := range a {
			e := float64(v - b[i])
			sum += e * e
		}
		return sum
	}
	for range draws {
		chosen := make([]int, n)
		for c := range chosen {
			chosen[c] = n*r.IntN(s.Train.Len()/n) + c
		}
		for k, l := range s.Test.Labels {
			best, least := 0, math.Inf(1)
			for c, i := range chosen {
				if e := distance(xt[k*d:(k+1)*d], x[i*d:(i+1)*d]); e < least {
					best, least = c, e
				}
			}
			if best == l {
				right++
			}
		}
	}
	return float64(right) / float64(draws*s.Test.Len())
}

// linear is the test accuracy of ridge regression on the pixels. The targets of
// an image, 1 for its class and -1/(n-1) for each other of the n, sum to zero, and
// so do the outputs: those of the first class follow from the others'.
func linear(s *Set, x, xt []float32, lambda float64) float64 {
	d, out := s.Dim(), make([][]float64, s.Test.Len())
	for i := range out {
		out[i] = make([]float64, len(s.Classes))
	}
	for class := 1; class < len(s.Classes); class++ {
		w := ridge(s, x, class, lambda)
		for i, z := range out {
			z[class] = w[d]
			for k, v := range xt[i*d : (i+1)*d] {
				z[class] += float64(v) * w[k]
			}
			z[0] -= z[class]
		}
	}
	right := 0
	for i, l := range s.Test.Labels {
		if out[i][l] == slices.Max(out[i]) {
			right++
		}
	}
	return float64(right) / float64(s.Test.Len())
}

// ridge returns the weights of the pixels, then the bias, of the output for a
// class, found by conjugate gradients.
func ridge(s *Set, x []float32, class int, lambda float64) []float64 {
	d, n := s.Dim()+1, s.Train.Len()
	row := func(x []float32, i int) []float32 { return x[i*(d-1) : (i+1)*(d-1)] }
	times := func(w []float64, z []float32) (sum float64) {
		for k, v := range z {
			sum += float64(v) * w[k]
		}
		return sum + w[d-1]
	}
	add := func(g []float64, f float64, z []float32) {
		for k, v := range z {
			g[k] += f * float64(v)
		}
		g[d-1] += f
	}
	w, r := make([]float64, d), make([]float64, d)
	for i, l := range s.Train.Labels {
		target := -1 / float64(len(s.Classes)-1)
		if l == class {
			target = 1
		}
		add(r, target/float64(n), row(x, i))
	}
	p, rr := slices.Clone(r), dot(r, r)
	for step := 0; step < 60 && rr > 1e-10; step++ {
		q := make([]float64, d)
		for i := range n {
			add(q, times(p, row(x, i))/float64(n), row(x, i))
		}
		for k := range q {
			q[k] += lambda * p[k]
		}
		a := rr / dot(p, q)
		for k := range w {
			w[k] += a * p[k]
			r[k] -= a * q[k]
		}
		old := rr
		rr = dot(r, r)
		for k := range p {
			p[k] = r[k] + rr/old*p[k]
		}
	}
	return w
}

// TestGallery draws pictures of the built-in sets for people to look at, into the
// directory DGKIP_GALLERY.
func TestGallery(t *testing.T) {
	dir := os.Getenv("DGKIP_GALLERY")
	if dir == "" {
		t.Skip("SKIPPED: set DGKIP_GALLERY to a directory for pictures of the built-in sets")
	}
	const down = 8
	for _, b := range builtins {
		s := builtinSet(t, b.Name)
		classes, each := len(b.Classes), 24/len(b.Classes) // columns of a class
		across := classes * each
		m := image.NewRGBA(image.Rect(0, 0, across*(s.W+1), down*(s.H+1)))
		for k := range across * down {
			x0, y0 := (k/classes%each+each*(k%classes))*(s.W+1), k/across*(s.H+1)
			for p := range s.H * s.W {
				v := s.Train.Images[k*s.Dim()+p*s.Ch:]
				m.Set(x0+p%s.W, y0+p/s.W, color.RGBA{v[0], v[(s.Ch-1)/2], v[s.Ch-1], 255})
			}
		}
		f, err := os.Create(filepath.Join(dir, b.Name+".png"))
		if err == nil {
			err = png.Encode(f, m)
			f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	for _, set := range builtins {
		b.Run(set.Name, func(b *testing.B) {
			for i := range b.N {
				set.draw(hand{rng.Stream(1, fmt.Sprint(i))}, i%len(set.Classes))
			}
		})
	}
}
