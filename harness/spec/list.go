package spec

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"dgkip/harness/nearest"
	"dgkip/harness/toml"
)

// ListFS names the experiments in a folder of a file system: its TOML files, but for
// those that only hold published numbers for others, in the order of the alphabet.
// Files that are empty or cannot be read are in it, too, so that asking for one says
// what is wrong with it.
func ListFS(fsys fs.FS, dir string) ([]string, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, err
	}
	f := files{folder: dir, join: path.Join, open: opener(fsys)}
	var names []string
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".toml")
		if !ok || e.IsDir() {
			continue
		}
		if text, err := f.text(path.Join(dir, e.Name())); err == nil {
			root, _ := toml.Parse(e.Name(), text)
			if root != nil && root.Get("published") != nil && !isExperiment(root) {
				continue
			}
		}
		names = append(names, name)
	}
	return names, nil
}

// Choose splits a list of experiments' names, "all" standing for every known one.
// Each is returned once; the errors say which are not known and what was meant.
func Choose(list string, known []string) (names []string, problems []error) {
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		base := stem(strings.ReplaceAll(name, "\\", "/"))
		switch {
		case name == "": // a comma too many
		case name == "all":
			names = append(names, known...)
		case slices.Contains(known, name):
			names = append(names, name)
		case base != name && slices.Contains(known, base):
			problems = append(problems, fmt.Errorf("%q is not the name of an experiment\nhint: write -exp %s", name, base))
		default:
			hint := nearest.Hint(base, known)
			if hint == "" {
				hint = "-list shows them"
			}
			problems = append(problems, fmt.Errorf("unknown experiment %q\nhint: %s", name, hint))
		}
	}
	if len(names) == 0 && len(problems) == 0 {
		problems = append(problems, errors.New("no experiment was named\nhint: -exp NAME runs one, -list shows them"))
	}
	return once(names), problems
}

// once returns a list without repetitions.
func once(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
