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

func TestTidy(t *testing.T) {
	s := prepared(t)
	take := func(dir, key string) {
		t.Helper()
		if err := os.Rename(dir, filepath.Join(s.work("tmp"), key+"."+token()+oldSuffix)); err != nil {
			t.Fatal(err)
		}
	}
	record, err := s.Put(draft(1), false)
	if err != nil {
		t.Fatal(err)
	}
	key := record.Result.Key
	take(record.Dir, key)
	if s.Tidy(); !s.Has(key) {
		t.Error("the record is not restored")
	}
	// If its place is taken, the old record is removed.
	take(record.Dir, key)
	if _, err := s.Put(draft(1), false); err != nil {
		t.Fatal(err)
	}
	s.Tidy()
	if !s.Has(key) {
		t.Error("the record is gone")
	}
	// A failure is not restored as a record.
	d := draft(2)
	if err := s.Fail(Failure{Identity: d.Result.Identity}); err != nil {
		t.Fatal(err)
	}
	take(s.failed(d.Result.Identity.Key()), d.Result.Identity.Key())
	s.Tidy()
	if _, err := os.Stat(s.run(d.Result.Identity.Key())); err == nil {
		t.Error("a failure is in the place of a record")
	}
	if left := entries(s.work("tmp")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	Open(filepath.Join(t.TempDir(), "none")).Tidy() // nothing to do
}

// Several processes replace and restore the same record.
func TestTidyWhileReplacing(t *testing.T) {
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
	s.Tidy()
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

// Tidy removes only files of this program that are over an hour old, and nothing behind a link.
func TestTidyOthers(t *testing.T) {
	s := prepared(t)
	tmp, cache := s.work("tmp"), filepath.Join(s.work("cache"), "ab")
	hex := strings.Repeat("ab", 32)
	long := 2 * time.Hour
	put := func(dir, name string, age time.Duration) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("x"), 0o666); err != nil {
			t.Fatal(err)
		}
		when := time.Now().Add(-age)
		if err := os.Chtimes(file, when, when); err != nil {
			t.Fatal(err)
		}
	}
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
	names := func(dir string) (list []string) {
		for _, e := range entries(dir) {
			list = append(list, e.Name())
		}
		return list
	}
	s.Tidy()
	if got, want := names(tmp), slices.Sorted(slices.Values(append(theirs, young))); !slices.Equal(got, want) {
		t.Errorf("left %q, want %q", got, want)
	}
	s.Cache(0, nil).Trim()
	if got := names(cache); !slices.Equal(got, []string{"a.tex"}) {
		t.Errorf("the cache holds %q", got)
	}
	// The same names in a foreign folder.
	for _, part := range []string{"tmp", "cache", ""} {
		s := prepared(t)
		other := t.TempDir()
		put(filepath.Join(other, "ab"), hex, long)
		put(filepath.Join(other, "cache", "ab"), hex, long)
		put(other, "probe."+token(), long)
		put(filepath.Join(other, "tmp"), "probe."+token(), long)
		want := len(files(t, other))
		if part != "tmp" {
			want-- // a cache keeps to its budget also behind a link
		}
		if err := os.RemoveAll(s.work(part)); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(other, s.work(part)); err != nil {
			t.Skip("SKIPPED: no links here")
		}
		s.Tidy()
		s.Cache(0, nil).Trim()
		if s.dropCache(); len(files(t, other)) != want {
			t.Errorf("work/%s is a link, and only %v is left behind it", part, files(t, other))
		}
		// The store still works there.
		if err := s.Prepare(); err != nil {
			t.Fatal(err)
		}
		c, _ := cached(t, s, 3)
		save(c, "a")
		if _, found := load(c, "a"); !found {
			t.Errorf("work/%s is a link, and the cache is broken", part)
		}
		r, err := s.Put(draft(1), false)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(r.Dir, filepath.Join(s.work("tmp"), r.Result.Key+"."+token()+oldSuffix)); err != nil {
			t.Fatal(err)
		}
		if s.Tidy(); !s.Has(r.Result.Key) {
			t.Errorf("work/%s is a link, and a record that was moved away is lost", part)
		}
	}
}

// files lists all files under a folder.
func files(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
