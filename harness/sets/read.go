// Package sets reads and writes distilled sets as arrays, those of this program and
// those of others.
//
// A file of this program says all there is to know of it. Others have images and
// labels, and Options say the rest. What nobody says is an error that lists the choices.
package sets

import (
	"fmt"
	"slices"
	"strings"

	"dgkip/harness/arrays"
	"dgkip/harness/method"
	"dgkip/harness/npz"
)

// Limits on what is read from a file, beside the size of its images.
const (
	maxText  = 1 << 20 // characters
	maxExtra = 1 << 20 // values of what the method keeps, in all
	minMost  = 10000   // images that a set may have, where the data set has fewer
)

// setFile is a distilled set as arrays, and how many images it may have.
type setFile struct {
	arrays.Source
	labels arrays.Source // that has the labels: usually the same
	Options
	most int
	own  bool // of this program, which says how it was preprocessed
}

// with returns the file that says something of the labels: their own, if it does.
func (f setFile) with(name string) arrays.Source {
	if f.labels.Has(name) {
		return f.labels
	}
	return f.Source
}

// text returns a text of a file, or "" if it has none of that name. A list of texts becomes
// one of lines.
func text(s arrays.Source, name string) (string, error) {
	if !s.Has(name) {
		return "", nil
	}
	a, err := s.Read(name, maxText)
	lines, _ := a.Texts()
	return strings.Join(lines, "\n"), err
}

// numbers returns an array of no more than most numbers, nil if it is not there or
// holds texts.
func numbers(s arrays.Source, name string, most int) ([]float64, []int, error) {
	if !s.Has(name) {
		return nil, nil, nil
	}
	a, err := s.Read(name, most)
	x, _ := a.Float64s()
	return x, a.Shape, err
}

// Place is where a set lies.
type Place struct {
	File   string
	Labels string // a file of their own, or ""
	IPC    int    // images of a class that it must have, 0 for any number of images
}

// Read reads a distilled set of this program's making or of another's.
//
// A file of another program needs images, or pixels, with the shape [n, h, w, c] or
// [n, c, h, w], and labels, class numbers [n] or rows [n, classes].
func Read(at Place, o Options, data *method.Data) (*method.Distilled, error) {
	z, err := arrays.Open(at.File)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	f := setFile{Source: z, labels: z, Options: o, most: max(len(data.Train.Labels), minMost)}
	if at.Labels != "" {
		var labels arrays.Source
		if labels, err = arrays.Open(at.Labels); err != nil {
			return nil, err
		}
		defer labels.Close()
		f.labels = labels
	}
	d, err := readSet(f, data)
	if n := at.IPC * len(data.Classes); err == nil && at.IPC > 0 && d.Len() != n {
		err = fmt.Errorf("it has %d images, and ipc %d of %d classes are %d", d.Len(), at.IPC, len(data.Classes), n)
		if d.Len()%len(data.Classes) == 0 {
			err = fmt.Errorf("%w\nhint: write ipc = [%d] in [grid], if its classes are those of the data set here: %s", err, d.Len()/len(data.Classes), npz.Listed(data.Classes))
		}
	}
	return d, placed(at, err)
}

// placed puts the files in front of err, unless one is there already.
func placed(at Place, err error) error {
	names := strings.TrimSuffix(at.File+", "+at.Labels, ", ")
	if err == nil || strings.HasPrefix(err.Error(), at.File+":") || at.Labels != "" && strings.HasPrefix(err.Error(), at.Labels+":") {
		return err
	}
	return fmt.Errorf("%s: %w", names, err)
}

func readSet(f setFile, data *method.Data) (*method.Distilled, error) {
	texts := map[string]string{}
	for _, name := range []string{"preprocess", "classes", "label_kind", "loss", "notes"} {
		from := f.Source
		if name == "label_kind" || name == "loss" {
			from = f.with(name)
		}
		var err error
		if texts[name], err = text(from, name); err != nil {
			return nil, err
		}
	}
	f.own = texts["preprocess"] != ""
	d := &method.Distilled{Classes: data.Classes, Prep: data.Prep, H: data.Train.H, W: data.Train.W, C: data.Train.C}
	if names := texts["classes"]; names != "" {
		// The names may differ, as spellings do; their number and their order must not.
		got := strings.Split(names, "\n")
		same := slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(data.Classes)))
		if len(got) != len(data.Classes) || same && !slices.Equal(got, data.Classes) {
			return nil, fmt.Errorf("it has the classes %s, but the data set has %s", npz.Listed(got), npz.Listed(data.Classes))
		}
		if !slices.EqualFunc(got, data.Classes, strings.EqualFold) {
			d.Notes = append(d.Notes, fmt.Sprintf("its classes are %s; they were taken for %s", npz.Listed(got), npz.Listed(data.Classes)))
		}
	}
	if p := texts["preprocess"]; p != "" && p != data.Prep.Name {
		return nil, fmt.Errorf("its preprocessing is %q, but the data set's here is %q", p, data.Prep.Name)
	}
	if notes := texts["notes"]; f.own && notes != "" {
		d.Notes = append(d.Notes, strings.Split(notes, "\n")...)
	}
	images, err := named(f.Source, "images", f.Images, f.Source != f.labels, "pixels")
	if err != nil {
		return nil, err
	}
	labels, err := named(f.labels, "labels", f.Labels, f.Source != f.labels)
	if err != nil {
		return nil, err
	}
	if err := readImages(d, f, images, data); err != nil {
		return nil, err
	}
	if err := readLabels(d, f, labels, texts["label_kind"]); err != nil {
		return nil, err
	}
	if err := readLoss(d, f, texts["loss"]); err != nil {
		return nil, err
	}
	if f.own {
		if err := readExtra(d, f); err != nil {
			return nil, err
		}
	}
	return d, d.Check()
}

// named returns the name of an array: the one that the setting of that key gives, the key
// itself or another usual one, or, in a file that need not have both, that of the only one.
func named(s arrays.Source, key, told string, alone bool, usual ...string) (string, error) {
	if told != "" {
		return told, nil
	}
	for _, name := range append([]string{key}, usual...) {
		if s.Has(name) {
			return name, nil
		}
	}
	if alone && len(s.Names()) == 1 {
		return s.Names()[0], nil
	}
	return "", fmt.Errorf("it has no array %s, only %s\nhint: %[1]s = \"NAME\" beside path names it; labels_path names another file that has the labels; torch.stack makes one tensor of a list", key, npz.Listed(s.Names()))
}

func readExtra(d *method.Distilled, f setFile) error {
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
		if v, numbers := a.Float64s(); numbers {
			left -= len(v)
			if d.Extra == nil {
				d.Extra = map[string]method.Array{}
			}
			d.Extra[name] = method.Array{Shape: a.Shape, Data: v}
		}
	}
	return nil
}

func readImages(d *method.Distilled, f setFile, name string, data *method.Data) error {
	a, err := f.Read(name, f.most*d.Size())
	if err != nil {
		return err
	}
	s := a.Shape
	if len(s) == 3 && d.C == 1 { // one channel, left out
		s = append(slices.Clone(s), 1)
	}
	last := len(s) == 4 && s[1] == d.H && s[2] == d.W && s[3] == d.C
	if first := len(s) == 4 && s[1] == d.C && s[2] == d.H && s[3] == d.W; !last && !first {
		return fmt.Errorf("its images, the array %s, have the shape %v; the data set's are %dx%d with %d channels, and make [n, h, w, c] or [n, c, h, w]", name, a.Shape, d.H, d.W, d.C)
	}
	x, ok := a.Float32s()
	if !ok || len(x) == 0 {
		return fmt.Errorf("its array %s holds no images", name)
	}
	if !last {
		x = ChannelsLast(x, s[0], d.C, d.H*d.W)
	}
	m, err := f.units(a, name, x, data.Prep)
	if err == nil {
		d.Images, err = f.normalise(x, d.C, m, data.Prep)
	}
	return err
}

// ChannelsLast returns images [n, c, plane] as [n, plane, c]; with c and plane exchanged it is
// its own inverse.
func ChannelsLast(x []float32, n, c, plane int) []float32 {
	out := make([]float32, len(x))
	for i := range n {
		for k := range c {
			for p := range plane {
				out[(i*plane+p)*c+k] = x[(i*c+k)*plane+p]
			}
		}
	}
	return out
}
