package data

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"testing/iotest"

	"dgkip/harness/sets"
)

// idx encodes an idx file of bytes.
func idx(values []byte, dims ...int) []byte {
	b := []byte{0, 0, 8, byte(len(dims))}
	for _, d := range dims {
		b = binary.BigEndian.AppendUint32(b, uint32(d))
	}
	return append(b, values...)
}

// packed returns b gzipped.
func packed(b []byte) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

// edit returns b with a byte replaced.
func edit(b []byte, at int, v byte) []byte {
	b = slices.Clone(b)
	b[at] = v
	return b
}

func TestIDX(t *testing.T) {
	images := idx([]byte{1, 2, 3, 4, 5, 6}, 3, 1, 2)
	dims, values, err := parseIDX(bytes.NewReader(images), 3)
	if err != nil || !slices.Equal(dims, []int{3, 1, 2}) || !slices.Equal(values, []byte{1, 2, 3, 4, 5, 6}) {
		t.Fatalf("%v %v %v", dims, values, err)
	}
	for _, c := range []struct {
		name string
		file []byte
		want error
	}{
		{"empty", nil, ErrTruncated},
		{"half a magic number", images[:3], ErrTruncated},
		{"half a header", images[:10], ErrTruncated},
		{"a value too few", images[:len(images)-1], ErrTruncated},
		{"a byte too many", append(slices.Clone(images), 0), ErrOversized},
		{"another magic number", edit(images, 0, 1), ErrMagic},
		{"labels for images", idx([]byte{1, 2}, 2), ErrMagic},
		{"four dimensions", idx([]byte{1}, 1, 1, 1, 1), ErrMagic},
		{"no dimensions", []byte{0, 0, 8, 0, 1}, ErrMagic},
		{"floats", edit(images, 2, 0x0d), ErrFormat},
		{"more than a file can hold", idx(nil, 1<<31, 1<<31, 4), ErrCorrupt},
		{"more than this file holds", idx(nil, 1<<20, 1<<9, 1), ErrTruncated},
	} {
		if _, _, err := parseIDX(bytes.NewReader(c.file), 3); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
	broken := errors.New("disk on fire")
	if _, _, err := parseIDX(iotest.ErrReader(broken), 3); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

const cifarRecord = 1 + 3*1024

// record is a CIFAR record whose planes count up from start.
func record(label, start byte) []byte {
	b := make([]byte, cifarRecord)
	b[0] = label
	for i := 1; i < cifarRecord; i++ {
		b[i] = start + byte((i-1)/1024)
	}
	return b
}

func TestCIFAR(t *testing.T) {
	file := slices.Concat(record(1, 10), record(0, 20), record(2, 30), record(1, 40))
	var s Split
	if err := cifar10Form.parse(bytes.NewReader(file), &s, 3); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Labels, []int{1, 0, 2, 1}) {
		t.Errorf("labels %v", s.Labels)
	}
	if len(s.Images) != 4*3072 || !slices.Equal(s.Images[:6], []byte{10, 11, 12, 10, 11, 12}) || s.Images[3072] != 20 {
		t.Errorf("images %v...", s.Images[:6])
	}
	var two Split
	form := cifarForm{labels: 2, most: 1}
	if err := form.parse(bytes.NewReader(append([]byte{7}, record(1, 10)...)), &two, 3); err != nil || two.Labels[0] != 1 || !slices.Equal(two.Images, s.Images[:3072]) {
		t.Errorf("with two labels: %v, %v", two.Labels, err)
	}
	for _, c := range []struct {
		name string
		file []byte
		want error
	}{
		{"empty", nil, ErrTruncated},
		{"half a record", file[:5000], ErrTruncated},
		{"a byte too many", append(slices.Clone(file), 0), ErrTruncated},
		{"wrong label", slices.Concat(file, record(3, 0)), ErrLabel},
		{"a record too many", bytes.Repeat(record(0, 0), cifar10Form.most+1), ErrOversized},
	} {
		if err := cifar10Form.parse(bytes.NewReader(c.file), new(Split), 3); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
}

// npy encodes an npy file, version 1.0.
func npy(header string, values []byte) []byte {
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8))
	return slices.Concat(b, []byte(header), values)
}

func TestGzip(t *testing.T) {
	whole := packed(idx([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 12))
	for _, c := range []struct {
		name string
		file []byte
		want error
	}{
		{"whole", whole, nil},
		{"unpacked under the same name", idx([]byte{1, 2}, 2), nil},
		{"empty", nil, ErrTruncated},
		{"one byte", whole[:1], ErrTruncated},
		{"half a gzip header", whole[:6], ErrTruncated},
		{"half", whole[:len(whole)/2], ErrTruncated},
		{"no checksum", whole[:len(whole)-8], ErrTruncated},
		{"wrong checksum", edit(whole, len(whole)-8, whole[len(whole)-8]^1), ErrCorrupt},
		{"wrong length", edit(whole, len(whole)-4, 99), ErrCorrupt},
		{"broken blocks", edit(whole, 10, 0xff), ErrCorrupt},
		{"unknown method", edit(whole, 2, 9), ErrCorrupt},
		{"no gzip at all", []byte("<html>"), ErrCorrupt},
		{"bytes after it", append(slices.Clone(whole), "rest of a longer line"...), ErrOversized},
	} {
		r, err := unpack(bytes.NewReader(c.file), true)
		if err == nil {
			_, _, err = parseIDX(r, 1)
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
}

// A small file that unpacks to far more than images would is refused early.
func TestGzipBomb(t *testing.T) {
	const n = 200 << 20
	dir := put(t, map[string][]byte{"bomb.gz": packed(idx(make([]byte, n), n))})
	if _, _, err := readIDX(filepath.Join(dir, "bomb.gz"), 1, map[string]string{}); !errors.Is(err, ErrOversized) {
		t.Errorf("got %v", err)
	}
}

// TestMemory reads headers that promise a gigabyte.
func TestMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := parseIDX(bytes.NewReader(idx(make([]byte, 3<<20), 1<<15, 1<<7, 1<<8)), 3)
	if !errors.Is(err, ErrTruncated) {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 100<<20 {
		t.Errorf("%d MiB for files of 3 MiB", used>>20)
	}
}

// expected are the errors that a parser may return for a file that it could read.
func expected(err error) bool {
	for _, k := range []error{ErrCorrupt, ErrTruncated, ErrOversized, ErrMagic, ErrFormat, ErrLabel} {
		if errors.Is(err, k) {
			return true
		}
	}
	return false
}

func FuzzIDX(f *testing.F) {
	images := idx([]byte{1, 2, 3, 4, 5, 6}, 3, 1, 2)
	f.Add(images)
	f.Add(packed(images))
	f.Add(idx([]byte{1, 0}, 2))
	f.Add(images[:9])
	f.Add(idx(nil, 1<<31, 1<<31))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := unpack(bytes.NewReader(b), false)
		if err == nil {
			var dims []int
			var values []byte
			if dims, values, err = parseIDX(r, 3); err == nil {
				if n, _ := sets.Count(dims, 1<<40); n != len(values) {
					t.Fatalf("%d values for %v", len(values), dims)
				}
				return
			}
		}
		if !expected(err) {
			t.Fatalf("unexpected error %v", err)
		}
	})
}
