package sets

import (
	"archive/zip"
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/method"
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

// Images in float16 are read back almost unchanged, and labels unchanged.
func TestHalfImages(t *testing.T) {
	in := set()
	arrays := Half(Arrays(in))
	if slices.ContainsFunc(arrays, func(a Array) bool { return a.Name == "pixels" }) {
		t.Error("pixels are there, though images are not whitened")
	}
	data := &method.Data{Classes: in.Classes, Prep: in.Prep, Train: method.Images{H: 2, W: 3, C: 1}}
	out, err := Read(Place{File: npzFile(t, arrays)}, Options{}, data)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range in.Images {
		if math.Abs(float64(out.Images[i]-x)) > math.Abs(float64(x))*0x1p-11 {
			t.Errorf("%v became %v", x, out.Images[i])
		}
	}
	if !slices.Equal(out.Labels, in.Labels) {
		t.Errorf("labels %v became %v", in.Labels, out.Labels)
	}
	in.Prep.Name = "zca"
	if kept := Half(Arrays(in)); len(kept) != len(arrays)+1 {
		t.Error("pixels of whitened images are left out")
	}
}

// npzFile writes arrays to a file.
func npzFile(t testing.TB, arrays []Array) string {
	t.Helper()
	b, err := Encode(arrays)
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
	pixels := Of("pixels", []int{2, 1, 2, 3}, bytesOf)
	hard := Of("labels", []int{2}, []int64{1, 0})
	want := func(first float32, arrays ...Array) {
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
	want(-1, Of("images", []int{2, 3, 1, 2}, bytesOf), hard) // channels first
	want(1, pixels, Of("labels", []int{2, 1}, []int64{1, 0}))
	want(-1, Of("pixels", []int{20000, 1, 2, 3}, make([]uint8, 120000)), Of("labels", []int{20000}, append([]uint8{1}, make([]uint8, 19999)...)))
	want(1, pixels, Of("labels", []int{2, 2}, []float64{0.25, 0.75, 1, 0}), Text("label_kind", "soft"))
	for message, arrays := range map[string][]Array{
		"it has no array images":             {hard, Of("x", []int{1}, []int64{1})},
		"it has no array labels":             {pixels},
		"is not a class":                     {pixels, Of("labels", []int{2}, []int64{1, 2})},
		"the dataset's are 1x2":              {Of("pixels", []int{2, 2, 1, 3}, bytesOf), hard},
		"unknown kind of labels":             {pixels, Of("labels", []int{2, 2}, make([]float64, 4)), Text("label_kind", "odd")},
		"it has the classes a, b, c":         {pixels, hard, Text("classes", "a\nb\nc")},
		"its preprocessing is \"zca\"":       {Of("images", []int{2, 1, 2, 3}, make([]float32, 12)), hard, Text("preprocess", "zca")},
		"a pixel that is NaN":                {Of("pixels", []int{2, 1, 2, 3}, []float32{float32(math.NaN()), 11: 0}), hard},
		"also needs an array \"of\", int64":  {pixels, Of("labels", []int{2, 1}, []float32{1, -1}), Text("label_kind", "value")},
		"labels has the shape [2 0]":         {pixels, Of("labels", []int{2, 0}, []float32{}), Of("of", []int{2}, []int64{0, 1})},
		"write label_kind next to path":      {pixels, Of("labels", []int{2}, []float32{0.5, -0.5})},
		"write label_kind = \"hard\"":        {pixels, Of("labels", []int{2, 2}, []float32{0, 1, 1, 0})},
		"write normalised = \"no\"":          {Of("images", []int{2, 1, 2, 3}, make([]float32, 12)), hard},
		"std must be positive":               {Of("images", []int{2, 1, 2, 3}, make([]float32, 12)), hard, Of("mean", []int{3}, make([]float32, 3)), Of("std", []int{3}, make([]float32, 3))},
		"\"labels\" and \"of\" give image 0": {pixels, hard, Of("of", []int{2}, []int64{0, 1})},
		`"of" give image 1 the classes 0`:    {pixels, Of("labels", []int{2, 2}, []float64{0, 1, 1, 0}), Text("label_kind", "hard"), Of("of", []int{2}, []int64{1, 1})},
		"it has the classes b, a":            {pixels, hard, Text("classes", "b\na")},
		"labels has the shape [2]":           {pixels, texts("labels", []string{"a", "b"})},
		"3 class numbers for 2 images":       {pixels, Of("labels", []int{2}, []float32{1, -1}), Text("label_kind", "value"), Of("of", []int{3}, []int64{0, 1, 0})},
		`int64 [2], or remove "of"`:          {pixels, hard, Of("of", []int{3}, []int64{0, 1, 0})},
	} {
		if _, err := Read(Place{File: npzFile(t, arrays)}, Options{}, data); err == nil || !strings.Contains(err.Error(), message) || strings.Count(err.Error(), "set.npz") != 1 {
			t.Errorf("%s: %v", message, err)
		}
	}
}

func TestNumpyReadsIt(t *testing.T) {
	program := python(t, "numpy")
	t.Log("RUN: reading the file with numpy")
	file := npzFile(t, Arrays(set()))
	out, err := exec.Command(program, "-c", `
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

// FuzzSet reads any file as a set, with settings chosen by a number.
func FuzzSet(f *testing.F) {
	theirs := []Array{Of("x", []int{2, 1, 2, 3}, make([]uint8, 12)), Of("y", []int{2, 2}, []float32{1, -1, -1, 1})}
	for _, arrays := range [][]Array{Arrays(set()), theirs} {
		b, err := Encode(arrays)
		if err != nil {
			f.Fatal(err)
		}
		for _, how := range []uint8{0, 1, 22, 255} {
			f.Add(b, how)
		}
	}
	units := []string{"", "no", "bytes", "dataset", "mnist", "zca"}
	kinds := []string{"", "hard", "soft", "logits", "gain", "target", "value"}
	data := &method.Data{Classes: []string{"a", "b"}, Train: method.Images{H: 2, W: 3, C: 1}, Prep: set().Prep}
	f.Fuzz(func(t *testing.T, b []byte, how uint8) {
		z, err := New("fuzz", bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		n := int(how)
		o := Options{Images: "x", Labels: "y", Normalised: units[n%6], LabelKind: kinds[n/6%7]}
		if n >= 42 {
			o.Images, o.Labels = "", ""
		}
		if d, err := readSet(setFile{File: z, Options: o}, data); err == nil && d.Check() != nil {
			t.Error("a set that fails its own check")
		}
	})
}

// foreign returns data with two classes of 2x2 images in three channels.
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

// The loss that labels are for may come from the file or the settings.
func TestLosses(t *testing.T) {
	for _, c := range []struct {
		kind, told, loss string
		want, wrong      string
	}{
		{"value", "", "", "squared", ""},
		{"value", "squared", "squared", "squared", ""},
		{"value", "", "hinge", "", `the kind "value", which does not suit the loss "hinge"`},
		{"value", "mse", "", "squared", ""},
		{"gain", "", "squared", "", `write loss = "logistic" or "hinge"`},
		{"target", "", "hinge", "", `next to path, write loss = "logistic"`},
		{"target", "bce", "logistic", "logistic", ""},
		{"gain", "", "", "", `needs a loss`},
		{"gain", "hinge", "", "hinge", ""},
		{"gain", "", "logistic", "logistic", ""},
		{"gain", "hinge", "logistic", "", `loss is "logistic" in the settings, but "hinge" in the file`},
		{"target", "", "", "logistic", ""},
		{"logits", "cross-entropy", "", "", ""},
		{"soft", "", "squared", "squared", ""},
	} {
		labels := Of("labels", []int{2, 1}, []float32{0.5, -0.5})
		if c.kind == "logits" || c.kind == "soft" {
			labels = Of("labels", []int{2, 2}, []float32{0.25, 0.75, 1, 0})
		}
		list := []Array{Of("images", []int{2, 2, 2, 3}, make([]float32, 24)), labels, Of("of", []int{2}, []int64{1, 0}), Text("label_kind", c.kind)}
		if c.told != "" {
			list = append(list, Text("loss", c.told))
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
	const dc, bare = "testdata/dc.pt", "testdata/bare.pt"
	labels := npzFile(t, []Array{Of("labels", []int{2}, []int64{1, 0})})
	rows := func(v ...float32) string {
		return npzFile(t, []Array{Of("y", []int{2, 2}, v)})
	}
	first := Options{Images: "data.0.0", Labels: "data.0.1"}
	with := func(o Options, normalised, kind string) Options {
		o.Normalised, o.LabelKind = normalised, kind
		return o
	}
	pixels := Options{Normalised: "no"}
	for _, c := range []struct {
		name  string
		at    Place
		o     Options
		first float32 // of the images
		kind  method.LabelKind
		wrong string
	}{
		{"DC", Place{File: dc}, with(first, "no", ""), -2, method.Hard, ""},
		{"DC, another one", Place{File: dc}, Options{Images: "data.1.0", Labels: "data.1.1", Normalised: "no"}, 2, method.Hard, ""},
		{"DC, as the images here", Place{File: dc}, with(first, "dataset", ""), 0, method.Hard, ""},
		{"DC, no names", Place{File: dc}, Options{}, 0, "", `hint: next to path, write images = "NAME"`},
		{"DC, not told", Place{File: dc}, first, 0, "", `images go from 0 to 0.7188, but their normalisation is not given`},
		{"DC, moments", Place{File: dc}, Options{Images: "data.0.0", Labels: "data.0.1", Mean: []float64{0.5, 0.5, 0.5}, Std: []float64{0.5, 0.5, 0.5}}, 0, method.Hard, ""},
		{"DC, moments of grey", Place{File: dc}, with(first, "mnist", ""), 0, "", "by 1 means, but the dataset's have 3"},
		{"DC, known moments", Place{File: dc}, with(first, "cifar-10", ""), (0.4914 - 0.5) / 0.25, method.Hard, ""},
		{"MTT", Place{File: bare, Labels: "testdata/labels.pt"}, pixels, -2, method.Hard, ""},
		{"MTT, its images alone", Place{File: bare}, pixels, 0, "", "labels_path if another file"},
		{"labels of numpy", Place{File: dc}, Options{Images: "data.0.0", Labels: "accs_all_exps.ConvNet", Normalised: "no"}, 0, "", "accs_all_exps.ConvNet"},
		{"another number", Place{File: bare, Labels: labels, IPC: 3}, pixels, 0, "", "it has 2 images, but ipc 3 with 2 classes needs 6\nhint: write ipc = [1]"},
		{"wrong name", Place{File: dc}, Options{Images: "x", Labels: "data.0.1"}, 0, "", `it has no array x, only data.0.0`},
		{"wrong name of its labels", Place{File: dc}, Options{Images: "data.0.0", Labels: "y", Normalised: "no"}, 0, "", "it has no array y, only data.0.0"},
		{"wrong name of labels", Place{File: bare, Labels: labels}, Options{Labels: "x", Normalised: "no"}, 0, "", "it has no array x, only labels"},
		{"one-hot", Place{File: bare, Labels: rows(0, 1, 1, 0)}, with(pixels, "no", "hard"), -2, method.Hard, ""},
		{"one-hot, not told", Place{File: bare, Labels: rows(0, 1, 1, 0)}, pixels, 0, "", `write label_kind = "hard"`},
		{"no one-hot", Place{File: bare, Labels: rows(0, 2, 1, 0)}, with(pixels, "no", "hard"), 0, "", "not one-hot rows"},
		{"probabilities", Place{File: bare, Labels: rows(0.25, 0.7539, 1, 0)}, with(pixels, "no", "soft"), -2, method.Soft, ""},
		{"logits", Place{File: bare, Labels: rows(-7, 7, 7, -7)}, with(pixels, "no", "logits"), -2, method.Logits, ""},
		{"logits as probabilities", Place{File: bare, Labels: rows(-7, 7, 7, -7)}, with(pixels, "no", "soft"), 0, "", `label_kind = "logits" if they are`},
		{"logits, as their file says", Place{File: bare, Labels: npzFile(t, []Array{Of("labels", []int{2, 2}, []float32{-7, 7, 7, -7}), Text("label_kind", "logits")})}, pixels, -2, method.Logits, ""},
		{"logits, by the settings others", Place{File: bare, Labels: npzFile(t, []Array{Of("labels", []int{2, 2}, []float32{-7, 7, 7, -7}), Text("label_kind", "logits")})}, with(pixels, "no", "soft"), 0, "", `label_kind is "soft" in the settings, but "logits" in the file`},
		{"values, with their classes", Place{File: bare, Labels: npzFile(t, []Array{Of("labels", []int{2}, []float32{0.5, -0.5}), Of("of", []int{2}, []int64{1, 0}), Text("label_kind", "value")})}, pixels, -2, method.Value, ""},
		{"classes as values", Place{File: bare, Labels: labels}, with(pixels, "no", "value"), 0, "", `the kind "value" also needs an array "of"`},
		{"labels that are not finite", Place{File: bare, Labels: rows(0.25, 0.75, float32(math.NaN()), 0)}, with(pixels, "no", "logits"), 0, "", "label of image 1 is NaN"},
		{"no class, in a file of their own", Place{File: bare, Labels: npzFile(t, []Array{Of("labels", []int{2}, []int64{5, 0})})}, pixels, 0, "", "set.npz: label 5 is not a class"},
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
		if math.Abs(float64(d.Images[0]-c.first)) > 1e-6 || d.Kind != c.kind || len(d.Notes) != 0 || d.Of[0] != 1 || d.Of[1] != 0 {
			t.Errorf("%s: got %v, %s, notes %q", c.name, d.Images[0], d.Kind, d.Notes)
		}
		// Of [n, c, h, w], the second value is the next of the same channel.
		if step := (d.Images[3] - d.Images[0]) / (d.Images[1] - d.Images[0]); math.Abs(float64(step)-0.25) > 1e-4 && c.name != "DC, known moments" {
			t.Errorf("%s: the layout is wrong: %v", c.name, d.Images[:4])
		}
	}
	// Pixels are whitened as the images here are.
	if d, err := Read(Place{File: bare, Labels: labels}, pixels, foreign("zca")); err != nil || d.Images[0] != 7 {
		t.Error(d, err)
	}
	// Whitened images stay as they are.
	if d, err := Read(Place{File: bare, Labels: labels}, Options{Normalised: "dataset"}, foreign("zca")); err != nil || d.Images[0] != 0 {
		t.Error(d, err)
	}
}

// Small files that claim large arrays are refused before they take memory.
func TestHostile(t *testing.T) {
	data := foreign("standard")
	data.Train = method.Images{H: 32, W: 32, C: 3, Labels: make([]int, 50000)}
	extra, err := Encode([]Array{
		Of("pixels", []int{2, 32, 32, 3}, bytes.Repeat([]byte{9}, 6144)), Of("labels", []int{2}, []uint8{0, 1}),
		Text("preprocess", "standard"), Of("extra.0", []int{1000000}, make([]uint8, 1000000)), Of("extra.1", []int{1000000}, make([]uint8, 1000000)),
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
		{zeros("(30000000,)", 30_000_000), "have the shape [30000000]; the dataset's are 32x32"},
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

// The units of images come from the file or the settings. Values far beyond pixels are an error.
func TestUnits(t *testing.T) {
	labels := Of("labels", []int{2}, []int64{1, 0})
	images := func(name string, low, high float32) Array {
		x := slices.Concat(slices.Repeat([]float32{low}, 12), slices.Repeat([]float32{high}, 12))
		return Of(name, []int{2, 2, 2, 3}, x)
	}
	three := func(name string, v float32) Array { return Of(name, []int{3}, []float32{v, v, v}) }
	for _, c := range []struct {
		name   string
		arrays []Array
		o      Options
		first  float32 // of the images, where it is no error
		says   string  // the error, or a note
	}{
		{"moments of bytes", []Array{images("images", -2, 2), three("mean", 127), three("std", 63)}, Options{}, 0, "far beyond 0 and 1"},
		{"moments of bytes, as settings", []Array{images("images", -2, 2)}, Options{Mean: []float64{127, 127, 127}, Std: []float64{63, 63, 63}}, 0, "far beyond 0 and 1"},
		{"bytes as floats", []Array{images("images", 0, 255)}, Options{Normalised: "bytes"}, -2, ""},
		{"bytes as floats, as the data set's", []Array{images("images", 0, 200)}, Options{Normalised: "dataset"}, 0, "far beyond 0 and 1"},
		{"far below 0", []Array{images("images", -40, 1)}, Options{Normalised: "no"}, 0, "its pixels would go from -40 to 1"},
		{"normalised by its moments", []Array{images("images", -1, 1), three("mean", 0.5), three("std", 0.5)}, Options{}, -2, ""},
		{"normalised by the data set's moments, up to rounding", []Array{images("images", -1, 1), three("mean", 0.50000006), three("std", 0.25000003)}, Options{}, -1, ""},
		{"pixels beside moments, told", []Array{images("images", 0, 1), three("mean", 0.5), three("std", 0.25)}, Options{Normalised: "no"}, -2, ""},
		{"moments of two channels", []Array{images("images", 0, 1), Of("mean", []int{2}, []float32{0, 0}), Of("std", []int{2}, []float32{1, 1})}, Options{}, 0, "by 2 means"},
		{"a preprocess that is no text", []Array{images("images", -1, 1), Of("preprocess", nil, []bool{true})}, Options{}, 0, "their normalisation is not given"},
		{"other classes", []Array{images("pixels", 0, 1), Text("classes", "cat\ndog\x1b[31m")}, Options{}, -2, `its classes are "cat, dog\x1b[31m"; they were taken for a, b`},
		{"learned pixels", []Array{images("pixels", -0.25, 1.02)}, Options{}, -3, ""},
		{"the loss and the notes of another program", []Array{images("pixels", 0, 1), Text("loss", "squared"), Text("notes", "x")}, Options{}, -2, ""},
		{"numbers of another program", []Array{images("pixels", 0, 1), Of("loss", nil, []float64{0.3}), Of("extra.x", nil, []float64{0.3})}, Options{}, -2, ""},
	} {
		d, err := Read(Place{File: npzFile(t, append(c.arrays, labels))}, c.o, foreign("standard"))
		switch {
		case err != nil && (c.first != 0 || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v", c.name, err)
		case err == nil && (d.Loss != "" || d.Extra != nil || (len(d.Notes) > 0) != (c.says != "")):
			t.Errorf("%s: loss %q, extra %v, notes %q", c.name, d.Loss, d.Extra, d.Notes)
		case err == nil && (c.first == 0 || d.Images[0] != c.first || !strings.Contains(strings.Join(d.Notes, "\n"), c.says)):
			t.Errorf("%s: %v, notes %q", c.name, d.Images[0], d.Notes)
		}
	}
}
