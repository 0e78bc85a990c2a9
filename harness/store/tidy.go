package store

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// tmpName matches the names that this program uses in work/tmp: of probes, data.json, cache files,
// and records and checkpoints by their key.
var tmpName = regexp.MustCompile(`^(?:probe|data|cache\.[0-9a-f]{64}|[0-9a-f]{64}(?:\.ckpt)?)\.[A-Z2-7]{26}$`)

// Tidy cleans up after killed processes: it removes half-written files and old locks. It ignores
// names that this program does not use, and does nothing in a read-only folder.
func (s *Store) Tidy() {
	var left []string
	for _, e := range entries(s.work("tmp")) {
		if tmpName.MatchString(e.Name()) {
			left = append(left, filepath.Join(s.work("tmp"), e.Name()))
		}
	}
	DropOld(s.probe(), left)
	locks := entries(s.work("locks"))
	fresh := s.Locked()
	for _, e := range locks {
		if key, ok := strings.CutSuffix(e.Name(), ".lock"); ok && isKey(key) && !fresh[key] {
			os.Remove(s.lockFile(key))
		}
	}
}

// DropOld removes files and folders that were not changed for an hour. It creates and removes a
// file named probe to read the clock of the file system.
func DropOld(probe string, names []string) {
	if len(names) == 0 {
		return
	}
	now, err := now(probe)
	for _, name := range names {
		info, errOld := os.Lstat(name)
		if err == nil && errOld == nil && now.Sub(info.ModTime()) > time.Hour {
			os.RemoveAll(name)
		}
	}
}

// entries lists a folder, or nothing if it cannot be read.
func entries(dir string) []os.DirEntry {
	list, _ := os.ReadDir(dir)
	return list
}

// discard removes a replaced record or failure. It keeps a damaged record in Aside, because
// somebody may still need its files.
func (s *Store) discard(old string) {
	key, _, _ := strings.Cut(filepath.Base(old), ".")
	r := &Record{Dir: old}
	err := r.read(key)
	if err == nil {
		err = r.Verify()
	}
	_, noFailure := os.Stat(filepath.Join(old, "failure.json"))
	if err != nil && noFailure != nil && os.MkdirAll(s.Aside(), 0o777) == nil {
		if os.Rename(old, filepath.Join(s.Aside(), key+"."+token())) == nil {
			return
		}
	}
	os.RemoveAll(old)
}

// Aside returns the folder of damaged records that were computed again.
func (s *Store) Aside() string { return s.work("damaged") }
