package sets

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const magic = "\x93NUMPY"

// npy returns an array as an NPY file, version 1.
func npy(a Array) []byte {
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
	out := le.AppendUint16([]byte(magic+"\x01\x00"), uint16(len(head)+1))
	return append(append(out, head+"\n"...), a.Data...)
}

// parseNPY reads an NPY file.
func parseNPY(b []byte) (a Array, err error) {
	if len(b) < 12 {
		return a, fmt.Errorf("%w: an NPY file of %d bytes", ErrTruncated, len(b))
	}
	if string(b[:6]) != magic {
		return a, fmt.Errorf("%w: an NPY file starts with \\x93NUMPY, this one with %q", ErrMagic, b[:6])
	}
	start, size := 10, int(le.Uint16(b[8:]))
	switch b[6] {
	case 1:
	case 2, 3:
		start, size = 12, int(le.Uint32(b[8:]))
	default:
		return a, fmt.Errorf("%w: NPY version %d.%d", ErrFormat, b[6], b[7])
	}
	if size > len(b)-start {
		return a, fmt.Errorf("%w: an NPY header of %d bytes", ErrTruncated, size)
	}
	h, err := parseHeader(string(b[start:][:size]))
	if err != nil {
		return a, err
	}
	kind, width := split(h.Type)
	const most = 1 << 36 // more than fits into memory
	n, ok := Count(h.Shape, most)
	if !ok {
		return a, fmt.Errorf("%w: the shape %v; at most %d values are read", ErrOversized, h.Shape, most)
	}
	h.Data = b[start+size:]
	if there, want := len(h.Data), n*width; there != want {
		err := ErrTruncated
		if there > want {
			err = ErrOversized
		}
		return a, fmt.Errorf("%w: %d bytes instead of %d", err, there, want)
	}
	if h.swap {
		unit := width
		if kind == 'U' {
			unit = 4
		}
		for b := range slices.Chunk(h.Data, unit) {
			slices.Reverse(b)
		}
	}
	if h.columns && n > 0 {
		strides, step := make([]int, len(h.Shape)), 1
		for i, d := range h.Shape {
			strides[i], step = step, step*d
		}
		h.Data = gather(h.Data, h.Shape, strides, width)
	}
	return h.Array, nil
}

// header describes the array of an NPY file.
type header struct {
	Array
	swap    bool // high byte first
	columns bool // the first index varies fastest, as in Fortran
}

// objects matches the header of an array of Python's objects.
var objects = regexp.MustCompile(`['"]descr['"]\s*:\s*['"]\|O`)

// The three entries of a header, in any order. Python 2 wrote 3L.
var entries = [3]*regexp.Regexp{
	regexp.MustCompile(`['"]descr['"]\s*:\s*['"]([<>|=])([a-zA-Z])([0-9]{1,6})['"]`),
	regexp.MustCompile(`['"]fortran_order['"]\s*:\s*(True|False)`),
	regexp.MustCompile(`['"]shape['"]\s*:\s*\(([0-9L, ]*)\)`),
}

// parseHeader reads {'descr': '|u1', 'fortran_order': False, 'shape': (3, 28, 28), }.
func parseHeader(text string) (h header, err error) {
	if objects.MatchString(text) {
		return h, fmt.Errorf("%w: it holds a pickle of Python objects, which this program does not read\nhint: save an array of numbers; numpy.stack joins arrays of the same shape", ErrFormat)
	}
	rest, found := text, [3][]string{}
	for i, entry := range entries {
		m := entry.FindStringSubmatch(rest)
		if m == nil {
			return h, fmt.Errorf("%w: the NPY header %.80q does not describe a plain array", ErrCorrupt, text)
		}
		found[i], rest = m, strings.Replace(rest, m[0], "", 1)
	}
	if strings.Trim(rest, "{}, \n\t") != "" {
		return h, fmt.Errorf("%w: the NPY header %.80q has further entries", ErrCorrupt, text)
	}
	h.swap, h.columns = found[0][1] == ">", found[1][1] == "True"
	h.Type = found[0][2] + found[0][3]
	if _, width := split(h.Type); width == 0 || number[h.Type] == nil && h.Type[0] != 'U' {
		return h, fmt.Errorf("%w: values of type %s", ErrFormat, h.Type)
	}
	for _, d := range strings.FieldsFunc(found[2][1], func(r rune) bool { return r < '0' || r > '9' }) {
		size, err := strconv.Atoi(d)
		if err != nil || len(h.Shape) == 8 {
			return h, fmt.Errorf("%w: the NPY header %.80q has an impossible shape", ErrCorrupt, text)
		}
		h.Shape = append(h.Shape, size)
	}
	return h, nil
}
