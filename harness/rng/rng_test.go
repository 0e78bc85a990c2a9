package rng

import (
	"bytes"
	"math"
	"testing"
)

// TestNames checks that different names open different streams, however similar they are, and
// that equal names open the same stream.
func TestNames(t *testing.T) {
	names := [][]string{
		nil, {""}, {"", ""}, {"a"}, {"ab", "c"}, {"a", "bc"}, {"abc"}, {"a", "b", "c"},
		{"c", "ab"}, {"ab", "c", ""}, {"", "ab", "c"}, {"ab\x00c"}, {"ab\x00\x00\x00\x00\x00\x00\x00\x01c"},
	}
	seen := map[uint64][]string{}
	for _, root := range []uint64{0, 1, 1 << 63} {
		for _, n := range names {
			u := Stream(root, n...).Uint64()
			if old, ok := seen[u]; ok {
				t.Errorf("%q and %q open the same stream", old, n)
			}
			seen[u] = n
			if Stream(root, n...).Uint64() != u {
				t.Errorf("%q opened two streams", n)
			}
		}
	}
}

// TestState checks that a stream resumes from its marshalled state.
func TestState(t *testing.T) {
	r := Stream(1, "state")
	r.Perm(10)
	state, err := r.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var s Rand
	if err := s.UnmarshalBinary(state); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if r.Normal64() != s.Normal64() {
			t.Fatal("the restored stream differs")
		}
	}
	before, _ := s.MarshalBinary()
	for _, bad := range [][]byte{nil, state[:19], append(bytes.Clone(state), 0), make([]byte, 20)} {
		if s.UnmarshalBinary(bad) == nil {
			t.Errorf("UnmarshalBinary(%q) reported no error", bad)
		}
	}
	if after, _ := s.MarshalBinary(); !bytes.Equal(before, after) {
		t.Error("a failed UnmarshalBinary changed the state")
	}
}

// TestOneWordPerNumber checks that positions advance as documented.
func TestOneWordPerNumber(t *testing.T) {
	dst := make([]float32, 5)
	draws := []struct {
		name  string
		words int
		draw  func(*Rand)
	}{
		{"Float64", 1, func(r *Rand) { r.Float64() }},
		{"Normal64", 1, func(r *Rand) { r.Normal64() }},
		{"FillNormal", 5, func(r *Rand) { r.FillNormal(dst, 0, 1) }},
		{"Perm", 7, func(r *Rand) { r.Perm(8) }},
	}
	for _, d := range draws {
		a, b := Stream(1, "words"), Stream(1, "words")
		d.draw(a)
		for range d.words {
			b.Uint64()
		}
		if a.Uint64() != b.Uint64() {
			t.Errorf("%s did not take %d words", d.name, d.words)
		}
	}
}

// TestQuantile compares with values of the inverse distribution function known to many digits.
func TestQuantile(t *testing.T) {
	tests := []struct{ q, want float64 }{
		{0, 0},
		{0.25, 0.6744897501960817},
		{-0.25, -0.6744897501960817},
		{0.4375, 1.5341205443525463},
		{0.5 - 0x1p-10, 3.0972690781987844},
		{0.5 - 0x1p-20, 4.763001034267814},
		{0.5 - 0x1p-36, 6.6510353798930105},
		{0.5 - 0x1p-37, 6.752300431407015},
		{-0.5 + 0x1p-45, -7.515155294158908},
	}
	for _, tt := range tests {
		if got := quantile(tt.q); math.Abs(got-tt.want) > 4e-16*math.Abs(tt.want) {
			t.Errorf("quantile(%v) = %v, want %v", tt.q, got, tt.want)
		}
	}
}
