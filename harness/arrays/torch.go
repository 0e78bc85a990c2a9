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

// Limits on what a pickle's value is made of.
const (
	maxDepth   = 64
	maxVisited = 1 << 18
	maxArrays  = 1 << 14
	maxName    = 200     // characters: with references a short file has long ones
	maxText    = 1 << 20 // characters of an array of texts
	maxRepeat  = 1 << 20 // values of an array that repeats those of its storage
)

// torchFile is a file of torch.save.
type torchFile struct {
	path    string
	root    string
	size    int64
	entries map[string]*zip.File
	swap    bool // high byte first

	names   []string
	held    map[string]any // *tensor, string, []string, []float64, []int64, opaque or a number
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
		b, err := t.whole("byteorder", 16)
		if err != nil {
			return nil, err
		}
		t.swap = string(b) == "big"
	}
	b, err := t.whole(pickleName, maxPickle)
	if err != nil {
		return nil, err
	}
	value, err := unpickle(b)
	if err == nil {
		err = t.flatten("", value, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// open opens an entry. PyTorch does not compress, and so nothing is larger than the
// file.
func (t *torchFile) open(name string) (io.ReadCloser, int64, error) {
	f := t.entries[t.root+"/"+name]
	if f == nil {
		return nil, 0, fmt.Errorf("%s: %w: there is no entry %.80q in the archive", t.path, npz.ErrCorrupt, name)
	}
	if f.Method != zip.Store || f.UncompressedSize64 != f.CompressedSize64 || f.UncompressedSize64 > uint64(t.size) {
		return nil, 0, fmt.Errorf("%s: entry %.80q: %w: it is compressed, or larger than its file", t.path, name, npz.ErrFormat)
	}
	r, err := f.Open()
	if err != nil {
		return nil, 0, fmt.Errorf("%s: entry %.80q: %w: %w", t.path, name, npz.ErrCorrupt, err)
	}
	return r, int64(f.UncompressedSize64), nil
}

// whole reads an entry.
func (t *torchFile) whole(name string, most int64) ([]byte, error) {
	r, size, err := t.open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if size > most {
		return nil, fmt.Errorf("%s: entry %.80q: %w: %d bytes; at most %d are expected", t.path, name, npz.ErrOversized, size, most)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: entry %.80q: %w", t.path, name, npz.Damage(err))
	}
	return b, nil
}

// flatten gives every array in a value a name.
func (t *torchFile) flatten(name string, v any, depth int) error {
	if t.visited++; t.visited > maxVisited || depth > maxDepth {
		return fmt.Errorf("%w: it is nested too deep, or holds too many values", npz.ErrOversized)
	}
	if len(name) > maxName {
		return fmt.Errorf("%w: the name %.80q... is longer than %d characters", npz.ErrOversized, name, maxName)
	}
	switch v := v.(type) {
	case *list:
		return t.flattenList(name, v.items, depth)
	case tuple:
		return t.flattenList(name, v, depth)
	case *dict:
		for i, key := range v.keys {
			switch key.(type) {
			case string, int64:
			default:
				continue
			}
			if err := t.flatten(member(name, fmt.Sprint(key)), v.values[i], depth+1); err != nil {
				return err
			}
		}
	case *tensor, string, float64, int64, bool, opaque:
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

// flattenList keeps a list of numbers or of texts together.
func (t *torchFile) flattenList(name string, items []any, depth int) error {
	var floats []float64
	var whole []int64
	var texts []string
	unread := 0
	t.visited += len(items)
	for _, x := range items {
		switch x := x.(type) {
		case opaque:
			unread++
		case float64:
			floats = append(floats, x)
		case int64:
			whole, floats = append(whole, x), append(floats, float64(x))
		case string:
			texts = append(texts, x)
		}
	}
	switch n := len(items); {
	case n == 0:
		return nil
	case len(whole) == n:
		return t.add(name, whole)
	case len(floats) == n:
		return t.add(name, floats)
	case len(texts) == n:
		return t.add(name, texts)
	case unread == n:
		return t.add(name, opaque{})
	}
	for i, x := range items {
		if err := t.flatten(member(name, strconv.Itoa(i)), x, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (t *torchFile) add(name string, v any) error {
	if name == "" {
		name = "." // the file is that value
	}
	if len(t.names) >= maxArrays {
		return fmt.Errorf("%w: it holds more than %d arrays", npz.ErrOversized, maxArrays)
	}
	if _, twice := t.held[name]; twice {
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
	case opaque:
		err = fmt.Errorf("%w: it is of a kind that is not read, such as numbers of numpy\nhint: torch.as_tensor makes a tensor of them before torch.save", npz.ErrFormat)
	case *tensor:
		a, err = t.tensor(v, most)
	case string:
		a, err = texts(most, v)
		a.Shape = nil
	case []string:
		a, err = texts(most, v...)
	case float64:
		a = npz.Of(name, nil, []float64{v})
	case int64:
		a = npz.Of(name, nil, []int64{v})
	case bool:
		a = npz.Of(name, nil, []bool{v})
	case []float64:
		if err = fits(len(v), most); err == nil {
			a = npz.Of(name, []int{len(v)}, v)
		}
	case []int64:
		if err = fits(len(v), most); err == nil {
			a = npz.Of(name, []int{len(v)}, v)
		}
	}
	if err != nil {
		return a, fmt.Errorf("%s: array %q: %w", t.path, name, err)
	}
	a.Name = name
	return a, nil
}

func fits(n, most int) error {
	if n > most {
		return tooMany([]int{n}, most)
	}
	return nil
}

// texts returns a text, or a list of them.
func texts(most int, list ...string) (a npz.Array, err error) {
	width := 1
	for _, s := range list {
		width = max(width, len(s))
	}
	if most = min(most, maxText); width > most/len(list) {
		return a, tooMany([]int{len(list), width}, most)
	}
	return npz.Texts("", list), nil
}

// widthOf is the number of bytes of a value.
func widthOf(kind string) int {
	if kind == "bf" {
		return 2
	}
	return int(kind[1] - '0')
}

// tensor reads the values of a tensor, row by row.
func (t *torchFile) tensor(v *tensor, most int) (a npz.Array, err error) {
	n, ok := npz.Count(v.shape, most)
	if !ok {
		return a, tooMany(v.shape, most)
	}
	a.Shape, a.Type = v.shape, v.kind
	if n > 0 {
		if a.Data, err = t.values(v, n, most); err != nil {
			return a, err
		}
	}
	if v.kind == "bf" {
		a.Type, a.Data = "f4", widened(a.Data)
	}
	return a, nil
}

// values returns the bytes of the n values of a tensor.
func (t *torchFile) values(v *tensor, n, most int) ([]byte, error) {
	last := v.offset
	for i, d := range v.shape {
		if d > 1 && v.stride[i] > (v.n-1-last)/(d-1) || last >= v.n {
			return nil, fmt.Errorf("%w: it ends behind its storage of %d values", npz.ErrCorrupt, v.n)
		}
		last += (d - 1) * v.stride[i]
	}
	if last >= v.n {
		return nil, fmt.Errorf("%w: it ends behind its storage of %d values", npz.ErrCorrupt, v.n)
	}
	span, width := last-v.offset+1, widthOf(v.kind)
	if span > most || n > max(span, maxRepeat) {
		return nil, fmt.Errorf("%w: its %d values are strewn over %d of its storage, or repeat them\nhint: save tensor.clone()", npz.ErrOversized, n, span)
	}
	r, size, err := t.open("data/" + v.key)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if int64(v.n) > size/int64(width) {
		return nil, fmt.Errorf("%w: a storage of %d bytes where %d values are announced", npz.ErrTruncated, size, v.n)
	}
	block := make([]byte, span*width) // no more than the file has
	_, err = io.CopyN(io.Discard, r, int64(v.offset)*int64(width))
	if err == nil {
		_, err = io.ReadFull(r, block)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, r) // to the end, where the checksum is compared
	}
	if err != nil {
		return nil, npz.Damage(err)
	}
	if t.swap {
		for b := range slices.Chunk(block, width) {
			slices.Reverse(b)
		}
	}
	return npz.Gather(block, v.shape, v.stride, width), nil
}

// widened returns bfloat16 as float32.
func widened(b []byte) []byte {
	out := make([]byte, 0, 2*len(b))
	for i := 0; i+1 < len(b); i += 2 {
		out = binary.LittleEndian.AppendUint32(out, uint32(binary.LittleEndian.Uint16(b[i:]))<<16)
	}
	return out
}
