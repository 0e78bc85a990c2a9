package arrays

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dgkip/harness/data"
	"dgkip/harness/npz"
)

// LabelsFile is the file of a folder of images that says what they are: a line for
// each image, with its file's name and its class number, or the values of its label.
const LabelsFile = "labels.csv"

// Limits on the file of labels.
const (
	maxLabels = 8 << 20 // bytes
	maxLine   = 1 << 20
	maxImages = 1 << 17
)

// folder is what a folder's file of labels lists, as arrays.
type folder struct {
	path   string
	labels string
	images []string // paths, in the order of the labels
	values [][]float64
	seen   map[string]bool // images
}

// listFolder reads the file of labels. The images that it names lie in the folder.
func listFolder(path string) (*folder, error) {
	f := &folder{path: path, labels: filepath.Join(path, LabelsFile), seen: map[string]bool{}}
	r, info, err := npz.OpenRegular(f.labels)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w: a folder of images needs a file %s\nhint: each of its lines is the name of an image and its class number, such as 000.png,3", path, npz.ErrFormat, LabelsFile)
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if info.Size() > maxLabels {
		return nil, fmt.Errorf("%s: %w: %d bytes", f.labels, npz.ErrOversized, info.Size())
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for at := 1; lines.Scan(); at++ {
		if err := f.line(lines.Text()); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", f.labels, at, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", f.labels, npz.ErrCorrupt, err)
	}
	if len(f.images) == 0 {
		return nil, fmt.Errorf("%s: %w: it names no images", f.labels, npz.ErrFormat)
	}
	return f, nil
}

// line reads what there is of an image.
func (f *folder) line(text string) error {
	name, values, ok := strings.Cut(text, ",")
	name = strings.Trim(name, "\ufeff\" \t")
	switch {
	case strings.TrimSpace(text) == "" || len(f.images) == 0 && heading(name): // the names of the columns
		return nil
	case !ok:
		return fmt.Errorf("%w: an image has a name and a label", npz.ErrFormat)
	case !filepath.IsLocal(name) || name == "." || strings.ContainsAny(name, `/\`):
		return fmt.Errorf("%w: the image %.80q does not lie in the folder", npz.ErrFormat, name)
	case len(f.images) == maxImages:
		return fmt.Errorf("%w: more than %d images", npz.ErrOversized, maxImages)
	}
	label := make([]float64, 0, 1+strings.Count(values, ","))
	for value := range strings.SplitSeq(values, ",") {
		x, err := strconv.ParseFloat(strings.Trim(value, "\" \t"), 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%w: the label %.40q is no number", npz.ErrFormat, value)
		}
		label = append(label, x)
	}
	if len(f.values) > 0 && len(label) != len(f.values[0]) {
		return fmt.Errorf("%w: %d values; the images before it have %d", npz.ErrFormat, len(label), len(f.values[0]))
	}
	path := filepath.Join(f.path, name)
	if f.seen[path] {
		return fmt.Errorf("%w: the image %.80q is there twice", npz.ErrFormat, name)
	}
	f.seen[path] = true
	f.images, f.values = append(f.images, path), append(f.values, label)
	return nil
}

// heading reports whether a column of names may be called so.
func heading(name string) bool {
	return slices.Contains([]string{"file", "filename", "file_name", "image", "name", "path"}, strings.ToLower(name))
}

// Names implements Source.
func (f *folder) Names() []string { return []string{"images", "labels"} }

// Has implements Source.
func (f *folder) Has(name string) bool { return name == "images" || name == "labels" }

// Close implements Source.
func (f *folder) Close() error { return nil }

// Read implements Source.
func (f *folder) Read(name string, most int) (npz.Array, error) {
	switch name {
	case "labels":
		shape, values := []int{len(f.values)}, []float64(nil)
		for _, v := range f.values {
			values = append(values, v...)
		}
		if k := len(f.values[0]); k > 1 {
			shape = append(shape, k)
		}
		if len(values) > most {
			return npz.Array{}, fmt.Errorf("%s: %w", f.labels, tooMany(shape, most))
		}
		return npz.Of(name, shape, values), nil
	case "images":
		return f.pixels(most)
	}
	return npz.Array{}, fmt.Errorf("%s: %w: there is no array %q, only images and labels", f.path, npz.ErrFormat, name)
}

// pixels reads the images.
func (f *folder) pixels(most int) (a npz.Array, err error) {
	a = npz.Array{Name: "images", Type: "u1"}
	for i, path := range f.images {
		h, w, c, pixels, err := data.ReadImage(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return a, fmt.Errorf("%s: %w: it names %s, which is not there", f.labels, npz.ErrFormat, filepath.Base(path))
		case err != nil:
			return a, err
		}
		if i == 0 {
			a.Shape = []int{len(f.images), h, w, c}
			if _, ok := npz.Count(a.Shape, most); !ok {
				return a, fmt.Errorf("%s: %w", f.path, tooMany(a.Shape, most))
			}
		}
		if h != a.Shape[1] || w != a.Shape[2] || c != a.Shape[3] {
			return a, fmt.Errorf("%s: %w: %dx%d pixels in %d channels; those before it have %v", path, npz.ErrFormat, h, w, c, a.Shape[1:])
		}
		a.Data = append(a.Data, pixels...)
	}
	return a, nil
}
