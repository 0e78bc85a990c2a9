package data

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"

	"dgkip/harness/sets"
)

// parseIDX reads an idx file of bytes: two zeros, the type (8 for bytes), the
// number of dimensions, each dimension as four bytes, high byte first, the values.
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
		return nil, nil, fmt.Errorf("%w: the header announces %v values", ErrCorrupt, dims)
	}
	if values, err = read(r, n); err != nil {
		return nil, nil, err
	}
	return dims, values, end(r)
}

// loadPairs reads images and labels, training then test. It also returns the SHA-256 of the
// files' contents.
func loadPairs(ctx context.Context, paths [4]string, classes int) (*contents, map[string]string, error) {
	c, sums := &contents{}, map[string]string{}
	for i, split := range []*Split{&c.train, &c.test} {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		images, labels := paths[2*i], paths[2*i+1]
		s, size, err := loadIDX(images, labels, classes, sums)
		if err != nil {
			return nil, nil, err
		}
		if i == 0 {
			c.shape = size
		}
		if err := c.same(size); err != nil {
			return nil, nil, at(images, err)
		}
		*split, c.files = s, append(c.files, images, labels)
	}
	return c, sums, nil
}

// loadIDX reads a pair of idx files, unpacking them where needed, and notes in sums
// the SHA-256 of their contents.
func loadIDX(images, labels string, classes int, sums map[string]string) (s Split, size shape, err error) {
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
	return s, shape{dims[1], dims[2], 1}, nil
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
