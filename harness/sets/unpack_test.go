package sets

import (
	"slices"
	"strings"
	"testing"

	"dgkip/harness/npz"
)

// A set that somebody else made may have any form; what a set does not fit is an error.
func TestUnpackOddForms(t *testing.T) {
	of := func(name string, shape ...int) npz.Array {
		size, _ := npz.Count(shape, 1000)
		return npz.Of(name, shape, make([]float32, size))
	}
	sound := []npz.Array{
		of("images", 2, 3, 3, 1), of("pixels", 2, 3, 3, 1), of("labels", 2, 1), of("of", 2),
		npz.Text("label_kind", "hard"), npz.Text("classes", "a\nb"),
	}
	read := func(list []npz.Array) error {
		set, err := npz.Encode(list)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Unpack("a.npz", set)
		return err
	}
	if err := read(sound); err != nil {
		t.Error(err)
	}
	for want, a := range map[string]npz.Array{
		"the array images of a.npz is float32[18], which":    of("images", 18),
		"the array pixels of a.npz is float32[2 3 3], which": of("pixels", 2, 3, 3),
		"the array labels of a.npz is float32[2], which":     of("labels", 2),
		"the array labels of a.npz is float32[1 1], which":   of("labels", 1, 1),
		"the array of of a.npz is float32[0], which":         of("of", 0),
		"the array classes of a.npz is float32[2], not":      of("classes", 2),
		"the array notes of a.npz is str":                    npz.Texts("notes", nil),
		"the array of of a.npz is str32[2], which":           npz.Texts("of", []string{"a", "b"}),
	} {
		others := slices.DeleteFunc(slices.Clone(sound), func(b npz.Array) bool { return b.Name == a.Name })
		if err := read(append(others, a)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if err := read(sound[:2]); err == nil || err.Error() != "a.npz has no array labels" {
		t.Error(err)
	}
}
