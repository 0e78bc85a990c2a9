package fmath

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

var functions = []struct {
	name   string
	f      func(float64) float64
	digest uint64 // of the sweep in TestGoldenSweep
}{
	{"Exp", Exp, 0xe29e33f64db44bed},
	{"Log", Log, 0x90525d6afdc1cfd5},
	{"Sigmoid", Sigmoid, 0xf8065717dcc97c0e},
	{"Softplus", Softplus, 0xf1257cf5f1da6b79},
	{"Sin", Sin, 0x7170816cd440611c},
	{"Cos", Cos, 0xaa8da46002ca1f06},
}

// TestGolden compares single values with testdata/golden.txt, bit for bit. A line holds the
// function, the argument and the bits of the result.
func TestGolden(t *testing.T) {
	file, err := os.Open("testdata/golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	byName := map[string]func(float64) float64{}
	for _, fn := range functions {
		byName[fn.name] = fn.f
	}
	lines := 0
	for s := bufio.NewScanner(file); s.Scan(); lines++ {
		var name string
		var x float64
		var want uint64
		if _, err := fmt.Sscan(s.Text(), &name, &x, &want); err != nil {
			t.Fatalf("%q: %v", s.Text(), err)
		}
		if got := math.Float64bits(byName[name](x)); got != want {
			t.Errorf("%s(%v) has bits %#x, want %#x", name, x, got, want)
		}
	}
	if want := 20 * len(functions); lines != want {
		t.Errorf("read %d lines, want %d", lines, want)
	}
}

// TestGoldenSweep compares a digest over many arguments of all sizes with a recorded one.
func TestGoldenSweep(t *testing.T) {
	for _, fn := range functions {
		h := fnv.New64a()
		pcg := rand.NewPCG(5, 6)
		for i := range 60_000 {
			u := pcg.Uint64()
			x := math.Ldexp(float64(int64(u)), -61+int(u&31)/2) // |x| < 2^17
			if i%16 == 0 {
				x = math.Float64frombits(u)
			}
			binary.Write(h, binary.LittleEndian, math.Float64bits(fn.f(x)))
		}
		if got := h.Sum64(); got != fn.digest {
			t.Errorf("%s: digest %#x, want %#x", fn.name, got, fn.digest)
		}
	}
}

// TestGoldenFMA32 compares FMA32 on arbitrary bits with a recorded digest. It ignores NaN
// payloads.
func TestGoldenFMA32(t *testing.T) {
	const want uint64 = 0x5c91decc24582c73
	h := fnv.New64a()
	pcg := rand.NewPCG(7, 8)
	f := func() float32 { return math.Float32frombits(uint32(pcg.Uint64() >> 32)) }
	for range 100_000 {
		y := FMA32(f(), f(), f())
		if y != y {
			y = float32(math.Inf(1))
		}
		binary.Write(h, binary.LittleEndian, math.Float32bits(y))
	}
	if got := h.Sum64(); got != want {
		t.Errorf("digest %#x, want %#x", got, want)
	}
}
