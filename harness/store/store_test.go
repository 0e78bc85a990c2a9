package store

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/experiment"
	"dgkip/harness/method"
	"dgkip/harness/sets"
)

func set() *method.Distilled {
	d := &method.Distilled{
		H: 2, W: 3, C: 1, Kind: method.Hard, Of: []int{0, 1}, Classes: []string{"nought", "öne"},
		Prep:   method.Preprocessing{Name: "standard", Mean: []float32{0.25}, Std: []float32{0.5}},
		Labels: method.OneHot([]int{0, 1}, 2),
		Extra:  map[string]method.Array{"rates": {Shape: []int{2}, Data: []float64{0.1, math.Pi}}},
		Notes:  []string{"first", "second"},
	}
	for i := range 12 {
		d.Images = append(d.Images, float32(i)/7-0.5)
	}
	return d
}

func draft(seed uint64) Draft {
	return Draft{
		Result: Result{
			Identity: experiment.Identity{Schema: 1, Seed: seed, Method: experiment.PartIdentity{Name: "m", Settings: map[string]any{"rate": 0.1, "steps": 10}}},
			Metrics:  map[string]float64{"test_acc": 0.9375, "tiny": 1e-300},
			Counts:   map[string][]int64{"test_errors": {5, 7}, "test_images": {96}},
			Updates:  3,
		},
		Trace: Trace{Columns: []string{"update", "loss"}, Rows: [][]float64{{0, 1}, {1, math.NaN()}, {2, 0.1}}},
		Set:   set(),
	}
}

// prepared returns a store in a folder whose name has characters of patterns.
func prepared(t *testing.T) *Store {
	t.Helper()
	s := Open(filepath.Join(t.TempDir(), "results [old]"))
	if err := s.Prepare(); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPutGet(t *testing.T) {
	s := prepared(t)
	d := draft(1)
	key := d.Result.Identity.Key()
	if s.Has(key) {
		t.Error("there is a record before Put")
	}
	if err := s.Fail(Failure{Identity: d.Result.Identity, Kind: "error"}); err != nil {
		t.Fatal(err)
	}
	if s.Failed(key) == nil {
		t.Error("the failure is lost")
	}
	r, err := s.Put(d, false)
	if err != nil {
		t.Fatal(err)
	}
	if !s.Has(key) || s.Failed(key) != nil {
		t.Error("no record, or its failure remains")
	}
	if r.Result.Metrics["test_acc"] != 0.9375 || r.Result.Images != 2 {
		t.Errorf("read back %+v", r.Result)
	}
	trace, err := r.Trace()
	if err != nil || trace.Column("loss")[2] != 0.1 || !math.IsNaN(trace.Column("loss")[1]) || trace.Column("none") != nil {
		t.Errorf("trace %+v, %v", trace, err)
	}
	for _, f := range []string{r.Preview(), filepath.Join(r.Dir, "distilled.npz")} {
		if info, err := os.Stat(f); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", f, err)
		}
	}
	keys, err := s.Keys()
	if err != nil || !slices.Equal(keys, []string{key}) {
		t.Errorf("keys %v, %v", keys, err)
	}
	if left := entries(s.work("tmp")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// edit changes a text in a file.
func edit(t *testing.T, file, from, to string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(b, []byte(from)) {
		t.Fatalf("%s has no %q", file, from)
	}
	if err := os.WriteFile(file, bytes.Replace(b, []byte(from), []byte(to), 1), 0o666); err != nil {
		t.Fatal(err)
	}
}

// A record with a changed digit is damaged until it is computed again.
func TestEdited(t *testing.T) {
	for _, c := range []struct{ file, from, to string }{
		{"result.json", "0.9375", "0.9475"},
		{"result.json", "1e-300", "2e-300"},
		{"result.json", `"steps": 10`, `"steps": 11`},
		{"result.json", `"updates": 3`, `"updates": 4`},
		{"result.json", "}", ""},
		{"provenance.json", `"wall_seconds": 2`, `"wall_seconds": 1`},
		{sumsFile, "result.json", "result.jsom"},
		{sumsFile, "  ", " "},
	} {
		s, d := prepared(t), draft(1)
		d.Provenance.Wall = 2
		r, err := s.Put(d, false)
		if err != nil {
			t.Fatal(err)
		}
		key := r.Result.Key
		edit(t, filepath.Join(r.Dir, c.file), c.from, c.to)
		_, err = s.Get(key)
		if !errors.Is(err, ErrDamaged) || s.Damaged(key) == nil || s.Has(key) {
			t.Errorf("%s with %q instead of %q: %v", c.file, c.to, c.from, err)
		}
		if _, err := s.Put(d, false); err != nil || !s.Has(key) {
			t.Errorf("%s: not replaced: %v", c.file, err)
		}
		if kept := entries(s.Aside()); len(kept) != 1 {
			t.Errorf("%s: the damaged record is not kept: %v", c.file, kept)
		}
	}
}

// Damage in other files does not affect the numbers: the record counts, but the file is not read.
func TestDamagedFile(t *testing.T) {
	for _, name := range []string{"trace.csv", "distilled.npz", "preview.png"} {
		s, d := prepared(t), draft(1)
		d.Provenance.Cell = map[string]string{"carry": "", "ipc": "1"}
		r, err := s.Put(d, false)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(r.Dir, name)
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		b[len(b)-2] ^= 1
		if err := os.WriteFile(file, b, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := r.File(name); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s is read: %v", name, err)
		}
		if err := r.Verify(); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "-only 'carry:() ipc:1 seed:1' -force") || !s.Has(r.Result.Key) || !s.Snapshot().Has(r.Result.Key) || s.Damaged(r.Result.Key) != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if err := r.Verify(); (err == nil) != (name != "trace.csv") {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

// A record of a later version is neither damaged nor missing. Its run is not computed again.
func TestLaterVersion(t *testing.T) {
	s := prepared(t)
	r, err := s.Put(draft(1), false)
	if err != nil {
		t.Fatal(err)
	}
	key, file := r.Result.Key, filepath.Join(r.Dir, "result.json")
	edit(t, file, `"schema": 2`, `"schema": 3`)
	edit(t, file, `"updates": `, `"updates": "a", "x": `)
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(key); err == nil || errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "reads schema 2, not 3\nhint: use the version that wrote it") {
		t.Errorf("read: %v", err)
	}
	if _, err := s.Lock("job", key); !errors.Is(err, ErrStorage) || len(s.Locked()) > 0 {
		t.Errorf("locked: %v", err)
	}
	if _, err := s.Put(draft(1), false); !errors.Is(err, ErrStorage) {
		t.Errorf("put: %v", err)
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the record changed: %v", err)
	}
}

// A set with a valid checksum must also have the digest in the result.
func TestOtherSet(t *testing.T) {
	other := set()
	other.Images[0]++
	s, into := prepared(t), prepared(t)
	r, err := s.Put(draft(1), false)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for name := range r.sums {
		if files[name], err = os.ReadFile(filepath.Join(r.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if files[SetFile], err = sets.Encode(sets.Arrays(other)); err != nil {
		t.Fatal(err)
	}
	files[sumsFile] = sums(files)
	if err := writeAll(r.Dir, files); err != nil {
		t.Fatal(err)
	}
	if r, err = s.Whole(r.Result.Key); err != nil {
		t.Fatal(err)
	}
	if _, err := r.File(SetFile); !errors.Is(err, ErrDamaged) {
		t.Errorf("the set is read: %v", err)
	}
	if merged, err := into.Merge(t.Context(), s.Dir()); merged != (Merged{}) || !errors.Is(err, ErrDamaged) {
		t.Errorf("%+v, %v", merged, err)
	}
}

// A folder, a device or an endless file may be in the place of a file.
func TestNoFile(t *testing.T) {
	endless := func(name string) error { return errors.Join(os.WriteFile(name, nil, 0o666), os.Truncate(name, 1<<40)) }
	device := func(name string) error { return os.Symlink("/dev/zero", name) }
	for _, name := range []string{"result.json", "provenance.json", "trace.csv", sumsFile, SetFile} {
		for what, replace := range map[string]func(string) error{"folder": func(name string) error { return os.Mkdir(name, 0o777) }, "endless": endless, "device": device} {
			s := prepared(t)
			r, err := s.Put(draft(1), false)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(r.Dir, name)
			if err := errors.Join(os.Remove(file), replace(file)); err != nil {
				t.Skip("SKIPPED: ", err)
			}
			_, err = s.Whole(r.Result.Key)
			if !errors.Is(err, ErrDamaged) || strings.Count(err.Error(), r.Dir) > 1 {
				t.Errorf("%s is a %s: %v", name, what, err)
			}
		}
	}
}

// Records may come from elsewhere. Their checksums may only name files of the record.
func TestSumsOutside(t *testing.T) {
	sum := strings.Repeat("0", 64) + "  "
	for _, name := range []string{"../x", "/etc/passwd", "a/b", "..", ""} {
		if out, err := parseSums([]byte(sum + name + "\n")); err == nil {
			t.Errorf("%q: %v", name, out)
		}
	}
	for _, end := range []string{"\n", "\r\n"} {
		if _, err := parseSums([]byte(sum + "result.json" + end + sum + "trace.csv" + end)); err != nil {
			t.Error(err)
		}
	}
}

// A replaced failure is not kept as a damaged record.
func TestFailAgain(t *testing.T) {
	s := prepared(t)
	for _, message := range []string{"first", "second"} {
		f := Failure{Identity: draft(1).Result.Identity, Kind: "error", Message: message}
		if err := s.Fail(f); err != nil {
			t.Fatal(err)
		}
		if got := s.Failed(f.Identity.Key()); got == nil || got.Message != message {
			t.Errorf("%s: %+v", message, got)
		}
	}
	if left := append(entries(s.Aside()), entries(s.work("tmp"))...); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Impossible numbers are refused, and accuracies that contradict the counted errors.
func TestImpossible(t *testing.T) {
	for want, change := range map[string]func(r *Result){
		"test_acc is 1e+15, but must be in [0, 1]":        func(r *Result) { r.Metrics["test_acc"], r.Counts = 1e15, nil },
		"last.train_acc is -1, but must be in [0, 1]":     func(r *Result) { r.Metrics["last.train_acc"] = -1 },
		"metric bad is NaN":                               func(r *Result) { r.Metrics["bad"] = math.NaN() },
		"test_acc is missing":                             func(r *Result) { delete(r.Metrics, "test_acc") },
		"test_errors needs test_images with a single":     func(r *Result) { delete(r.Counts, "test_images") },
		"test_errors has 97 errors on 96 images":          func(r *Result) { r.Counts["test_errors"][1] = 97 },
		"test_acc is 0.9375, but test_errors gives 0.927": func(r *Result) { r.Counts["test_errors"][1] = 8 + 1 },
	} {
		d := draft(1)
		change(&d.Result)
		if _, err := prepared(t).Put(d, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestCheckpoint(t *testing.T) {
	s := prepared(t)
	key := draft(1).Result.Identity.Key()
	for _, state := range []string{"one", ""} {
		if err := s.SaveCheckpoint(key, []byte(state)); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Checkpoint(key); string(got) != state || err != nil || got == nil {
			t.Errorf("%q: %q, %v", state, got, err)
		}
	}
	if err := os.WriteFile(s.checkpoint(key), []byte("rubbish"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Checkpoint(key); err == nil {
		t.Error("a damaged checkpoint was accepted")
	}
	lock, err := s.Lock(key)
	if err != nil {
		t.Fatal(err)
	}
	if s.DropLeftover(key); !s.Begun()[key] {
		t.Error("the state of a running job is dropped")
	}
	lock.Unlock()
	s.DropLeftover(key)
	if got, err := s.Checkpoint(key); got != nil || err != nil {
		t.Errorf("dropped: %q, %v", got, err)
	}
}

func FuzzTrace(f *testing.F) {
	f.Add([]byte("update,loss\n0,1\n1,\n2,-1e-7\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		one, err := parseTrace(b)
		if err != nil {
			return
		}
		two, err := parseTrace(one.CSV())
		if err != nil || !bytes.Equal(one.CSV(), two.CSV()) {
			t.Errorf("%q changes when written and read again: %v", b, err)
		}
	})
}
