//go:build unix

package data

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPipe names a pipe that nobody writes to, which would block for ever.
func TestPipe(t *testing.T) {
	dir := put(t, map[string][]byte{"all/a/x": nil, "all/b/x": nil})
	for _, name := range []string{"pipe", "all/a/1.png"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o666); err != nil {
			t.Skipf("SKIPPED: no named pipes here: %v", err)
		}
	}
	for _, c := range []Config{
		{Format: "npz", Train: "pipe"},
		{Format: "folder", Train: "all"},
	} {
		if _, err := c.Load(context.Background(), "mine", dir); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "it is a pipe or a device; name a file") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
