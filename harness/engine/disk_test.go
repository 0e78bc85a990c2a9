package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"dgkip/harness/engine"
	"dgkip/harness/method"
	"dgkip/harness/progress"
	"dgkip/harness/store"
)

var found, computed atomic.Int64

// keep loads a value from the disk, or computes and saves it.
func keep(ctx context.Context, disk method.Disk, name string) {
	if disk == nil {
		computed.Add(1)
		return
	}
	content := strings.Repeat(name, 50)
	ok := disk.Load(name, func(r io.Reader) error {
		b, err := io.ReadAll(r)
		if err == nil && string(b) != content {
			err = fmt.Errorf("%s holds %q", name, b)
		}
		return err
	})
	if ok {
		found.Add(1)
		return
	}
	if ctx.Err() != nil {
		return
	}
	computed.Add(1)
	disk.Save(name, int64(len(content)), func(w io.Writer) error {
		_, err := io.WriteString(w, content)
		return err
	})
}

// The disk keeps shared values for the next execution, without an effect on the records.
func TestDisk(t *testing.T) {
	keeps := text + "[method.walk]\nkeeps = true\n"
	p, want := reference(t, keeps)
	s := store.Open(t.TempDir())
	var notes bytes.Buffer
	again := func(budget int64, nFound, nComputed int64) {
		t.Helper()
		found.Store(0)
		computed.Store(0)
		o := options()
		o.Force = true
		o.Board = progress.New(&notes, false)
		if budget > 0 {
			cache := s.Cache(budget, func(text string) { o.Board.Printf("note: %s", text) })
			cache.Trim()
			o.Disk = cache
		}
		if out := execute(t, p, s, o); out != (engine.Outcome{Computed: 8}) {
			t.Errorf("outcome %+v", out)
		}
		if found.Load() != nFound || computed.Load() != nComputed {
			t.Errorf("%d found and %d computed, want %d and %d", found.Load(), computed.Load(), nFound, nComputed)
		}
		if !maps.Equal(contents(t, p, s), want) {
			t.Error("the records differ")
		}
	}
	again(0, 0, 8)
	again(1<<20, 6, 2)
	again(1<<20, 8, 0)
	files, err := filepath.Glob(filepath.Join(s.Dir(), "work", "cache", "*", "*"))
	if err != nil || len(files) != 2 {
		t.Fatalf("files %v, %v", files, err)
	}
	if err := os.WriteFile(files[0], []byte("rubbish"), 0o666); err != nil {
		t.Fatal(err)
	}
	again(1<<20, 7, 1)
	if strings.Contains(notes.String(), "note:") {
		t.Errorf("notes\n%s", &notes)
	}
	again(10, 0, 8)
	if n := strings.Count(notes.String(), "note: "); n != 1 {
		t.Errorf("%d notes about a small budget, want 1:\n%s", n, &notes)
	}
}
