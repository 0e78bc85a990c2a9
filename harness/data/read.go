package data

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"dgkip/harness/sets"
)

// open opens a file and unpacks gzip. The content decides, not the name, because some browsers unpack
// a .gz file but keep its name.
func open(path string) (io.ReadCloser, error) {
	f, info, err := sets.OpenRegular(path)
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
	}{&limited{r, sets.UnpackLimit(info.Size())}, f}, nil
}

// limited returns an error once more than left bytes are read.
type limited struct {
	io.Reader
	left int64
}

func (l *limited) Read(b []byte) (int, error) {
	n, err := l.Reader.Read(b)
	if l.left -= int64(n); l.left < 0 {
		return 0, fmt.Errorf("%w: it unpacks to far more than its size", ErrOversized)
	}
	return n, err
}

// unpack returns the content of r, unpacked if it is gzip. If packed is set, other content is an
// error, except an unpacked idx file, which starts with two zeros.
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
			return nil, sets.Damage(err)
		}
		return z, nil
	case packed && !bytes.Equal(head, []byte{0, 0}):
		return nil, fmt.Errorf("%w: the name ends in .gz, but there is no gzip header", ErrCorrupt)
	}
	return b, nil
}

// read returns the next n bytes. A header may claim any n, so memory grows with the bytes that
// arrive.
func read(r io.Reader, n int) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if len(b) == n {
		return b, nil // end reports the error after them, if any
	}
	if err = sets.Damage(cmp.Or(err, io.ErrUnexpectedEOF)); errors.Is(err, ErrTruncated) {
		err = fmt.Errorf("%w: %d bytes instead of %d", ErrTruncated, len(b), n)
	}
	return nil, err
}

// end returns an error if more bytes follow. gzip only compares its checksum here.
func end(r io.Reader) error {
	n, err := io.ReadFull(r, make([]byte, 1))
	switch {
	case n > 0 || errors.Is(err, gzip.ErrHeader):
		return fmt.Errorf("%w: bytes follow after the last record", ErrOversized)
	case err == io.EOF:
		return nil
	}
	return sets.Damage(err)
}
