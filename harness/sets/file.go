// Package sets reads and writes distilled sets as files of arrays: numpy's NPZ and
// PyTorch's .pt.
//
// A file of this program describes itself completely. A file of another program has images
// and labels; Options describe the rest. A missing description is an error that lists the
// choices.
//
// Files may come from anywhere. The content decides what a file is, not its name. Nothing
// in it is run, and no memory is allocated for sizes that the file only claims.
package sets

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"unicode"
)

// Fault is a kind of error in files or data.
type Fault string

func (f Fault) Error() string { return string(f) }

// The kinds of errors of files.
const (
	ErrMagic     = Fault("not a file of this kind")
	ErrCorrupt   = Fault("damaged file")
	ErrTruncated = Fault("file ends early")
	ErrOversized = Fault("it holds more than it should")
	ErrFormat    = Fault("unsupported kind of content")
)

// File is an open file of named arrays, NPZ or .pt.
type File struct {
	path  string
	names []string
	get   map[string]func() (Array, error)
	io.Closer
}

// Open opens a file.
func Open(path string) (*File, error) {
	r, info, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	f, err := New(path, r, info.Size())
	if err != nil {
		r.Close()
		return nil, err
	}
	f.Closer = r
	return f, nil
}

// New opens a file by its content. Errors name the path.
func New(path string, r io.ReaderAt, size int64) (*File, error) {
	f := &File{path: path, get: map[string]func() (Array, error){}}
	z, err := zip.NewReader(r, size)
	switch {
	case errors.Is(err, zip.ErrFormat):
		err = noArchive(r)
	case err != nil:
		err = Damage(err)
	default:
		err = f.index(z, size)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// noArchive returns the error for a file that is not a zip archive.
func noArchive(r io.ReaderAt) error {
	head := make([]byte, 6)
	n, err := r.ReadAt(head, 0)
	switch {
	case err != nil && err != io.EOF:
		return err
	case n > 1 && head[0] == 0x80 && head[1] < 6:
		return fmt.Errorf("%w: it is a Python pickle, or a .pt file from before PyTorch 1.6\nhint: load it in Python, and write two tensors by torch.save({\"images\": images, \"labels\": labels}, FILE)", ErrFormat)
	case string(head) == magic:
		return fmt.Errorf("%w: it is an NPY file, one array without labels\nhint: write both by np.savez(FILE, images=..., labels=...)", ErrFormat)
	}
	return fmt.Errorf("%w: it is neither an NPZ nor a PyTorch file, or its end is missing", ErrMagic)
}

// index finds the arrays in an archive of size bytes.
func (f *File) index(z *zip.Reader, size int64) error {
	for _, entry := range z.File {
		if root, ok := strings.CutSuffix(entry.Name, "/"+pickleName); ok {
			return f.indexTorch(z, root, size)
		}
	}
	for _, entry := range z.File {
		if name, ok := strings.CutSuffix(entry.Name, ".npy"); ok {
			err := f.add(name, func() (a Array, err error) {
				b, err := unzip(entry, size, UnpackLimit(size))
				if err == nil {
					a, err = parseNPY(b)
				}
				return a, err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *File) add(name string, get func() (Array, error)) error {
	name = cmp.Or(name, ".") // the file is one array
	if f.Has(name) {         // programs differ in which of the two they read
		return fmt.Errorf("%w: the array %q appears twice", ErrCorrupt, name)
	}
	f.names = append(f.names, name)
	f.get[name] = get
	return nil
}

// Names returns the names of the arrays in the order of the file. Arrays inside lists and
// dictionaries have names with dots, such as data.0.1. If the file is a single array, its name
// is a dot.
func (f *File) Names() []string { return f.names }

// Has reports whether the file has an array with this name.
func (f *File) Has(name string) bool { return f.get[name] != nil }

// Read reads an array of up to most values, or characters if it holds texts.
func (f *File) Read(name string, most int) (Array, error) {
	if !f.Has(name) {
		return Array{}, fmt.Errorf("%s: %w: there is no array %q, only %s", f.path, ErrFormat, name, Listed(f.names))
	}
	a, err := f.get[name]()
	if err == nil && a.length() > most {
		err = fmt.Errorf("%w: %v has more than %d values", ErrOversized, a, most)
	}
	if err != nil {
		return Array{}, fmt.Errorf("%s: array %q: %w", f.path, name, err)
	}
	a.Name = name
	return a, nil
}

// Unpack returns all arrays in the content of a file. The images of a record are float32.
func Unpack(name string, content []byte) ([]Array, error) {
	f, err := New(name, bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, err
	}
	var list []Array
	for _, name := range f.Names() {
		a, err := f.Read(name, math.MaxInt)
		if err != nil {
			return nil, err
		}
		if _, ok := values[float32](a); !ok && name == "images" {
			return nil, fmt.Errorf("%s: the images are not numbers", f.path)
		}
		list = append(list, a)
	}
	return list, nil
}

// OpenRegular opens a file. It refuses folders, and pipes, which would block.
func OpenRegular(path string) (*os.File, os.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		what := "a pipe or a device"
		if info.IsDir() {
			what = "a folder"
		}
		return nil, nil, fmt.Errorf("%s: %w: it is %s; name a file", path, ErrFormat, what)
	}
	f, err := os.Open(path)
	return f, info, err
}

// UnpackLimit returns the largest number of bytes that a file of the given size may unpack to.
// Simple drawings, which compress well, stay below it.
func UnpackLimit(size int64) int64 { return 100*size + 32<<20 }

// Listed formats names for an error: the first twelve, cut off if they are long.
func Listed(names []string) string {
	if len(names) == 0 {
		return "no arrays"
	}
	text := fmt.Sprintf("%.600s", strings.Join(names[:min(len(names), 12)], ", "))
	if strings.ContainsFunc(text, unicode.IsControl) { // which a terminal would execute
		text = strconv.Quote(text)
	}
	if more := len(names) - 12; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Damage turns an error in the content of a packed file into ErrTruncated or ErrCorrupt. It
// returns other errors, such as those of the disk, unchanged.
func Damage(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
		return ErrTruncated
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &corrupt),
		errors.Is(err, zip.ErrChecksum), errors.Is(err, zip.ErrFormat), errors.Is(err, zip.ErrAlgorithm):
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return err
}
