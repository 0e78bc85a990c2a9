package sets

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Unpack returns the arrays of a distilled set. Records may come from elsewhere, so it returns an
// error unless the arrays have the form that Arrays gives them.
func Unpack(name string, content []byte) ([]Array, error) {
	list, err := allOf(name, content)
	if err != nil {
		return nil, err
	}
	n := -1
	needs := map[string]int{"images": 4, "pixels": 4, "labels": 2, "of": 1} // dimensions
	for _, a := range list {
		switch dims := needs[a.Name]; {
		case dims > 0:
			delete(needs, a.Name)
			if number[a.Type] == nil || len(a.Shape) != dims || n >= 0 && a.Shape[0] != n {
				return nil, fmt.Errorf("the array %s of %s is %s, which does not fit a set", a.Name, name, a)
			}
			n = a.Shape[0]
		case slices.Contains([]string{"classes", "notes", "label_kind", "loss"}, a.Name):
			if text, _ := a.Texts(); len(text) != 1 {
				return nil, fmt.Errorf("the array %s of %s is %s, not one text", a.Name, name, a)
			}
		}
	}
	if len(needs) > 0 {
		return nil, fmt.Errorf("%s has no array %s", name, slices.Sorted(maps.Keys(needs))[0])
	}
	return list, nil
}

// allOf returns the arrays in the content of a file.
func allOf(name string, content []byte) ([]Array, error) {
	f, err := New(name, bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, err
	}
	var list []Array
	for _, name := range f.Names() {
		a, err := f.Read(name, math.MaxInt)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}
