package arrays

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"dgkip/harness/npz"
)

// maxHeader bounds the description of a safetensors file.
const maxHeader = 1 << 20

// metadata is the member of the description that holds texts.
const metadata = "__metadata__"

// safetensorsTypes names the types of values, and bf for bfloat16.
var safetensorsTypes = map[string]string{
	"F64": "f8", "F32": "f4", "F16": "f2", "BF16": "bf", "I64": "i8", "I32": "i4", "I16": "i2", "I8": "i1",
	"U64": "u8", "U32": "u4", "U16": "u2", "U8": "u1", "BOOL": "b1",
}

// described is an array in the description.
type described struct {
	Type    string  `json:"dtype"`
	Shape   []int   `json:"shape"`
	Offsets []int64 `json:"data_offsets"`
}

// safetensorsFile is a length, a description as JSON, and the values.
type safetensorsFile struct {
	path   string
	r      io.ReaderAt
	start  int64 // of the values
	size   int64
	arrays map[string]described
	texts  map[string]string
	names  []string
}

func readSafetensors(path string, r io.ReaderAt, size int64) (source, error) {
	head := make([]byte, 8)
	if _, err := r.ReadAt(head, 0); err != nil {
		return nil, fmt.Errorf("%s: %w", path, npz.Damage(err))
	}
	n := binary.LittleEndian.Uint64(head)
	switch {
	case n > maxHeader:
		return nil, fmt.Errorf("%s: %w: a description of %d bytes; at most %d are read", path, npz.ErrOversized, n, maxHeader)
	case int64(n) > size-8:
		return nil, fmt.Errorf("%s: %w: a description of %d bytes, and %d in all", path, npz.ErrTruncated, n, size)
	}
	text := make([]byte, n)
	if _, err := r.ReadAt(text, 8); err != nil {
		return nil, fmt.Errorf("%s: %w", path, npz.Damage(err))
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, fmt.Errorf("%s: %w: its description is not JSON", path, npz.ErrCorrupt)
	}
	if name := twice(text); name != "" {
		return nil, fmt.Errorf("%s: %w: the array %.80q is there twice", path, npz.ErrCorrupt, name)
	}
	s := &safetensorsFile{path: path, r: r, start: 8 + int64(n), size: size, arrays: map[string]described{}}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		var err error
		if key := twice(members[name]); key != "" {
			err = fmt.Errorf("%.80q is there twice", key)
		} else if name == metadata {
			if json.Unmarshal(members[name], &s.texts) != nil {
				err = errors.New("it has to be texts")
			}
		} else {
			err = s.describe(name, members[name])
		}
		if err != nil {
			return nil, fmt.Errorf("%s: array %.80q: %w: %w", path, name, npz.ErrCorrupt, err)
		}
	}
	for name := range s.texts {
		if _, isArray := s.arrays[name]; !isArray {
			s.names = append(s.names, name)
		}
	}
	slices.Sort(s.names)
	return s, s.gapless()
}

// twice returns a member that an object has twice, if there is one: of two arrays of a name
// another reader may take the other.
func twice(object []byte) string {
	d := json.NewDecoder(bytes.NewReader(object))
	d.Token() // the bracket
	seen := map[string]bool{}
	for d.More() {
		token, _ := d.Token()
		name, _ := token.(string)
		if seen[name] {
			return name
		}
		seen[name] = true
		if d.Decode(new(json.RawMessage)) != nil {
			return "" // it was read before
		}
	}
	return ""
}

// gapless reports values that lie in those of another array, or are of none. The format
// has neither.
func (s *safetensorsFile) gapless() error {
	at := int64(0)
	for _, name := range slices.SortedFunc(maps.Keys(s.arrays), func(a, b string) int {
		return cmp.Or(slices.Compare(s.arrays[a].Offsets, s.arrays[b].Offsets), strings.Compare(a, b))
	}) {
		o := s.arrays[name].Offsets
		if o[0] != at {
			return fmt.Errorf("%s: array %.80q: %w: its values lie from %d on, where those before it end at %d", s.path, name, npz.ErrCorrupt, o[0], at)
		}
		at = o[1]
	}
	if at != s.size-s.start {
		return fmt.Errorf("%s: %w: its arrays end at %d, and it has %d bytes of values", s.path, npz.ErrCorrupt, at, s.size-s.start)
	}
	return nil
}

// describe takes up an array whose values lie where the file has some.
func (s *safetensorsFile) describe(name string, text []byte) error {
	var d described
	if json.Unmarshal(text, &d) != nil {
		return errors.New("its description is not one of an array")
	}
	if len(d.Offsets) != 2 || d.Offsets[0] < 0 || d.Offsets[0] > d.Offsets[1] || d.Offsets[1] > s.size-s.start {
		return fmt.Errorf("its values lie from and to %v, and the file has %d bytes of them", d.Offsets, s.size-s.start)
	}
	if len(d.Shape) > 8 {
		return fmt.Errorf("it has %d dimensions", len(d.Shape))
	}
	s.arrays[name] = d
	s.names = append(s.names, name)
	return nil
}

// Names implements Source.
func (s *safetensorsFile) Names() []string { return s.names }

// Has implements Source.
func (s *safetensorsFile) Has(name string) bool { return slices.Contains(s.names, name) }

// Read implements Source.
func (s *safetensorsFile) Read(name string, most int) (a npz.Array, err error) {
	d, isArray := s.arrays[name]
	text, isText := s.texts[name]
	switch {
	case isArray:
		a, err = s.values(d, most)
	case isText:
		a, err = texts(most, text)
		a.Shape = nil
	default:
		return a, fmt.Errorf("%s: %w: there is no array %q, only %s", s.path, npz.ErrFormat, name, npz.Listed(s.names))
	}
	if err != nil {
		return a, fmt.Errorf("%s: array %q: %w", s.path, name, err)
	}
	a.Name = name
	return a, nil
}

func (s *safetensorsFile) values(d described, most int) (a npz.Array, err error) {
	kind := safetensorsTypes[strings.ToUpper(d.Type)]
	if kind == "" {
		return a, fmt.Errorf("%w: values of type %.20q", npz.ErrFormat, d.Type)
	}
	width := widthOf(kind)
	n, ok := npz.Count(d.Shape, most)
	if !ok {
		return a, tooMany(d.Shape, most)
	}
	if got := d.Offsets[1] - d.Offsets[0]; got%int64(width) != 0 || got/int64(width) != int64(n) {
		return a, fmt.Errorf("%w: %d bytes where %d values of type %s are announced", npz.ErrCorrupt, got, n, d.Type)
	}
	a = npz.Array{Shape: d.Shape, Type: kind, Data: make([]byte, n*width)}
	if _, err := s.r.ReadAt(a.Data, s.start+d.Offsets[0]); err != nil && n > 0 {
		return a, npz.Damage(err)
	}
	if kind == "bf" {
		a.Type, a.Data = "f4", widened(a.Data)
	}
	return a, nil
}
