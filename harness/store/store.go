// Package store keeps the records of runs in a folder.
//
//	runs/<2 hex>/<key>/    result.json provenance.json trace.csv timing.csv
//	                       distilled.npz preview.png SHA256SUMS
//	failed/<2 hex>/<key>/  failure.json
//	data.json              what is known of the datasets that runs were made of
//	work/                  locks, checkpoints, half-written files and the cache; never
//	                       to keep
//
// A record is written under work/, synced, and renamed into place as a whole: it
// is there or it is not. Its key is the SHA-256 of what its result depends on, so
// a record never becomes stale; a change of settings makes another one.
//
// Guarantee: result.json is the same bytes for the same key, and so are the lines
// of trace.csv that two records have in common.
package store

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"

	"dgkip/harness/experiment"
)

// Store is a folder of records. It may be used by several goroutines, and the
// folder by several processes.
type Store struct {
	dir   string
	also  []*Store // which are only read
	token string   // in its locks

	listed *listing // of a snapshot
}

// Open returns the store in a folder, which need not exist yet. It changes nothing there.
// Records and datasets of others count as its own where it has none; nothing is ever written
// to these.
func Open(dir string, others ...string) *Store {
	s := &Store{dir: dir, token: token()}
	for _, other := range others {
		s.also = append(s.also, Open(other))
	}
	return s
}

// Dir is the store's folder.
func (s *Store) Dir() string { return s.dir }

func (s *Store) run(key string) string    { return filepath.Join(s.dir, "runs", key[:2], key) }
func (s *Store) failed(key string) string { return filepath.Join(s.dir, "failed", key[:2], key) }
func (s *Store) work(part string) string  { return filepath.Join(s.dir, "work", part) }

// Prepare makes the folders, and finds out whether they can be written to before
// anything is computed.
func (s *Store) Prepare() error {
	for _, part := range []string{"locks", "tmp", "checkpoints"} {
		if err := s.makeDir(s.work(part)); err != nil {
			return s.explain(err)
		}
	}
	ignore := s.work(".gitignore")
	if _, err := os.Stat(ignore); err != nil {
		if err := os.WriteFile(ignore, []byte("*\n"), 0o666); err != nil {
			return s.explain(err)
		}
	}
	probe := s.probe()
	err := s.roomFor(func() error { return writeFile(probe, []byte("x")) })
	os.Remove(probe)
	return s.explain(err)
}

// full reports whether an error says that there is no room left.
func full(err error) bool {
	if runtime.GOOS == "windows" {
		const handleDiskFull, diskFull = syscall.Errno(39), syscall.Errno(112)
		return errors.Is(err, handleDiskFull) || errors.Is(err, diskFull)
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// ErrStorage is wrapped by errors of the folder itself: not a run's fault, and no
// reason to go on.
var ErrStorage = errors.New("cannot write results")

// explain says what an error of the file system means and what to do about it.
func (s *Store) explain(err error) error {
	if err == nil || errors.Is(err, ErrStorage) {
		return err
	}
	hint := ""
	switch {
	case full(err):
		hint = "the disk is full, or a quota used up; what was recorded is safe: free some space, or choose another folder with -out, and run the same command again"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		hint = "the folder cannot be written to; choose another with -out, or change its permissions"
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EEXIST):
		hint = "there is a file where the folder should be; choose another folder with -out"
	default:
		hint = "what was recorded is safe; run the same command again when the cause is gone, or choose another folder with -out"
	}
	return fmt.Errorf("%w to %s: %w\nhint: %s", ErrStorage, s.dir, err, hint)
}

func token() string { return rand.Text() }

// probe names a file that is there for a moment, to find something out.
func (s *Store) probe() string { return filepath.Join(s.work("tmp"), "probe."+token()) }

// Keys lists the records in the order of their keys.
func (s *Store) Keys() ([]string, error) {
	var keys []string
	for _, one := range append([]*Store{s}, s.also...) {
		names, err := below(filepath.Join(one.dir, "runs"))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if key := filepath.Base(name); isKey(key) {
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys), nil
}

func isKey(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == 2*sha256.Size
}

// below lists what lies in the folders with two letters in a folder, nothing if
// there is no such folder.
func below(dir string) (names []string, err error) {
	parts, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, part := range parts {
		if len(part.Name()) != 2 || !part.IsDir() {
			continue
		}
		entries, readErr := os.ReadDir(filepath.Join(dir, part.Name()))
		err = errors.Join(err, readErr)
		for _, e := range entries {
			names = append(names, filepath.Join(dir, part.Name(), e.Name()))
		}
	}
	return names, err
}

// Put writes a record and removes what led to it: checkpoint and failure. With
// replace it takes the place of a record there is; otherwise that one stays.
func (s *Store) Put(d Draft, replace bool) (*Record, error) {
	files, err := d.files()
	if err != nil {
		return nil, err
	}
	key := d.Result.Identity.Key()
	if s.Damaged(key) != nil {
		replace = true
	}
	if err := s.place(files, s.run(key), replace); err != nil {
		return nil, s.explain(err)
	}
	s.ClearFailed(key)
	s.DropCheckpoint(key)
	record, err := s.Get(key)
	if unreadable := new(fs.PathError); errors.As(err, &unreadable) {
		err = s.explain(err) // what was just written
	}
	return record, err
}

// files returns what a record's folder holds, by name.
func (d Draft) files() (map[string][]byte, error) {
	r := d.Result
	r.Schema, r.Key = RecordSchema, r.Identity.Key()
	r.Digests = map[string]string{}
	files := map[string][]byte{}
	if !d.Set.Whole {
		r.Images = d.Set.Len()
		set, digest, err := encodeSet(d.Set, r.Identity)
		if err != nil {
			return nil, err
		}
		files[SetFile], r.Digests["distilled"] = set, digest
		if png, ok := preview(d.Set); ok {
			files["preview.png"] = png
		}
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	d.Provenance.Schema, d.Provenance.Key = RecordSchema, r.Key
	files["trace.csv"] = d.Trace.CSV()
	files["timing.csv"] = timingCSV(d.Timing)
	files["result.json"] = indented(r)
	files["provenance.json"] = indented(d.Provenance)
	files[sumsFile] = sums(files)
	return files, nil
}

// indented returns canonical JSON with line breaks.
func indented(v any) []byte {
	var b bytes.Buffer
	if err := json.Indent(&b, experiment.Canonical(v), "", "  "); err != nil {
		panic("store: canonical JSON cannot be indented")
	}
	b.WriteByte('\n')
	return b.Bytes()
}

func timingCSV(rows []TimingRow) []byte {
	var b bytes.Buffer
	b.WriteString("from,to,seconds_per_update\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "%d,%d,%s\n", r.From, r.To, strconv.FormatFloat(r.Seconds, 'g', 6, 64))
	}
	return b.Bytes()
}

// place writes files to a folder that appears at once with all of them. One that is
// replaced is out of its place for a moment; see Tidy. Other processes may do the same at that
// moment.
func (s *Store) place(files map[string][]byte, dir string, replace bool) error {
	name := func() string { return filepath.Join(s.work("tmp"), filepath.Base(dir)+"."+token()) }
	tmp := name()
	defer os.RemoveAll(tmp)
	err := s.roomFor(func() error { return writeAll(tmp, files) })
	if err != nil {
		return err
	}
	if err := s.makeDir(filepath.Dir(dir)); err != nil {
		return err
	}
	for try := 0; ; try++ {
		old, there := name()+oldSuffix, false
		if _, err := os.Lstat(dir); err == nil {
			if !replace {
				return nil
			}
			if err := os.Rename(dir, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			there = true
		}
		err := os.Rename(tmp, dir)
		if err == nil {
			if err = syncDir(filepath.Dir(dir)); err == nil && there {
				s.discard(old) // else Tidy does, or puts it back
			}
			return err
		}
		if there {
			os.Rename(old, dir) // which fails if there is another by now
		}
		if _, other := os.Lstat(dir); other != nil || there && try > 3 {
			return err
		}
	}
}

// writeAll writes files to a folder, which it makes.
func writeAll(dir string, files map[string][]byte) error {
	if err := os.RemoveAll(dir); err != nil { // of a first try
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for name, b := range files {
		if err := writeFile(filepath.Join(dir, name), b); err != nil {
			return err
		}
	}
	return syncDir(dir)
}

// roomFor does what writes to the folder, once more without the cache if the disk
// is full: it must not cost a record.
func (s *Store) roomFor(write func() error) error {
	err := write()
	if full(err) && s.dropCache() {
		err = write()
	}
	return err
}

// makeDir makes a folder of the store and those above it, each of them durable, for
// a record is lost with any of them.
func (s *Store) makeDir(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for top := filepath.Clean(s.dir); dir != top && dir != filepath.Dir(dir); {
		dir = filepath.Dir(dir)
		if err := syncDir(dir); err != nil {
			return err
		}
	}
	syncDir(filepath.Dir(dir)) // not ours: it may be one that cannot be read
	return nil
}

// writeFile writes and syncs.
func writeFile(name string, b []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		os.Remove(name) // which may make room, and lets it be tried again
	}
	return err
}

// replace puts a file in the place of an earlier one, which stays whole until the
// new one is. The name of what is written meanwhile begins with part.
func (s *Store) replace(name, part string, b []byte) error {
	tmp := filepath.Join(s.work("tmp"), part+"."+token())
	write := func() error {
		if err := writeFile(tmp, b); err != nil {
			return err
		}
		err := os.Rename(tmp, name)
		if err != nil {
			os.Remove(tmp)
		}
		return err
	}
	return s.roomFor(write)
}

// syncDir makes a folder's entries durable, where the system can do that.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// Fail records a failure in place of an earlier one.
func (s *Store) Fail(f Failure) error {
	f.Schema, f.Key = RecordSchema, f.Identity.Key()
	return s.explain(s.place(map[string][]byte{"failure.json": indented(f)}, s.failed(f.Key), true))
}

// Before reports whether a run failed before a time, none before the zero one. A failure
// dated hours ahead, by a clock that was wrong, counts as earlier; clocks of machines that
// share a folder are not as far apart.
func (f *Failure) Before(t time.Time) bool {
	return f.When.Before(t) || !t.IsZero() && f.When.After(time.Now().Add(time.Hour))
}

// Failed returns the failure of a run, nil if there is none.
func (s *Store) Failed(key string) *Failure {
	if s.none(s.failed(key)) {
		return nil
	}
	f := new(Failure)
	b, err := readFile(s.FailureFile(key))
	if err != nil || json.Unmarshal(b, f) != nil {
		return nil
	}
	return f
}

// ClearFailed forgets a failure.
func (s *Store) ClearFailed(key string) { os.RemoveAll(s.failed(key)) }

// FailureFile is where the failure of a run is recorded.
func (s *Store) FailureFile(key string) string { return filepath.Join(s.failed(key), "failure.json") }
