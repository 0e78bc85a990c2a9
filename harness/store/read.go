package store

import (
	"bytes"
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

	"dgkip/harness/sets"
)

// sumsFile holds the SHA-256 of every other file of a record, as sha256sum writes
// and reads them.
const sumsFile = "SHA256SUMS"

// SetFile holds the distilled set of a record.
const SetFile = "distilled.npz"

// required and optional are the files of a record with sums. The optional ones may be left out
// where records are passed on. Their sums stay, so that they are known when they are made again.
var (
	required = []string{"result.json", "provenance.json", "trace.csv"}
	optional = []string{SetFile, "preview.png", "timing.csv"}
)

// ErrDamaged is wrapped by errors of records that are not as a run wrote them.
var ErrDamaged = errors.New("damaged record")

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

// parseSums reads SHA256SUMS, which must be as sums writes it, but for the ends of lines that
// Windows and Git give it: records may come from others.
func parseSums(b []byte) (map[string]string, error) {
	out := map[string]string{}
	var again bytes.Buffer
	b = bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
	for line := range strings.Lines(string(b)) {
		sum, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if raw, err := hex.DecodeString(sum); err != nil || len(raw) != sha256.Size || !slices.Contains(required, name) && !slices.Contains(optional, name) {
			return nil, fmt.Errorf("%q is no line of a sum", line)
		}
		out[name] = sum
	}
	for _, name := range slices.Sorted(maps.Keys(out)) {
		fmt.Fprintf(&again, "%s  %s\n", out[name], name)
	}
	if !bytes.Equal(again.Bytes(), b) {
		return nil, errors.New("the lines are not those of sha256sum, in the order of the names")
	}
	return out, nil
}

// Limits in bytes on what is read of a record: it may come from others, and a file without an
// end must not fill the memory. No set that a run can hold is larger.
const maxText, maxSet = 256 << 20, 1 << 36

// openFile opens a file that a record may have, neither a pipe nor a device.
func openFile(name string) (f *os.File, size int64, err error) {
	f, info, err := sets.OpenRegular(name)
	if err != nil {
		return nil, 0, err
	}
	most := int64(maxText)
	if filepath.Base(name) == SetFile {
		most = maxSet
	}
	if info.Size() > most {
		f.Close()
		return nil, 0, fmt.Errorf("%s: %w: %d bytes, and it may have %d", name, sets.ErrOversized, info.Size(), most)
	}
	return f, info.Size(), nil
}

func readFile(name string) ([]byte, error) {
	f, size, err := openFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, size))
}

// Has reports whether there is a record. One whose numbers are damaged is none; Damaged says
// why.
func (s *Store) Has(key string) bool {
	_, err := s.Get(key)
	return err == nil || errors.Is(err, errSchema)
}

// Whole reads a record and holds all its files against their sums: those that it returns
// later are not held against them again.
func (s *Store) Whole(key string) (*Record, error) {
	r, err := s.Get(key)
	if err != nil {
		return nil, err
	}
	return r, r.Verify()
}

// Get reads the numbers of a record. The error wraps ErrDamaged if they are not as a run wrote
// them. What is damaged in other folders is not there.
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

func (s *Store) fromDisk(key string) (*Record, error) {
	r := &Record{Dir: s.run(key)}
	result, err := readFile(filepath.Join(r.Dir, "result.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err == nil {
		err = r.read(key, result)
	}
	if errors.Is(err, errSchema) {
		return nil, err
	}
	if err != nil {
		return nil, r.damaged(err, "a run of its experiment computes it again")
	}
	return r, nil
}

// read fills in a record and checks it.
func (r *Record) read(key string, result []byte) error {
	if err := json.Unmarshal(result, &r.Result); err != nil {
		return fmt.Errorf("result.json: %w", err)
	}
	if r.Result.Schema != RecordSchema {
		return fmt.Errorf("%s is a %w: schema %d is not read by this program, which knows %d\nhint: a run of its experiment with -force computes it again", r.Dir, errSchema, r.Result.Schema, RecordSchema)
	}
	list, err := readFile(filepath.Join(r.Dir, sumsFile))
	if err != nil {
		return err
	}
	if r.sums, err = parseSums(list); err != nil {
		return fmt.Errorf("in %s %w", sumsFile, err)
	}
	if err := r.fits("result.json", bytes.NewReader(result)); err != nil {
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
func (r *Record) fits(name string, b io.Reader) error {
	want, listed := r.sums[name]
	if !listed {
		return fmt.Errorf("%s is not listed in %s", name, sumsFile)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, b); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != want {
		return fmt.Errorf("the SHA-256 of %s is not the one in %s", name, sumsFile)
	}
	return nil
}

// file reads a file of the record, which must be what the run wrote.
func (r *Record) file(name string) ([]byte, error) {
	b, err := readFile(filepath.Join(r.Dir, name))
	if err != nil || r.whole {
		return b, err
	}
	return b, r.fits(name, bytes.NewReader(b))
}

// File reads a file of the record. The error wraps fs.ErrNotExist if it is not
// there, and ErrDamaged if it is not what the run wrote, or a set that is not that of
// result.json.
func (r *Record) File(name string) ([]byte, error) {
	b, err := r.file(name)
	if err == nil && name == SetFile {
		err = r.isSet(b)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, r.spoilt(err)
	}
	return b, err
}

// isSet returns an error unless a file holds the set of result.json: its sum may have been
// computed again for another one.
func (r *Record) isSet(b []byte) error {
	arrays, err := sets.Unpack(SetFile, b)
	if err == nil && sets.Digest(arrays, recipe) != r.Result.Digests["distilled"] {
		err = fmt.Errorf("%s is not the set that result.json is about, which has another digest", SetFile)
	}
	return err
}

// damage is an error of a record.
type damage struct {
	text  string
	cause error
}

func (d *damage) Error() string   { return d.text }
func (d *damage) Unwrap() []error { return []error{ErrDamaged, d.cause} }

// damaged says what is wrong with a record, and what mends it. Its files go by their names, for
// the folder is said.
func (r *Record) damaged(err error, mend string) error {
	what := strings.NewReplacer(r.Dir+string(filepath.Separator), "", "\n", "; ").Replace(err.Error())
	return &damage{fmt.Sprintf("the record %s is damaged: %s\nhint: %s", r.Dir, what, mend), err}
}

// spoilt is damaged for files without numbers.
func (r *Record) spoilt(err error) error {
	p := r.Provenance
	var only []string
	for _, axis := range slices.Sorted(maps.Keys(p.Cell)) {
		only = append(only, axis+":"+p.Cell[axis])
	}
	return r.damaged(err, fmt.Sprintf("its numbers are sound and count all the same; -exp %s -profile %s -only '%s seed:%d' -force makes it again",
		p.Experiment, p.Profile, strings.Join(only, " "), r.Result.Identity.Seed))
}

// HasSet reports whether the file of the distilled set is there.
func (r *Record) HasSet() bool {
	_, err := os.Lstat(filepath.Join(r.Dir, SetFile))
	return err == nil
}

// Preview is the path of the picture of the distilled set. It may not exist.
func (r *Record) Preview() string { return filepath.Join(r.Dir, "preview.png") }

// Picture reads the picture of the distilled set, as File does.
func (r *Record) Picture() ([]byte, error) { return r.File("preview.png") }

// Trace reads trace.csv, which must be what the run wrote.
func (r *Record) Trace() (*Trace, error) {
	b, err := r.File("trace.csv")
	if err != nil {
		return nil, err
	}
	t, err := parseTrace(b)
	if err != nil {
		return nil, r.spoilt(fmt.Errorf("trace.csv: %w", err))
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
		return nil, r.spoilt(errors.New("timing.csv is not what this program writes"))
	}
	var rows []TimingRow
	for _, row := range t.Rows {
		rows = append(rows, TimingRow{From: int(row[0]), To: int(row[1]), Seconds: row[2]})
	}
	return rows, nil
}

// Verify holds every file of a record against its sum, but for the two that Get has. Those
// that may be left out need not be there.
func (r *Record) Verify() error {
	var problems []error
	for _, name := range slices.Concat(optional, required[2:]) {
		err := r.holds(name)
		if errors.Is(err, fs.ErrNotExist) && slices.Contains(optional, name) {
			continue
		}
		problems = append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return r.spoilt(err)
	}
	r.whole = true
	return nil
}

// holds returns an error unless a file of the record is there and has the bytes that the run wrote.
func (r *Record) holds(name string) error {
	f, _, err := openFile(filepath.Join(r.Dir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	return r.fits(name, f)
}

// CheckSet checks a set in the folder of a record against its sum. It accepts files that are in
// no such folder.
func CheckSet(file string) error {
	r := &Record{Dir: filepath.Dir(file)}
	list, err := readFile(filepath.Join(r.Dir, sumsFile))
	if err == nil {
		r.sums, err = parseSums(list)
	}
	if name := filepath.Base(file); err != nil || name != SetFile || r.sums[name] == "" {
		return nil
	}
	if err = r.holds(SetFile); err == nil {
		return nil
	}
	result, unread := readFile(filepath.Join(r.Dir, "result.json"))
	if unread != nil || r.read(filepath.Base(r.Dir), result) != nil {
		return r.damaged(err, "a run of its experiment with -force computes it again")
	}
	return r.spoilt(err)
}

// Damaged says why what stands in a run's place is no record, nil if it is one or
// nothing stands there. One whose other files are damaged is a record; see Record.Verify.
func (s *Store) Damaged(key string) error {
	if _, err := os.Lstat(s.run(key)); err != nil || s.none(s.run(key)) {
		return nil
	}
	if _, err := s.Get(key); !errors.Is(err, errSchema) {
		return err
	}
	return nil
}

// Outdated says why a record that counts as one cannot be read, nil if it can be or
// there is none.
func (s *Store) Outdated(key string) error {
	if _, err := s.Get(key); errors.Is(err, errSchema) {
		return err
	}
	return nil
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
