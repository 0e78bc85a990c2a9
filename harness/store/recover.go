package store

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// oldSuffix ends the name of a record that was moved away to be replaced.
const oldSuffix = ".old"

// tmpName matches the names that this program uses in work/tmp: of probes, data.json, cache files,
// and records and checkpoints by their key.
var tmpName = regexp.MustCompile(`^(?:(?:probe|data|cache\.[0-9a-f]{64})|([0-9a-f]{64})(?:\.ckpt)?)\.[A-Z2-7]{26}(?:\.old)?$`)

// Tidy cleans up after killed processes. It restores records that were moved away to be replaced,
// and removes half-written files and old locks. It ignores names that this program does not use,
// and does nothing in a read-only folder. Behind links, which may lead to foreign folders, it
// only puts back or removes records that were being replaced.
func (s *Store) Tidy() {
	var left []string
	for _, e := range entries(s.work("tmp")) {
		name, file := tmpName.FindStringSubmatch(e.Name()), filepath.Join(s.work("tmp"), e.Name())
		switch {
		case name == nil:
		case name[1] != "" && strings.HasSuffix(file, oldSuffix):
			s.putBack(name[1], file) // a process that is replacing it moves it away again
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

// linked reports whether the folder work, or a part of it, is a link.
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

// putBack restores a record if its place is free. Otherwise its replacement is complete, and
// putBack discards it.
func (s *Store) putBack(key, old string) {
	dir := s.run(key)
	_, isRecord := os.Stat(filepath.Join(old, "result.json"))
	if _, err := os.Lstat(dir); err != nil && isRecord == nil {
		if os.Rename(old, dir) == nil {
			syncDir(filepath.Dir(dir)) // after a failure, the next start finds the record in one of both places
		}
		return
	}
	s.discard(old)
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

// Aside returns the folder of damaged and older records that were computed again.
func (s *Store) Aside() string { return s.work("damaged") }
