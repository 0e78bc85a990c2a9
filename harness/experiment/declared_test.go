package experiment

import (
	"testing"

	"dgkip/harness/data"
)

// What is declared of known data is the same in every folder and under every title.
// Files of one's own are others in another folder.
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
