package sets

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/arrays"
	"dgkip/harness/method"
	"dgkip/harness/npz"
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

func TestNPZ(t *testing.T) {
	in := set()
	data := &method.Data{Classes: in.Classes, Prep: in.Prep, Train: method.Images{H: 2, W: 3, C: 1}}
	out, err := Read(Place{File: npzFile(t, Arrays(in))}, Options{}, data)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprintf("%+v", out) != fmt.Sprintf("%+v", in) {
		t.Errorf("read back\n%+v\nwant\n%+v", out, in)
	}
}

// npzFile writes arrays to a file.
func npzFile(t testing.TB, arrays []npz.Array) string {
	t.Helper()
	b, err := npz.Encode(arrays)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "set.npz")
	if err := os.WriteFile(file, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// Files as other programs make them.
func TestForeignNPZ(t *testing.T) {
	data := &method.Data{
		Classes: []string{"a", "b"}, Train: method.Images{H: 1, W: 2, C: 3},
		Prep: method.Preprocessing{Name: "standard", Mean: []float32{0.5, 0.5, 0.5}, Std: []float32{0.5, 0.5, 0.5}},
	}
	bytesOf := []uint8{0, 255, 0, 255, 0, 255, 255, 0, 255, 0, 255, 0}
	pixels := npz.Of("pixels", []int{2, 1, 2, 3}, bytesOf)
	hard := npz.Of("labels", []int{2}, []int64{1, 0})
	want := func(first float32, arrays ...npz.Array) {
		t.Helper()
		d, err := Read(Place{File: npzFile(t, arrays)}, Options{}, data)
		if err != nil {
			t.Error(err)
			return
		}
		if d.Of[0] != 1 || d.Images[0] != -1 || d.Images[1] != first {
			t.Errorf("got %+v", d)
		}
	}
	want(1, pixels, hard)
	want(-1, npz.Of("images", []int{2, 3, 1, 2}, bytesOf), hard) // channels first
	want(1, npz.Of("images", []int{2, 1, 2, 3}, []bool{false, true, 11: false}), hard)
	want(1, pixels, npz.Of("labels", []int{2, 2}, []float64{0.25, 0.75, 1, 0}))
	for message, arrays := range map[string][]npz.Array{
		"neither an array images":       {hard},
		"one label for each":            {pixels},
		"is not a class":                {pixels, npz.Of("labels", []int{2}, []int64{1, 2})},
		"the data set's are 1x2":        {npz.Of("pixels", []int{2, 2, 1, 3}, bytesOf), hard},
		"unknown kind of labels":        {pixels, npz.Of("labels", []int{2, 2}, make([]float64, 4)), npz.Text("label_kind", "odd")},
		"it has the classes a, b, c":    {pixels, hard, npz.Text("classes", "a\nb\nc")},
		"its preprocessing is \"zca\"":  {npz.Of("images", []int{2, 1, 2, 3}, make([]float32, 12)), hard, npz.Text("preprocess", "zca")},
		"the value NaN for image 0":     {npz.Of("images", []int{2, 1, 2, 3}, []float32{float32(math.NaN()), 11: 0}), hard},
		"it needs an array of, int64":   {pixels, npz.Of("labels", []int{2, 1}, []float32{1, -1}), npz.Text("label_kind", "value")},
		"labels has the shape [2 0]":    {pixels, npz.Of("labels", []int{2, 0}, []float32{}), npz.Of("of", []int{2}, []int64{0, 1})},
		"does not say what its labels":  {pixels, npz.Of("labels", []int{2}, []float32{0.5, -0.5}), npz.Of("of", []int{2}, []int64{0, 1})},
		"those of std be positive":      {pixels, hard, npz.Of("mean", []int{3}, make([]float32, 3)), npz.Of("std", []int{3}, make([]float32, 3))},
		"labels and of give image 0":    {pixels, hard, npz.Of("of", []int{2}, []int64{0, 1})},
		"of give image 1 the classes 0": {pixels, npz.Of("labels", []int{2, 2}, []float64{0, 1, 1, 0}), npz.Of("of", []int{2}, []int64{1, 1})},
		"it has the classes b, a":       {pixels, hard, npz.Text("classes", "b\na")},
		"-1 is no byte":                 {npz.Of("images", []int{2, 1, 2, 3}, []int64{-1, 11: 0}), hard},
		"labels holds texts":            {pixels, npz.Texts("labels", []string{"a", "b"})},
		"its array of has 3 values":     {pixels, hard, npz.Of("of", []int{3}, []int64{0, 1, 0})},
		`array "pixels": it holds more`: {npz.Of("pixels", []int{20000, 1, 2, 3}, make([]uint8, 120000)), hard},
		`array "labels": it holds more`: {pixels, npz.Of("labels", []int{2, 50000}, make([]uint8, 100000))},
	} {
		if _, err := Read(Place{File: npzFile(t, arrays)}, Options{}, data); err == nil || !strings.Contains(err.Error(), message) || strings.Count(err.Error(), "set.npz") != 1 {
			t.Errorf("%s: %v", message, err)
		}
	}
}

func TestNumpyReadsIt(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil || exec.Command(python, "-c", "import numpy").Run() != nil {
		t.Skip("SKIPPED: no Python with numpy here to read the file with")
	}
	t.Log("RUN: reading the file with numpy")
	file := npzFile(t, Arrays(set()))
	out, err := exec.Command(python, "-c", `
import numpy, sys
z = numpy.load(sys.argv[1])
p = z["images"] * z["std"] + z["mean"]
print(z["images"].shape, z["pixels"].dtype, abs(p - z["pixels"]).max() < 1e-3, z["label_kind"], str(z["classes"]).split("\n"), z["of"], z["extra.rates"][1])
`, file).CombinedOutput()
	const want = "(2, 2, 3, 1) float16 True hard ['nought', 'öne'] [0 1] 3.141592653589793\n"
	if err != nil || string(out) != want {
		t.Errorf("numpy says %s, want %s (%v)", out, want, err)
	}
}

// FuzzSet reads what may be a set, under settings that a number chooses.
func FuzzSet(f *testing.F) {
	theirs := []npz.Array{npz.Of("x", []int{2, 1, 2, 3}, make([]uint8, 12)), npz.Of("y", []int{2, 2}, []float32{1, -1, -1, 1})}
	for _, arrays := range [][]npz.Array{Arrays(set()), theirs} {
		b, err := npz.Encode(arrays)
		if err != nil {
			f.Fatal(err)
		}
		for _, how := range []uint8{0, 1, 22, 255} {
			f.Add(b, how)
		}
	}
	layouts := []string{"", "channels-first", "channels-last"}
	units := []string{"", "no", "bytes", "dataset", "mnist", "zca"}
	kinds := []string{"", "hard", "soft", "logits", "gain", "target", "value"}
	data := &method.Data{Classes: []string{"a", "b"}, Train: method.Images{H: 2, W: 3, C: 1}, Prep: set().Prep}
	f.Fuzz(func(t *testing.T, b []byte, how uint8) {
		z, err := npz.New("fuzz", bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		n := int(how)
		o := Options{Layout: layouts[n%3], Normalised: units[n/3%6], LabelKind: kinds[n/18%7]}
		if d, err := readSet(setFile{Source: z, labels: z, Options: o, most: 100}, data); err == nil && d.Check() != nil {
			t.Error("a set that fails its own check")
		}
	})
}

// foreign is data of two classes of 2x2 images in three channels.
func foreign(prep string) *method.Data {
	d := &method.Data{
		Name: "foreign", Classes: []string{"a", "b"}, Train: method.Images{H: 2, W: 2, C: 3},
		Prep: method.Preprocessing{Name: prep, Mean: []float32{0.5, 0.5, 0.5}, Std: []float32{0.25, 0.25, 0.25}},
	}
	if prep != "standard" {
		d.Prep.Restore = func(x []float32) []float32 { return x }
		d.Prep.Whiten = func(x []float32) []float32 { return slices.Repeat([]float32{7}, len(x)) }
	}
	return d
}

// Labels that are numbers are scored by the loss that they are for, whoever says which.
func TestLosses(t *testing.T) {
	for _, c := range []struct {
		kind, told, loss string
		want, wrong      string
	}{
		{"value", "", "", "squared", ""},
		{"value", "squared", "squared", "squared", ""},
		{"value", "", "hinge", "", `the kind "value", which is not for the hinge loss`},
		{"value", "mse", "", "squared", ""},
		{"gain", "", "squared", "", `hint: write loss = "logistic" or "hinge"`},
		{"target", "", "hinge", "", `hint: write loss = "logistic" beside path`},
		{"target", "bce", "logistic", "logistic", ""},
		{"gain", "", "", "", `does not say for which loss`},
		{"gain", "hinge", "", "hinge", ""},
		{"gain", "", "logistic", "logistic", ""},
		{"gain", "hinge", "logistic", "", `loss is "logistic" here, and the file says that its labels are for the hinge loss`},
		{"target", "", "", "logistic", ""},
		{"logits", "cross-entropy", "", "", ""},
		{"soft", "", "squared", "squared", ""},
	} {
		labels := npz.Of("labels", []int{2, 1}, []float32{0.5, -0.5})
		if c.kind == "logits" || c.kind == "soft" {
			labels = npz.Of("labels", []int{2, 2}, []float32{0.25, 0.75, 1, 0})
		}
		list := []npz.Array{npz.Of("images", []int{2, 2, 2, 3}, make([]float32, 24)), labels, npz.Of("of", []int{2}, []int64{1, 0}), npz.Text("label_kind", c.kind)}
		if c.told != "" {
			list = append(list, npz.Text("loss", c.told))
		}
		d, err := Read(Place{File: npzFile(t, list)}, Options{Normalised: "no", Loss: c.loss}, foreign("standard"))
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s, %q in the file and %q in the settings: %v", c.kind, c.told, c.loss, err)
			}
		} else if err != nil || d.Loss != c.want {
			t.Errorf("%s, %q in the file and %q in the settings: %v, %v", c.kind, c.told, c.loss, d, err)
		}
	}
}

// testdata/dc.pt has two experiments of pixels from 0 to 23/32, and the same plus 1.
func TestOptions(t *testing.T) {
	const dc, bare = "../arrays/testdata/dc.pt", "../arrays/testdata/bare.pt"
	labels := npzFile(t, []npz.Array{npz.Of("labels", []int{2}, []int64{1, 0})})
	soft := func(v ...float32) string {
		return npzFile(t, []npz.Array{npz.Of("y", []int{2, 2}, v)})
	}
	unnamed := func(step float32) string {
		x := make([]float32, 24)
		for i := range x {
			x[i] = float32(i) * step
		}
		return npzFile(t, []npz.Array{npz.Of("arr_0", []int{2, 3, 2, 2}, x), npz.Of("arr_1", []int{2}, []int64{1, 0})})
	}
	for _, c := range []struct {
		name  string
		at    Place
		o     Options
		first float32 // of the images
		kind  method.LabelKind
		notes int
		wrong string
	}{
		{"DC", Place{File: dc}, Options{}, -2, method.Hard, 1, ""},
		{"DC, pixels", Place{File: dc, Seed: 1}, Options{Normalised: "no"}, 2, method.Hard, 0, ""},
		{"DC, no such experiment", Place{File: dc, Seed: 2}, Options{}, 0, "", 0, "none for seed 2"},
		{"DC, one by name", Place{File: dc, Seed: 2}, Options{Images: "data.0.0", Labels: "data.0.1", Normalised: "dataset"}, 0, method.Hard, 0, ""},
		{"DC, not told", Place{File: dc, Seed: 1}, Options{}, 0, "", 0, `the guess is normalised = "dataset", since of what is usual it brings the smallest and largest value of each channel nearest to 0 and 1; but they are 0.44 from there`},
		{"DC, moments", Place{File: dc}, Options{Mean: []float64{0.5, 0.5, 0.5}, Std: []float64{0.5, 0.5, 0.5}}, 0, method.Hard, 0, ""},
		{"DC, moments of grey", Place{File: dc}, Options{Normalised: "mnist"}, 0, "", 0, "of 1 channels; the data set's have 3"},
		{"DC, known moments", Place{File: dc}, Options{Normalised: "cifar-10"}, (0.4914 - 0.5) / 0.25, method.Hard, 0, ""},
		{"MTT", Place{File: bare, Labels: "../arrays/testdata/labels.pt"}, Options{}, -2, method.Hard, 1, ""},
		{"MTT, its images alone", Place{File: bare}, Options{}, 0, "", 0, "has one tensor alone\nhint: torch.save({"},
		{"a network", Place{File: npzFile(t, []npz.Array{npz.Of("classifier.weight", []int{2, 2}, []float32{1, 2, 3, 4})})}, Options{}, 0, "", 0, "classifier.weight, the weights of a network"},
		{"labels of numpy", Place{File: dc}, Options{Images: "data.0.0", Labels: "accs_all_exps.ConvNet"}, 0, "", 0, "torch.as_tensor"},
		{"arrays without names", Place{File: unnamed(1. / 32)}, Options{}, -2, method.Hard, 1, ""},
		{"pixels far beyond 0 and 1", Place{File: npzFile(t, []npz.Array{npz.Of("pixels", []int{2, 3, 2, 2}, append(make([]float32, 23), 1.75)), npz.Of("labels", []int{2}, []int64{1, 0})})}, Options{}, 0, "", 0, `the guess is normalised = "no", since the array is called pixels`},
		{"bytes as numbers", Place{File: unnamed(8)}, Options{}, 0, "", 0, `the guess is normalised = "bytes"`},
		{"pixels as bytes", Place{File: unnamed(1. / 32)}, Options{Normalised: "bytes"}, 0, "", 0, `"bytes" would leave them nearly black`},
		{"images that are not finite", Place{File: unnamed(float32(math.Inf(1)))}, Options{}, 0, "", 0, "for image 0"},
		{"labels that are not finite", Place{File: bare, Labels: soft(0.25, 0.75, float32(math.NaN()), 0)}, Options{}, 0, "", 0, "its array y has the value NaN for image 1"},
		{"another number", Place{File: dc, IPC: 3}, Options{}, 0, "", 0, "it has 2 images, and ipc 3 of 2 classes are 6\nhint: write ipc = [1]"},
		{"no images", Place{File: labels}, Options{}, 0, "", 0, "neither an array images"},
		{"wrong name", Place{File: dc}, Options{Images: "x"}, 0, "", 0, `there is no array "x", only data.0.0`},
		{"probabilities", Place{File: bare, Labels: soft(0.25, 0.75, 1, 0)}, Options{}, -2, method.Soft, 2, ""},
		{"one-hot", Place{File: bare, Labels: soft(0, 1, 1, 0)}, Options{}, -2, method.Hard, 1, ""},
		{"logits", Place{File: bare, Labels: soft(-7, 7, 7, -7)}, Options{}, 0, "", 0, `the guess is label_kind = "logits"`},
		{"logits by name", Place{File: bare, Labels: soft(-7, 7, 7, -7)}, Options{LabelKind: "logits"}, -2, method.Logits, 1, ""},
		{"logits, as their file says", Place{File: bare, Labels: npzFile(t, []npz.Array{npz.Of("labels", []int{2, 2}, []float32{-7, 7, 7, -7}), npz.Text("label_kind", "logits")})}, Options{}, -2, method.Logits, 1, ""},
		{"values, with their classes", Place{File: bare, Labels: npzFile(t, []npz.Array{npz.Of("labels", []int{2, 1}, []float32{1, -1}), npz.Of("of", []int{2}, []int64{1, 0}), npz.Text("label_kind", "value")})}, Options{}, -2, method.Value, 1, ""},
		{"classes in a column, with of", Place{File: bare, Labels: npzFile(t, []npz.Array{npz.Of("labels", []int{2, 1}, []float32{0, 1}), npz.Of("of", []int{2}, []int64{1, 0})})}, Options{}, 0, "", 0, `the guess is label_kind = `},
		{"values in a row, with of", Place{File: bare, Labels: npzFile(t, []npz.Array{npz.Of("labels", []int{2}, []float32{0.5, -0.5}), npz.Of("of", []int{2}, []int64{1, 0}), npz.Text("label_kind", "value")})}, Options{}, -2, method.Value, 1, ""},
		{"logits as probabilities", Place{File: bare, Labels: soft(-7, 7, 7, -7)}, Options{LabelKind: "soft"}, 0, "", 0, `label_kind = "logits" takes`},
		{"rounded probabilities", Place{File: bare, Labels: soft(0.25, 0.7539, 1, 0)}, Options{}, -2, method.Soft, 2, ""},
		{"classes as values", Place{File: bare, Labels: labels}, Options{LabelKind: "value"}, 0, "", 0, "leave label_kind out"},
		{"no classes, in a file of their own", Place{File: bare, Labels: npzFile(t, []npz.Array{npz.Of("labels", []int{2}, []int64{5, 0})})}, Options{}, 0, "", 0, "set.npz: label 5 is not a class"},
		{"values", Place{File: bare, Labels: soft(-0.5, 0.5, 0.5, -0.5)}, Options{}, 0, "", 0, `the guess is label_kind = "value"`},
		{"layout", Place{File: bare, Labels: labels}, Options{Layout: "channels-last"}, 0, "", 0, "in layout channels-last"},
		{"zca without", Place{File: bare, Labels: labels}, Options{Normalised: "zca"}, 0, "", 0, "not whitened"},
	} {
		d, err := Read(c.at, c.o, foreign("standard"))
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s: got %v, want %q", c.name, err, c.wrong)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if math.Abs(float64(d.Images[0]-c.first)) > 1e-6 || d.Kind != c.kind || len(d.Notes) != c.notes || d.Of[0] != 1 || d.Of[1] != 0 {
			t.Errorf("%s: got %v, %s, notes %q", c.name, d.Images[0], d.Kind, d.Notes)
		}
		// Of [n, c, h, w], the second value is the next of the same channel.
		if step := (d.Images[3] - d.Images[0]) / (d.Images[1] - d.Images[0]); math.Abs(float64(step)-0.25) > 1e-4 && c.name != "DC, known moments" {
			t.Errorf("%s: the layout is wrong: %v", c.name, d.Images[:4])
		}
	}
	cifar := foreign("standard")
	cifar.Name = "cifar-10"
	if _, err := Read(Place{File: dc, Seed: 1}, Options{}, cifar); err == nil || !strings.Contains(err.Error(), `normalised = "cifar-10", since of what is usual`) {
		t.Error(err)
	}
	// Pixels are whitened as the images here are.
	whitened := func(at Place) {
		t.Helper()
		if d, err := Read(at, Options{}, foreign("zca")); err != nil || d.Images[0] != 7 || !slices.Contains(d.Notes, "its pixels were whitened by the map of the data set's images here") {
			t.Error(d, err)
		}
	}
	whitened(Place{File: bare, Labels: labels})
	own := npzFile(t, []npz.Array{
		npz.Of("images", []int{2, 2, 2, 3}, []float32{-1, 23: 1}), npz.Of("labels", []int{2}, []int64{1, 0}),
		npz.Of("mean", []int{3}, []float32{0.5, 0.5, 0.5}), npz.Of("std", []int{3}, []float32{0.5, 0.5, 0.5}),
	})
	whitened(Place{File: own})
	// Learned pixels leave [0, 1] a little; and some programs bring pixels to [-1, 1].
	for _, c := range []struct {
		low, high float32
		want      string
	}{{-0.12, 1.15, `the guess is normalised = "no", since`}, {-1, 1, "the guess is mean = [0.5, 0.5, 0.5], std = [0.5, 0.5, 0.5], since"}} {
		images := slices.Concat(slices.Repeat([]float32{c.low}, 12), slices.Repeat([]float32{c.high}, 12))
		file := npzFile(t, []npz.Array{npz.Of("images", []int{2, 2, 2, 3}, images), npz.Of("labels", []int{2}, []int64{1, 0})})
		if _, err := Read(Place{File: file}, Options{}, cifar); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "but they are") {
			t.Error(err)
		}
	}
	near := npzFile(t, []npz.Array{npz.Of("images", []int{2, 2, 2, 3}, []float32{-2, -2, -2, 23: 2, 22: 2, 21: 2}), npz.Of("labels", []int{2}, []int64{1, 0})})
	if _, err := Read(Place{File: near}, Options{}, cifar); err == nil || !strings.Contains(err.Error(), `normalised = "dataset", since of what is usual`) {
		t.Error(err)
	}
	for _, kind := range []string{"zca", "norm-zca"} {
		for _, ours := range []string{"zca", "norm-zca"} {
			d, err := Read(Place{File: bare, Labels: labels}, Options{Normalised: kind}, foreign(ours))
			if kind == ours && (err != nil || d.Images[0] != 0 || len(d.Notes) != 1) || kind != ours && (err == nil || !strings.Contains(err.Error(), "not whitened so")) {
				t.Errorf("whitened by %s, on data whitened by %s: %v, %v", kind, ours, d, err)
			}
		}
	}
}

// Whether images are whitened is guessed from their ends, and shows when that is undone.
func TestWhitenedImages(t *testing.T) {
	data := foreign("norm-zca")
	data.Prep.Restore = func(x []float32) []float32 {
		out := slices.Clone(x)
		for i := range out {
			out[i] *= 5
		}
		return out
	}
	outline := foreign("norm-zca")
	outline.Prep.Outline = true
	for _, c := range []struct {
		end        float32
		normalised string
		data       *method.Data
		want       string // of the error or of the notes
	}{
		{0.2, "", data, `the guess is normalised = "norm-zca", since nothing usual`},
		{0.2, "norm-zca", data, ""},
		{1, "", data, "the guess is mean = [0.5, 0.5, 0.5], std = [0.5, 0.5, 0.5], since of what is usual"},
		{1, "norm-zca", data, "its pixels go from -5 to 5"},
		{1, "dataset", data, "its pixels go from -5 to 5"},
		{9, "norm-zca", outline, ""},
	} {
		images := slices.Concat(slices.Repeat([]float32{-c.end}, 12), slices.Repeat([]float32{c.end}, 12))
		file := npzFile(t, []npz.Array{npz.Of("images", []int{2, 2, 2, 3}, images), npz.Of("labels", []int{2}, []int64{1, 0})})
		said := ""
		d, err := Read(Place{File: file}, Options{Normalised: c.normalised}, c.data)
		if err != nil {
			said = err.Error()
		} else if n := strings.Join(d.Notes, "\n"); strings.Contains(n, "may not be whitened") {
			said = n
		}
		if (err != nil) != (c.normalised == "") || (said == "") != (c.want == "") || !strings.Contains(said, c.want) {
			t.Errorf("%v, %q: got %q, want %q", c.end, c.normalised, said, c.want)
		}
	}
}

// Small files that promise much are refused before they have cost memory.
func TestHostile(t *testing.T) {
	data := foreign("standard")
	data.Train = method.Images{H: 32, W: 32, C: 3, Labels: make([]int, 50000)}
	extra, err := npz.Encode([]npz.Array{
		npz.Of("pixels", []int{2, 32, 32, 3}, bytes.Repeat([]byte{9}, 6144)), npz.Of("labels", []int{2}, []uint8{0, 1}),
		npz.Of("extra.0", []int{1000000}, make([]uint8, 1000000)), npz.Of("extra.1", []int{1000000}, make([]uint8, 1000000)),
	})
	if err != nil {
		t.Fatal(err)
	}
	zeros := func(shape string, n int) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		head := "{'descr': '|u1', 'fortran_order': False, 'shape': " + shape + "}"
		for name, body := range map[string][]byte{"images.npy": make([]byte, n), "labels.npy": nil} {
			w, err := z.Create(name)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(w, "\x93NUMPY\x01\x00%c\x00%s%s", len(head), head, body)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for _, c := range []struct {
		file []byte
		want string
	}{
		{extra, `array "extra.1": it holds more`},
		{zeros("(30000000,)", 30_000_000), "the shape [30000000] of type u1; at most 3072000 values are expected\nhint: ipc 1 of 2 classes are 2 images"},
		{zeros("(10000, 32, 32, 3)", 30_720_000), "the shape [10000 32 32 3] of type u1; at most 3072000 values are expected\nhint: ipc 1 of 2 classes are 2 images"},
	} {
		file := filepath.Join(t.TempDir(), "set")
		if err := os.WriteFile(file, c.file, 0o666); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Read(Place{File: file, IPC: 1}, Options{}, data)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 100e6 {
			t.Errorf("%s: %d MB were allocated", c.want, used/1e6)
		}
	}
}

// An error names its file once, be it the one that was asked for or one in that folder.
func TestPlaced(t *testing.T) {
	for text, want := range map[string]string{
		"no labels": "set: no labels", "settled": "set: settled", "set: no labels": "set: no labels",
		"set/labels.csv: line 1": "set/labels.csv: line 1", `set\labels.csv: line 1`: `set\labels.csv: line 1`,
	} {
		if got := placed("set", errors.New(text)).Error(); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
	if err := placed("set", nil); err != nil {
		t.Error(err)
	}
}

// Images in another unit than a file or the settings say are an error or a note, never
// silently other pixels.
func TestWrongUnits(t *testing.T) {
	labels := npz.Of("labels", []int{2}, []int64{1, 0})
	images := func(name string, low, high float32) npz.Array {
		x := slices.Concat(slices.Repeat([]float32{low}, 12), slices.Repeat([]float32{high}, 12))
		return npz.Of(name, []int{2, 2, 2, 3}, x)
	}
	whole := func(high int64) npz.Array {
		return npz.Of("images", []int{2, 2, 2, 3}, slices.Concat(make([]int64, 12), slices.Repeat([]int64{high}, 12)))
	}
	three := func(name string, v float32) npz.Array { return npz.Of(name, []int{3}, []float32{v, v, v}) }
	for _, c := range []struct {
		name   string
		arrays []npz.Array
		o      Options
		first  float32 // of the images, where it is no error
		says   string  // the error, or a note
	}{
		{"moments of bytes", []npz.Array{images("images", -2, 2), three("mean", 127), three("std", 63)}, Options{}, 0, "divide those of bytes by 255"},
		{"moments of bytes, as settings", []npz.Array{images("images", -2, 2)}, Options{Mean: []float64{127, 127, 127}, Std: []float64{63, 63, 63}}, 0, "far beyond 0 and 1"},
		{"normalised bytes", []npz.Array{whole(200)}, Options{Normalised: "cifar-10"}, 0, "bytes and not normalised"},
		{"bytes as the data set's", []npz.Array{whole(200)}, Options{Normalised: "dataset"}, 0, "bytes and not normalised"},
		{"bytes as floats, as the data set's", []npz.Array{images("images", 0, 200)}, Options{Normalised: "dataset"}, 0, "far beyond 0 and 1"},
		{"far below 0", []npz.Array{images("images", -40, 1)}, Options{Normalised: "no"}, 0, "its pixels go from -40 to 1"},
		{"pixels by name alone", []npz.Array{images("pixels", -1, 1)}, Options{}, 0, "does not say how they are normalised"},
		{"pixels beside moments", []npz.Array{images("images", 0, 1), three("mean", 0.5), three("std", 0.25)}, Options{}, 0, "as pixels are, and it has arrays mean and std"},
		{"pixels beside moments, told", []npz.Array{images("images", 0, 1), three("mean", 0.5), three("std", 0.25)}, Options{Normalised: "no"}, -2, ""},
		{"normalised by its moments", []npz.Array{images("images", -1, 1), three("mean", 0.5), three("std", 0.5)}, Options{}, -2, "by the mean and std in it"},
		{"a preprocess that is no text", []npz.Array{images("images", -1, 1), npz.Of("preprocess", nil, []bool{true})}, Options{}, 0, "does not say how they are normalised"},
		{"whole numbers 0 and 1", []npz.Array{whole(1)}, Options{}, 0, "the whole numbers 0 and 1"},
		{"whole numbers 0 and 1, told", []npz.Array{whole(1)}, Options{Normalised: "no"}, -2, ""},
		{"other classes", []npz.Array{images("images", 0, 1), npz.Text("classes", "cat\ndog\x1b[31m")}, Options{}, -2, `its classes are cat, "dog\x1b[31m"; they were taken for a, b`},
		{"spelling", []npz.Array{images("images", 0, 1), npz.Text("classes", "A\nB")}, Options{Normalised: "no"}, -2, ""},
		{"notes for a terminal", []npz.Array{images("images", 0, 1), npz.Text("notes", "\x1b[31mred\nplain")}, Options{}, -2, "[31mred\nplain"},
		{"learned pixels", []npz.Array{images("pixels", -0.25, 1.02)}, Options{}, -3, "array pixels was taken for pixels"},
		{"learned pixels beside moments", []npz.Array{images("pixels", -0.25, 1.02), three("mean", 0.5), three("std", 0.25)}, Options{}, -3, "array pixels was taken for pixels"},
		{"bytes beside their moments", []npz.Array{whole(255), three("mean", 127), three("std", 63)}, Options{}, -2, ""},
		{"pixels beside moments of bytes, told", []npz.Array{images("images", 0, 1), three("mean", 127), three("std", 63)}, Options{Normalised: "no"}, -2, ""},
		{"the loss of another program", []npz.Array{images("images", 0, 1), npz.Text("loss", "squared")}, Options{}, -2, ""},
		{"notes that are none, and a loss", []npz.Array{images("images", 0, 1), npz.Of("loss", nil, []float64{0.3}), npz.Of("notes", []int{2 << 20}, make([]uint8, 2<<20))}, Options{}, -2, ""},
	} {
		d, err := Read(Place{File: npzFile(t, append(c.arrays, labels))}, c.o, foreign("standard"))
		switch {
		case err != nil && (c.first != 0 || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v", c.name, err)
		case err == nil && d.Loss != "":
			t.Errorf("%s: its labels are for the %s loss", c.name, d.Loss)
		case err == nil && c.name == "spelling" && len(d.Notes) > 0:
			t.Errorf("%s: notes %q", c.name, d.Notes)
		case err == nil && strings.Contains(strings.Join(d.Notes, ""), "\x1b"):
			t.Errorf("%s: a terminal would obey the notes %q", c.name, d.Notes)
		case err == nil && (c.first == 0 || d.Images[0] != c.first || !strings.Contains(strings.Join(d.Notes, "\n"), c.says)):
			t.Errorf("%s: %v, notes %q", c.name, d.Images[0], d.Notes)
		}
	}
	many := npz.Text("notes", strings.Repeat("one\n", 60))
	if d, err := Read(Place{File: npzFile(t, []npz.Array{images("images", 0, 1), many, labels})}, Options{Normalised: "no"}, foreign("standard")); err != nil || len(d.Notes) != 51 || !strings.Contains(d.Notes[50], "beyond 50 lines") {
		t.Errorf("of 60 notes: %v, %q", err, d.Notes)
	}
	none := npz.Of("labels", []int{2}, []int64{1, 1})
	const note = "none of its images stands for a"
	d, err := Read(Place{File: npzFile(t, []npz.Array{images("images", 0, 1), none})}, Options{}, foreign("standard"))
	if err != nil || !slices.Contains(d.Notes, note) {
		t.Fatal(d, err)
	}
	if again, err := Read(Place{File: npzFile(t, Arrays(d))}, Options{}, foreign("standard")); err != nil || !slices.Equal(again.Notes, d.Notes) {
		t.Errorf("%v: notes %q, and read again %q", err, d.Notes, again.Notes)
	}
}

// A file of several experiments gives the images and labels of one.
func TestOneExperiment(t *testing.T) {
	const dc = "../arrays/testdata/dc.pt"
	for _, o := range []Options{{Images: "data.0.0"}, {Labels: "data.0.1"}} {
		for seed := range uint64(3) { // the file has two
			images, labels, err := named(t, dc, o, seed)
			if err != nil || images != "data.0.0" || labels != "data.0.1" {
				t.Errorf("%+v, seed %d: %s and %s: %v", o, seed, images, labels, err)
			}
		}
	}
}

// named finds the arrays of a file.
func named(t *testing.T, file string, o Options, seed uint64) (images, labels string, err error) {
	z, err := arrays.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	return setFile{Source: z, labels: z, Options: o, at: Place{Seed: seed}}.find()
}

// A set of this program's making may be damaged, or somebody's: what does not have its form is an
// error.
func TestOddForms(t *testing.T) {
	in := set()
	data := &method.Data{Classes: in.Classes, Prep: in.Prep, Train: method.Images{H: 2, W: 3, C: 1}}
	n := func(name string, shape ...int) npz.Array {
		size, _ := npz.Count(shape, 1000)
		return npz.Of(name, shape, make([]float32, size))
	}
	for what, a := range map[string]npz.Array{
		"classes of numbers": n("classes", 2), "label_kind of numbers": n("label_kind"), "loss of numbers": n("loss"), "notes of numbers": n("notes", 1),
		"labels [n, 1, classes]": npz.Of("labels", []int{2, 1, 2}, in.Labels), "of text": npz.Texts("of", []string{"a", "b"}),
	} {
		list := slices.DeleteFunc(Arrays(in), func(old npz.Array) bool { return old.Name == a.Name })
		if d, err := Read(Place{File: npzFile(t, append(list, a))}, Options{}, data); err == nil {
			t.Errorf("%s: read as %+v", what, d)
		}
	}
}
