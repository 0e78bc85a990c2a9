package store

import (
	"os"
	"path/filepath"
	"strings"
)

// oldSuffix ends the name of a record that is being replaced, out of its place.
const oldSuffix = ".old"

// Recover puts records back that a process took out of their place to replace them,
// and was killed before it could. Whoever reads records calls it first; where
// nothing can be written, it does nothing.
func (s *Store) Recover() {
	olds, err := filepath.Glob(filepath.Join(s.work("tmp"), "*"+oldSuffix))
	if err != nil {
		return
	}
	for _, old := range olds {
		key, _, ok := strings.Cut(filepath.Base(old), ".")
		if !ok || len(key) != 64 || !isHex(key) {
			continue
		}
		// Whoever replaces a record holds its lock.
		lock, err := s.Lock(key)
		if err != nil {
			continue
		}
		s.putBack(key, old)
		lock.Unlock()
	}
}

// putBack puts a record back if nothing is in its place, and else removes it: what
// was to follow it did.
func (s *Store) putBack(key, old string) {
	dir := s.run(key)
	_, isRecord := os.Stat(filepath.Join(old, "result.json"))
	if _, err := os.Lstat(dir); err != nil && isRecord == nil {
		if os.Rename(old, dir) != nil {
			return
		}
		syncDir(filepath.Dir(dir)) // if it cannot be, the next start finds it here or there
	}
	os.RemoveAll(old)
	os.RemoveAll(strings.TrimSuffix(old, oldSuffix)) // what was to take its place
}
