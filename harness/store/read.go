package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// sumsFile holds the SHA-256 of every other file of a record, as sha256sum writes
// and reads them.
const sumsFile = "SHA256SUMS"

// SetFile holds the distilled set of a record.
const SetFile = "distilled.npz"

// optional are the files of a record that may be left out where records are passed
// on. Their sums stay, so that they are known when they are made again.
var optional = []string{SetFile, "preview.png", "timing.csv"}

// ErrDamaged is wrapped by errors of records that are not as a run wrote them.
var ErrDamaged = errors.New("the record is damaged")

// errSchema marks the record of another version of this program.
var errSchema = errors.New("record of another version")

// sums returns the text of SHA256SUMS for files.
func sums(files map[string][]byte) []byte {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(files[name]), name)
	}
	return b.Bytes()
}

// parseSums reads SHA256SUMS.
func parseSums(b []byte) (map[string]string, error) {
	out := map[string]string{}
	for line := range strings.Lines(string(b)) {
		sum, name, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "  ")
		inside := filepath.IsLocal(name) && name == filepath.Base(name) // records may come from others
		if raw, err := hex.DecodeString(sum); !ok || !inside || err != nil || len(raw) != sha256.Size {
			return nil, fmt.Errorf("%q is not a line of it", line)
		}
		out[name] = sum
	}
	return out, nil
}

// Has reports whether there is a record. One that cannot be read is none; Damaged
// says why.
func (s *Store) Has(key string) bool {
	_, err := s.Get(key)
	return err == nil || errors.Is(err, errSchema)
}

// Get reads a record. The error wraps ErrDamaged if it is not as a run wrote it.
func (s *Store) Get(key string) (*Record, error) {
	r := &Record{Dir: s.run(key)}
	result, err := os.ReadFile(filepath.Join(r.Dir, "result.json"))
	if err != nil {
		return nil, err
	}
	if err := r.read(key, result); err != nil {
		if errors.Is(err, errSchema) {
			return nil, err
		}
		return nil, fmt.Errorf("%s: %w: %w\nhint: a run of its experiment without -collect makes it again", r.Dir, ErrDamaged, err)
	}
	return r, nil
}

// read fills in a record and checks it.
func (r *Record) read(key string, result []byte) error {
	if err := json.Unmarshal(result, &r.Result); err != nil {
		return fmt.Errorf("result.json: %w", err)
	}
	if r.Result.Schema != RecordSchema {
		return fmt.Errorf("%w: %s: schema %d is not read by this program, which knows %d\nhint: a run of its experiment with -force makes it again", errSchema, r.Dir, r.Result.Schema, RecordSchema)
	}
	list, err := os.ReadFile(filepath.Join(r.Dir, sumsFile))
	if err != nil {
		return err
	}
	if r.sums, err = parseSums(list); err != nil {
		return fmt.Errorf("%s: %w", sumsFile, err)
	}
	if err := r.fits("result.json", result); err != nil {
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
		return errors.New("it belongs to another key; was it renamed or edited?")
	}
	return r.Result.check()
}

// fits returns an error unless a file has the bytes that the run wrote.
func (r *Record) fits(name string, b []byte) error {
	want, listed := r.sums[name]
	if !listed {
		return fmt.Errorf("%s is not listed in %s", name, sumsFile)
	}
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != want {
		return fmt.Errorf("%s is not as the run wrote it: its SHA-256 is not the one in %s; was it edited?", name, sumsFile)
	}
	return nil
}

// file reads a file of the record, which must be what the run wrote.
func (r *Record) file(name string) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(r.Dir, name))
	if err != nil {
		return nil, err
	}
	return b, r.fits(name, b)
}

// File reads a file of the record. The error wraps fs.ErrNotExist if it is not
// there, and ErrDamaged if it is not what the run wrote.
func (r *Record) File(name string) ([]byte, error) {
	b, err := r.file(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, r.damaged(err)
	}
	return b, err
}

// damaged says that a file of a record with sound numbers is damaged, and how to
// make it again.
func (r *Record) damaged(err error) error {
	return fmt.Errorf("%s: %w: %w\nhint: a run of its experiment with -force makes it again", r.Dir, ErrDamaged, err)
}

// HasSet reports whether the file of the distilled set is there.
func (r *Record) HasSet() bool {
	_, err := os.Lstat(filepath.Join(r.Dir, SetFile))
	return err == nil
}

// Preview is the path of the picture of the distilled set. It may not exist.
func (r *Record) Preview() string { return filepath.Join(r.Dir, "preview.png") }

// Trace reads trace.csv, which must be what the run wrote.
func (r *Record) Trace() (*Trace, error) {
	b, err := r.File("trace.csv")
	if err != nil {
		return nil, err
	}
	t, err := parseTrace(b)
	if err != nil {
		return nil, r.damaged(fmt.Errorf("trace.csv: %w", err))
	}
	return t, nil
}

// Timing reads timing.csv, which must be what the run wrote.
func (r *Record) Timing() ([]TimingRow, error) {
	b, err := r.File("timing.csv")
	if err != nil {
		return nil, err
	}
	t, err := parseTrace(b)
	if err != nil || len(t.Columns) != 3 {
		return nil, r.damaged(errors.New("timing.csv is not what this program writes"))
	}
	var rows []TimingRow
	for _, row := range t.Rows {
		rows = append(rows, TimingRow{From: int(row[0]), To: int(row[1]), Seconds: row[2]})
	}
	return rows, nil
}

// Verify holds every file of a record against its sum. Those that may be left out
// need not be there.
func (r *Record) Verify() error {
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(r.sums)) {
		_, err := r.file(name)
		if errors.Is(err, fs.ErrNotExist) && slices.Contains(optional, name) {
			continue
		}
		problems = append(problems, err)
	}
	for _, name := range append([]string{"trace.csv"}, optional...) {
		if _, listed := r.sums[name]; listed {
			continue
		}
		if _, err := os.Lstat(filepath.Join(r.Dir, name)); err == nil || name == "trace.csv" {
			problems = append(problems, fmt.Errorf("%s is not listed in %s", name, sumsFile))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return r.damaged(err)
	}
	return nil
}

// Damaged says why what stands in a run's place is no record, nil if it is one or
// nothing stands there.
func (s *Store) Damaged(key string) error {
	if _, err := os.Lstat(s.run(key)); err != nil {
		return nil
	}
	_, err := s.Get(key)
	if errors.Is(err, errSchema) {
		return nil
	}
	return err
}

// check holds the numbers of a result against what they can be, and every accuracy
// against the errors that were counted.
func (r *Result) check() error {
	for _, name := range slices.Sorted(maps.Keys(r.Metrics)) {
		v := r.Metrics[name]
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("metric %s is %v", name, v)
		}
		if strings.HasSuffix(name, "_acc") && !(v >= 0 && v <= 1) {
			return fmt.Errorf("%s is %v, which is no fraction", name, v)
		}
	}
	if _, ok := r.Metrics["test_acc"]; !ok {
		return errors.New("there is no test_acc")
	}
	images := r.Counts["test_images"]
	for _, name := range slices.Sorted(maps.Keys(r.Counts)) {
		prefix, ok := strings.CutSuffix(name, "test_errors")
		if !ok || len(r.Counts[name]) == 0 {
			continue
		}
		if len(images) != 1 || images[0] <= 0 {
			return fmt.Errorf("%s is there without the one number of test_images", name)
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
			return fmt.Errorf("%stest_acc is %v, where %s gives %v", prefix, acc, name, want)
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
