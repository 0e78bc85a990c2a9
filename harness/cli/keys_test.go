package cli

import (
	"path/filepath"
	"testing"

	"dgkip/harness/data"
	"dgkip/harness/exhibit"
	"dgkip/harness/spec"
)

// The keys of an experiment are part of the records' form: where one changes, everybody's records of it are orphans. A setting that is
// added leaves them as they are if it is tagged omitzero; what does change results
// raises the version of its method or protocol, and the keys here with it.
func TestKeysAreFixed(t *testing.T) {
	s, err := exhibit.ReadFile(filepath.Join("testdata", "keys.toml"), spec.Options{Datasets: data.Names()})
	if err != nil {
		t.Fatal(err)
	}
	id := spec.DatasetIdentity{Name: "glyphs", Classes: []string{"0", "1"}, Preprocess: "standard", Digest: "sha256:00"}
	want := map[string]string{
		"random 1":  "58671fb3b2aa10f900a90fbe3c060f7542b6b2233bcaf7c136b9ef90225b6727",
		"random 10": "7d857c2fc6911a384068df8ff5aecf5d3256acdecad345ea2b6995df27385fd8",
		"whole 1":   "9a49a175a6118463d2d7199ce9cf394d11a9123ccfc695f34997fe8562b98556",
	}
	seen := 0
	for _, c := range s.Cells {
		key, ok := want[c.Column+" "+c.Point["ipc"]]
		if !ok || c.Dataset != "glyphs" {
			continue
		}
		seen++
		if got := c.Identity(id, 7).Key(); got != key {
			t.Errorf("%s, ipc %d: key %s, want %s; its identity is\n%s", c.Column, c.IPC, got, key, spec.Canonical(c.Identity(id, 7)))
		}
	}
	if seen != len(want) {
		t.Errorf("found %d of the cells", seen)
	}
}
