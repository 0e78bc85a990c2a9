package sets

import (
	"archive/zip"
	"fmt"
	"slices"
	"strings"
)

// pickleName is the entry of PyTorch's archives that describes the other entries.
const pickleName = "data.pkl"

// Limits on the value of a pickle. A short pickle may have many values and long names, because it
// can repeat them by reference.
const (
	maxVisited = 1 << 18
	maxName    = 200     // characters
	maxText    = 1 << 20 // characters of an array of texts
)

// torchFile is a file of torch.save.
type torchFile struct {
	*File
	root    string
	size    int64
	entries map[string]*zip.File
	swap    bool // high byte first
	visited int
}

func (f *File) indexTorch(z *zip.Reader, root string, size int64) error {
	t := &torchFile{File: f, root: root, size: size, entries: map[string]*zip.File{}}
	for _, entry := range z.File {
		if t.entries[entry.Name] != nil { // programs differ in which of the two they read
			return fmt.Errorf("%w: %.80q appears twice", ErrCorrupt, entry.Name)
		}
		t.entries[entry.Name] = entry
	}
	if t.entries[root+"/byteorder"] != nil {
		b, err := t.entry("byteorder")
		if err != nil {
			return err
		}
		t.swap = string(b) == "big"
	}
	b, err := t.entry(pickleName)
	if err != nil {
		return err
	}
	if len(b) > maxPickle {
		return fmt.Errorf("%w: a pickle of %d bytes; at most %d are read", ErrOversized, len(b), maxPickle)
	}
	value, err := unpickle(b)
	if err != nil {
		return err
	}
	return t.flatten("", value)
}

// entry reads an entry. PyTorch does not compress, so no entry is larger than the file.
func (t *torchFile) entry(name string) ([]byte, error) {
	f := t.entries[t.root+"/"+name]
	if f == nil {
		return nil, fmt.Errorf("%w: there is no entry %.80q in the archive", ErrCorrupt, name)
	}
	b, err := unzip(f, t.size, t.size)
	if err != nil {
		return nil, fmt.Errorf("entry %.80q: %w", name, err)
	}
	return b, nil
}

// flatten adds the arrays in a value, and names them by their place. A list of numbers or texts is
// an array; a single number is not.
func (t *torchFile) flatten(name string, v any) error {
	if t.visited++; t.visited > maxVisited || len(name) > maxName {
		return fmt.Errorf("%w: it is nested too deep, or holds too many values or too long names", ErrOversized)
	}
	switch v := v.(type) {
	case *tensor:
		return t.add(name, func() (Array, error) { return t.tensor(v) })
	case string:
		return t.hold(name, Text("", v))
	case *list:
		t.visited += len(v.items)
		numbers, lines, width := plain(v.items)
		switch n := len(v.items); {
		case v.dict || n == 0:
		case len(numbers) == n:
			return t.hold(name, Of("", []int{n}, numbers))
		case len(lines) == n && n*width > maxText:
			return fmt.Errorf("array %q: %w: %d texts of %d characters; at most %d values are read", name, ErrOversized, n, width, maxText)
		case len(lines) == n:
			return t.hold(name, texts("", lines))
		}
		for i, item := range v.items {
			key := any(i)
			if v.dict && i%2 == 0 {
				continue
			} else if v.dict {
				key = v.items[i-1]
			}
			switch key.(type) {
			case string, int64, int:
				if err := t.flatten(strings.TrimPrefix(fmt.Sprintf("%s.%v", name, key), "."), item); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// plain returns the numbers and the texts among items, and the length of the longest text.
func plain(items []any) (numbers []float64, lines []string, width int) {
	for _, item := range items {
		switch x := item.(type) {
		case float64:
			numbers = append(numbers, x)
		case int64:
			numbers = append(numbers, float64(x))
		case string:
			lines, width = append(lines, x), max(width, len(x))
		}
	}
	return numbers, lines, width
}

func (t *torchFile) hold(name string, a Array) error {
	return t.add(name, func() (Array, error) { return a, nil })
}

// tensor reads the values of a tensor, row by row.
func (t *torchFile) tensor(v *tensor) (a Array, err error) {
	most := int(UnpackLimit(t.size) / 8)
	if _, ok := Count(v.shape, most); !ok { // strides may be zero
		return a, fmt.Errorf("%w: it claims the shape %v; a file of %d bytes may unpack to %d values", ErrOversized, v.shape, t.size, most)
	}
	a.Shape, a.Type = v.shape, v.kind
	width := int(v.kind[len(v.kind)-1] - '0')
	if !slices.Contains(v.shape, 0) {
		block, err := t.entry("data/" + v.key)
		if err != nil {
			return a, err
		}
		last, there := v.offset, len(block)/width
		for i, d := range v.shape {
			if d > 1 && v.stride[i] > (there-last)/(d-1) { // their product may overflow
				last = there
			} else {
				last += (d - 1) * v.stride[i]
			}
		}
		if last >= there {
			return a, fmt.Errorf("%w: it reaches beyond its storage of %d values", ErrCorrupt, there)
		}
		if t.swap {
			for b := range slices.Chunk(block[:there*width], width) {
				slices.Reverse(b)
			}
		}
		a.Data = gather(block[v.offset*width:], v.shape, v.stride, width)
	}
	if v.kind == "bf2" { // the upper half of a float32
		wide := make([]byte, 0, 2*len(a.Data))
		for b := range slices.Chunk(a.Data, 2) {
			wide = append(wide, 0, 0, b[0], b[1])
		}
		a.Type, a.Data = "f4", wide
	}
	return a, nil
}
