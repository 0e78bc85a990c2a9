package experiment

import (
	"testing"

	"dgkip/harness/data"
)

// Known data is declared in the same way in every folder and under every title. Your own files depend on
// the folder.
func TestDeclared(t *testing.T) {
	for want, d := range map[string]Data{
		`{"classes":[0,1],"name":"mnist","preprocess":"standard"}`: {Name: "digits", Use: "mnist", Title: "Digits", Dir: "/home/me", Config: data.Config{Classes: []int{0, 1}}},
		`{"images":20,"name":"mnist","preprocess":"standard"}`:     {Name: "few", Use: "mnist", Images: 20},
		`{"name":"mnist","preprocess":"zca"}`:                      {Name: "mnist", Preprocess: "zca"},
		`{"dir":"../me/data","format":"npz","name":"mine","preprocess":"standard","test_fraction":0.5,"train":"mine.npz"}`: {
			Name: "mine", Dir: "/home/me/data", Config: data.Config{Format: "npz", Train: "mine.npz", TestFraction: 0.5}},
	} {
		if got := string(Canonical(d.Declared("/home/results"))); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
