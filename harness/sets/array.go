package sets

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Array is a named array of a file. Its values are stored row by row, the low byte first,
// whatever order the file uses.
type Array struct {
	Name  string
	Shape []int  // empty for a single value
	Type  string // as numpy writes it, without byte order: f2 f4 f8 i1 to i8 u1 to u8 b1, U7 for texts of 7 characters
	Data  []byte
}

// Of returns an array of numbers.
func Of[T float32 | float64 | int64 | uint8 | bool](name string, shape []int, values []T) Array {
	kind := map[string]string{"float32": "f4", "float64": "f8", "int64": "i8", "uint8": "u1", "bool": "b1"}[fmt.Sprintf("%T", *new(T))]
	data, err := binary.Append(nil, le, values)
	if err != nil {
		panic("sets: values without a fixed size")
	}
	return Array{name, shape, kind, data}
}

// half returns an array whose values are rounded to 16 bits.
func half(name string, shape []int, values []float32) Array {
	data := make([]byte, 0, 2*len(values))
	for _, x := range values {
		data = le.AppendUint16(data, toHalf(x))
	}
	return Array{name, shape, "f2", data}
}

// Text returns a single text.
func Text(name, text string) Array {
	a := texts(name, []string{text})
	a.Shape = nil
	return a
}

// texts returns a list of texts.
func texts(name string, list []string) Array {
	width := 1 // numpy has no texts without characters
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

// String describes the array as Python does: float32[2 28 28].
func (a Array) String() string {
	name := map[byte]string{'u': "uint", 'i': "int", 'f': "float", 'b': "bool", 'U': "str"}[a.Type[0]]
	if kind, size := split(a.Type); kind != 'b' {
		name += strconv.Itoa(8 * size)
	}
	return fmt.Sprintf("%s%v", name, a.Shape)
}

// split returns the kind of a type, and the number of bytes of a value.
func split(kind string) (byte, int) {
	n, _ := strconv.Atoi(kind[1:])
	if kind[0] == 'U' {
		n *= 4
	}
	return kind[0], n
}

// length returns the number of values, or of characters in texts.
func (a Array) length() int {
	if kind, size := split(a.Type); kind != 'U' {
		return len(a.Data) / size
	}
	return len(a.Data) / 4
}

// number reads one value of a numeric type.
var number = map[string]func(b []byte) float64{
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

// Float64s returns the values of an array of any numeric type. It returns false for texts.
func (a Array) Float64s() ([]float64, bool) { return values[float64](a) }

func values[T float32 | float64](a Array) ([]T, bool) {
	value, ok := number[a.Type]
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

// Texts returns the texts of an array. It returns false for numbers.
func (a Array) Texts() ([]string, bool) {
	if !strings.HasPrefix(a.Type, "U") {
		return nil, false
	}
	_, size := split(a.Type)
	n, _ := Count(a.Shape, math.MaxInt)
	out := make([]string, n)
	for i := range out {
		var text []rune
		for at := i * size; at < (i+1)*size; at += 4 {
			if r := le.Uint32(a.Data[at:]); r != 0 {
				text = append(text, rune(r))
			}
		}
		out[i] = string(text)
	}
	return out, true
}

// Count returns the number of values of a shape. It returns false if the number is above most
// or a size is negative.
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

// gather copies values of width bytes each, the last index varying fastest. Strides are
// counted in values.
func gather(data []byte, shape, strides []int, width int) []byte {
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

// toHalf rounds to the nearest 16-bit float, ties to even.
func toHalf(x float32) uint16 {
	sign := uint16(math.Float32bits(x) >> 16 & 0x8000)
	a := math.Abs(float64(x))
	switch {
	case x != x:
		return sign | 0x7e00
	case a >= 65520:
		return sign | 0x7c00
	}
	e := -13 // exponent of subnormal numbers
	if a >= 0x1p-14 {
		_, e = math.Frexp(a)
	}
	// The leading bit of a normal number carries into the exponent.
	return sign | uint16((e+13)<<10+int(math.RoundToEven(math.Ldexp(a, 11-e))))
}

func fromHalf(h uint16) float64 {
	e, m := int(h>>10&31), float64(h&0x3ff)
	x := math.Ldexp(m, -24)
	switch {
	case e == 31 && m != 0:
		return math.NaN()
	case e == 31:
		x = math.Inf(1)
	case e > 0:
		x = math.Ldexp(1024+m, e-25)
	}
	if h&0x8000 != 0 {
		return -x
	}
	return x
}
