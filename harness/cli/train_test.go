package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The Python example trains a network on an exported set about as well as this program. It needs
// PyTorch and CIFAR-10.
func TestTrainExample(t *testing.T) {
	python := ""
	if !testing.Short() {
		python = pythonWithTorch()
	}
	tests := filepath.Join(os.Getenv("DGKIP_DATA"), "cifar-10", "test_batch.bin.gz")
	if _, err := os.Stat(tests); err != nil || python == "" {
		t.Skip("SKIPPED: no PyTorch here, or no cifar-10/test_batch.bin.gz in $DGKIP_DATA")
	}
	sets := t.TempDir()
	args := []string{"-exp", "table1", "-out", "../../results", "-only", "method:dc dataset:cifar-10 ipc:1 seed:0", "-export", "pt", sets}
	if code := run(context.Background(), newLibrary(os.DirFS("../..")), args, io.Discard, os.Stderr); code != 0 {
		t.Fatalf("-export ended with %d", code)
	}
	for _, set := range []string{filepath.Join(sets, "cifar-10-dc-conv-1-0.pt"), "../../results/sets/cifar-10-dc-conv-1-0.npz"} {
		out, err := exec.Command(python, "../../results/train.py", set, tests).CombinedOutput()
		var accuracy float64
		var images int
		if _, wrong := fmt.Sscanf(string(out), "%f %% of %d test images", &accuracy, &images); err != nil || wrong != nil {
			t.Fatalf("%v: %s", err, out)
		}
		// The record's three networks reach 69.60 to 71.15.
		if t.Logf("%s: %s", set, out); images != 2000 || accuracy < 66 || accuracy > 77 {
			t.Errorf("%s: %s; networks of this program reach about 70", set, out)
		}
	}
}
