package optim

import (
	"encoding/binary"
	"hash/fnv"
	"testing"
)

// TestGolden compares the bits of trajectories with recorded ones, to detect fused or reordered
// operations.
func TestGolden(t *testing.T) {
	t.Run("float64", func(t *testing.T) {
		golden[float64](t, map[string]uint64{
			"SGD":          0x7105ebaf8f2446d5,
			"SGD momentum": 0x879845e22a1071cb,
			"Adam":         0x39dd9950b554db76,
			"AdaBelief":    0xe2b1181c26f2144,
			"LAMB":         0x6195065ab81aa42c,
		})
	})
	t.Run("float32", func(t *testing.T) {
		golden[float32](t, map[string]uint64{
			"SGD":          0xa8c670a0fad4ba6a,
			"SGD momentum": 0x44c928f5f16b334f,
			"Adam":         0xf5fc1fd9ea535d93,
			"AdaBelief":    0x24a9eb570b9010dd,
			"LAMB":         0xfd24866d1493afd2,
		})
	})
}

func golden[F Float](t *testing.T, want map[string]uint64) {
	const n = 50
	for name, rule := range rules {
		o, h := New[F](rule, n), fnv.New64a()
		w, g := make([]F, n), make([]F, n)
		for step := range 60 {
			for i := range g {
				// Quotients of integers are rounded once on every machine.
				g[i] = F(i*i%11-5) / F(3+(step*7+i)%13)
			}
			o.Step(w, g, rule.rate)
			binary.Write(h, binary.LittleEndian, w)
		}
		if got := h.Sum64(); got != want[name] {
			t.Errorf("%q: %#x,", name, got)
		}
	}
}
