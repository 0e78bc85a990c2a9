package data

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"

	"dgkip/harness/sets"
)

// parseIDX reads an idx file of bytes. It consists of two zeros, the type (8 for bytes), the number
// of dimensions, each dimension as four bytes, high byte first, and the values.
func parseIDX(r io.Reader, dimensions int) (dims []int, values []byte, err error) {
	head, err := read(r, 4)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case head[0] != 0 || head[1] != 0 || head[2] < 8 || head[2] > 14:
		return nil, nil, fmt.Errorf("%w: an idx file starts with 00 00 08, this one with % x", ErrMagic, head)
	case head[2] != 8:
		return nil, nil, fmt.Errorf("%w: idx values of type %#02x; only bytes (0x08) are read", ErrFormat, head[2])
	case int(head[3]) != dimensions:
		return nil, nil, fmt.Errorf("%w: %d dimensions: images have 3, and labels 1", ErrMagic, head[3])
	}
	sizes, err := read(r, 4*int(head[3]))
	if err != nil {
		return nil, nil, err
	}
	for ; len(sizes) > 0; sizes = sizes[4:] {
		dims = append(dims, int(binary.BigEndian.Uint32(sizes)))
	}
	n, ok := sets.Count(dims, 1<<40)
	if !ok {
		return nil, nil, fmt.Errorf("%w: the header claims the shape %v", ErrCorrupt, dims)
	}
	if values, err = read(r, n); err != nil {
		return nil, nil, err
	}
	return dims, values, end(r)
}

// loadIDX reads the idx files of images and labels, packed or not. It stores the SHA-256 of their
// unpacked contents in sums, by path.
func loadIDX(images, labels string, classes int, sums map[string]string) (s Split, size Shape, err error) {
	dims, pixels, err := readIDX(images, 3, sums)
	if err != nil {
		return s, size, at(images, err)
	}
	n, values, err := readIDX(labels, 1, sums)
	if err == nil && n[0] != dims[0] {
		err = fmt.Errorf("%w: %d labels for the %d images of %s", ErrCount, n[0], dims[0], images)
	}
	if err != nil {
		return s, size, at(labels, err)
	}
	s = Split{pixels, make([]int, len(values))}
	for i, v := range values {
		if s.Labels[i] = int(v); int(v) >= classes {
			return s, size, at(labels, badLabel(i, float64(v), classes))
		}
	}
	return s, Shape{dims[1], dims[2], 1}, nil
}

func readIDX(path string, dimensions int, sums map[string]string) (dims []int, values []byte, err error) {
	f, err := open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	sum := sha256.New()
	dims, values, err = parseIDX(io.TeeReader(f, sum), dimensions)
	sums[path] = hex.EncodeToString(sum.Sum(nil))
	return dims, values, err
}

func badLabel(i int, label float64, classes int) error {
	return fmt.Errorf("%w: image %d has label %.0f; labels are 0 to %d", ErrLabel, i, label, classes-1)
}
