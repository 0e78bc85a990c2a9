package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"dgkip/harness/data"
	"dgkip/harness/experiment"
)

// shipped reads an experiment of the program.
func shipped(t *testing.T, name, profile string) *experiment.Spec {
	t.Helper()
	s, err := experiment.ReadFile(filepath.Join("..", "..", experimentsDir, name+".toml"), experiment.Options{Profile: profile, Datasets: data.Names()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The experiments of the program have no mistakes in any profile.
func TestExperiments(t *testing.T) {
	dir := filepath.Join("..", "..", experimentsDir)
	names, err := experiment.ListFS(os.DirFS(dir), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		for _, profile := range experiment.Profiles() {
			if _, err := experiment.ReadFile(filepath.Join(dir, name+".toml"), experiment.Options{Profile: profile, Datasets: data.Names()}); err != nil {
				t.Errorf("%s, profile %s:\n%v", name, profile, err)
			}
		}
	}
}

// A set from a file is scored on ten classes in the same way as the methods in its table.
func TestFileColumn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.toml")
	text := "schema = 1\nname = \"mine\"\ntitle = \"Mine\"\nbase = \"ten\"\ngrid.method = [\"kip\", \"dgkip-ls\", \"set\"]\nmethod.set = { use = \"file\", path = \"set.npz\" }\n"
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := experiment.ReadFile(file, experiment.Options{Datasets: data.Names(), Library: os.DirFS(filepath.Join("..", "..", experimentsDir))})
	if err != nil {
		t.Fatal(err)
	}
	scored := map[string]string{}
	for _, c := range s.Cells {
		at := fmt.Sprint(c.Dataset, c.IPC, c.Model, c.Point["eval.protocol"])
		switch how := string(experiment.Canonical(c.Protocol)); {
		case scored[at] == "":
			scored[at] = how
		case scored[at] != how:
			t.Errorf("%s %s: %s, and not %s", at, c.Column, how, scored[at])
		}
	}
}
