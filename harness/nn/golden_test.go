package nn

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/tensor"
)

// goldenDigests returns digests of all results of a network, by name.
func goldenDigests[F tensor.Float](t *testing.T, name string, c netCase[F]) string {
	t.Helper()
	r := everything(c.net.NewPass(), point(c, "golden"), point(c, "golden direction"))
	fields := r.fields()
	fields["losses"] = []F{F(r.loss), F(r.lossT)}
	var names []string
	for n := range fields {
		names = append(names, n)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, n := range names {
		h := fnv.New64a()
		if err := binary.Write(h, binary.LittleEndian, fields[n]); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s, %s, %T: %016x\n", name, n, *new(F), h.Sum64())
	}
	return b.String()
}

// The bits of losses, gradients and tangents equal the recorded ones. This detects a
// compiler that fuses operations on some processor.
func TestGolden(t *testing.T) {
	var got strings.Builder
	for _, norm := range []bool{false, true} {
		for _, algo := range []tensor.Algorithm{tensor.Direct, tensor.Winograd} {
			name := fmt.Sprintf("norm %t, algorithm %d", norm, algo)
			got.WriteString(goldenDigests(t, name, convCase[float32](norm, 16, 3, algo)))
			got.WriteString(goldenDigests(t, name, convCase[float64](norm, 4, 2, algo)))
		}
	}
	const file = "testdata/digests.txt"
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, []byte(got.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	w := strings.Split(string(want), "\n")
	for i, line := range strings.Split(got.String(), "\n") {
		if i >= len(w) || line != w[i] {
			t.Errorf("got %s, recorded %s", line, w[min(i, len(w)-1)])
		}
	}
}
