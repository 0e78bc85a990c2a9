package store

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// oldSuffix ends the name of a record that is being replaced, out of its place.
const oldSuffix = ".old"

// tmpName matches the names that this program gives in work/tmp: of probes, data.json and the
// cache, or behind a key.
var tmpName = regexp.MustCompile(`^(?:(?:probe|data|cache\.[0-9a-f]{64})|([0-9a-f]{64})(?:\.ckpt)?)\.[A-Z2-7]{26}(?:\.old)?$`)

// Tidy puts right what killed processes left behind: records that were out of their
// place to be replaced, half-written files, and locks. It touches nothing but names of
// this program, and where nothing can be written it does nothing. Behind links, which may lead
// to anybody's folder, it does no more than put records right.
func (s *Store) Tidy() {
	var left []string
	for _, e := range entries(s.work("tmp")) {
		name, file := tmpName.FindStringSubmatch(e.Name()), filepath.Join(s.work("tmp"), e.Name())
		switch {
		case name == nil:
		case name[1] != "" && strings.HasSuffix(file, oldSuffix):
			s.putBack(name[1], file) // whoever is replacing it takes it out once more
		case !s.linked("tmp"):
			left = append(left, file)
		}
	}
	DropOld(s.probe(), left)
	if s.linked("locks") {
		return
	}
	locks := entries(s.work("locks"))
	fresh := s.Locked()
	for _, e := range locks {
		if key, ok := strings.CutSuffix(e.Name(), ".lock"); ok && isKey(key) && !fresh[key] {
			os.Remove(s.lockFile(key))
		}
	}
}

// DropOld removes those files and folders that nobody has written to for an hour, by the clock
// that dates a file named probe, which it makes for that.
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

// linked reports whether work, or a folder in it, is a link.
func (s *Store) linked(part string) bool {
	for _, dir := range []string{s.work(""), s.work(part)} {
		if info, err := os.Lstat(dir); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return true
		}
	}
	return false
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
	r := &Record{Dir: old}
	b, err := readFile(filepath.Join(old, "result.json"))
	if err == nil {
		err = r.read(key, b)
	}
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

// Aside is where damaged records are kept that were made again.
func (s *Store) Aside() string { return s.work("damaged") }
