package cli

import (
	"path/filepath"
	"testing"

	"dgkip/harness/data"
	"dgkip/harness/experiment"
)

// Keys of runs must not change, because records are stored under them. A new setting keeps them if
// it is tagged omitzero. A change of results raises the version of its method or protocol, and then
// the keys here change too.
func TestKeysAreFixed(t *testing.T) {
	s, err := experiment.ReadFile(filepath.Join("testdata", "keys.toml"), experiment.Options{Datasets: data.Names()})
	if err != nil {
		t.Fatal(err)
	}
	id := experiment.DatasetIdentity{Name: "glyphs", Classes: []string{"0", "1"}, Preprocess: "standard", Digest: "sha256:00"}
	want := map[string]string{
		"random 1":  "96f60f5e2371e79d52289c9bb9733e6db24f06913d003b9ed2cac271b8f543a8",
		"random 10": "d4a34e58df29abdc20da5d4b3637f7da547eff47b38750a9ba79a2023b5252c2",
		"whole 1":   "78c34fadc1780f2ddf40a0853f3f0cebec57e006ae7bd7a8ea7467b011a270cb",
	}
	seen := 0
	for _, c := range s.Cells {
		key, ok := want[c.Column+" "+c.Point["ipc"]]
		if !ok || c.Dataset != "symbols" {
			continue
		}
		seen++
		if got := c.Identity(id, 7).Key(); got != key {
			t.Errorf("%s, ipc %d: key %s, want %s; its identity is\n%s", c.Column, c.IPC, got, key, experiment.Canonical(c.Identity(id, 7)))
		}
	}
	if seen != len(want) {
		t.Errorf("found %d of the cells", seen)
	}
}
