package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dgkip/harness/engine"
	"dgkip/harness/npz"
)

// Pictures keep class numbers where a label is one number that is none, and say so.
func TestExportPictures(t *testing.T) {
	for _, c := range []struct {
		kind   string
		labels []float32
		lines  string
		note   bool
	}{
		{"gain", []float32{0.3, -2}, "0000.png,1\n0001.png,0\n", true},
		{"hard", []float32{0, 1, 1, 0}, "0000.png,1\n0001.png,0\n", false},
		{"soft", []float32{0.25, 0.75, 1, 0}, "0000.png,0.25,0.75\n0001.png,1,0\n", false},
	} {
		dir := filepath.Join(t.TempDir(), "set")
		larger := filepath.Join(dir, "0002.png") // of an earlier set
		if err := errors.Join(os.Mkdir(dir, 0o777), os.WriteFile(larger, nil, 0o666)); err != nil {
			t.Fatal(err)
		}
		set := []npz.Array{
			npz.Half("pixels", []int{2, 1, 1, 3}, []float32{0, 1, 0.5, -1, 2, 0}), npz.Of("labels", []int{2, len(c.labels) / 2}, c.labels),
			npz.Of("of", []int{2}, []int64{1, 0}), npz.Text("label_kind", c.kind),
		}
		note, err := exportPictures(set, dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(larger); err == nil {
			t.Errorf("%s: a picture of an earlier set is left", c.kind)
		}
		lines, err := os.ReadFile(filepath.Join(dir, "labels.csv"))
		if !strings.HasPrefix(note, ": ") || !strings.HasSuffix(note, " 2 of its 6 values are beyond 0 and 1, and were clipped") {
			t.Errorf("%s: note %q", c.kind, note)
		}
		if again := strings.Contains(note, `say label_kind = "soft"`); again != (c.kind == "soft") {
			t.Errorf("%s: note %q", c.kind, note)
		}
		if err != nil || string(lines) != c.lines || strings.Contains(note, "class numbers only") != c.note {
			t.Errorf("%s: %q, note %q, %v", c.kind, lines, note, err)
		}

		// A set that is left half written has no labels, so that nobody takes it for a whole one.
		blocked := filepath.Join(dir, "0001.png")
		if err := errors.Join(os.Remove(blocked), os.MkdirAll(filepath.Join(blocked, "x"), 0o777)); err != nil {
			t.Fatal(err)
		}
		if _, err := exportPictures(set, dir); err == nil {
			t.Errorf("%s: a picture that could not be written is no error", c.kind)
		}
		if _, err := os.Stat(filepath.Join(dir, "labels.csv")); err == nil {
			t.Errorf("%s: labels of pictures that are not there", c.kind)
		}
	}
}

// A set is written once, however often it is scored, from a record that keeps it.
func TestDistinct(t *testing.T) {
	run := func(seed uint64, protocol string) *engine.Run {
		r := &engine.Run{Seed: seed, Key: protocol}
		r.Identity.Seed, r.Identity.Eval.Name = seed, protocol
		return r
	}
	runs := []*engine.Run{run(0, "features"), run(0, "fresh"), run(1, "features"), run(0, "network")}
	got := distinct(runs, func(r *engine.Run) bool { return r.Key == "fresh" })
	if len(got) != 2 || got[0] != runs[1] || got[1] != runs[2] {
		t.Errorf("got %v", got)
	}
}
