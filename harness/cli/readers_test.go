package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Commands that only read keep temporary files, because other processes may still be writing them.
// A run removes them.
func TestReadersRemoveNothing(t *testing.T) {
	dir := t.TempDir()
	tmp := filepath.Join(dir, "work", "tmp")
	left := filepath.Join(tmp, "data.ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	if err := os.MkdirAll(left, 0o777); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(left, long, long); err != nil {
		t.Fatal(err)
	}
	lib := newLibrary(os.DirFS("../.."))
	command := func(args ...string) {
		run(context.Background(), lib, append([]string{"-exp", "quickstart", "-profile", "smoke", "-offline", "-quiet", "-out", dir}, args...), io.Discard, io.Discard)
	}
	command("-plan")
	command("-collect")
	command("-verify", "1")
	command("-export", "pt", t.TempDir())
	if _, err := os.Stat(left); err != nil {
		t.Error(err)
	}
	command("-only", "seed:0 method:random")
	if _, err := os.Stat(left); err == nil {
		t.Errorf("%s is still there", left)
	}
}
