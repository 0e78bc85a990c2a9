package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Several processes replace the same record.
func TestReplaceTogether(t *testing.T) {
	s := prepared(t)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for range 20 {
				if _, err := s.Put(draft(1), true); err != nil && !errors.Is(err, fs.ErrNotExist) { // another goroutine has moved it away
					t.Error(err)
				}
				Open(s.dir).Tidy()
			}
		})
	}
	wg.Wait()
	if key := draft(1).Result.Identity.Key(); !s.Has(key) || len(entries(s.work("tmp"))) > 0 {
		t.Errorf("the record is gone, or left behind are %v", entries(s.work("tmp")))
	}
}

// Tidy removes what a killed process left, but nothing of a live one.
func TestTidyLeftovers(t *testing.T) {
	s := prepared(t)
	dead, alive := draft(1).Result.Identity.Key(), draft(2).Result.Identity.Key()
	long := time.Now().Add(-2 * time.Hour)
	for _, key := range []string{dead, alive} {
		for _, name := range []string{key + "." + token(), key + ".ckpt." + token()} {
			file := filepath.Join(s.work("tmp"), name)
			err := os.MkdirAll(filepath.Join(file, "x"), 0o777)
			if key == dead {
				err = errors.Join(err, os.Chtimes(file, long, long))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	plant(t, s, dead, holder{Token: "t"}, 2*Stale)
	lock, err := s.Lock(alive)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	s.Tidy()
	if n := len(entries(s.work("tmp"))); n != 2 || len(entries(s.work("locks"))) != 1 {
		t.Errorf("left: %v, %v", entries(s.work("tmp")), entries(s.work("locks")))
	}
}

// Tidy removes only files of this program that are over an hour old, also if the folder work is a
// link.
func TestTidyOthers(t *testing.T) {
	hex := strings.Repeat("ab", 32)
	const long = 2 * time.Hour
	put := func(dir, name string, age time.Duration) {
		t.Helper()
		file := filepath.Join(dir, name)
		when := time.Now().Add(-age)
		if err := errors.Join(os.MkdirAll(dir, 0o777), os.WriteFile(file, []byte("x"), 0o666), os.Chtimes(file, when, when)); err != nil {
			t.Fatal(err)
		}
	}
	names := func(dir string) (list []string) {
		for _, e := range entries(dir) {
			list = append(list, e.Name())
		}
		return list
	}
	for _, linked := range []bool{false, true} {
		s := prepared(t)
		if linked {
			other := filepath.Join(t.TempDir(), "work")
			if err := os.Rename(s.work(""), other); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(other, s.work("")); err != nil {
				t.Skip("SKIPPED: no links here")
			}
		}
		tmp, cache := s.work("tmp"), filepath.Join(s.work("cache"), "ab")
		for _, name := range []string{"probe." + token(), "data." + token(), cacheTmp + hex + "." + token()} {
			put(tmp, name, long)
		}
		young := "data." + token()
		put(tmp, young, time.Minute)
		theirs := []string{"data.csv", "cache.old", hex, "thesis.tex", "probe.notes"}
		for _, name := range theirs {
			put(tmp, name, long)
		}
		put(cache, hex, long)
		put(cache, "a.tex", long)
		s.Tidy()
		if got, want := names(tmp), slices.Sorted(slices.Values(append(theirs, young))); !slices.Equal(got, want) {
			t.Errorf("linked %v: left %q, want %q", linked, got, want)
		}
		s.Cache(0, nil).Trim()
		if got := names(cache); !slices.Equal(got, []string{"a.tex"}) {
			t.Errorf("linked %v: the cache holds %q", linked, got)
		}
	}
}
