package sets

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Torch returns the arrays of a set as a file that torch.load(FILE, weights_only=True) reads:
// a dictionary of tensors and texts. Images become float32 [n, c, h, w]; classes and notes
// become lists. Equal arrays give equal bytes.
func Torch(arrays []Array) ([]byte, error) {
	pickle := "\x80\x02}("
	files := []Array{{Name: "set/" + pickleName}, {Name: "set/byteorder", Data: []byte("little")}}
	for _, a := range arrays {
		pickle += pickledText(a.Name)
		lines, isText := a.Texts()
		switch text := strings.Join(lines, "\n"); {
		case isText && (a.Name == "classes" || a.Name == "notes"):
			pickle += "]("
			for line := range strings.SplitSeq(text, "\n") {
				pickle += pickledText(line)
			}
			pickle += "e"
			continue
		case isText:
			pickle += pickledText(text)
			continue
		case len(a.Shape) == 4 && (a.Name == "images" || a.Name == "pixels"):
			x, _ := values[float32](a)
			n, h, w, c := a.Shape[0], a.Shape[1], a.Shape[2], a.Shape[3]
			a = Of(a.Name, []int{n, c, h, w}, transposed(x, h*w, c))
		}
		key := strconv.Itoa(len(files) - 2)
		tensor, err := pickledTensor(a, key)
		if err != nil {
			return nil, err
		}
		pickle += tensor
		files = append(files, Array{Name: "set/data/" + key, Data: a.Data})
	}
	files[0].Data = []byte(pickle + "u.")
	return archive(append(files, Array{Name: "set/version", Data: []byte("3\n")}))
}

func pickledText(s string) string { return "X" + string(le.AppendUint32(nil, uint32(len(s)))) + s }

func pickledInts(list ...int) (s string) {
	for _, n := range list {
		s += "J" + string(le.AppendUint32(nil, uint32(n)))
	}
	return s
}

// pickledTensor returns the pickle of a tensor that covers the whole storage with a key.
func pickledTensor(a Array, key string) (string, error) {
	class := ""
	for name, kind := range storageKinds {
		if kind == a.Type {
			class = strings.TrimPrefix(string(name), "torch.")
		}
	}
	if class == "" || len(a.Data) > math.MaxInt32 {
		return "", fmt.Errorf("array %q: a .pt file has no tensors of %v with %d bytes; at most %d bytes are written\nhint: use -export npz", a.Name, a, len(a.Data), math.MaxInt32)
	}
	strides, step := make([]int, len(a.Shape)), 1
	for i, d := range slices.Backward(a.Shape) {
		strides[i] = step
		step *= max(1, d)
	}
	_, width := split(a.Type)
	return "ctorch._utils\n_rebuild_tensor_v2\n((" + pickledText("storage") + "ctorch\n" + class + "\n" +
		pickledText(key) + pickledText("cpu") + pickledInts(len(a.Data)/width) + "tQ" + pickledInts(0) +
		"(" + pickledInts(a.Shape...) + "t(" + pickledInts(strides...) + "t\x89ccollections\nOrderedDict\n)RtR", nil
}
