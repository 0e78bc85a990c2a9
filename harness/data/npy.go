package data

import (
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// array is what an npy file holds.
type array struct {
	kind  byte // 'u' unsigned, 'i' signed, 'f' float, 'b' bool, else unknown
	size  int  // bytes a value
	big   bool // high byte first
	cols  bool // stored column by column
	shape []int
	data  []byte
}

// parseNPY reads an npy file of numbers: "\x93NUMPY", a version, the length of the
// header, the header as a Python dictionary, the values.
func parseNPY(r io.Reader) (*array, error) {
	head, err := read(r, 8)
	if err != nil {
		return nil, err
	}
	if string(head[:6]) != "\x93NUMPY" {
		return nil, fmt.Errorf("%w: an npy file starts with \\x93NUMPY, this one with %q", ErrMagic, head[:6])
	}
	var n int
	switch head[6] {
	case 1:
		b, err := read(r, 2)
		if err != nil {
			return nil, err
		}
		n = int(binary.LittleEndian.Uint16(b))
	case 2, 3:
		b, err := read(r, 4)
		if err != nil {
			return nil, err
		}
		n = int(binary.LittleEndian.Uint32(b))
	default:
		return nil, fmt.Errorf("%w: npy version %d.%d", ErrFormat, head[6], head[7])
	}
	if n > 1<<16 {
		return nil, fmt.Errorf("%w: npy header of %d bytes", ErrCorrupt, n)
	}
	text, err := read(r, n)
	if err != nil {
		return nil, err
	}
	a, err := npyHeader(string(text))
	if err != nil {
		return nil, err
	}
	if n, err = product(append([]int{a.size}, a.shape...)...); err != nil {
		return nil, err
	}
	if a.data, err = read(r, n); err != nil {
		return nil, err
	}
	return a, end(r)
}

// npyHeader parses {'descr': '|u1', 'fortran_order': False, 'shape': (3, 28, 28), }.
func npyHeader(text string) (*array, error) {
	bad := fmt.Errorf("%w: npy header %.80q", ErrCorrupt, text)
	rest := strings.TrimSpace(text)
	if !strings.HasPrefix(rest, "{") || !strings.HasSuffix(rest, "}") {
		return nil, bad
	}
	rest = strings.TrimSpace(rest[1 : len(rest)-1])
	a, seen := &array{}, map[string]bool{}
	for rest != "" {
		key, value, ok := strings.Cut(rest, ":")
		key = strings.Trim(strings.TrimSpace(key), `'"`)
		if !ok || seen[key] {
			return nil, bad
		}
		seen[key] = true
		value = strings.TrimSpace(value)
		stop := strings.IndexByte(value, ',')
		if strings.HasPrefix(value, "(") || strings.HasPrefix(value, "[") {
			if close := strings.IndexAny(value, ")]"); close >= 0 {
				stop = close + 1
			}
		}
		if stop < 0 || stop > len(value) {
			stop = len(value)
		}
		value, rest = strings.TrimSpace(value[:stop]), value[stop:]
		rest = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(rest), ","))
		if err := a.set(key, value); err != nil {
			return nil, err
		}
	}
	if !seen["descr"] || !seen["fortran_order"] || !seen["shape"] {
		return nil, bad
	}
	return a, nil
}

// set takes one entry of the header.
func (a *array) set(key, value string) error {
	bad := fmt.Errorf("%w: npy header has %.20q: %.60q", ErrCorrupt, key, value)
	switch key {
	case "descr":
		if strings.HasPrefix(value, "[") {
			return fmt.Errorf("%w: npy records %.60s; only plain numbers are read", ErrFormat, value)
		}
		t := strings.Trim(value, `'"`)
		if len(t) < 3 {
			return bad
		}
		size, err := strconv.Atoi(t[2:])
		if err != nil || size < 1 || size > 64 || !strings.Contains("<>|=", t[:1]) || !strings.Contains("uifbcSUVOmM", t[1:2]) {
			return bad
		}
		a.big, a.kind, a.size = t[0] == '>', t[1], size
	case "fortran_order":
		if value != "True" && value != "False" {
			return bad
		}
		a.cols = value == "True"
	case "shape":
		if !strings.HasPrefix(value, "(") || !strings.HasSuffix(value, ")") {
			return bad
		}
		for i, s := range strings.Split(value[1:len(value)-1], ",") {
			if s = strings.TrimSpace(s); s == "" && i > 0 || value == "()" {
				continue
			}
			n, err := strconv.Atoi(strings.TrimSuffix(s, "L")) // Python 2 wrote 3L
			if err != nil || n < 0 {
				return bad
			}
			a.shape = append(a.shape, n)
		}
		if len(a.shape) > 8 {
			return bad
		}
	default:
		return bad
	}
	return nil
}

// String describes the array the way Python's users know it.
func (a *array) String() string {
	name := map[byte]string{'u': "uint", 'i': "int", 'f': "float", 'b': "bool", 'c': "complex"}[a.kind]
	if name == "" {
		name = string(rune(a.kind))
	} else if a.kind != 'b' {
		name += strconv.Itoa(8 * a.size)
	}
	return fmt.Sprintf("%s%v", name, a.shape)
}

// integer returns value i of an array of integers.
func (a *array) integer(i int) int64 {
	var u uint64
	b := a.data[i*a.size : (i+1)*a.size]
	for k := range b {
		if a.big {
			u = u<<8 | uint64(b[k])
		} else {
			u |= uint64(b[k]) << (8 * k)
		}
	}
	if a.kind == 'i' { // spread the sign
		shift := 64 - 8*a.size
		return int64(u<<shift) >> shift
	}
	return int64(min(u, 1<<63-1))
}
