package nn

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"os"
	"runtime"
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

// The bits of losses, gradients and tangents equal the recorded ones on every path and with
// every number of threads. This detects a compiler that fuses operations on some processor.
func TestGolden(t *testing.T) {
	digests := func(t *testing.T) string {
		var got strings.Builder
		for _, norm := range []bool{false, true} {
			for _, algo := range []tensor.Algorithm{tensor.Direct, tensor.Winograd} {
				name := fmt.Sprintf("norm %t, algorithm %d", norm, algo)
				got.WriteString(goldenDigests(t, name, convCase[float32](norm, 16, 3, algo)))
				got.WriteString(goldenDigests(t, name, convCase[float64](norm, 4, 2, algo)))
			}
		}
		return got.String()
	}
	const file = "testdata/digests.txt"
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, []byte(digests(t)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	w := strings.Split(string(want), "\n")
	compare := func(t *testing.T) {
		for i, line := range strings.Split(digests(t), "\n") {
			if i >= len(w) || line != w[i] {
				t.Errorf("got %s, recorded %s", line, w[min(i, len(w)-1)])
			}
		}
	}
	first := tensor.Path()
	for _, path := range append(tensor.Paths(), first) {
		if err := tensor.Use(path); err != nil {
			t.Fatal(err)
		}
		if path != first {
			t.Run(path, compare)
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2, 3, 7} {
		runtime.GOMAXPROCS(procs)
		t.Run(fmt.Sprintf("%s, %d threads", first, procs), compare)
	}
}
