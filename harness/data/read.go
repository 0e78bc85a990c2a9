package data

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// open opens a file, unpacking gzip. The content decides, not the name: browsers
// and archives are known to unpack a .gz and keep its name.
func open(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := unpack(f, strings.HasSuffix(path, ".gz"))
	if err != nil {
		f.Close()
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{r, f}, nil
}

// unpack returns the content of r, unpacked if it is gzip. If it should be, it may
// only be unpacked idx, which starts with two zeros.
func unpack(r io.Reader, packed bool) (io.Reader, error) {
	b := bufio.NewReaderSize(r, 1<<16)
	head, err := b.Peek(2)
	switch {
	case err == io.EOF:
		return nil, fmt.Errorf("%w: it has %d bytes", ErrTruncated, len(head))
	case err != nil:
		return nil, err
	case bytes.Equal(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, damage(err)
		}
		return z, nil
	case packed && !bytes.Equal(head, []byte{0, 0}):
		return nil, fmt.Errorf("%w: the name ends in .gz, but there is no gzip header", ErrCorrupt)
	}
	return b, nil
}

// damage says what a read error means. Errors of the disk stay what they are.
func damage(err error) error {
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

// read returns the next n bytes. Memory grows with what arrives, since n comes
// from a header and may be a lie.
func read(r io.Reader, n int) ([]byte, error) {
	buf := make([]byte, 0, min(n, 1<<20))
	for len(buf) < n {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, min(n-len(buf), len(buf)))
		}
		m, err := io.ReadFull(r, buf[len(buf):min(cap(buf), n)])
		buf = buf[:len(buf)+m]
		if err != nil {
			if err = damage(err); errors.Is(err, ErrTruncated) {
				err = fmt.Errorf("%w: %d bytes where %d are announced", ErrTruncated, len(buf), n)
			}
			return nil, err
		}
	}
	return buf, nil
}

// end checks that nothing follows. Only here does gzip compare its checksum.
func end(r io.Reader) error {
	var b [1]byte
	n, err := io.ReadFull(r, b[:])
	switch {
	case n > 0 || errors.Is(err, gzip.ErrHeader):
		return fmt.Errorf("%w: bytes follow after the last record", ErrOversized)
	case err == io.EOF:
		return nil
	}
	return damage(err)
}

// product multiplies sizes, and fails where they exceed any file.
func product(sizes ...int) (int, error) {
	n := 1
	for _, s := range sizes {
		if s < 0 || s > 1<<40 || n > (1<<40)/max(s, 1) {
			return 0, fmt.Errorf("%w: the header announces %v values", ErrCorrupt, sizes)
		}
		n *= s
	}
	return n, nil
}
