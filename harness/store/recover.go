package store

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// oldSuffix ends the name of a record that is being replaced, out of its place.
const oldSuffix = ".old"

// tidy puts right what killed processes left behind: records that were out of their
// place to be replaced, half-written files, and locks. Where nothing can be written,
// it does nothing.
func (s *Store) tidy() {
	left := map[string][]string{} // by the run they belong to
	for _, e := range entries(s.work("tmp")) {
		key, _, _ := strings.Cut(e.Name(), ".")
		if isKey(key) {
			left[key] = append(left[key], filepath.Join(s.work("tmp"), e.Name()))
		} else if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > time.Hour {
			// Nobody is harmed who still writes it: these are of the cache, or probes.
			os.RemoveAll(filepath.Join(s.work("tmp"), e.Name()))
		}
	}
	for _, e := range entries(s.work("locks")) {
		if key, ok := strings.CutSuffix(e.Name(), ".lock"); ok && isKey(key) {
			left[key] = append(left[key], "")
		}
	}
	for key, names := range left {
		lock, err := s.Lock(key) // whoever writes for a run holds its lock
		if err != nil {
			continue
		}
		for _, name := range names {
			if strings.HasSuffix(name, oldSuffix) {
				s.putBack(key, name)
			} else if name != "" {
				os.RemoveAll(name)
			}
		}
		lock.Unlock()
	}
}

// entries lists a folder, or nothing if it cannot be read.
func entries(dir string) []os.DirEntry {
	list, _ := os.ReadDir(dir)
	return list
}

// putBack puts a record back if nothing is in its place, and else removes it: what
// was to follow it did.
func (s *Store) putBack(key, old string) {
	dir := s.run(key)
	_, isRecord := os.Stat(filepath.Join(old, "result.json"))
	if _, err := os.Lstat(dir); err != nil && isRecord == nil {
		if os.Rename(old, dir) == nil {
			syncDir(filepath.Dir(dir)) // if it cannot be, the next start finds it here or there
		}
		return
	}
	s.discard(old)
}

// discard removes what was replaced, a record or a failure, but keeps a record that is
// damaged: something in it may still be wanted.
func (s *Store) discard(old string) {
	key, _, _ := strings.Cut(filepath.Base(old), ".")
	b, err := os.ReadFile(filepath.Join(old, "result.json"))
	if err == nil {
		err = (&Record{Dir: old}).read(key, b)
	}
	_, noFailure := os.Stat(filepath.Join(old, "failure.json"))
	if err != nil && noFailure != nil && os.MkdirAll(s.Aside(), 0o777) == nil {
		if os.Rename(old, filepath.Join(s.Aside(), key+"."+token())) == nil {
			return
		}
	}
	os.RemoveAll(old)
}

// Aside is where damaged records are kept that were made again.
func (s *Store) Aside() string { return s.work("damaged") }
