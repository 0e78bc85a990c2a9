package data

import (
	"context"
	"errors"
	"flag"
	"math"
	"runtime"
	"slices"
	"testing"
)

func drawnSet(t *testing.T, name string) *Set {
	t.Helper()
	s, err := Load(context.Background(), name, nil, Options{Offline: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var slow = flag.Bool("slow", false, "run the tests that take minutes")

// TestGoldenDrawn freezes every pixel of the drawn sets.
func TestGoldenDrawn(t *testing.T) {
	for name, want := range map[string]string{
		"symbols":        "ff2d9d5a5563d3ebb9c26fe88350a00fdfbd744a523314d907bd8fb4fe3e2114",
		"colour-symbols": "1deff3245c2544d1cfabc2d3892a5f2cc8a79b4827357d0f940a870dd3e84f9f",
	} {
		if got := drawnSet(t, name).Digest; got != want {
			t.Errorf("%s has digest %s, want %s", name, got, want)
		}
	}
}

func TestDrawn(t *testing.T) {
	for _, b := range drawnSets {
		s := drawnSet(t, b.Name)
		if !s.BuiltIn || s.Train.Len() != 2000 || s.Test.Len() != 500 || s.Dim() != b.Dim() {
			t.Errorf("%s: %d and %d images of %dx%dx%d", s.Name, s.Train.Len(), s.Test.Len(), s.H, s.W, s.Ch)
		}
		for _, split := range []Split{s.Train, s.Test} {
			for k, n := range split.counts(len(b.Classes)) {
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
		// A picture only depends on its own stream, not on the number of threads.
		procs := runtime.GOMAXPROCS(3)
		few := b.drawSplit("train", 7)
		runtime.GOMAXPROCS(procs)
		if !slices.Equal(few.Images, s.Train.Images[:7*s.Dim()]) {
			t.Errorf("%s: drawn by three, images differ", s.Name)
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	for _, set := range drawnSets {
		b.Run(set.Name, func(b *testing.B) { set.drawSplit("train", b.N) })
	}
}

// TestSymbolsMirrored compares the mean picture of each class with its mirror image, because
// augmentations may flip symbols.
func TestSymbolsMirrored(t *testing.T) {
	s := drawnSet(t, "symbols")
	for class, name := range s.Classes {
		mean, n := make([]float64, s.Dim()), 0.0
		for i, l := range s.Train.Labels {
			if l == class {
				n++
				for p, v := range s.Train.Images[i*s.Dim() : (i+1)*s.Dim()] {
					mean[p] += float64(v)
				}
			}
		}
		apart := 0.0
		for p, v := range mean {
			mirrored := mean[p-p%s.W+s.W-1-p%s.W]
			apart += math.Abs(v-mirrored) / n / float64(len(mean))
		}
		t.Logf("%s: %.2f of 255 apart", name, apart)
		if apart > 4 {
			t.Errorf("%s is %.2f of 255 from its mirror image", name, apart)
		}
	}
}
