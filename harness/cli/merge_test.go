package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// The folder of a worker may have no records. An interrupt is still an error, because other folders
// were not read.
func TestInterruptedMerge(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "idle", "work"), 0o777); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := &flags{out: filepath.Join(dir, "results")}
	f.folders = []string{filepath.Join(dir, "idle"), filepath.Join(dir, "other")}
	if err := f.mergeRecords(ctx, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
