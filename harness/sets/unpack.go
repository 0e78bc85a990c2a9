package sets

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"

	"dgkip/harness/npz"
)

// Unpack returns the arrays of a file's content, which needs the form that Arrays gives a set:
// records may come from others.
func Unpack(name string, content []byte) ([]npz.Array, error) {
	z, err := npz.New(name, bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, err
	}
	var list []npz.Array
	n := -1
	needs := map[string]int{"images": 4, "pixels": 4, "labels": 2, "of": 1} // dimensions
	for _, array := range z.Names() {
		a, err := z.Read(array, math.MaxInt)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
		switch dims := needs[array]; {
		case dims > 0:
			delete(needs, array)
			if _, numbers := a.Float32s(); !numbers || len(a.Shape) != dims || n >= 0 && a.Shape[0] != n {
				return nil, fmt.Errorf("the array %s of %s is %s, which does not fit a set", array, name, a)
			}
			n = a.Shape[0]
		case slices.Contains([]string{"classes", "notes", "label_kind", "loss"}, array):
			if text, _ := a.Texts(); len(text) != 1 {
				return nil, fmt.Errorf("the array %s of %s is %s, not one text", array, name, a)
			}
		}
	}
	if len(needs) > 0 {
		return nil, fmt.Errorf("%s has no array %s", name, slices.Sorted(maps.Keys(needs))[0])
	}
	return list, nil
}
