package spec

import (
	"testing"

	"dgkip/harness/data"
)

// What is declared of data is the same in every folder and under every title.
func TestDeclared(t *testing.T) {
	for want, d := range map[string]Data{
		`{"classes":[0,1],"name":"mnist","preprocess":"standard"}`: {Name: "digits", Use: "mnist", Title: "Digits", Dir: "/home/me", Config: data.Config{Classes: []int{0, 1}}},
		`{"name":"mnist","preprocess":"zca"}`:                      {Name: "mnist", Preprocess: "zca"},
		`{"format":"npz","name":"mine","preprocess":"standard","test_fraction":0.5,"train":"mine.npz"}`: {
			Name: "mine", Dir: "/tmp", Config: data.Config{Format: "npz", Train: "mine.npz", TestFraction: 0.5}},
	} {
		if got := string(Canonical(d.Declared())); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
