package data

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// The names under which images and labels of a split usually are in an npz file.
var (
	trainArrays = [][]string{{"x_train", "y_train"}, {"train_images", "train_labels"}, {"images", "labels"}, {"x", "y"}, {"X", "y"}}
	testArrays  = [][]string{{"x_test", "y_test"}, {"test_images", "test_labels"}}
)

func (c *Config) readNPZ(ctx context.Context, train, test string) (*contents, error) {
	out := &contents{files: []string{train}}
	z, err := openNPZ(train)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	if out.train, out.h, out.w, out.ch, err = z.split(c.TrainArrays, trainArrays, len(c.Names)); err != nil {
		return nil, err
	}
	pairs := testArrays
	if test != "" {
		out.files = append(out.files, test)
		if z, err = openNPZ(test); err != nil {
			return nil, err
		}
		defer z.Close()
		pairs = append(pairs[:2:2], trainArrays[2:]...)
	}
	if test != "" || c.TestArrays != nil || z.pair(pairs) != nil {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var h, w, ch int
		if out.test, h, w, ch, err = z.split(c.TestArrays, pairs, len(c.Names)); err != nil {
			return nil, err
		}
		if err := out.same(h, w, ch); err != nil {
			return nil, at(z.path, err)
		}
	}
	out.names = c.number(out)
	return out, nil
}

// npz is an archive of arrays.
type npz struct {
	path string
	*zip.Reader
	io.Closer
}

func openNPZ(path string) (*npz, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		var z *npz
		if z, err = newNPZ(path, f, info.Size()); err == nil {
			z.Closer = f
			return z, nil
		}
	}
	f.Close()
	return nil, at(path, err)
}

func newNPZ(path string, r io.ReaderAt, size int64) (*npz, error) {
	z, err := zip.NewReader(r, size)
	if errors.Is(err, zip.ErrFormat) {
		return nil, fmt.Errorf("%w: an npz file is a zip archive; this one is not, or its end is missing", ErrMagic)
	}
	if err != nil {
		return nil, damage(err)
	}
	return &npz{path: path, Reader: z}, nil
}

// has tells whether there is an array of that name.
func (z *npz) has(name string) bool {
	for _, f := range z.File {
		if f.Name == name+".npy" {
			return true
		}
	}
	return false
}

// pair returns the first of several pairs of which the file has both arrays.
func (z *npz) pair(pairs [][]string) []string {
	for _, p := range pairs {
		if z.has(p[0]) && z.has(p[1]) {
			return p
		}
	}
	return nil
}

// array reads the array of that name.
func (z *npz) array(name string) (*array, error) {
	for _, f := range z.File {
		if f.Name != name+".npy" {
			continue
		}
		r, err := f.Open()
		if err != nil { // the archive's directory leads nowhere
			return nil, at(z.path+": "+name, fmt.Errorf("%w: %w", ErrCorrupt, err))
		}
		defer r.Close()
		a, err := parseNPY(r)
		if err != nil {
			return nil, at(z.path+": "+name, err)
		}
		return a, nil
	}
	var names []string
	for _, f := range z.File {
		names = append(names, strings.TrimSuffix(f.Name, ".npy"))
	}
	err := fmt.Errorf("%s: %w: no array %q", z.path, ErrFormat, name)
	return nil, hint(err, "the file has %s", strings.Join(names, ", "))
}

// split reads images and labels, under the names asked for or the first pair that
// is there.
func (z *npz) split(names []string, pairs [][]string, classes int) (s Split, h, w, ch int, err error) {
	if names == nil {
		names = z.pair(pairs)
	}
	if names == nil {
		_, err := z.array(pairs[0][0])
		return s, 0, 0, 0, hint(err, `name the arrays, for example train_arrays = ["images", "labels"]`)
	}
	x, err := z.array(names[0])
	if err != nil {
		return s, 0, 0, 0, err
	}
	y, err := z.array(names[1])
	if err != nil {
		return s, 0, 0, 0, err
	}
	if s, h, w, ch, err = combine(x, y, classes); err != nil {
		return s, 0, 0, 0, at(fmt.Sprintf("%s: %s, %s", z.path, names[0], names[1]), err)
	}
	return s, h, w, ch, nil
}

// combine checks arrays of images and labels. Labels may be [n] or [n, 1].
func combine(x, y *array, classes int) (s Split, h, w, ch int, err error) {
	shape := x.shape
	if len(shape) == 3 {
		shape = append(shape[:3:3], 1)
	}
	switch {
	case x.kind != 'u' || x.size != 1:
		err = hint(fmt.Errorf("%w: images are %v", ErrFormat, x), "images are bytes from 0 to 255: np.uint8")
	case len(shape) != 4:
		err = hint(fmt.Errorf("%w: images are %v", ErrShape, x), "images are [n, h, w] or [n, h, w, channel]")
	case x.cols:
		err = hint(fmt.Errorf("%w: images are stored in Fortran order", ErrFormat), "save np.ascontiguousarray(images)")
	case y.kind != 'u' && y.kind != 'i' || y.size > 8:
		err = hint(fmt.Errorf("%w: labels are %v", ErrFormat, y), "labels are whole numbers from 0 on, of an integer type")
	case len(y.shape) == 0 || len(y.shape) > 2 || len(y.shape) == 2 && y.shape[1] != 1:
		err = hint(fmt.Errorf("%w: labels are %v", ErrFormat, y), "labels are [n], one number an image")
	case y.shape[0] != shape[0]:
		err = fmt.Errorf("%w: %d labels for %d images", ErrCount, y.shape[0], shape[0])
	}
	if err != nil {
		return s, 0, 0, 0, err
	}
	if classes == 0 {
		classes = 1 << 16 // any, short of nonsense
	}
	s = Split{x.data, make([]int, shape[0])}
	for i := range s.Labels {
		l := y.integer(i)
		if l < 0 || l >= int64(classes) {
			return s, 0, 0, 0, badLabel(i, int(l), classes)
		}
		s.Labels[i] = int(l)
	}
	return s, shape[1], shape[2], shape[3], nil
}
