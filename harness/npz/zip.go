package npz

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Encode returns arrays as an NPZ file, by name.
func Encode(arrays []Array) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, a := range slices.SortedFunc(slices.Values(arrays), func(a, b Array) int { return strings.Compare(a.Name, b.Name) }) {
		if err := Store(z, a.Name+".npy", encode(a)); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

// Store adds a file to an archive as it is: neither packed nor with a time.
func Store(z *zip.Writer, name string, body []byte) error {
	w, err := z.CreateRaw(&zip.FileHeader{
		Name: name, Method: zip.Store, CRC32: crc32.ChecksumIEEE(body),
		CompressedSize64: uint64(len(body)), UncompressedSize64: uint64(len(body)),
	})
	if err == nil {
		_, err = w.Write(body)
	}
	return err
}

// File is an NPZ file that is open for reading.
type File struct {
	path  string
	limit uint64 // bytes that an array may unpack to
	names []string
	files map[string]*zip.File
	io.Closer
}

// OpenRegular opens a file, and refuses what is none: a named pipe would block for
// ever.
func OpenRegular(path string) (*os.File, os.FileInfo, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = &noFile{path, kindOf(info.Mode())}
	}
	if err != nil {
		return nil, nil, err
	}
	f, err := os.Open(path)
	return f, info, err
}

// noFile is the error for what stands in a file's place. It wraps ErrFormat.
type noFile struct{ path, kind string }

func (e *noFile) Error() string { return e.path + ": it is not a file but " + e.kind }
func (e *noFile) Unwrap() error { return ErrFormat }

func kindOf(m os.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&os.ModeNamedPipe != 0:
		return "a named pipe"
	}
	return "a device or socket"
}

// Open opens an NPZ file.
func Open(path string) (*File, error) {
	f, info, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	z, err := New(path, f, info.Size())
	if err != nil {
		f.Close()
		return nil, err
	}
	z.Closer = f
	return z, nil
}

// UnpackLimit is how many bytes a file of the given size may unpack to: drawings pack well,
// but what has more is a bomb.
func UnpackLimit(size int64) int64 { return 100*size + 32<<20 }

// New is Open for what is open already. Errors call it by its path.
func New(path string, r io.ReaderAt, size int64) (*File, error) {
	archive, err := zip.NewReader(r, size)
	if errors.Is(err, zip.ErrFormat) {
		return nil, fmt.Errorf("%s: %w: it is not an NPZ file, or its end is missing", path, ErrMagic)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, Damage(err))
	}
	return In(path, archive, size)
}

// In is Open for an archive of a size.
func In(path string, archive *zip.Reader, size int64) (*File, error) {
	z := &File{path: path, limit: uint64(UnpackLimit(size)), files: map[string]*zip.File{}}
	for _, f := range archive.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			continue
		}
		if z.files[name] != nil {
			return nil, fmt.Errorf("%s: %w: the array %q is there twice", path, ErrCorrupt, name)
		}
		z.names, z.files[name] = append(z.names, name), f
	}
	return z, nil
}

// Names lists the arrays in the order of the file.
func (z *File) Names() []string { return z.names }

// Has reports whether there is an array of that name.
func (z *File) Has(name string) bool { return z.files[name] != nil }

// Read reads an array of no more than most values, or characters if it is a text.
func (z *File) Read(name string, most int) (Array, error) {
	place := fmt.Sprintf("%s: array %q", z.path, name)
	f := z.files[name]
	if f == nil {
		return Array{}, fmt.Errorf("%s: %w: there is no array %q, only %s", z.path, ErrFormat, name, Listed(z.names))
	}
	if f.UncompressedSize64 > z.limit {
		return Array{}, fmt.Errorf("%s: %w: %d bytes in so small a file", place, ErrOversized, f.UncompressedSize64)
	}
	r, err := f.Open()
	if err != nil { // the archive's directory leads nowhere
		return Array{}, fmt.Errorf("%s: %w: %w", place, ErrCorrupt, err)
	}
	defer r.Close()
	a, err := decode(r, int64(f.UncompressedSize64), most)
	if err != nil {
		return Array{}, fmt.Errorf("%s: %w", place, err)
	}
	a.Name = name
	return a, nil
}

// Listed writes names for an error: the first twelve, and of long ones the start.
func Listed(names []string) string {
	if len(names) == 0 {
		return "no arrays"
	}
	var b strings.Builder
	for i, name := range names {
		switch {
		case i == 12:
			fmt.Fprintf(&b, " and %d more", len(names)-i)
			return b.String()
		case i > 0:
			b.WriteString(", ")
		}
		if strings.ContainsFunc(name, unicode.IsControl) { // a terminal would obey
			name = strconv.Quote(name)
		}
		fmt.Fprintf(&b, "%.80s", name)
	}
	return b.String()
}

// Digest depends on the names and contents of the arrays, but for the one left out,
// and not on how they are packed.
func (z *File) Digest(leftOut string) (string, error) {
	h := sha256.New()
	for _, name := range slices.Sorted(slices.Values(z.names)) {
		f := z.files[name]
		if name == leftOut {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return "", fmt.Errorf("%s: array %q: %w: %w", z.path, name, ErrCorrupt, err)
		}
		fmt.Fprintf(h, "%d %s %d\n", len(name), name, f.UncompressedSize64)
		_, err = io.Copy(h, r)
		r.Close()
		if err != nil {
			return "", fmt.Errorf("%s: array %q: %w", z.path, name, Damage(err))
		}
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// Damage says what an error of reading a packed file means. Errors of the disk stay
// what they are.
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
