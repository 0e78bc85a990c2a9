package data

import (
	"context"
	"errors"
	"flag"
	"fmt"
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

var slow = flag.Bool("slow", false, "run the tests that take minutes")

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

func BenchmarkDraw(b *testing.B) {
	for _, set := range builtins {
		b.Run(set.Name, func(b *testing.B) {
			for i := range b.N {
				set.draw(hand{rng.Stream(1, fmt.Sprint(i))}, i%len(set.Classes))
			}
		})
	}
}
