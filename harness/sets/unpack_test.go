package sets

import (
	"slices"
	"strings"
	"testing"
)

// Arrays that do not have the form of a set are an error.
func TestUnpackOddForms(t *testing.T) {
	of := func(name string, shape ...int) Array {
		size, _ := Count(shape, 1000)
		return Of(name, shape, make([]float32, size))
	}
	sound := []Array{
		of("images", 2, 3, 3, 1), of("pixels", 2, 3, 3, 1), of("labels", 2, 1), of("of", 2),
		Text("label_kind", "hard"), Text("classes", "a\nb"),
	}
	read := func(list []Array) error {
		set, err := Encode(list)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Unpack("a.npz", set)
		return err
	}
	if err := read(sound); err != nil {
		t.Error(err)
	}
	for want, a := range map[string]Array{
		"the array images of a.npz is float32[18], which":    of("images", 18),
		"the array pixels of a.npz is float32[2 3 3], which": of("pixels", 2, 3, 3),
		"the array labels of a.npz is float32[2], which":     of("labels", 2),
		"the array labels of a.npz is float32[1 1], which":   of("labels", 1, 1),
		"the array of of a.npz is float32[0], which":         of("of", 0),
		"the array classes of a.npz is float32[2], not":      of("classes", 2),
		"the array of of a.npz is str":                       Text("of", "a"),
	} {
		others := slices.DeleteFunc(slices.Clone(sound), func(b Array) bool { return b.Name == a.Name })
		if err := read(append(others, a)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if err := read(sound[:2]); err == nil || err.Error() != "a.npz has no array labels" {
		t.Error(err)
	}
}
