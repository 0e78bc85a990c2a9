package features

import (
	"bytes"
	"context"
	"flag"
	"os"
	"runtime"
	"strconv"
	"testing"

	"dgkip/harness/tensor"
)

var slow = flag.Bool("slow", false, "run the tests that take minutes")

// peakMemory returns the process's peak of resident memory in bytes, or 0 if the system does not
// report it.
func peakMemory() int {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for _, line := range bytes.Split(b, []byte("\n")) {
		if f := bytes.Fields(line); len(f) == 3 && string(f[0]) == "VmHWM:" {
			kb, _ := strconv.Atoi(string(f[1]))
			return kb << 10
		}
	}
	return 0
}

// The published ConvNet features of as many images as two classes of MNIST, of CIFAR-10's size,
// take 1.7 GB. Computing them needs less than 300 MB more.
func TestMemoryFullSize(t *testing.T) {
	if !*slow {
		t.Skip("takes minutes: run with -slow")
	}
	if peakMemory() == 0 {
		t.Skip("this system does not report the peak of resident memory")
	}
	const n = 12665
	cfg := Config{Kind: "conv", H: 32, W: 32, C: 3}
	x := draw(n*32*32*3, "x")
	phi := tensor.NewMat[float32](n, 32768)
	for i := range phi.Data { // makes the memory resident
		phi.Data[i] = 1
	}
	runtime.GC()
	before := peakMemory()
	m, err := New(cfg, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Features(context.Background(), phi, x, nil); err != nil {
		t.Fatal(err)
	}
	used := peakMemory() - before
	t.Logf("%d MB beyond the images and %d MB of features", used>>20, len(phi.Data)>>18)
	if used > 300<<20 {
		t.Errorf("took %d MB beyond the images and the features", used>>20)
	}
}
