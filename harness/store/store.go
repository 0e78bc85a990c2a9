// Package store keeps the records of runs in a folder.
//
//	runs/<2 hex>/<key>/    result.json provenance.json trace.csv timing.csv
//	                       distilled.npz preview.png
//	failed/<2 hex>/<key>/  failure.json
//	work/                  locks, checkpoints, half-written files and the cache;
//	                       never to keep
//
// A record is written under work/, synced, and renamed into place as a whole: it
// is there or it is not. Its key is the SHA-256 of what its result depends on, so
// a record never becomes stale; a change of settings makes another one.
//
// Guarantee: result.json and trace.csv are the same bytes for the same result.
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
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"dgkip/harness/spec"
)

// Store is a folder of records. It may be used by several goroutines, and the
// folder by several processes.
type Store struct{ dir string }

// Open returns the store in a folder, which need not exist yet.
func Open(dir string) *Store { return &Store{dir} }

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
	s.Recover()
	s.sweep()
	probe := filepath.Join(s.work("tmp"), "probe."+token())
	err := writeFile(probe, []byte("x"))
	os.Remove(probe)
	if err != nil {
		return s.explain(err)
	}
	return nil
}

// sweep removes what killed processes left half-written. What is younger than a day
// may be another process's work; of the cache's files, which are large, an hour
// without a change is enough, for their writer can do without them.
func (s *Store) sweep() {
	left, _ := os.ReadDir(s.work("tmp"))
	for _, e := range left {
		age := 24 * time.Hour
		if strings.HasPrefix(e.Name(), cacheTmp) {
			age = time.Hour
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > age {
			os.RemoveAll(filepath.Join(s.work("tmp"), e.Name()))
		}
	}
}

// ErrStorage is wrapped by errors of the folder itself: not a run's fault, and no
// reason to go on.
var ErrStorage = errors.New("cannot write results")

// explain says what an error of the file system means and how to mend it.
func (s *Store) explain(err error) error {
	if err == nil || errors.Is(err, ErrStorage) {
		return err
	}
	hint := ""
	switch {
	case errors.Is(err, syscall.ENOSPC):
		hint = "the disk is full; what was recorded is safe: free some space, or choose another folder with -out, and run the same command again"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		hint = "the folder cannot be written to; choose another with -out, or change its permissions"
	default:
		hint = "what was recorded is safe; run the same command again when the cause is gone"
	}
	return fmt.Errorf("%w to %s: %w\nhint: %s", ErrStorage, s.dir, err, hint)
}

func token() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// Has tells whether there is a record.
//
// What cannot be read is none; Damaged tells about it.
func (s *Store) Has(key string) bool {
	_, err := s.Get(key)
	return err == nil || errors.Is(err, errSchema)
}

// errSchema marks the record of another version of this program.
var errSchema = errors.New("record of another version")

// Get reads a record.
func (s *Store) Get(key string) (*Record, error) {
	r := &Record{Dir: s.run(key)}
	if err := readJSON(filepath.Join(r.Dir, "result.json"), &r.Result); err != nil {
		return nil, err
	}
	if err := readJSON(filepath.Join(r.Dir, "provenance.json"), &r.Provenance); err != nil {
		return nil, err
	}
	if r.Result.Schema != RecordSchema {
		return nil, fmt.Errorf("%w: %s: schema %d is not read by this program, which knows %d", errSchema, r.Dir, r.Result.Schema, RecordSchema)
	}
	if r.Result.Key != key || r.Result.Identity.Key() != key {
		return nil, fmt.Errorf("%s: the record belongs to another key; was it renamed or edited?\nhint: a run of its experiment without -collect makes it again", r.Dir)
	}
	if err := r.Result.consistent(); err != nil {
		return nil, fmt.Errorf("%s: %w; was it edited?\nhint: a run of its experiment without -collect makes it again", r.Dir, err)
	}
	return r, nil
}

// Keys lists the records in the order of their keys.
func (s *Store) Keys() ([]string, error) { return s.keys("runs") }

// FailedKeys lists the failures in the order of their keys.
func (s *Store) FailedKeys() ([]string, error) { return s.keys("failed") }

func (s *Store) keys(part string) ([]string, error) {
	dirs, err := filepath.Glob(filepath.Join(s.dir, part, "??", "*"))
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, d := range dirs {
		if k := filepath.Base(d); len(k) == 64 && isHex(k) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys, nil
}

func isHex(s string) bool { _, err := hex.DecodeString(s); return err == nil }

func readJSON(file string, v any) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w\nhint: a run of its experiment without -collect makes it again", file, err)
	}
	return nil
}

// Bytes returns result.json as it stands in the folder.
func (r *Record) Bytes() ([]byte, error) { return os.ReadFile(filepath.Join(r.Dir, "result.json")) }

// Preview is the path of the picture of the distilled set. It may not exist.
func (r *Record) Preview() string { return filepath.Join(r.Dir, "preview.png") }

// Distilled is the path of the distilled set. It may not exist.
func (r *Record) Distilled() string { return filepath.Join(r.Dir, "distilled.npz") }

// Trace reads trace.csv, which must be what the run wrote.
func (r *Record) Trace() (*Trace, error) {
	file := filepath.Join(r.Dir, "trace.csv")
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	const mend = "hint: -verify makes the run again and mends its record"
	if want := r.Result.Digests["trace"]; want != digest(b) {
		return nil, fmt.Errorf("%s: not as the run wrote it: its digest is not that in result.json\n%s", file, mend)
	}
	t, err := parseTrace(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", file, err, mend)
	}
	return t, nil
}

func parseTrace(b []byte) (*Trace, error) {
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	t := &Trace{Columns: strings.Split(lines[0], ",")}
	for i, l := range lines[1:] {
		cells := strings.Split(l, ",")
		if len(cells) != len(t.Columns) {
			return nil, fmt.Errorf("line %d has %d columns, not %d", i+2, len(cells), len(t.Columns))
		}
		row := make([]float64, len(cells))
		for j, c := range cells {
			row[j] = math.NaN()
			if c == "" {
				continue
			}
			v, err := strconv.ParseFloat(c, 64)
			if err != nil {
				return nil, fmt.Errorf("line %d: %q is not a number", i+2, c)
			}
			row[j] = v
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// CSV returns the trace as trace.csv holds it.
func (t *Trace) CSV() []byte {
	var b bytes.Buffer
	b.WriteString(strings.Join(t.Columns, ","))
	b.WriteByte('\n')
	for _, row := range t.Rows {
		for j, v := range row {
			if j > 0 {
				b.WriteByte(',')
			}
			if !math.IsNaN(v) {
				b.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
			}
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// Put writes a record and removes what led to it: checkpoint and failure. With
// replace it takes the place of a record there is; otherwise that one stays.
func (s *Store) Put(d Draft, replace bool) (*Record, error) {
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
		files["distilled.npz"], r.Digests["distilled"] = set, digest
		if png, ok := preview(d.Set); ok {
			files["preview.png"] = png
		}
	}
	files["trace.csv"] = d.Trace.CSV()
	r.Digests["trace"] = digest(files["trace.csv"])
	files["timing.csv"] = timingCSV(d.Timing)
	for name, v := range r.Metrics {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("metric %s is %v", name, v)
		}
	}
	files["result.json"] = indented(r)
	d.Provenance.Schema, d.Provenance.Key = RecordSchema, r.Key
	files["provenance.json"] = indented(d.Provenance)

	if err := s.setAside(r.Key); err != nil {
		return nil, s.explain(err)
	}
	if err := s.place(files, s.run(r.Key), replace); err != nil {
		return nil, s.explain(err)
	}
	s.ClearFailed(r.Key)
	s.DropCheckpoint(r.Key)
	record, err := s.Get(r.Key)
	if unreadable := new(fs.PathError); errors.As(err, &unreadable) {
		err = s.explain(err) // what was just written
	}
	return record, err
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// indented returns canonical JSON with line breaks.
func indented(v any) []byte {
	var b bytes.Buffer
	if err := json.Indent(&b, spec.Canonical(v), "", "  "); err != nil {
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
// replaced is out of its place for a moment; see Recover.
func (s *Store) place(files map[string][]byte, dir string, replace bool) error {
	tmp := filepath.Join(s.work("tmp"), filepath.Base(dir)+"."+token())
	if err := os.MkdirAll(tmp, 0o777); err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	for name, b := range files {
		if err := writeFile(filepath.Join(tmp, name), b); err != nil {
			return err
		}
	}
	if err := syncDir(tmp); err != nil {
		return err
	}
	if err := s.makeDir(filepath.Dir(dir)); err != nil {
		return err
	}
	old := ""
	if _, err := os.Lstat(dir); err == nil {
		if !replace {
			return nil
		}
		old = tmp + oldSuffix
		if err := os.Rename(dir, old); err != nil {
			return err
		}
		defer os.RemoveAll(old)
	}
	if err := os.Rename(tmp, dir); err != nil {
		if old != "" {
			return errors.Join(err, os.Rename(old, dir))
		}
		if _, there := os.Stat(filepath.Join(dir, "result.json")); there == nil && !replace {
			return nil // another process was first with the same record
		}
		return err
	}
	return syncDir(filepath.Dir(dir))
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
	return errors.Join(err, f.Sync(), f.Close())
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

// Failed returns the failure of a run, nil if there is none.
func (s *Store) Failed(key string) *Failure {
	f := new(Failure)
	if readJSON(filepath.Join(s.failed(key), "failure.json"), f) != nil {
		return nil
	}
	return f
}

// ClearFailed forgets a failure.
func (s *Store) ClearFailed(key string) { os.RemoveAll(s.failed(key)) }

const checkpointMagic = "dgkip/checkpoint/1\n"

func (s *Store) checkpoint(key string, forced bool) string {
	name := key + ".ckpt"
	if forced {
		name = key + ".forced.ckpt"
	}
	return filepath.Join(s.work("checkpoints"), name)
}

// SaveCheckpoint keeps the state of a run in place of an earlier one, which stays
// whole until the new one is. Those of a forced run, which is made from the
// beginning though there is a record or an earlier state, are kept apart.
func (s *Store) SaveCheckpoint(key string, forced bool, state []byte) error {
	sum := sha256.Sum256(state)
	b := slices.Concat([]byte(checkpointMagic), []byte(key), sum[:], state)
	tmp := filepath.Join(s.work("tmp"), key+".ckpt."+token())
	if err := writeFile(tmp, b); err != nil {
		os.Remove(tmp)
		return s.explain(err)
	}
	if err := os.Rename(tmp, s.checkpoint(key, forced)); err != nil {
		os.Remove(tmp)
		return s.explain(err)
	}
	return nil
}

// Checkpoint returns the state of a run, nil if there is none. A damaged one is an
// error, after which the run has to start over. A forced run continues from a
// forced one's state alone, any other from either.
func (s *Store) Checkpoint(key string, forced bool) ([]byte, error) {
	file := s.checkpoint(key, forced)
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		if !forced {
			return s.Checkpoint(key, true)
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	rest, ok := bytes.CutPrefix(b, []byte(checkpointMagic+key))
	if !ok || len(rest) < sha256.Size || sha256.Sum256(rest[sha256.Size:]) != [sha256.Size]byte(rest[:sha256.Size]) {
		return nil, fmt.Errorf("checkpoint %s is damaged", file)
	}
	return rest[sha256.Size:], nil
}

// DropCheckpoint forgets the states of a run.
func (s *Store) DropCheckpoint(key string) {
	os.Remove(s.checkpoint(key, false))
	os.Remove(s.checkpoint(key, true))
}

// DropForced forgets the state of a forced run that nobody is at any more.
func (s *Store) DropForced(key string) {
	file := s.checkpoint(key, true)
	if _, err := os.Stat(file); err != nil {
		return
	}
	if lock, err := s.Lock(key); err == nil {
		os.Remove(file)
		lock.Unlock()
	}
}

// FailureFile is where the failure of a run is recorded.
func (s *Store) FailureFile(key string) string { return filepath.Join(s.failed(key), "failure.json") }
