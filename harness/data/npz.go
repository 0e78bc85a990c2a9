package data

import (
	"context"
	"fmt"
	"math"
	"strings"

	"dgkip/harness/sets"
)

// Usual names of the arrays of images and labels in an npz file.
var (
	trainArrays = [][]string{{"x_train", "y_train"}, {"train_images", "train_labels"}, {"images", "labels"}, {"x", "y"}, {"X", "y"}}
	testArrays  = [][]string{{"x_test", "y_test"}, {"test_images", "test_labels"}}
)

func (c *Config) readNPZ(ctx context.Context, train, test string) (*Set, error) {
	out := &Set{Files: []string{train}}
	z, err := sets.Open(train)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	if out.Train, out.Shape, err = readSplit(z, train, c.TrainArrays, "train_arrays", trainArrays, len(c.Names)); err != nil {
		return nil, err
	}
	path, pairs := train, testArrays
	if test != "" {
		path, out.Files = test, append(out.Files, test)
		if z, err = sets.Open(test); err != nil {
			return nil, err
		}
		defer z.Close()
		pairs = append(pairs[:2:2], trainArrays[2:]...)
	}
	if test != "" || c.TestArrays != nil || pair(z, pairs) != nil {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var s Shape
		if out.Test, s, err = readSplit(z, path, c.TestArrays, "test_arrays", pairs, len(c.Names)); err != nil {
			return nil, err
		}
		if s != out.Shape {
			return nil, at(path, fmt.Errorf("%w: %s, but the training images are %s", ErrShape, s.text(), out.text()))
		}
	}
	out.Classes = c.number(out)
	return out, nil
}

// pair returns the first pair of names for which the file has both arrays, or nil.
func pair(z *sets.File, pairs [][]string) []string {
	for _, p := range pairs {
		if z.Has(p[0]) && z.Has(p[1]) {
			return p
		}
	}
	return nil
}

// readSplit reads the arrays of images and labels with the given names, or else with the first pair
// of usual names that the file has.
func readSplit(z *sets.File, path string, names []string, key string, pairs [][]string, classes int) (Split, Shape, error) {
	if names == nil {
		names = pair(z, pairs)
	}
	if names == nil {
		var known []string
		for _, p := range pairs {
			known = append(known, strings.Join(p, " and "))
		}
		err := fmt.Errorf("%s: %w: no images and labels with known names among %s", path, sets.ErrFormat, sets.Listed(z.Names()))
		return Split{}, Shape{}, hint(err, `call them %s, or write %s = ["IMAGES", "LABELS"]`, strings.Join(known, ", or "), key)
	}
	// The arrays may be as large as the file allows.
	x, err := z.Read(names[0], math.MaxInt)
	if err != nil {
		return Split{}, Shape{}, err
	}
	y, err := z.Read(names[1], math.MaxInt)
	if err != nil {
		return Split{}, Shape{}, err
	}
	s, size, err := combine(x, y, classes)
	if err != nil {
		err = at(fmt.Sprintf("%s: %s, %s", path, names[0], names[1]), err)
	}
	return s, size, err
}

// combine returns the split of an array of images and an array of labels, [n] or [n, 1].
func combine(x, y sets.Array, classes int) (s Split, size Shape, err error) {
	dims := x.Shape
	if len(dims) == 3 {
		dims = append(dims[:3:3], 1)
	}
	switch {
	case x.Type != "u1":
		err = hint(fmt.Errorf("%w: images are %v", ErrFormat, x), "images must be bytes from 0 to 255: write np.uint8(x), or np.uint8(np.round(255*x)) for pixels from 0 to 1")
	case len(dims) != 4:
		err = hint(fmt.Errorf("%w: images are %v", ErrShape, x), "images must be [n, h, w] or [n, h, w, channel]")
	case y.Type[0] != 'u' && y.Type[0] != 'i':
		err = hint(fmt.Errorf("%w: labels are %v", ErrFormat, y), "labels must be whole numbers from 0 on, of an integer type")
	case len(y.Shape) == 0 || len(y.Shape) > 2 || len(y.Shape) == 2 && y.Shape[1] != 1:
		err = hint(fmt.Errorf("%w: labels are %v", ErrFormat, y), "labels must be [n], one number for each image")
	case y.Shape[0] != dims[0]:
		err = fmt.Errorf("%w: %d labels for %d images", ErrCount, y.Shape[0], dims[0])
	}
	if err != nil {
		return s, size, err
	}
	if classes == 0 {
		classes = 1 << 16 // any plausible number
	}
	labels, _ := y.Float64s()
	s = Split{x.Data, make([]int, dims[0])}
	for i, l := range labels {
		if l < 0 || l >= float64(classes) {
			return s, size, badLabel(i, l, classes)
		}
		s.Labels[i] = int(l)
	}
	return s, Shape{dims[1], dims[2], dims[3]}, nil
}
