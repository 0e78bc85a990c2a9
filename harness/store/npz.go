package store

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dgkip/harness/method"
	"dgkip/harness/spec"
)

// An NPZ file is a zip archive of NPY files, one for each array. It is written
// here so that equal arrays give equal bytes: no compression, no times.

// Array is an array of an NPZ file.
type Array struct {
	Shape  []int
	Values any // []float32, []float64, []int64, []uint8, []bool, Half or a string
}

// Half holds values that are stored with 16 bits: 11 of precision, for pictures.
type Half []float32

// Arrays lists what distilled.npz holds:
//
//	images      float32 [n, h, w, c]  as networks see them
//	pixels      float16 [n, h, w, c]  in pixel units, 0 to 1 for real images
//	labels      float32 [n, k]        see label_kind
//	of          int64   [n]           the class every image stands for
//	label_kind  string                hard, soft, logits, gain, target or value
//	loss        string                the loss the labels are for, if one
//	classes     string                names of the classes, one a line
//	preprocess  string                standard, none or zca
//	mean, std   float32 [c]           images = (pixels - mean)/std, but for zca
//	extra.NAME  float64               what the method keeps beside its images
//	notes       string                one a line
//	recipe      string                the identity of the run that made it, as JSON; Put adds it
func Arrays(d *method.Distilled) map[string]Array {
	shape := []int{d.Len(), d.H, d.W, d.C}
	of := make([]int64, d.Len())
	for i, y := range d.Of {
		of[i] = int64(y)
	}
	out := map[string]Array{
		"images":     {shape, d.Images},
		"pixels":     {shape, Half(d.Prep.Pixels(d.Images))},
		"labels":     {[]int{d.Len(), d.LabelWidth()}, d.Labels},
		"of":         {[]int{d.Len()}, of},
		"label_kind": {nil, string(d.Kind)},
		"classes":    {nil, strings.Join(d.Classes, "\n")},
		"preprocess": {nil, d.Prep.Name},
		"mean":       {[]int{len(d.Prep.Mean)}, d.Prep.Mean},
		"std":        {[]int{len(d.Prep.Std)}, d.Prep.Std},
	}
	for name, a := range d.Extra {
		out["extra."+name] = Array{a.Shape, a.Data}
	}
	if d.Loss != "" {
		out["loss"] = Array{nil, d.Loss}
	}
	if len(d.Notes) > 0 {
		out["notes"] = Array{nil, strings.Join(d.Notes, "\n")}
	}
	return out
}

// recipe names the array that tells where a set comes from.
const recipe = "recipe"

// ReadRecipe returns the identity of the run that made the set in a file, false if
// the file does not tell.
func ReadRecipe(file string) (id spec.Identity, ok bool) {
	arrays, err := ReadNPZ(file)
	if err != nil {
		return id, false
	}
	text, ok := arrays[recipe].Values.(string)
	return id, ok && json.Unmarshal([]byte(text), &id) == nil
}

// EncodeNPZ returns the arrays as an NPZ file.
func EncodeNPZ(arrays map[string]Array) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(arrays)) {
		body := encodeNPY(arrays[name])
		w, err := z.CreateRaw(&zip.FileHeader{
			Name: name + ".npy", Method: zip.Store, CRC32: crc32.ChecksumIEEE(body),
			CompressedSize64: uint64(len(body)), UncompressedSize64: uint64(len(body)),
		})
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(body); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// arraysDigest depends on names, types, shapes and values.
func arraysDigest(arrays map[string]Array) string {
	files := map[string][]byte{}
	for name, a := range arrays {
		files[name] = encodeNPY(a)
	}
	return filesDigest(files)
}

// filesDigest is arraysDigest of arrays that are encoded already.
func filesDigest(files map[string][]byte) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if name == recipe {
			continue // it says what the record's key says
		}
		fmt.Fprintf(h, "%d %s %d\n", len(name), name, len(files[name]))
		h.Write(files[name])
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

func encodeNPY(a Array) []byte {
	descr, data := "", []byte(nil)
	le := binary.LittleEndian
	switch v := a.Values.(type) {
	case []float32:
		descr = "<f4"
		for _, x := range v {
			data = le.AppendUint32(data, math.Float32bits(x))
		}
	case Half:
		descr = "<f2"
		for _, x := range v {
			data = le.AppendUint16(data, toHalf(x))
		}
	case []float64:
		descr = "<f8"
		for _, x := range v {
			data = le.AppendUint64(data, math.Float64bits(x))
		}
	case []int64:
		descr = "<i8"
		for _, x := range v {
			data = le.AppendUint64(data, uint64(x))
		}
	case []uint8:
		descr, data = "|u1", v
	case []bool:
		descr = "|b1"
		for _, x := range v {
			data = append(data, map[bool]byte{true: 1}[x])
		}
	case string:
		runes := []rune(v)
		descr = "<U" + strconv.Itoa(max(1, len(runes)))
		for _, r := range runes {
			data = le.AppendUint32(data, uint32(r))
		}
		if len(runes) == 0 {
			data = make([]byte, 4)
		}
	default:
		panic("store: an array has a type that NPZ files do not hold")
	}
	var dims strings.Builder
	for _, n := range a.Shape {
		fmt.Fprintf(&dims, "%d, ", n)
	}
	shape := "(" + strings.TrimSuffix(dims.String(), " ") + ")"
	if len(a.Shape) > 1 {
		shape = "(" + strings.TrimSuffix(dims.String(), ", ") + ")"
	}
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
	for (10+len(head)+1)%64 != 0 {
		head += " "
	}
	head += "\n"
	out := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), byte(len(head)>>8))
	return append(append(out, head...), data...)
}

// toHalf rounds to the nearest 16-bit float, ties to even.
func toHalf(x float32) uint16 {
	bits := math.Float32bits(x)
	sign := uint16(bits >> 16 & 0x8000)
	switch a := math.Abs(float64(x)); {
	case x != x:
		return sign | 0x7e00
	case a >= 65520:
		return sign | 0x7c00
	case a < 0x1p-14: // subnormal: multiples of 2^-24
		return sign | uint16(math.RoundToEven(a*0x1p24))
	}
	mantissa := bits&0x7fffff | 0x800000
	exponent := int(bits>>23&0xff) - 127
	rounded := mantissa >> 13
	if rest := mantissa & 0x1fff; rest > 0x1000 || rest == 0x1000 && rounded&1 == 1 {
		rounded++
	}
	return sign | uint16(uint32(exponent+14)<<10+rounded) // a carry moves into the exponent
}

func fromHalf(h uint16) float64 {
	sign := 1.0
	if h&0x8000 != 0 {
		sign = -1
	}
	e, m := int(h>>10&31), float64(h&0x3ff)
	switch e {
	case 0:
		return sign * m * 0x1p-24
	case 31:
		if m != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1+m/1024, e-15)
}

// maxNPZ bounds what is read from a file, in values and bytes.
const maxNPZ = 1 << 30

// ReadNPZ reads the arrays of a file. Numbers of any type come as []float64,
// except that bytes stay bytes; texts come as strings.
func ReadNPZ(file string) (map[string]Array, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	a, err := DecodeNPZ(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return a, nil
}

// ErrNotNPZ says that a file is of another format, or cut short.
var ErrNotNPZ = errors.New("not an NPZ file")

// DecodeNPZ is ReadNPZ for a file's content.
func DecodeNPZ(b []byte) (map[string]Array, error) {
	files, err := unzipNPZ(b)
	if err != nil {
		return nil, err
	}
	out := map[string]Array{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		a, err := decodeNPY(files[name])
		if err != nil {
			return nil, fmt.Errorf("array %s: %w", name, err)
		}
		out[name] = a
	}
	return out, nil
}

// unzipNPZ returns the encoded arrays of a file's content.
func unzipNPZ(b []byte) (map[string][]byte, error) {
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotNPZ, err)
	}
	out := map[string][]byte{}
	var total uint64
	for _, f := range z.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			return nil, fmt.Errorf("%q in it is not an array", f.Name)
		}
		if total += f.UncompressedSize64; total > maxNPZ || f.UncompressedSize64 > maxNPZ {
			return nil, errors.New("it is larger than a distilled set can be")
		}
		r, err := f.Open()
		if err != nil {
			return nil, fmt.Errorf("array %s: %w", name, err)
		}
		body, err := io.ReadAll(io.LimitReader(r, maxNPZ))
		r.Close()
		if err != nil {
			return nil, fmt.Errorf("array %s: %w", name, err)
		}
		out[name] = body
	}
	return out, nil
}

var npyHeader = regexp.MustCompile(`^\{\s*'descr':\s*'([^']*)',\s*'fortran_order':\s*(True|False),\s*'shape':\s*\(([0-9, ]*)\),?\s*\}\s*$`)

func decodeNPY(b []byte) (Array, error) {
	var a Array
	if len(b) < 12 || string(b[:6]) != "\x93NUMPY" {
		return a, errors.New("not in NPY form")
	}
	size, at := int(binary.LittleEndian.Uint16(b[8:])), 10
	if b[6] > 1 {
		size, at = int(binary.LittleEndian.Uint32(b[8:])), 12
	}
	if size < 0 || size > len(b)-at {
		return a, errors.New("the header ends early")
	}
	m := npyHeader.FindSubmatch(b[at : at+size])
	if m == nil {
		return a, fmt.Errorf("header %q is not understood", b[at:at+size])
	}
	if string(m[2]) == "True" {
		return a, errors.New("the order of its values is Fortran's; save it with numpy.ascontiguousarray")
	}
	n := 1
	for _, s := range strings.Split(string(m[3]), ",") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		d, err := strconv.Atoi(s)
		if err != nil || d < 0 || d > maxNPZ || d > 0 && n > maxNPZ/d {
			return a, fmt.Errorf("shape (%s) is too large", m[3])
		}
		n *= d
		a.Shape = append(a.Shape, d)
	}
	return a, a.fill(string(m[1]), b[at+size:], n)
}

// fill reads n values of a type.
func (a *Array) fill(descr string, data []byte, n int) error {
	if len(descr) < 3 {
		return fmt.Errorf("type %q is not read", descr)
	}
	width, err := strconv.Atoi(descr[2:])
	if err != nil || width < 0 || width > 1<<20 {
		return fmt.Errorf("type %q is not read", descr)
	}
	var order binary.ByteOrder = binary.LittleEndian
	if descr[0] == '>' {
		order = binary.BigEndian
	}
	bytesEach := width
	if descr[1] == 'U' {
		bytesEach *= 4
	}
	if n*bytesEach != len(data) {
		return fmt.Errorf("%d bytes do not hold %d values of type %q", len(data), n, descr)
	}
	if descr[1] == 'U' {
		if n != 1 {
			return errors.New("lists of texts are not read; one text only")
		}
		var s strings.Builder
		for at := 0; at < len(data); at += 4 {
			if r := order.Uint32(data[at:]); r != 0 {
				s.WriteRune(rune(r))
			}
		}
		a.Values = s.String()
		return nil
	}
	var value func(b []byte) float64
	switch descr[1:] {
	case "u1":
		a.Values = slices.Clone(data)
		return nil
	case "b1":
		value = func(b []byte) float64 { return float64(b[0]) }
	case "i1":
		value = func(b []byte) float64 { return float64(int8(b[0])) }
	case "i2":
		value = func(b []byte) float64 { return float64(int16(order.Uint16(b))) }
	case "u2":
		value = func(b []byte) float64 { return float64(order.Uint16(b)) }
	case "i4":
		value = func(b []byte) float64 { return float64(int32(order.Uint32(b))) }
	case "u4":
		value = func(b []byte) float64 { return float64(order.Uint32(b)) }
	case "i8":
		value = func(b []byte) float64 { return float64(int64(order.Uint64(b))) }
	case "u8":
		value = func(b []byte) float64 { return float64(order.Uint64(b)) }
	case "f2":
		value = func(b []byte) float64 { return fromHalf(order.Uint16(b)) }
	case "f4":
		value = func(b []byte) float64 { return float64(math.Float32frombits(order.Uint32(b))) }
	case "f8":
		value = func(b []byte) float64 { return math.Float64frombits(order.Uint64(b)) }
	default:
		return fmt.Errorf("type %q is not read", descr)
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = value(data[i*width:])
	}
	a.Values = out
	return nil
}
