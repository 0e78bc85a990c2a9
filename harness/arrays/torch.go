package arrays

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strconv"

	"dgkip/harness/npz"
)

// pickleName is the entry of PyTorch's archives that says what is in the others.
const pickleName = "data.pkl"

// Limits on what a pickle's value is made of: a short one may have long names and many values,
// by references.
const (
	maxVisited = 1 << 18
	maxName    = 200     // characters
	maxText    = 1 << 20 // characters of an array of texts
)

// torchFile is a file of torch.save.
type torchFile struct {
	path    string
	root    string
	size    int64
	entries map[string]*zip.File
	swap    bool // high byte first

	names   []string
	held    map[string]any // *tensor, string, []string or []float64
	visited int
}

func readTorch(path string, archive *zip.Reader, root string, size int64) (source, error) {
	t := &torchFile{path: path, root: root, size: size, entries: map[string]*zip.File{}, held: map[string]any{}}
	for _, f := range archive.File {
		if t.entries[f.Name] != nil { // another reader may take the other one
			return nil, fmt.Errorf("%s: %w: %.80q is there twice", path, npz.ErrCorrupt, f.Name)
		}
		t.entries[f.Name] = f
	}
	if t.entries[root+"/byteorder"] != nil {
		b, err := t.entry("byteorder")
		if err != nil {
			return nil, err
		}
		t.swap = string(b) == "big"
	}
	b, err := t.entry(pickleName)
	if err != nil {
		return nil, err
	}
	if len(b) > maxPickle {
		return nil, fmt.Errorf("%s: %w: a pickle of %d bytes; at most %d are read", path, npz.ErrOversized, len(b), maxPickle)
	}
	value, err := unpickle(b)
	if err == nil {
		err = t.flatten("", value)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// entry reads an entry. PyTorch does not compress, and so none is larger than the file.
func (t *torchFile) entry(name string) ([]byte, error) {
	f := t.entries[t.root+"/"+name]
	if f == nil {
		return nil, fmt.Errorf("%s: %w: there is no entry %.80q in the archive", t.path, npz.ErrCorrupt, name)
	}
	place := fmt.Sprintf("%s: entry %.80q", t.path, name)
	if f.Method != zip.Store || f.UncompressedSize64 > uint64(t.size) {
		return nil, fmt.Errorf("%s: %w: it is compressed, or larger than its file", place, npz.ErrFormat)
	}
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", place, npz.ErrCorrupt, err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", place, npz.Damage(err))
	}
	return b, nil
}

// flatten gives every array in a value a name. A list of numbers or of texts is an
// array; a single number is not.
func (t *torchFile) flatten(name string, v any) error {
	if t.visited++; t.visited > maxVisited || len(name) > maxName {
		return fmt.Errorf("%w: it is nested too deep, or holds too many values or too long names", npz.ErrOversized)
	}
	switch v := v.(type) {
	case *list:
		return t.flattenList(name, v.items)
	case tuple:
		return t.flattenList(name, v)
	case *dict:
		t.visited += len(v.keys)
		for i, key := range v.keys {
			switch key.(type) {
			case string, int64:
				if err := t.flatten(member(name, fmt.Sprint(key)), v.values[i]); err != nil {
					return err
				}
			}
		}
	case *tensor, string:
		return t.add(name, v)
	}
	return nil
}

func member(name, key string) string {
	if name == "" {
		return key
	}
	return name + "." + key
}

func (t *torchFile) flattenList(name string, items []any) error {
	var floats []float64
	var texts []string
	t.visited += len(items)
	for _, x := range items {
		switch x := x.(type) {
		case float64:
			floats = append(floats, x)
		case int64:
			floats = append(floats, float64(x))
		case string:
			texts = append(texts, x)
		}
	}
	switch n := len(items); {
	case n > 0 && len(floats) == n:
		return t.add(name, floats)
	case n > 0 && len(texts) == n:
		return t.add(name, texts)
	}
	for i, x := range items {
		if err := t.flatten(member(name, strconv.Itoa(i)), x); err != nil {
			return err
		}
	}
	return nil
}

func (t *torchFile) add(name string, v any) error {
	if name == "" {
		name = "." // the file is that value
	}
	if t.Has(name) {
		return fmt.Errorf("%w: the array %q is there twice", npz.ErrCorrupt, name)
	}
	t.names = append(t.names, name)
	t.held[name] = v
	return nil
}

// Names implements Source.
func (t *torchFile) Names() []string { return t.names }

// Has implements Source.
func (t *torchFile) Has(name string) bool { return t.held[name] != nil }

// Read implements Source.
func (t *torchFile) Read(name string, most int) (a npz.Array, err error) {
	switch v := t.held[name].(type) {
	case nil:
		return a, fmt.Errorf("%s: %w: there is no array %q, only %s", t.path, npz.ErrFormat, name, npz.Listed(t.names))
	case *tensor:
		a, err = t.tensor(v, most)
	case string:
		a, err = texts([]string{v}, most)
		a.Shape = nil
	case []string:
		a, err = texts(v, most)
	case []float64:
		if err = fits([]int{len(v)}, most); err == nil {
			a = npz.Of(name, []int{len(v)}, v)
		}
	}
	if err != nil {
		return a, fmt.Errorf("%s: array %q: %w", t.path, name, err)
	}
	a.Name = name
	return a, nil
}

func fits(shape []int, most int) error {
	if _, ok := npz.Count(shape, most); !ok {
		return fmt.Errorf("%w: the shape %v; at most %d values are expected", npz.ErrOversized, shape, most)
	}
	return nil
}

func texts(list []string, most int) (a npz.Array, err error) {
	width := 1
	for _, s := range list {
		width = max(width, len(s))
	}
	if err = fits([]int{len(list), width}, min(most, maxText)); err == nil {
		a = npz.Texts("", list)
	}
	return a, err
}

// tensor reads the values of a tensor, row by row.
func (t *torchFile) tensor(v *tensor, most int) (a npz.Array, err error) {
	if err := fits(v.shape, most); err != nil {
		return a, err
	}
	a.Shape, a.Type = v.shape, v.kind
	width := 2 // of bfloat16
	if v.kind != "bf" {
		width = int(v.kind[1] - '0')
	}
	if !slices.Contains(v.shape, 0) {
		block, err := t.entry("data/" + v.key)
		if err != nil {
			return a, err
		}
		last, there := v.offset, len(block)/width
		for i, d := range v.shape {
			if d > 1 && v.stride[i] > there {
				last = there
				break
			}
			last += (d - 1) * v.stride[i]
		}
		if v.offset >= there || last >= there || last < 0 {
			return a, fmt.Errorf("%w: it ends behind its storage of %d values", npz.ErrCorrupt, there)
		}
		if t.swap {
			for b := range slices.Chunk(block[:there*width], width) {
				slices.Reverse(b)
			}
		}
		a.Data = npz.Gather(block[v.offset*width:], v.shape, v.stride, width)
	}
	if v.kind == "bf" {
		a.Type, a.Data = "f4", widened(a.Data)
	}
	return a, nil
}

// widened returns bfloat16 as float32.
func widened(b []byte) []byte {
	out := make([]byte, 0, 2*len(b))
	for i := 0; i+1 < len(b); i += 2 {
		out = binary.LittleEndian.AppendUint32(out, uint32(binary.LittleEndian.Uint16(b[i:]))<<16)
	}
	return out
}
