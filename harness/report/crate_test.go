package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"dgkip/harness/experiment"
)

// The description of a folder lists all files of the report.
func TestCrate(t *testing.T) {
	dir, specs := t.TempDir(), []*experiment.Spec{parse(t, demo)}
	out, err := Write(dir, specs, shared(t), keyed)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, crateName))
	if err != nil {
		t.Fatal(err)
	}
	var crate struct {
		Graph []struct {
			ID   string `json:"@id"`
			Type string `json:"@type"`
		} `json:"@graph"`
	}
	if err := json.Unmarshal(b, &crate); err != nil {
		t.Fatal(err)
	}
	described := []string{filepath.Join(dir, crateName)}
	for _, e := range crate.Graph {
		if e.Type == "File" && e.ID != "data.json" {
			described = append(described, filepath.Join(dir, e.ID))
		}
	}
	slices.Sort(described)
	if want := slices.Sorted(slices.Values(out.Files)); !slices.Equal(described, want) {
		t.Errorf("described are %v, written %v", described, want)
	}
}
