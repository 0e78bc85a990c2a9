// Package npz reads and writes arrays in numpy's formats: NPY, one array, and NPZ, a
// zip archive of them.
//
// Equal arrays are written as equal bytes: the archive is not compressed and holds
// no times. What is read may come from anywhere. Nothing is allocated before the
// header, the archive's directory and the size that the caller expects agree on how
// much there is, and every error names the file and the array.
package npz

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Array is an array of a file, always row by row with the low byte first, whatever
// the file's own order is.
type Array struct {
	Name  string
	Shape []int  // none for a single value
	Type  string // as numpy writes it, without byte order: f2 f4 f8 i1 to i8 u1 to u8 b1, U7 for texts of 7 characters
	Data  []byte
}

// Of returns an array of numbers.
func Of[T float32 | float64 | int64 | uint8 | bool](name string, shape []int, values []T) Array {
	kind := ""
	switch any(values).(type) {
	case []float32:
		kind = "f4"
	case []float64:
		kind = "f8"
	case []int64:
		kind = "i8"
	case []uint8:
		kind = "u1"
	case []bool:
		kind = "b1"
	}
	data, err := binary.Append(nil, le, values)
	if err != nil {
		panic("npz: values without a fixed size")
	}
	return Array{name, shape, kind, data}
}

// Half returns an array whose values are rounded to 16 bits: 11 of precision, for
// pictures.
func Half(name string, shape []int, values []float32) Array {
	data := make([]byte, 0, 2*len(values))
	for _, x := range values {
		data = le.AppendUint16(data, toHalf(x))
	}
	return Array{name, shape, "f2", data}
}

// Text returns a single text.
func Text(name, text string) Array {
	a := Texts(name, []string{text})
	a.Shape = nil
	return a
}

// Texts returns a list of texts.
func Texts(name string, list []string) Array {
	width := 1 // numpy knows no texts of no characters
	for _, s := range list {
		width = max(width, utf8.RuneCountInString(s))
	}
	a := Array{name, []int{len(list)}, "U" + strconv.Itoa(width), make([]byte, 0, 4*width*len(list))}
	for i, s := range list {
		for _, r := range s {
			a.Data = le.AppendUint32(a.Data, uint32(r))
		}
		a.Data = a.Data[:4*width*(i+1)] // zeros
	}
	return a
}

// String describes the array the way Python's users know it: float32[2 28 28].
func (a Array) String() string {
	name := map[byte]string{'u': "uint", 'i': "int", 'f': "float", 'b': "bool", 'U': "str"}[a.Type[0]]
	if kind, size := split(a.Type); kind != 'b' {
		name += strconv.Itoa(8 * size)
	}
	return fmt.Sprintf("%s%v", name, a.Shape)
}

// split returns the kind of a type and the bytes of a value.
func split(kind string) (byte, int) {
	n, _ := strconv.Atoi(kind[1:])
	if kind[0] == 'U' {
		n *= 4
	}
	return kind[0], n
}

// numbers read one value of a type. Texts have none.
var numbers = map[string]func(b []byte) float64{
	"b1": func(b []byte) float64 { return float64(b[0]) },
	"u1": func(b []byte) float64 { return float64(b[0]) },
	"u2": func(b []byte) float64 { return float64(le.Uint16(b)) },
	"u4": func(b []byte) float64 { return float64(le.Uint32(b)) },
	"u8": func(b []byte) float64 { return float64(le.Uint64(b)) },
	"i1": func(b []byte) float64 { return float64(int8(b[0])) },
	"i2": func(b []byte) float64 { return float64(int16(le.Uint16(b))) },
	"i4": func(b []byte) float64 { return float64(int32(le.Uint32(b))) },
	"i8": func(b []byte) float64 { return float64(int64(le.Uint64(b))) },
	"f2": func(b []byte) float64 { return fromHalf(le.Uint16(b)) },
	"f4": func(b []byte) float64 { return float64(math.Float32frombits(le.Uint32(b))) },
	"f8": func(b []byte) float64 { return math.Float64frombits(le.Uint64(b)) },
}

var le = binary.LittleEndian

// Float64s returns the values of an array of numbers of any type, false if it holds
// texts.
func (a Array) Float64s() ([]float64, bool) { return values[float64](a) }

// Float32s is Float64s with less precision.
func (a Array) Float32s() ([]float32, bool) { return values[float32](a) }

func values[T float32 | float64](a Array) ([]T, bool) {
	value, ok := numbers[a.Type]
	if !ok {
		return nil, false
	}
	_, size := split(a.Type)
	out := make([]T, len(a.Data)/size)
	for i := range out {
		out[i] = T(value(a.Data[i*size:]))
	}
	return out, true
}

// Texts returns the texts of an array, false if it holds numbers.
func (a Array) Texts() ([]string, bool) {
	if !strings.HasPrefix(a.Type, "U") {
		return nil, false
	}
	_, size := split(a.Type)
	n, _ := Count(a.Shape, math.MaxInt)
	out := make([]string, n)
	for i := range out {
		var s strings.Builder
		for at := i * size; at < (i+1)*size; at += 4 {
			if r := le.Uint32(a.Data[at:]); r != 0 {
				s.WriteRune(rune(r))
			}
		}
		out[i] = s.String()
	}
	return out, true
}

// Count returns the number of values of a shape, false if it is more than most or the
// shape is none.
func Count(shape []int, most int) (int, bool) {
	if slices.ContainsFunc(shape, func(d int) bool { return d < 0 }) {
		return 0, false
	}
	if slices.Contains(shape, 0) {
		return 0, true
	}
	n := 1
	for _, d := range shape {
		if n > most/d {
			return 0, false
		}
		n *= d
	}
	return n, n <= most
}
