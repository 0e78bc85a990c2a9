package rng

import (
	"bytes"
	"math"
	"slices"
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

// TestFill compares FillNormal with single draws.
func TestFill(t *testing.T) {
	dst := make([]float32, 100)
	Stream(1, "fill").FillNormal(dst, 0, 1)
	r := Stream(1, "fill")
	for i := range dst {
		if dst[i] != float32(r.Normal64()) {
			t.Fatalf("FillNormal differs from Normal64 at %d", i)
		}
	}
	Stream(1, "fill").FillNormal(dst, 7, 0)
	if slices.Min(dst) != 7 || slices.Max(dst) != 7 {
		t.Error("a distribution of no width is not constant")
	}
}

// TestRanges checks the extreme words, for which a value could leave its range.
func TestRanges(t *testing.T) {
	if x := float64(uint64(math.MaxUint64)>>11) * 0x1p-53; x >= 1 {
		t.Errorf("Float64 reaches %v", x)
	}
	top := 0.5 - 0x1p-53
	if z := quantile(top); math.Abs(z-8.209536151601387) > 1e-14 || quantile(-top) != -z {
		t.Errorf("the normals reach %v and %v", quantile(-top), z)
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

func TestPanics(t *testing.T) {
	tests := []struct {
		want string
		call func(*Rand)
	}{
		{"rng.IntN: n must be positive", func(r *Rand) { r.IntN(0) }},
		{"rng.IntN: n must be positive", func(r *Rand) { r.IntN(-1) }},
		{"rng.Perm: n must not be negative", func(r *Rand) { r.Perm(-1) }},
	}
	for _, tt := range tests {
		func() {
			defer func() {
				if got := recover(); got != tt.want {
					t.Errorf("panic %v, want %q", got, tt.want)
				}
			}()
			tt.call(Stream(1))
		}()
	}
}

func BenchmarkFillNormal(b *testing.B) {
	r, dst := Stream(1, "bench"), make([]float32, 10_000)
	for b.Loop() {
		r.FillNormal(dst, 0, 1)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(dst)), "ns/normal")
}

func BenchmarkUint64(b *testing.B) {
	r := Stream(1, "bench")
	for b.Loop() {
		r.Uint64()
	}
}
