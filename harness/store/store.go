// Package store keeps the records of runs in a folder.
//
//	runs/<2 hex>/<key>/    result.json provenance.json trace.csv
//	                       distilled.npz preview.png SHA256SUMS
//	failed/<2 hex>/<key>/  failure.json
//	data.json              descriptions of the datasets that runs used
//	work/                  locks, checkpoints, unfinished files, the cache and
//	                       damaged records; never committed
//
// A record is written under work/, synced, and renamed into place, so it is never incomplete.
// Its key is the SHA-256 of everything that the result depends on. A record therefore never
// becomes stale: other settings have another key.
//
// Guarantee: for one key, result.json always has the same bytes, and so do the lines of
// trace.csv that two records have in common.
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
	"syscall"
	"time"

	"dgkip/harness/experiment"
)

// Store is a folder of records. Several goroutines may use a Store, and several processes the same
// folder.
type Store struct {
	dir   string
	also  []*Store // other folders, only read
	token string   // written into its locks

	listed *listing // nil unless this is a snapshot
}

// Open returns the store in a folder, which need not exist. Open does not write. If a record or
// dataset is missing, the store looks in the other folders, which it never changes.
func Open(dir string, others ...string) *Store {
	s := &Store{dir: dir, token: token()}
	for _, other := range others {
		s.also = append(s.also, Open(other))
	}
	return s
}

// Dir returns the folder of the store.
func (s *Store) Dir() string { return s.dir }

func (s *Store) run(key string) string    { return filepath.Join(s.dir, "runs", key[:2], key) }
func (s *Store) failed(key string) string { return filepath.Join(s.dir, "failed", key[:2], key) }
func (s *Store) work(part string) string  { return filepath.Join(s.dir, "work", part) }

// Prepare creates the folders. It returns an error if they cannot be written to, so that no result
// is lost later.
func (s *Store) Prepare() error {
	for _, part := range []string{"locks", "tmp", "checkpoints"} {
		if err := os.MkdirAll(s.work(part), 0o777); err != nil {
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

// full reports whether an error means that the disk or a quota is full.
func full(err error) bool {
	if runtime.GOOS == "windows" {
		const handleDiskFull, diskFull = syscall.Errno(39), syscall.Errno(112)
		return errors.Is(err, handleDiskFull) || errors.Is(err, diskFull)
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// ErrStorage is wrapped by errors of the folder itself. The run is not to blame, and the program
// must stop.
var ErrStorage = errors.New("cannot write results")

// explain wraps an error of the file system in ErrStorage, with a hint.
func (s *Store) explain(err error) error {
	if err == nil || errors.Is(err, ErrStorage) {
		return err
	}
	hint := ""
	switch {
	case errors.Is(err, errNewer): // with its own hint
		return fmt.Errorf("%w to %s: %w", ErrStorage, s.dir, err)
	case full(err):
		hint = "the disk is full or the quota is used up; recorded results are safe: free some space, or choose another folder with -out, and run the same command again"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		hint = "the folder cannot be written to; choose another with -out, or change its permissions"
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EEXIST):
		hint = "there is a file where the folder should be; choose another folder with -out"
	default:
		hint = "recorded results are safe; fix the cause and run the same command again, or choose another folder with -out"
	}
	return fmt.Errorf("%w to %s: %w\nhint: %s", ErrStorage, s.dir, err, hint)
}

func token() string { return rand.Text() }

// probe returns a new name for a temporary file.
func (s *Store) probe() string { return filepath.Join(s.work("tmp"), "probe."+token()) }

// Keys returns the keys of all records, sorted.
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

// below lists the entries of the subfolders with two-letter names. It returns nothing if the folder
// does not exist.
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

// Put writes a record, and removes the failure of its run. An existing record stays unless it is
// damaged or replace is set.
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
	r, err := s.Get(key)
	return r, s.explain(err)
}

// files returns the files of the record by name.
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
	files["result.json"] = indented(r)
	files["provenance.json"] = indented(d.Provenance)
	files[sumsFile] = sums(files)
	return files, nil
}

// indented returns canonical JSON with indentation.
func indented(v any) []byte {
	var b bytes.Buffer
	if err := json.Indent(&b, experiment.Canonical(v), "", "  "); err != nil {
		panic("store: canonical JSON cannot be indented")
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// place creates a folder with files in one rename. With replace, an existing folder is moved away
// first; see Tidy. Other processes may place the same folder at the same time.
func (s *Store) place(files map[string][]byte, dir string, replace bool) error {
	name := func() string { return filepath.Join(s.work("tmp"), filepath.Base(dir)+"."+token()) }
	tmp := name()
	defer os.RemoveAll(tmp)
	err := s.roomFor(func() error { return writeAll(tmp, files) })
	if err != nil {
		return err
	}
	parent := filepath.Dir(dir)
	_, err = os.Stat(parent)
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return err
	}
	if err != nil { // the folder is new, and for a first record so is the one above
		if err := errors.Join(syncDir(filepath.Dir(parent)), syncDir(s.dir)); err != nil {
			return err
		}
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
				s.discard(old) // otherwise Tidy discards it or puts it back
			}
			return err
		}
		if there {
			os.Rename(old, dir) // fails if another process has placed the folder
		}
		if _, other := os.Lstat(dir); other != nil || there && try > 3 {
			return err
		}
	}
}

// writeAll writes files to a new folder.
func writeAll(dir string, files map[string][]byte) error {
	if err := os.RemoveAll(dir); err != nil { // from an earlier attempt
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

// roomFor calls write. If the disk is full, it empties the cache and tries once more.
func (s *Store) roomFor(write func() error) error {
	err := write()
	if full(err) && s.dropCache() {
		err = write()
	}
	return err
}

// writeFile writes a new file and syncs it.
func writeFile(name string, b []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		os.Remove(name) // frees space, and allows another attempt
	}
	return err
}

// replace writes a file and renames it over an existing one. The name of the temporary file begins
// with part.
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

// syncDir syncs the entries of a folder, if the system can.
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

// Fail records a failure and replaces an earlier one.
func (s *Store) Fail(f Failure) error {
	f.Schema, f.Key = RecordSchema, f.Identity.Key()
	return s.explain(s.place(map[string][]byte{"failure.json": indented(f)}, s.failed(f.Key), true))
}

// Before reports whether the run failed before t; false if t is zero. A failure dated over an hour
// ahead, by a wrong clock, counts as earlier.
func (f *Failure) Before(t time.Time) bool {
	return f.When.Before(t) || !t.IsZero() && f.When.After(time.Now().Add(time.Hour))
}

// Failed returns the failure of a run, or nil if there is none.
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

// ClearFailed deletes the failure of a run.
func (s *Store) ClearFailed(key string) { os.RemoveAll(s.failed(key)) }

// FailureFile returns the path of the failure of a run.
func (s *Store) FailureFile(key string) string { return filepath.Join(s.failed(key), "failure.json") }
