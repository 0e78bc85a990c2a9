package store

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"dgkip/harness/method"
	"dgkip/harness/npz"
)

// ErrNotNPZ says that a file is of another format, or cut short.
var ErrNotNPZ = npz.ErrMagic

// Limits on what is read from a file, beside the size of its images.
const (
	maxText  = 1 << 20 // characters
	maxExtra = 1 << 20 // values
	minMost  = 10000   // images that a set may have, where the data set has fewer
)

// setFile is a distilled set as arrays, and how many images it may have.
type setFile struct {
	*npz.File
	most int
}

// text returns a text of the file, or "". A list of texts becomes one of lines.
func (f setFile) text(name string) (string, error) {
	if !f.Has(name) {
		return "", nil
	}
	a, err := f.Read(name, maxText)
	lines, _ := a.Texts()
	return strings.Join(lines, "\n"), err
}

// numbers returns an array of no more than most numbers, nil if it is not there or
// holds texts.
func (f setFile) numbers(name string, most int) ([]float64, []int, error) {
	if !f.Has(name) {
		return nil, nil, nil
	}
	a, err := f.Read(name, most)
	x, _ := a.Float64s()
	return x, a.Shape, err
}

// ReadDistilled reads a distilled set, of this program's making or of another's.
//
// A file of another program needs pixels, bytes from 0 to 255 or numbers from 0 to
// 1, or images, normalised by the mean and std it gives or by those of the data
// set; with the shape [n, h, w, c] or [n, c, h, w]; and labels, class numbers [n]
// or rows [n, classes]. What it leaves out is taken from data.
func ReadDistilled(file string, data *method.Data) (*method.Distilled, error) {
	z, err := npz.Open(file)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	d, err := readSet(setFile{z, max(len(data.Train.Labels), minMost)}, data)
	if err != nil && !strings.HasPrefix(err.Error(), file) {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return d, err
}

func readSet(f setFile, data *method.Data) (*method.Distilled, error) {
	text := map[string]string{}
	for _, name := range []string{"classes", "preprocess", "loss", "label_kind", "notes"} {
		var err error
		if text[name], err = f.text(name); err != nil {
			return nil, err
		}
	}
	d := &method.Distilled{Classes: data.Classes, Prep: data.Prep, H: data.Train.H, W: data.Train.W, C: data.Train.C, Loss: text["loss"]}
	if names := text["classes"]; names != "" {
		// The names may differ, as spellings do; their number must not.
		if got := strings.Split(names, "\n"); len(got) != len(data.Classes) {
			return nil, fmt.Errorf("it has the classes %s, but the data set has %s", strings.Join(got, ", "), strings.Join(data.Classes, ", "))
		}
	}
	if p := text["preprocess"]; p != "" && p != data.Prep.Name {
		return nil, fmt.Errorf("its preprocessing is %q, but the data set's here is %q", p, data.Prep.Name)
	}
	if err := readImages(d, f); err != nil {
		return nil, err
	}
	if err := readLabels(d, f, text["label_kind"]); err != nil {
		return nil, err
	}
	if err := readExtra(d, f); err != nil {
		return nil, err
	}
	if n := text["notes"]; n != "" {
		d.Notes = strings.Split(n, "\n")
	}
	return d, d.Check()
}

func readExtra(d *method.Distilled, f setFile) error {
	for _, full := range f.Names() {
		name, ok := strings.CutPrefix(full, "extra.")
		if !ok {
			continue
		}
		v, shape, err := f.numbers(full, maxExtra)
		if err != nil {
			return err
		}
		if v != nil {
			if d.Extra == nil {
				d.Extra = map[string]method.Array{}
			}
			d.Extra[name] = method.Array{Shape: shape, Data: v}
		}
	}
	return nil
}

// readPixels returns the array of images to use, and whether that is normalised.
func readPixels(f setFile, dim int) (a npz.Array, normalised bool, err error) {
	if f.Has("images") {
		if a, err = f.Read("images", f.most*dim); err != nil {
			return a, false, err
		}
		normalised = a.Type != "u1"
	}
	if !normalised && f.Has("pixels") {
		a, err = f.Read("pixels", f.most*dim)
	}
	return a, normalised, err
}

func readImages(d *method.Distilled, f setFile) error {
	a, normalised, err := readPixels(f, d.H*d.W*d.C)
	if err != nil {
		return err
	}
	x, ok := a.Float32s()
	if !ok {
		return errors.New("it has neither an array images nor an array pixels")
	}
	if a.Type == "u1" {
		for i := range x {
			x[i] /= 255
		}
	}
	if !normalised {
		for _, v := range x {
			if v > 16 { // learned images may leave [0, 1], but not so far
				return fmt.Errorf("its pixels go up to %v; they are bytes, or numbers from 0 to 1 (divide by 255)", slices.Max(x))
			}
		}
	}
	s := a.Shape
	if len(s) == 3 { // one channel, left out
		s = append(s, 1)
	}
	if len(s) != 4 || s[0] < 1 {
		return fmt.Errorf("its images have the shape %v, not [n, h, w, c]", a.Shape)
	}
	h, w, c := d.H, d.W, d.C
	switch {
	case s[1] == h && s[2] == w && s[3] == c:
	case s[1] == c && s[2] == h && s[3] == w:
		x = channelsLast(x, s[0], c, h*w)
	default:
		return fmt.Errorf("its images have the shape %v; the data set's are %dx%d with %d channels", a.Shape, h, w, c)
	}
	if !normalised {
		if d.Prep.Restore != nil {
			return errors.New("it has images in pixel units only, which cannot be whitened; it needs an array images")
		}
		d.Images = d.Prep.Normalise(x)
		return nil
	}
	d.Images = x
	return renormalise(d, f)
}

// renormalise brings images from the mean and std that a file gives to those of the
// data set.
func renormalise(d *method.Distilled, f setFile) error {
	var moments [2][]float32
	for i, name := range []string{"mean", "std"} {
		v, _, err := f.numbers(name, maxExtra)
		if err != nil {
			return err
		}
		for _, x := range v {
			moments[i] = append(moments[i], float32(x))
		}
	}
	mean, std := moments[0], moments[1]
	if len(mean) != len(std) || len(mean) != d.C && len(mean) != 0 {
		return errors.New("mean and std must both have one value a channel")
	}
	if len(mean) > 0 && d.Prep.Restore == nil && !same(mean, std, d.Prep) {
		x, own := d.Images, method.Preprocessing{Mean: mean, Std: std}
		d.Images = d.Prep.Normalise(own.Pixels(x))
	}
	return nil
}

// same reports whether a file's normalisation is the data set's, up to rounding.
func same(mean, std []float32, p method.Preprocessing) bool {
	if len(mean) != len(p.Mean) {
		return false
	}
	near := func(a, b float32) bool { return math.Abs(float64(a)-float64(b)) <= 1e-6*(1+math.Abs(float64(b))) }
	for i := range mean {
		if !near(mean[i], p.Mean[i]) || !near(std[i], p.Std[i]) {
			return false
		}
	}
	return true
}

func channelsLast(x []float32, n, c, plane int) []float32 {
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

func readLabels(d *method.Distilled, f setFile, kind string) error {
	n, classes := len(d.Images)/d.Size(), len(d.Classes)
	labels, shape, err := f.numbers("labels", f.most*classes)
	if err != nil {
		return err
	}
	if len(shape) == 0 || shape[0] != n || labels == nil {
		return fmt.Errorf("it needs an array labels with one label for each of its %d images", n)
	}
	of, _, err := f.numbers("of", f.most)
	if err != nil {
		return err
	}
	switch {
	case len(of) == n:
		d.Of, err = classesOf(of, classes)
	case of != nil:
		return fmt.Errorf("its array of has %d values; it needs the class of each of its %d images", len(of), n)
	case len(shape) == 1:
		d.Of, err = classesOf(labels, classes)
	case len(labels) == n*classes:
		for row := range slices.Chunk(labels, classes) {
			d.Of = append(d.Of, largest(row))
		}
	default:
		return fmt.Errorf("its labels have the shape %v, not [n] or [n, %d]: then it needs an array of, int64 [n], with the class that each image stands for", shape, classes)
	}
	if err != nil {
		return err
	}
	d.Kind = method.LabelKind(cmp.Or(kind, string(method.Soft)))
	if kind == "" && len(shape) == 1 {
		d.Kind, d.Labels = method.Hard, method.OneHot(d.Of, classes)
		return nil
	}
	d.Labels = make([]float32, len(labels))
	for i, v := range labels {
		d.Labels[i] = float32(v)
	}
	return nil
}

// classesOf checks that numbers are classes.
func classesOf(x []float64, classes int) ([]int, error) {
	of := make([]int, len(x))
	for i, v := range x {
		if v != math.Trunc(v) || v < 0 || v >= float64(classes) {
			return nil, fmt.Errorf("label %v is not a class; there are %d", v, classes)
		}
		of[i] = int(v)
	}
	return of, nil
}

// largest returns the index of the largest value, the first where some are equal.
func largest(row []float64) int {
	best := 0
	for k, x := range row {
		if x > row[best] {
			best = k
		}
	}
	return best
}
