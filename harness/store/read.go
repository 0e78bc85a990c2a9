package store

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dgkip/harness/experiment"
	"dgkip/harness/sets"
)

// sumsFile lists the SHA-256 of every other file of a record, in the format of sha256sum.
const sumsFile = "SHA256SUMS"

// SetFile is the name of the file with the distilled set.
const SetFile = "distilled.npz"

// required and optional are the files of a record that have checksums. Optional files may be
// missing in a copy of a record. SHA256SUMS still lists them, so they can be checked when they are
// computed again. SHA256SUMS of older records also lists timing.csv, which nothing reads.
var (
	required = []string{"result.json", "provenance.json", "trace.csv"}
	optional = []string{SetFile, "preview.png", "timing.csv"}
)

// ErrDamaged is wrapped by errors of records that differ from what a run wrote.
var ErrDamaged = errors.New("damaged record")

// errNewer is wrapped by errors of records that a later version of the program wrote. Lock and Put
// refuse to compute such runs again.
var errNewer = errors.New("it is from a later version of this program")

// errOlder is wrapped by errors of records that an earlier version wrote. They are sound, but are
// computed again.
var errOlder = errors.New("from an earlier version")

// sums returns the content of SHA256SUMS for files.
func sums(files map[string][]byte) []byte {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(files[name]), name)
	}
	return b.Bytes()
}

// parseSums parses SHA256SUMS, which may only list files of a record.
func parseSums(b []byte) (map[string]string, error) {
	out := map[string]string{}
	for line := range strings.Lines(string(b)) {
		sum, name, _ := strings.Cut(strings.TrimRight(line, "\r\n"), "  ")
		if raw, err := hex.DecodeString(sum); err != nil || len(raw) != sha256.Size || !slices.Contains(required, name) && !slices.Contains(optional, name) {
			return nil, fmt.Errorf("%q is not the checksum of a file", line)
		}
		out[name] = sum
	}
	return out, nil
}

// Size limits in bytes. A record may come from elsewhere, and an endless file must not fill the
// memory. No set that a run can hold is larger.
const maxText, maxSet = 256 << 20, 1 << 36

// readFile reads a regular file, unless it is too large.
func readFile(name string) ([]byte, error) {
	f, info, err := sets.OpenRegular(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	most := int64(maxText)
	if filepath.Base(name) == SetFile {
		most = maxSet
	}
	if info.Size() > most {
		return nil, fmt.Errorf("%s: %w: %d bytes, with a limit of %d", name, sets.ErrOversized, info.Size(), most)
	}
	return io.ReadAll(io.LimitReader(f, info.Size()))
}

// Has reports whether there is a record. A record with damaged numbers does not count; see Damaged.
func (s *Store) Has(key string) bool {
	_, err := s.Get(key)
	return err == nil
}

// Whole reads a record and verifies the checksums of all its files.
func (s *Store) Whole(key string) (*Record, error) {
	r, err := s.Get(key)
	if err != nil {
		return nil, err
	}
	return r, r.Verify()
}

// Get reads a record. The error wraps fs.ErrNotExist if there is none, and ErrDamaged if its
// numbers are not what a run wrote. Damaged records in other folders are ignored.
func (s *Store) Get(key string) (*Record, error) {
	r, err := s.own(key)
	for _, other := range s.also {
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
		if found, there := other.own(key); there == nil {
			return found, nil
		}
	}
	return r, err
}

// own is Get without the other folders.
func (s *Store) own(key string) (*Record, error) {
	if s.listed == nil {
		return s.fromDisk(key)
	}
	if s.none(s.run(key)) {
		return nil, fs.ErrNotExist
	}
	s.listed.mu.Lock()
	defer s.listed.mu.Unlock()
	f, ok := s.listed.read[key]
	if !ok {
		f.record, f.err = s.fromDisk(key)
		s.listed.read[key] = f
	}
	return f.record, f.err
}

// fromDisk reads a record, again if another process has replaced it meanwhile.
func (s *Store) fromDisk(key string) (*Record, error) {
	for {
		r := &Record{Dir: s.run(key)}
		before, err := os.Lstat(r.Dir)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err == nil {
			err = r.read(key)
		}
		if err == nil {
			return r, nil
		}
		if errors.Is(err, errNewer) {
			return nil, fmt.Errorf("the record %s: %w\nhint: use the version that wrote it, or choose another folder with -out", r.Dir, err)
		}
		if after, gone := os.Lstat(r.Dir); before == nil || gone == nil && os.SameFile(before, after) {
			return nil, r.damaged(err, "run its experiment, which computes it again")
		}
	}
}

// read reads the numbers of a record and checks them.
func (r *Record) read(key string) error {
	result, err := readFile(filepath.Join(r.Dir, "result.json"))
	if err != nil {
		return err
	}
	err = json.Unmarshal(result, &r.Result)
	if r.Result.Schema > RecordSchema {
		return fmt.Errorf("%w: this program reads schema %d, not %d", errNewer, RecordSchema, r.Result.Schema)
	}
	if err != nil {
		return fmt.Errorf("result.json: %w", err)
	}
	if r.Result.Schema != RecordSchema {
		return fmt.Errorf("%w: this program reads schema %d, not %d", errOlder, RecordSchema, r.Result.Schema)
	}
	list, err := readFile(filepath.Join(r.Dir, sumsFile))
	if err != nil {
		return err
	}
	if r.sums, err = parseSums(list); err != nil {
		return fmt.Errorf("in %s %w", sumsFile, err)
	}
	if err := r.checkSum("result.json", result); err != nil {
		return err
	}
	provenance, err := r.file("provenance.json")
	if err != nil {
		return err
	}
	if err := json.Unmarshal(provenance, &r.Provenance); err != nil {
		return fmt.Errorf("provenance.json: %w", err)
	}
	if r.Result.Key != key || r.Result.Identity.Key() != key {
		return errors.New("the folder does not have the key of its result; was it renamed or edited?")
	}
	return r.Result.check()
}

// checkSum returns an error unless the content of a file has the checksum that the run wrote.
func (r *Record) checkSum(name string, b []byte) error {
	want, listed := r.sums[name]
	if !listed {
		return fmt.Errorf("%s is not listed in %s", name, sumsFile)
	}
	if fmt.Sprintf("%x", sha256.Sum256(b)) != want {
		return fmt.Errorf("the SHA-256 of %s is not the one in %s", name, sumsFile)
	}
	return nil
}

// file reads a file of the record and checks it.
func (r *Record) file(name string) ([]byte, error) {
	b, err := readFile(filepath.Join(r.Dir, name))
	if err != nil {
		return b, err
	}
	return b, r.checkSum(name, b)
}

// File reads a file of the record. The error wraps fs.ErrNotExist if the file is missing. It wraps
// ErrDamaged if the file is not what the run wrote, or if a set does not have the digest in
// result.json.
func (r *Record) File(name string) ([]byte, error) {
	b, err := r.file(name)
	if err == nil && name == SetFile {
		err = r.checkDigest(b)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, r.damagedFile(err)
	}
	return b, err
}

// checkDigest returns an error unless b is the set of result.json. A valid checksum does not prove
// this, because somebody may have replaced it along with the set.
func (r *Record) checkDigest(b []byte) error {
	arrays, err := sets.Unpack(SetFile, b)
	if err == nil && sets.Digest(arrays, recipe) != r.Result.Digests["distilled"] {
		err = fmt.Errorf("%s is another set: its digest is not the one in result.json", SetFile)
	}
	return err
}

// damage is the error of a damaged record. It does not wrap the cause: a record without one of its
// files is not a record that does not exist.
type damage struct{ error }

// Is reports whether the target is ErrDamaged.
func (damage) Is(target error) bool { return target == ErrDamaged }

// damaged wraps an error of a record, with the folder in front and a remedy as a hint. Paths of
// files lose the folder, which the message already names.
func (r *Record) damaged(err error, mend string) error {
	what := strings.NewReplacer(r.Dir+string(filepath.Separator), "", "\n", "; ").Replace(err.Error())
	if !errors.Is(err, errOlder) {
		what = "damaged: " + what
	}
	return damage{fmt.Errorf("the record %s is %s\nhint: %s", r.Dir, what, mend)}
}

// damagedFile is damaged for errors in files other than the numbers.
func (r *Record) damagedFile(err error) error {
	p := r.Provenance
	var only []string
	for _, axis := range slices.Sorted(maps.Keys(p.Cell)) {
		only = append(only, experiment.Term(axis, p.Cell[axis]))
	}
	former := map[string]string{"desk": "short", "paper": "full"} // names of profiles in old records
	return r.damaged(err, fmt.Sprintf("its numbers are sound and still count; -exp %s -profile %s -only '%s seed:%d' -force computes it again (with the flags -set, if any, of args in provenance.json)",
		p.Experiment, cmp.Or(former[p.Profile], p.Profile), strings.Join(only, " "), r.Result.Identity.Seed))
}

// HasSet reports whether the file of the distilled set exists.
func (r *Record) HasSet() bool {
	_, err := os.Lstat(filepath.Join(r.Dir, SetFile))
	return err == nil
}

// Preview returns the path of the picture of the distilled set, which may not exist.
func (r *Record) Preview() string { return filepath.Join(r.Dir, "preview.png") }

// Picture reads the picture of the distilled set. Errors are as in File.
func (r *Record) Picture() ([]byte, error) { return r.File("preview.png") }

// Trace reads trace.csv. Errors are as in File.
func (r *Record) Trace() (*Trace, error) {
	b, err := r.File("trace.csv")
	if err != nil {
		return nil, err
	}
	t, err := parseTrace(b)
	if err != nil {
		return nil, r.damagedFile(fmt.Errorf("trace.csv: %w", err))
	}
	return t, nil
}

// Verify checks the files that Get has not checked. Optional files may be missing.
func (r *Record) Verify() error {
	var problems []error
	for _, name := range slices.Concat(optional, required[2:]) {
		_, err := r.file(name)
		if errors.Is(err, fs.ErrNotExist) && slices.Contains(optional, name) {
			continue
		}
		problems = append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return r.damagedFile(err)
	}
	return nil
}

// Damaged returns the error of a damaged record. It returns nil if the record is sound or missing.
// Damage outside the numbers does not count; see Record.Verify.
func (s *Store) Damaged(key string) error {
	if _, err := s.own(key); errors.Is(err, ErrDamaged) {
		return err
	}
	return nil
}

// check returns an error for impossible numbers, and for accuracies that contradict the counted
// errors.
func (r *Result) check() error {
	for _, name := range slices.Sorted(maps.Keys(r.Metrics)) {
		v := r.Metrics[name]
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("metric %s is %v", name, v)
		}
		if strings.HasSuffix(name, "_acc") && !(v >= 0 && v <= 1) {
			return fmt.Errorf("%s is %v, but must be in [0, 1]", name, v)
		}
	}
	if _, ok := r.Metrics["test_acc"]; !ok {
		return errors.New("test_acc is missing")
	}
	images := r.Counts["test_images"]
	for _, name := range slices.Sorted(maps.Keys(r.Counts)) {
		prefix, ok := strings.CutSuffix(name, "test_errors")
		if !ok || len(r.Counts[name]) == 0 {
			continue
		}
		if len(images) != 1 || images[0] <= 0 {
			return fmt.Errorf("%s needs test_images with a single positive number", name)
		}
		var sum float64
		for _, n := range r.Counts[name] {
			if n < 0 || n > images[0] {
				return fmt.Errorf("%s has %d errors on %d images", name, n, images[0])
			}
			sum += float64(n)
		}
		want := 1 - sum/float64(len(r.Counts[name]))/float64(images[0])
		if acc, has := r.Metrics[prefix+"test_acc"]; has && math.Abs(acc-want) > 1e-9 {
			return fmt.Errorf("%stest_acc is %v, but %s gives %v", prefix, acc, name, want)
		}
	}
	return nil
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

// CSV returns the content of trace.csv.
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
