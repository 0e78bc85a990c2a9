package sets

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"dgkip/harness/method"
)

// maxExtra is the largest number of values in all further results of the method.
const maxExtra = 1 << 20

// setFile is an open file with a distilled set.
type setFile struct {
	*File
	Options
	own bool // written by this program, which states the preprocessing
}

// text returns the text with a name, or a list of texts as lines. It returns "" if there is none.
func (f *File) text(name string) (string, error) {
	if !f.Has(name) {
		return "", nil
	}
	a, err := f.Read(name, maxText)
	lines, _ := a.Texts()
	return strings.Join(lines, "\n"), err
}

// numbers returns the values and the shape of an array. The values are nil if there is no such array
// or if it holds texts.
func (f *File) numbers(name string) ([]float64, []int, error) {
	if !f.Has(name) {
		return nil, nil, nil
	}
	a, err := f.Read(name, math.MaxInt)
	x, _ := a.Float64s()
	return x, a.Shape, err
}

// Place locates a set.
type Place struct {
	File   string
	Labels string // a second file with the labels, or ""
	IPC    int    // images per class that the set must have; 0 allows any number
}

// Read reads a distilled set of this program or another. A file needs an array images, or pixels,
// with the shape [n, h, w, c], [n, c, h, w] or, with one channel, [n, h, w], and an array labels, with class numbers [n] or rows
// [n, classes].
func Read(at Place, o Options, data *method.Data) (*method.Distilled, error) {
	f, err := Open(at.File)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if at.Labels != "" {
		labels, err := Open(at.Labels)
		if err != nil {
			return nil, err
		}
		defer labels.Close()
		if o, err = f.take(labels, o); err != nil {
			return nil, err
		}
	}
	d, err := readSet(setFile{File: f, Options: o}, data)
	if n := at.IPC * len(data.Classes); err == nil && at.IPC > 0 && d.Len() != n {
		err = fmt.Errorf("it has %d images, but ipc %d with %d classes needs %d", d.Len(), at.IPC, len(data.Classes), n)
		if d.Len()%len(data.Classes) == 0 {
			err = fmt.Errorf("%w\nhint: write ipc = [%d] in [grid], if its classes are %s", err, d.Len()/len(data.Classes), Listed(data.Classes))
		}
	}
	if err == nil || strings.HasPrefix(err.Error(), f.path+":") {
		return d, err
	}
	return nil, fmt.Errorf("%s: %w", f.path, err)
}

// take adds the labels of another file, and the arrays that describe them. If one of the files has
// only one array, its name does not matter.
func (f *File) take(labels *File, o Options) (Options, error) {
	name, err := labels.named("labels", o.Labels, true)
	if err == nil {
		o.Images, err = f.named("images", o.Images, true, "pixels")
	}
	if err != nil {
		return o, err
	}
	o.Labels = "labels"
	f.path += ", " + labels.path
	f.get["labels"] = labels.get[name]
	for _, name := range []string{"of", "label_kind", "loss"} {
		if labels.Has(name) {
			f.get[name] = labels.get[name]
		}
	}
	return o, nil
}

func readSet(f setFile, data *method.Data) (*method.Distilled, error) {
	told := map[string]string{}
	for _, name := range []string{"preprocess", "classes", "label_kind", "loss", "notes"} {
		var err error
		if told[name], err = f.text(name); err != nil {
			return nil, err
		}
	}
	f.own = told["preprocess"] != ""
	d := &method.Distilled{Classes: data.Classes, Prep: data.Prep, H: data.Train.H, W: data.Train.W, C: data.Train.C}
	if got := strings.Split(told["classes"], "\n"); told["classes"] != "" && !slices.Equal(got, data.Classes) {
		// The spelling of names may differ, but not their number and order.
		sorted := func(names []string) []string { return slices.Sorted(slices.Values(names)) }
		if len(got) != len(data.Classes) || slices.Equal(sorted(got), sorted(data.Classes)) {
			return nil, fmt.Errorf("it has the classes %s, but the dataset has %s", Listed(got), Listed(data.Classes))
		}
		d.Notes = append(d.Notes, fmt.Sprintf("its classes are %s; they were taken for %s", Listed(got), Listed(data.Classes)))
	}
	if f.own && told["preprocess"] != data.Prep.Name {
		return nil, fmt.Errorf("its preprocessing is %q, but the dataset's is %q\nhint: choose data with the preprocessing of the set, or export a set of this data", told["preprocess"], data.Prep.Name)
	}
	if f.own && told["notes"] != "" {
		d.Notes = append(d.Notes, strings.Split(told["notes"], "\n")...)
	}
	images, err := f.named("images", f.Images, false, "pixels")
	if err != nil {
		return nil, err
	}
	labels, err := f.named("labels", f.Labels, false)
	if err != nil {
		return nil, err
	}
	if err := f.readImages(d, images, data.Prep); err != nil {
		return nil, err
	}
	if err := f.readLabels(d, labels, told["label_kind"]); err != nil {
		return nil, err
	}
	if err := f.readLoss(d, told["loss"]); err != nil {
		return nil, err
	}
	if f.own {
		if err := f.readExtra(d); err != nil {
			return nil, err
		}
	}
	return d, d.Check()
}

// named returns the name of an array: the setting, or else the key, or else another usual name. If
// the array is alone in its file, any name will do.
func (f *File) named(key, setting string, alone bool, usual ...string) (string, error) {
	for _, name := range append([]string{key}, usual...) {
		if setting == "" && f.Has(name) {
			setting = name
		}
	}
	if setting == "" && alone && len(f.names) == 1 {
		setting = f.names[0]
	}
	if !f.Has(setting) {
		return "", fmt.Errorf("it has no array %s, only %s\nhint: next to path, write %s = \"NAME\", or labels_path if another file has the labels; torch.stack makes one tensor of a list", cmp.Or(setting, key), Listed(f.names), key)
	}
	return setting, nil
}

func (f setFile) readImages(d *method.Distilled, name string, prep method.Preprocessing) error {
	a, err := f.Read(name, math.MaxInt)
	if err != nil {
		return err
	}
	s := a.Shape
	if len(s) == 3 && d.C == 1 { // one channel, left out
		s = append(slices.Clone(s), 1)
	}
	last := len(s) == 4 && slices.Equal(s[1:], []int{d.H, d.W, d.C})
	if first := len(s) == 4 && slices.Equal(s[1:], []int{d.C, d.H, d.W}); !last && !first {
		return fmt.Errorf("its images, the array %s, have the shape %v; the dataset's are %[3]dx%[4]d with %[5]d channels, so it must be [n %[3]d %[4]d %[5]d] or [n %[5]d %[3]d %[4]d]", name, a.Shape, d.H, d.W, d.C)
	}
	x, ok := values[float32](a)
	if !ok || len(x) == 0 {
		return fmt.Errorf("its array %s holds no images", name)
	}
	if !last {
		x = transposed(x, d.C, d.H*d.W)
	}
	d.Images, err = f.normalised(x, a, d.C, prep)
	return err
}

// transposed returns images [n, rows, columns] as [n, columns, rows].
func transposed(x []float32, rows, columns int) []float32 {
	out := make([]float32, 0, len(x))
	for image := range slices.Chunk(x, max(1, rows*columns)) {
		for c := range columns {
			for r := range rows {
				out = append(out, image[r*columns+c])
			}
		}
	}
	return out
}

func (f setFile) readExtra(d *method.Distilled) error {
	left := maxExtra
	for _, full := range f.Names() {
		name, ok := strings.CutPrefix(full, "extra.")
		if !ok {
			continue
		}
		a, err := f.Read(full, left)
		if err != nil {
			return err
		}
		if v, ok := a.Float64s(); ok {
			left -= len(v)
			if d.Extra == nil {
				d.Extra = map[string]method.Array{}
			}
			d.Extra[name] = method.Array{Shape: a.Shape, Data: v}
		}
	}
	return nil
}
