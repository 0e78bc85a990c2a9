package optim

import (
	"encoding/binary"
	"hash/fnv"
	"testing"
)

// TestGolden compares the bits of trajectories and of their final states with recorded ones,
// to detect fused or reordered operations.
func TestGolden(t *testing.T) {
	t.Run("float64", func(t *testing.T) {
		golden[float64](t, map[string]uint64{
			"SGD":          0xd84b31134ce15289,
			"SGD momentum": 0x248ec618f90ab135,
			"Adam":         0xf83564e32cc353e7,
			"AdaBelief":    0xb189287849fd9d3d,
			"LAMB":         0x5a8d668a1543f12f,
		})
	})
	t.Run("float32", func(t *testing.T) {
		golden[float32](t, map[string]uint64{
			"SGD":          0x93ab50596b93c510,
			"SGD momentum": 0xa24d0aa1306592e2,
			"Adam":         0xa39cec71bdea7573,
			"AdaBelief":    0x1d623de7d5375ad,
			"LAMB":         0x7a7716365a1a74b0,
		})
	})
}

func golden[F Float](t *testing.T, want map[string]uint64) {
	const n = 50
	for name, o := range rules[F](n) {
		h := fnv.New64a()
		w, g := make([]F, n), make([]F, n)
		for step := range 60 {
			for i := range g {
				// Quotients of integers are rounded once on every machine.
				g[i] = F(i*i%11-5) / F(3+(step*7+i)%13)
			}
			o.Step(w, g)
			binary.Write(h, binary.LittleEndian, w)
		}
		h.Write(mustState(o))
		if got := h.Sum64(); got != want[name] {
			t.Errorf("%q: %#x,", name, got)
		}
	}
}
