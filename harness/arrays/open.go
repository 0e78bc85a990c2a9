// Package arrays reads named arrays from numpy's NPZ and PyTorch's .pt files, and writes
// the latter.
//
// The content decides what a file is, not its name. It may come from anywhere: nothing
// in it is run, and nothing is allocated because the file merely says that it is large.
package arrays

import (
	"archive/zip"
	"fmt"
	"io"
	"strings"

	"dgkip/harness/npz"
)

// Source is an open file of arrays.
type Source interface {
	source
	io.Closer
}

// source is a Source whose file another one closes.
type source interface {
	// Names lists the arrays in the order of the file. Those inside lists and
	// dictionaries have names with dots, such as data.0.1.
	Names() []string
	Has(name string) bool
	// Read reads an array of no more than most values, or characters if it is a text.
	Read(name string, most int) (npz.Array, error)
}

// Open opens a file.
func Open(path string) (Source, error) {
	f, info, err := npz.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	s, err := read(path, f, info.Size())
	if err != nil {
		f.Close()
		return nil, err
	}
	return struct {
		source
		io.Closer
	}{s, f}, nil
}

// read reads what says where the arrays of a file are.
func read(path string, r io.ReaderAt, size int64) (source, error) {
	head := make([]byte, 6)
	n, err := r.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	switch start := string(head[:n]); {
	case strings.HasPrefix(start, "PK\x03\x04") || strings.HasPrefix(start, "PK\x05\x06"): // the second is of none that has files
		return readZip(path, r, size)
	case n > 1 && start[0] == 0x80 && start[1] < 6:
		return nil, fmt.Errorf("%s: %w: it is a pickle of Python, or a .pt file of the form that PyTorch wrote before 1.6\nhint: load it there, and torch.save({\"images\": images, \"labels\": labels}, FILE), both as tensors", path, npz.ErrFormat)
	case strings.HasPrefix(start, "\x93NUMPY"):
		return nil, fmt.Errorf("%s: %w: it is an NPY file, one array without labels\nhint: np.savez(FILE, images=..., labels=...) writes both", path, npz.ErrFormat)
	}
	return nil, fmt.Errorf("%s: %w: it is neither an NPZ nor a PyTorch file", path, npz.ErrMagic)
}

func readZip(path string, r io.ReaderAt, size int64) (source, error) {
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, npz.Damage(err))
	}
	for _, f := range archive.File {
		if root, ok := strings.CutSuffix(f.Name, "/"+pickleName); ok {
			return readTorch(path, archive, root, size)
		}
	}
	return npz.In(path, archive, size)
}
