package npz

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Fault is what can be wrong with a file, or with data in general.
type Fault string

func (f Fault) Error() string { return string(f) }

// What can be wrong with a file.
const (
	ErrMagic     = Fault("not a file of this kind")
	ErrCorrupt   = Fault("damaged file")
	ErrTruncated = Fault("file ends early")
	ErrOversized = Fault("it holds more than it should")
	ErrFormat    = Fault("unsupported kind of content")
)

const (
	magic     = "\x93NUMPY"
	maxHeader = 1 << 16
)

// encode returns an array as an NPY file, version 1.
func encode(a Array) []byte {
	order := "<"
	if _, size := split(a.Type); size == 1 {
		order = "|"
	}
	shape := strings.Trim(strings.ReplaceAll(fmt.Sprint(a.Shape), " ", ", "), "[]")
	if len(a.Shape) == 1 {
		shape += ","
	}
	head := fmt.Sprintf("{'descr': '%s%s', 'fortran_order': False, 'shape': (%s), }", order, a.Type, shape)
	for (len(magic)+4+len(head)+1)%64 != 0 {
		head += " "
	}
	out := append([]byte(magic+"\x01\x00"), byte((len(head) + 1)), byte((len(head)+1)>>8))
	return append(append(out, head+"\n"...), a.Data...)
}

// decode reads an NPY file of size bytes, whose array has no more than most values, or as
// many characters if it holds texts.
func decode(r io.Reader, size int64, most int) (Array, error) {
	h, start, err := readHeader(r)
	if err != nil {
		return Array{}, err
	}
	kind, width := split(h.Type)
	unit, chars := width, 1
	if kind == 'U' {
		unit, chars = 4, max(1, width/4)
	}
	n, ok := Count(h.Shape, min(most, 1<<40)/chars)
	if !ok {
		return Array{}, fmt.Errorf("%w: the shape %v of type %s; at most %d values are expected", ErrOversized, h.Shape, h.Type, most)
	}
	switch there, want := size-start, int64(n)*int64(width); {
	case there < want:
		return Array{}, fmt.Errorf("%w: %d bytes where %d are announced", ErrTruncated, there, want)
	case there > want:
		return Array{}, fmt.Errorf("%w: %d bytes where %d are announced", ErrOversized, there, want)
	}
	h.Data = make([]byte, n*width)
	if _, err := io.ReadFull(r, h.Data); err != nil {
		return Array{}, Damage(err)
	}
	// The checksum of an archive is compared at the end.
	if k, err := io.ReadFull(r, make([]byte, 1)); k > 0 || err != io.EOF {
		return Array{}, fmt.Errorf("%w: it does not end where it should: %w", ErrCorrupt, err)
	}
	if h.swap {
		for b := range slices.Chunk(h.Data, unit) {
			slices.Reverse(b)
		}
	}
	if h.columns && len(h.Shape) > 1 && n > 0 {
		strides, step := make([]int, len(h.Shape)), 1
		for i, d := range h.Shape {
			strides[i], step = step, step*d
		}
		h.Data = Gather(h.Data, h.Shape, strides, width)
	}
	return h.Array, nil
}

// header is what an NPY file says of its array.
type header struct {
	Array
	swap    bool // high byte first
	columns bool // the first index varies fastest: Fortran's order
}

// objects matches a header of numpy's arrays of anything.
var objects = regexp.MustCompile(`['"]descr['"]\s*:\s*['"]\|O`)

// readHeader reads a version, the length of a Python dictionary, and that.
func readHeader(r io.Reader) (h header, start int64, err error) {
	b := make([]byte, 12)
	if _, err := io.ReadFull(r, b[:10]); err != nil {
		return h, 0, Damage(err)
	}
	if string(b[:6]) != magic {
		return h, 0, fmt.Errorf("%w: an NPY file starts with \\x93NUMPY, this one with %q", ErrMagic, b[:6])
	}
	n := int(binary.LittleEndian.Uint16(b[8:]))
	start = 10
	switch b[6] {
	case 1:
	case 2, 3:
		if _, err := io.ReadFull(r, b[10:]); err != nil {
			return h, 0, Damage(err)
		}
		n, start = int(min(binary.LittleEndian.Uint32(b[8:]), maxHeader+1)), 12
	default:
		return h, 0, fmt.Errorf("%w: NPY version %d.%d", ErrFormat, b[6], b[7])
	}
	if n > maxHeader {
		return h, 0, fmt.Errorf("%w: an NPY header of more than %d bytes", ErrCorrupt, maxHeader)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return h, 0, Damage(err)
	}
	h, err = parseHeader(string(text))
	return h, start + int64(n), err
}

// The three entries of a header, which may come in any order. Python 2 wrote 3L.
var entries = [3]*regexp.Regexp{
	regexp.MustCompile(`['"]descr['"]\s*:\s*['"]([<>|=])([a-zA-Z])([0-9]{1,6})['"]`),
	regexp.MustCompile(`['"]fortran_order['"]\s*:\s*(True|False)`),
	regexp.MustCompile(`['"]shape['"]\s*:\s*\(([0-9L, ]*)\)`),
}

// parseHeader reads {'descr': '|u1', 'fortran_order': False, 'shape': (3, 28, 28), }.
func parseHeader(text string) (h header, err error) {
	bad := fmt.Errorf("%w: the NPY header %.80q is not understood; only plain arrays are read", ErrCorrupt, text)
	if objects.MatchString(text) {
		return h, fmt.Errorf("%w: it holds objects of Python, in a pickle, which is not read\nhint: arrays of numbers of one shape are, such as numpy.stack makes of a list", ErrFormat)
	}
	rest, found := text, [3][]string{}
	for i, entry := range entries {
		m := entry.FindStringSubmatch(rest)
		if m == nil {
			return h, bad
		}
		found[i], rest = m, strings.Replace(rest, m[0], "", 1)
	}
	if strings.Trim(rest, "{}, \n\t") != "" {
		return h, bad
	}
	h.swap, h.columns = found[0][1] == ">", found[1][1] == "True"
	h.Type = found[0][2] + found[0][3]
	if numbers[h.Type] == nil && h.Type[0] != 'U' {
		return h, fmt.Errorf("%w: values of type %s", ErrFormat, h.Type)
	}
	for i, s := range strings.Split(found[2][1], ",") {
		if s = strings.TrimSuffix(strings.TrimSpace(s), "L"); s == "" && (i > 0 || found[2][1] == "") {
			continue
		}
		d, err := strconv.Atoi(s)
		if err != nil || len(h.Shape) == 8 {
			return h, bad
		}
		h.Shape = append(h.Shape, d)
	}
	return h, nil
}

// Gather copies values of width bytes each, the last index varying fastest. Strides are
// counted in values.
func Gather(data []byte, shape, strides []int, width int) []byte {
	n, _ := Count(shape, math.MaxInt)
	out := make([]byte, 0, n*width)
	at := make([]int, len(shape))
	from := 0
	for range n {
		out = append(out, data[from*width:][:width]...)
		for k := len(at) - 1; k >= 0; k-- {
			at[k]++
			from += strides[k]
			if at[k] < shape[k] {
				break
			}
			from -= at[k] * strides[k]
			at[k] = 0
		}
	}
	return out
}
