package experiment

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"dgkip/harness/toml"
)

// ListFS returns the names of the experiments in a folder, in alphabetical order. Experiments are its TOML
// files, except files that only hold published numbers. Empty and broken files are included, so that
// reading them reports their mistakes.
func ListFS(fsys fs.FS, dir string) ([]string, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".toml")
		if !ok || e.IsDir() {
			continue
		}
		if text, err := textOf(fsys, path.Join(dir, e.Name())); err == nil {
			root, _ := toml.Parse(e.Name(), text)
			if root != nil && root.Get("published") != nil && root.Get("base") == nil && root.Get("grid") == nil {
				continue
			}
		}
		names = append(names, name)
	}
	return names, nil
}

// With appends those elements that a list lacks.
func With[T comparable](list []T, more ...T) []T {
	for _, x := range more {
		if !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	return list
}
