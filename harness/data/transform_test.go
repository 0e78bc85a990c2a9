package data

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"math"
	"slices"
	"testing"
)

func TestStandard(t *testing.T) {
	ctx := context.Background()
	s := randomSet(50, 4, 4, 3)
	for i := 2; i < len(s.Train.Images); i += 3 {
		s.Train.Images[i] = 7 // a channel that never changes
	}
	tr, err := Fit(ctx, "", s)
	if err != nil || tr.Kind != "standard" {
		t.Fatal(tr, err)
	}
	x, err := tr.Apply(ctx, s.Train.Images)
	if err != nil {
		t.Fatal(err)
	}
	for c := range 3 {
		sum, squares, n := 0.0, 0.0, 0.0
		for i := c; i < len(x); i += 3 {
			sum, squares, n = sum+float64(x[i]), squares+float64(x[i])*float64(x[i]), n+1
		}
		want := 1.0
		if c == 2 {
			want = 0
		}
		if mean, v := sum/n, squares/n; math.Abs(mean) > 1e-6 || math.Abs(v-want) > 1e-6 {
			t.Errorf("channel %d: mean %v, variance %v", c, mean, v)
		}
	}
	if !slices.Equal(rounded(tr.Invert(x)), s.Train.Images) {
		t.Error("Invert does not undo Apply")
	}
	y, _ := tr.Apply(ctx, s.Test.Images)
	if slices.Equal(y, x) {
		t.Error("the test images came out like the training images")
	}
	for i, v := range tr.Invert(y) {
		if math.Abs(float64(v)-float64(s.Test.Images[i])) > 1e-4 {
			t.Fatalf("value %d came back as %v, was %d", i, v, s.Test.Images[i])
		}
	}
}

// rounded returns pixels in bytes.
func rounded(pixels []float32) []byte {
	var out []byte
	for _, v := range pixels {
		out = append(out, byte(v+0.5))
	}
	return out
}

func TestFitErrors(t *testing.T) {
	s := randomSet(5, 2, 2, 1)
	if _, err := Fit(context.Background(), "pca", s); !errors.Is(err, ErrConfig) {
		t.Errorf("%v", err)
	}
	if _, err := Fit(context.Background(), "zca", randomSet(1, 200, 200, 1)); !errors.Is(err, ErrShape) {
		t.Errorf("%v", err)
	}
	clear(s.Train.Images)
	if _, err := Fit(context.Background(), "zca", s); !errors.Is(err, ErrConfig) {
		t.Errorf("%v", err)
	}
}

// TestGoldenTransform freezes the bits of every kind of preprocessing.
func TestGoldenTransform(t *testing.T) {
	ctx := context.Background()
	for kind, want := range map[string]uint64{"standard": 0xe818a18fdd8efae0, "zca": 0x8fd20a243860ff12, "norm-zca": 0xa360d2d5444f2d74} {
		s := randomSet(60, 6, 6, 3)
		tr, err := Fit(ctx, kind, s)
		if err != nil {
			t.Fatal(err)
		}
		h := fnv.New64a()
		x, _ := tr.Apply(ctx, s.Test.Images)
		binary.Write(h, binary.LittleEndian, tr.Mean)
		binary.Write(h, binary.LittleEndian, tr.SD)
		binary.Write(h, binary.LittleEndian, x)
		binary.Write(h, binary.LittleEndian, tr.Invert(x[:3*108]))
		if got := h.Sum64(); got != want {
			t.Errorf("%s: %#x, want %#x", kind, got, want)
		}
	}
}
