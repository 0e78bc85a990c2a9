package cli

import (
	"path/filepath"
	"testing"

	"dgkip/harness/data"
	"dgkip/harness/spec"
)

// The experiments that come with the program have no mistakes in any profile.
func TestExperiments(t *testing.T) {
	dir := filepath.Join("..", "..", experimentsDir)
	names, err := spec.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		for _, profile := range spec.Profiles() {
			if _, err := spec.ReadFile(filepath.Join(dir, name+".toml"), spec.Options{Profile: profile, Datasets: data.Names()}); err != nil {
				t.Errorf("%s, profile %s:\n%v", name, profile, err)
			}
		}
	}
}
