package file

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/method"
	"dgkip/harness/method/methodtest"
	"dgkip/harness/sets"
)

// saved writes a set of two images for each class of methodtest's data as .pt, with further
// arrays.
func saved(t *testing.T, dir, name string, channels int, labels sets.Array, more ...sets.Array) string {
	t.Helper()
	d := methodtest.Data(channels)
	b, err := sets.Torch(append([]sets.Array{
		sets.Of("images", []int{4, 8, 8, channels}, d.Train.X[:4*64*channels]), labels,
		sets.Of("mean", []int{channels}, d.Prep.Mean), sets.Of("std", []int{channels}, d.Prep.Std),
	}, more...))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

func hard() sets.Array { return sets.Of("labels", []int{4}, []int64{0, 1, 0, 1}) }

func TestContract(t *testing.T) {
	dir := t.TempDir()
	for _, channels := range []int{1, 3} {
		saved(t, dir, fmt.Sprintf("halves%d-2.pt", channels), channels, hard())
	}
	methodtest.Run(t, func() method.Method { return &File{Path: dir + "/{dataset}-{ipc}.pt"} }, methodtest.Options{
		SameForAllSeeds: true,
		Problem:         func(p *method.Problem) { p.Data.Name = fmt.Sprintf("halves%d", p.Data.Train.C) },
	})
}

// A set from a file has the same protocol family as a set of this program with the same kind of
// labels. Networks reduce gains and values to a class: the sign or the largest.
func TestFamily(t *testing.T) {
	for kind, soft := range map[method.LabelKind]bool{"": false, method.Hard: false, method.Gain: false, method.Value: false, method.Soft: true, method.Logits: true, method.Target: true} {
		f := File{Options: sets.Options{LabelKind: string(kind)}}
		if f.Info().SoftLabels != soft {
			t.Errorf("%q: soft labels are %v", kind, !soft)
		}
		if f.Travel = true; !f.Info().SoftLabels {
			t.Errorf("%q with portable labels: networks see numbers", kind)
		}
	}
	// The setting travel must agree with the file.
	dir, gains := t.TempDir(), sets.Of("labels", []int{4, 1}, []float32{-1, 1, -1, 1})
	more := []sets.Array{sets.Of("of", []int{4}, []int64{0, 1, 0, 1}), sets.Text("label_kind", "gain")}
	more = append(more, sets.Text("preprocess", "standard"))
	plain := saved(t, dir, "plain.pt", 1, gains, more...)
	travelling := saved(t, dir, "travelling.pt", 1, gains, append(more,
		sets.Of("extra.exact_labels", []int{4, 1}, []float64{-1, 1, -1, 1}), sets.Of("extra.travel_labels", []int{4, 1}, []float64{-2, 2, -2, 2}))...)
	for _, c := range []struct {
		file   string
		travel bool
		want   string
	}{{travelling, true, ""}, {plain, false, ""}, {travelling, false, "add travel = true"}, {plain, true, "no portable labels"}} {
		f := File{Path: c.file, Travel: c.travel, Options: sets.Options{LabelKind: "gain", Loss: "logistic"}}
		_, err := f.Locate(method.Place{IPC: 2}, methodtest.Data(1))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, travel = %v: %v", filepath.Base(c.file), c.travel, err)
		}
	}
}

func TestLocate(t *testing.T) {
	dir := t.TempDir()
	place := method.Place{Dir: dir, Dataset: "halves", IPC: 2, Seed: 1}
	locate := func(f File, p method.Place) (*File, error) {
		m, err := f.Locate(p, methodtest.Data(1))
		if err != nil {
			return nil, err
		}
		return m.(*File), nil
	}
	one := saved(t, dir, "halves-2-1.pt", 1, hard())
	saved(t, dir, "soft.pt", 1, sets.Of("labels", []int{4, 2}, []float32{0.5, 0.5, 1, 0, 0, 1, 1, 0}), sets.Text("label_kind", "soft"))
	saved(t, dir, "colour.pt", 3, hard())
	f, err := locate(File{Path: "{dataset}-{ipc}-{seed}.pt"}, place)
	if err != nil {
		t.Fatal(err)
	}
	if f.Path != "" || !strings.HasPrefix(f.Digest, "sha256:") || f.at.File != one {
		t.Errorf("%+v", f)
	}
	if again, err := locate(File{Path: one, Digest: f.Digest}, place); err != nil || again.Digest != f.Digest {
		t.Error(err)
	}
	place.IPC = 3
	for _, c := range []struct {
		f    File
		ipc  int
		want string
	}{
		{File{Path: "{dataset}-{ipc}.pt"}, 2, "halves-2.pt: no such file"},
		{File{Path: one}, 1, "it has 4 images, but ipc 1 with 2 classes needs 2\nhint: write ipc = [2]"},
		{File{Path: one, Digest: "sha256:00"}, 2, "the digest of its content is"},
		{File{Path: "soft.pt"}, 2, "add label_kind = \"soft\""},
		{File{Path: "colour.pt"}, 2, "the dataset's are 8x8 with 1 channels"},
	} {
		place.IPC = c.ipc
		if _, err := locate(c.f, place); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %q", c.f, err, c.want)
		}
	}
	place.IPC = 2
	soft, err := locate(File{Path: "soft.pt", Options: sets.Options{LabelKind: "soft"}}, place)
	if err != nil || !soft.Info().SoftLabels {
		t.Error(soft, err)
	}
	// A single file is read by the settings of a column, such as labels in another file.
	logits := saved(t, dir, "logits.pt", 1, sets.Of("labels", []int{4, 2}, []float32{-7, 7, 7, -7, 7, -7, -7, 7}))
	if _, _, err := Any(logits, methodtest.Data(1), nil); err == nil || !strings.Contains(err.Error(), `label_kind = "hard"`) {
		t.Error(err)
	}
	like, err := locate(File{Path: one, LabelsPath: "soft.pt", Options: sets.Options{LabelKind: "soft", Images: "images", Labels: "labels"}}, place)
	if err != nil {
		t.Fatal(err)
	}
	if f, ipc, err := Any(logits, methodtest.Data(1), like); err != nil || ipc != 2 || f.LabelKind != "soft" || f.at.Labels != filepath.Join(dir, "soft.pt") {
		t.Errorf("%+v, %d: %v", f, ipc, err)
	}
	odd, err := sets.Torch([]sets.Array{sets.Of("pixels", []int{3, 8, 8, 1}, make([]float32, 192)), sets.Of("labels", []int{3}, []int64{0, 1, 0})})
	if err != nil {
		t.Fatal(err)
	}
	three := filepath.Join(dir, "three.pt")
	if err := os.WriteFile(three, odd, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, ipc, err := Any(three, methodtest.Data(1), nil); err != nil || ipc != 0 {
		t.Errorf("three images of two classes: ipc %d, %v", ipc, err)
	}
	// In a file with sets of several seeds, each run reads the set of its own seed.
	many := File{Path: one, Options: sets.Options{Images: "data.{seed}.0", Labels: "data.{seed}.1"}}
	if m, err := many.Locate(place, nil); err != nil || m.(*File).Images != "data.1.0" || m.(*File).Labels != "data.1.1" {
		t.Errorf("%+v: %v", m, err)
	}
	// With a digest in the experiment, records are found without the file.
	pinned := File{Path: "gone.pt", Digest: f.Digest}
	if gone, err := pinned.Locate(place, nil); err != nil || gone.(*File).Digest != f.Digest || gone.(*File).Path != "" {
		t.Errorf("%+v: %v", gone, err)
	}
	if _, err := locate(pinned, place); err == nil || !strings.Contains(err.Error(), "gone.pt: no such file") {
		t.Errorf("a run without its file: %v", err)
	}
	// A set gets a note if its classes have different numbers of images.
	uneven := saved(t, dir, "uneven.pt", 1, sets.Of("labels", []int{4}, []int64{0, 0, 0, 1}))
	if f, err := locate(File{Path: uneven}, place); err != nil {
		t.Error(err)
	} else if d, err := f.read(methodtest.Data(1)); err != nil || !slices.Contains(d.Notes, "classes have between 1 and 3 images") {
		t.Error(d, err)
	}
	// A file of the same name with other content gives another run.
	saved(t, dir, "halves-2-1.pt", 1, sets.Of("labels", []int{4}, []int64{1, 0, 0, 1}))
	if other, err := locate(File{Path: one}, place); err != nil || other.Digest == f.Digest {
		t.Error("the same digest", err)
	}
}
