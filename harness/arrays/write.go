package arrays

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"dgkip/harness/npz"
)

// Torch returns arrays as a file of torch.save: a dictionary of tensors, texts and lists
// of texts, which torch.load(FILE, weights_only=True) reads. Equal arrays are equal
// bytes.
func Torch(list []npz.Array) ([]byte, error) {
	p := &pickler{}
	p.WriteString("\x80\x02}(")
	var storages []npz.Array
	for _, a := range list {
		p.text(a.Name)
		if s, ok := a.Texts(); ok {
			p.texts(s, a.Shape)
			continue
		}
		if err := p.tensor(a, len(storages)); err != nil {
			return nil, err
		}
		storages = append(storages, npz.Array{Name: "data/" + strconv.Itoa(len(storages)), Data: a.Data})
	}
	p.WriteString("u.")
	files := slices.Concat(
		[]npz.Array{{Name: pickleName, Data: p.Bytes()}, {Name: "byteorder", Data: []byte("little")}},
		storages, []npz.Array{{Name: "version", Data: []byte("3\n")}})
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		if err := npz.Store(z, "set/"+f.Name, f.Data); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

// pickler writes a pickle of protocol 2.
type pickler struct{ bytes.Buffer }

func (p *pickler) text(s string) {
	p.WriteByte('X')
	p.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(s))))
	p.WriteString(s)
}

// texts writes a text, or a list of them.
func (p *pickler) texts(s []string, shape []int) {
	if len(shape) == 0 {
		p.text(s[0])
		return
	}
	p.WriteString("](")
	for _, one := range s {
		p.text(one)
	}
	p.WriteByte('e')
}

func (p *pickler) number(n int) {
	p.WriteByte('J')
	p.Write(binary.LittleEndian.AppendUint32(nil, uint32(n)))
}

func (p *pickler) numbers(list []int) {
	p.WriteByte('(')
	for _, n := range list {
		p.number(n)
	}
	p.WriteByte('t')
}

// tensor writes a tensor with a storage of its own.
func (p *pickler) tensor(a npz.Array, key int) error {
	class := ""
	for name, kind := range storageKinds {
		if kind == a.Type {
			class = strings.TrimPrefix(string(name), "torch ")
		}
	}
	if class == "" || len(a.Data) > math.MaxInt32 {
		return fmt.Errorf("array %q: PyTorch has no tensors of %v", a.Name, a)
	}
	strides, step := make([]int, len(a.Shape)), 1
	for i := len(a.Shape) - 1; i >= 0; i-- {
		strides[i] = step
		step *= max(1, a.Shape[i])
	}
	p.WriteString("ctorch._utils\n_rebuild_tensor_v2\n((")
	p.text("storage")
	p.WriteString("ctorch\n" + class + "\n")
	p.text(strconv.Itoa(key))
	p.text("cpu")
	p.number(len(a.Data) / int(a.Type[1]-'0'))
	p.WriteString("tQ")
	p.number(0)
	p.numbers(a.Shape)
	p.numbers(strides)
	p.WriteString("\x89ccollections\nOrderedDict\n)RtR")
	return nil
}
