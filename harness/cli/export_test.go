package cli

import (
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"dgkip/harness/engine"
	"dgkip/harness/npz"
)

// A picture's name says its class, and values beyond 0 and 1 are clipped.
func TestExportPictures(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "set")
	if err := exportPictures([]npz.Array{npz.Half("pixels", []int{2, 1, 3, 1}, []float32{0, 1, 0.5, -1, 2, 0}), npz.Of("of", []int{2}, []int64{1, 0})}, dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]uint8{"0000-class-1.png": {0, 255, 128}, "0001-class-0.png": {0, 255, 0}} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		m, err := png.Decode(f)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.(*image.Gray).Pix; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
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
