package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// cached returns a cache for n values of 1000 bytes, and its notes.
func cached(t *testing.T, s *Store, n int) (*Cache, *[]string) {
	t.Helper()
	var notes []string
	return s.Cache(int64(n)*1100, func(text string) { notes = append(notes, text) }), &notes
}

func part(c *Cache) Part { return c.Part(context.Background(), "") }

func value(key string) []byte { return bytes.Repeat([]byte(key+"."), 1000)[:1000] }

func save(c *Cache, key string) {
	b := value(key)
	part(c).Save(key, int64(len(b)), func(w io.Writer) error {
		for part := range slices.Chunk(b, 300) {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
		return nil
	})
}

func load(c *Cache, key string) (b []byte, found bool) {
	found = part(c).Load(key, func(r io.Reader) (err error) {
		b, err = io.ReadAll(r)
		return err
	})
	return b, found
}

func cacheFiles(t *testing.T, s *Store) (names []string, total int64) {
	t.Helper()
	names = s.cached()
	for _, n := range names {
		info, err := os.Stat(n)
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	return names, total
}

func TestCache(t *testing.T) {
	s := prepared(t)
	c, notes := cached(t, s, 3)
	if _, found := load(c, "a"); found {
		t.Error("found before it was saved")
	}
	save(c, "a")
	// Another process.
	c, more := cached(t, s, 3)
	if b, found := load(c, "a"); !found || !bytes.Equal(b, value("a")) {
		t.Errorf("found %v: %q", found, b)
	}
	if _, found := load(c, "b"); found {
		t.Error("found under another key")
	}
	part(c).Save("empty", 0, func(io.Writer) error { return nil })
	if b, found := load(c, "empty"); !found || len(b) != 0 {
		t.Errorf("empty value: %v, %q", found, b)
	}
	if left := entries(s.work("tmp")); len(left) > 0 || len(*notes)+len(*more) > 0 {
		t.Errorf("left behind %v, notes %q %q", left, *notes, *more)
	}
}

// The value not used for the longest time is removed.
func TestCacheBudget(t *testing.T) {
	s := prepared(t)
	c, notes := cached(t, s, 3)
	for i, key := range []string{"a", "b", "c"} {
		save(c, key)
		when := time.Now().Add(time.Duration(i-10) * time.Hour)
		if err := os.Chtimes(c.file(key), when, when); err != nil {
			t.Fatal(err)
		}
	}
	load(c, "a") // the oldest is used again
	save(c, "d")
	have := ""
	for _, key := range []string{"a", "b", "c", "d"} {
		if _, found := load(c, key); found {
			have += key
		}
	}
	if have != "acd" {
		t.Errorf("%q are left, want acd", have)
	}
	if _, total := cacheFiles(t, s); total > c.budget {
		t.Errorf("%d bytes are in use, %d are allowed", total, c.budget)
	}
	if len(*notes) != 0 {
		t.Errorf("notes %q", *notes)
	}
	// A value that exceeds the budget removes nothing, and causes only one note.
	for range 2 {
		part(c).Save("big", c.budget, func(io.Writer) error { return errors.New("not to be called") })
	}
	if names, _ := cacheFiles(t, s); len(names) != 3 {
		t.Errorf("%d files are left", len(names))
	}
	if len(*notes) != 1 || !strings.Contains((*notes)[0], "the budget is only") {
		t.Errorf("notes %q", *notes)
	}
	// Trim applies a smaller budget.
	smaller, _ := cached(t, s, 1)
	smaller.Trim()
	if names, total := cacheFiles(t, s); len(names) != 1 || total > 1100 {
		t.Errorf("%d files with %d bytes are left", len(names), total)
	}
}

// A damaged file is not loaded, but removed.
func TestCacheDamage(t *testing.T) {
	s := prepared(t)
	c, notes := cached(t, s, 9)
	damage := map[string]func(b []byte) []byte{
		"cut":         func(b []byte) []byte { return b[:len(b)-1] },
		"cut short":   func(b []byte) []byte { return b[:20] },
		"empty":       func(b []byte) []byte { return nil },
		"longer":      func(b []byte) []byte { return append(b, 0) },
		"content":     func(b []byte) []byte { b[len(b)-500] ^= 1; return b },
		"checksum":    func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		"beginning":   func(b []byte) []byte { b[0] ^= 1; return b },
		"another key": func(b []byte) []byte { other, _ := os.ReadFile(c.file("other")); return other },
	}
	for name, change := range damage {
		save(c, "other")
		save(c, "a")
		b, err := os.ReadFile(c.file("a"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(c.file("a"), change(b), 0o666); err != nil {
			t.Fatal(err)
		}
		called := false
		if part(c).Load("a", func(io.Reader) error { called = true; return nil }) || called {
			t.Errorf("%s: found (read: %v)", name, called)
		}
		if _, err := os.Stat(c.file("a")); err == nil {
			t.Errorf("%s: the file is still there", name)
		}
		save(c, "a")
		if b, found := load(c, "a"); !found || !bytes.Equal(b, value("a")) {
			t.Errorf("%s: not found after it was saved again", name)
		}
	}
	// After the context ends nothing is found, but the file stays.
	ctx, cancel := context.WithCancel(context.Background())
	if c.Part(ctx, "").Load("a", func(r io.Reader) error {
		cancel()
		_, err := io.ReadAll(r)
		return err
	}) || c.Part(ctx, "").Load("a", func(io.Reader) error { return nil }) {
		t.Error("found after the context ended")
	}
	if _, found := load(c, "a"); !found {
		t.Error("gone after the context ended")
	}
	// The reader fails.
	if part(c).Load("a", func(io.Reader) error { return errors.New("unknown format") }) {
		t.Error("found, although the reader failed")
	}
	if _, found := load(c, "a"); found {
		t.Error("kept, although the reader failed")
	}
	if len(*notes) != 0 {
		t.Errorf("notes %q", *notes)
	}
}

func TestCacheWriteFails(t *testing.T) {
	s := prepared(t)
	c, notes := cached(t, s, 1)
	for range 2 {
		part(c).Save("a", 10, func(io.Writer) error { return errors.New("no luck") })
	}
	if _, found := load(c, "a"); found {
		t.Error("found")
	}
	if len(*notes) != 1 || !strings.Contains((*notes)[0], "no luck") {
		t.Errorf("notes %q", *notes)
	}
	if left := entries(s.work("tmp")); len(left) > 0 {
		t.Errorf("left behind %v", left)
	}
}

// On a full disk the cache makes room for records.
func TestCacheFullDisk(t *testing.T) {
	dir := t.TempDir()
	if runtime.GOOS != "linux" || exec.Command("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", dir).Run() != nil {
		t.Skip("SKIPPED: no small file system can be mounted here")
	}
	t.Log("RUN: a cache on a full disk")
	defer exec.Command("umount", "-l", dir).Run()
	s := Open(dir)
	if err := s.Prepare(); err != nil {
		t.Fatal(err)
	}
	var notes []string
	c := s.Cache(1<<20, func(text string) { notes = append(notes, text) })
	save(c, "a")
	part(c).Save("big", 200<<10, func(w io.Writer) error { _, err := w.Write(make([]byte, 200<<10)); return err })
	if len(notes) != 1 || !strings.Contains(notes[0], "the disk is full") {
		t.Errorf("notes %q", notes)
	}
	if left := entries(s.work("tmp")); len(left) > 0 {
		t.Errorf("left behind %v", left)
	}
	if _, found := load(c, "a"); !found {
		t.Error("an earlier value is lost")
	}
	part(c).Save("fits", 40<<10, func(w io.Writer) error { _, err := w.Write(make([]byte, 40<<10)); return err })
	if _, found := load(c, "fits"); !found {
		t.Fatal("there is more room than expected")
	}
	for seed := range uint64(2) {
		if _, err := s.Put(draft(seed), false); err != nil {
			t.Errorf("no room for a record: %v", err)
		}
	}

	// Prepare also makes room.
	save(c, "again")
	if err := os.WriteFile(filepath.Join(dir, "others"), make([]byte, 64<<10), 0o666); !full(err) {
		t.Fatalf("%v", err)
	}
	if err := s.Prepare(); err != nil {
		t.Errorf("the cache does not make room: %v", err)
	}
}

// Two processes save, load and remove each other's values at the same time. Here they are two stores,
// because a cache shares nothing but files.
func TestCacheOfTwoProcesses(t *testing.T) {
	s := prepared(t)
	var wg sync.WaitGroup
	var all []*[]string
	for range 2 {
		c, notes := cached(t, Open(s.Dir()), 4)
		all = append(all, notes)
		for worker := range 3 {
			wg.Go(func() {
				for i := range 40 {
					key := fmt.Sprint("k", (i*(worker+1))%7)
					if b, found := load(c, key); found && !bytes.Equal(b, value(key)) {
						t.Errorf("%s holds something else", key)
					}
					save(c, key)
				}
			})
		}
	}
	wg.Wait()
	for _, notes := range all {
		if runtime.GOOS != "windows" && len(*notes) > 0 { // open files cannot be replaced there
			t.Errorf("notes %q", *notes)
		}
	}
	if names, total := cacheFiles(t, s); len(names) == 0 || total > 4*1100 {
		t.Errorf("%d files with %d bytes", len(names), total)
	}
	if left := entries(s.work("tmp")); len(left) > 0 {
		t.Errorf("left behind %v", left)
	}
}
