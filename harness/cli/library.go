package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"dgkip/harness/data"
	"dgkip/harness/experiment"
	"dgkip/harness/suggest"
)

// experimentsDir is the folder of experiments, relative to the current folder.
const experimentsDir = "experiments"

// library finds experiments by name: first in the folder experiments of the current folder, then
// among those built into the program.
type library []fs.FS

func newLibrary(builtIn fs.FS) library { return library{os.DirFS("."), builtIn} }

// Open implements fs.FS.
func (l library) Open(name string) (fs.File, error) {
	for _, layer := range l {
		if f, err := layer.Open(name); !absent(err) {
			return f, err
		}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// ReadDir implements fs.ReadDirFS. It returns the files of all layers, sorted by name.
func (l library) ReadDir(name string) ([]fs.DirEntry, error) {
	var all []fs.DirEntry
	for _, layer := range l {
		entries, err := fs.ReadDir(layer, name)
		if err != nil && !absent(err) {
			return nil, err
		}
		all = append(all, entries...)
	}
	slices.SortStableFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return slices.CompactFunc(all, func(a, b fs.DirEntry) bool { return a.Name() == b.Name() }), nil
}

// absent reports whether a layer lacks a file or one of the folders in its path.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// names returns the names of the known experiments.
func (l library) names() ([]string, error) { return experiment.ListFS(l, experimentsDir) }

// read reads an experiment by its name, or from a file by its path.
func (l library) read(name, profile string, seeds int, set []string) (*experiment.Spec, error) {
	o := experiment.Options{Profile: profile, Datasets: data.Names(), Seeds: seeds, Set: set}
	if isPath(name) {
		var err error
		if o.Library, err = fs.Sub(l, experimentsDir); err != nil {
			return nil, err
		}
		return experiment.ReadFile(name, o)
	}
	return experiment.ReadFS(l, path.Join(experimentsDir, name+".toml"), o)
}

// isPath reports whether an element of -exp is a path instead of a name.
func isPath(name string) bool {
	return strings.HasSuffix(name, ".toml") || strings.ContainsAny(name, `/\`)
}

// choose splits the list of -exp into names and paths, without duplicates. "all" means every known
// name.
func (l library) choose(list string) (chosen []string, problems []error) {
	known, err := l.names()
	if err != nil {
		return nil, []error{err}
	}
	for one := range strings.SplitSeq(list, ",") {
		one = strings.TrimSpace(one)
		switch {
		case one == "": // a superfluous comma
		case one == "all":
			chosen = experiment.With(chosen, known...)
		case isPath(one):
			info, err := os.Stat(one)
			if err == nil && info.IsDir() {
				err = fmt.Errorf("%s is a folder", one)
			}
			if err != nil {
				hint := "-list shows the names of experiments; name your own by the path of its file"
				if meant := suggest.Name(strings.TrimSuffix(path.Base(one), ".toml"), known); meant != "" {
					hint = fmt.Sprintf("did you mean the name %q?", meant)
				}
				problems = append(problems, fmt.Errorf("-exp: %w\nhint: %s", err, hint))
				continue
			}
			chosen = experiment.With(chosen, one)
		case slices.Contains(known, one):
			chosen = experiment.With(chosen, one)
		case strings.Contains(one, " "):
			problems = append(problems, fmt.Errorf("unknown experiment %q\nhint: separate experiments by commas, not spaces", one))
		default:
			hint := cmp.Or(suggest.Hint(one, known), "-list shows them")
			if _, err := os.Stat(one + ".toml"); err == nil {
				hint = fmt.Sprintf("name a file by its path: -exp %s.toml", one)
			}
			problems = append(problems, fmt.Errorf("unknown experiment %q\nhint: %s", one, hint))
		}
	}
	if len(chosen)+len(problems) == 0 {
		problems = append(problems, errors.New("no experiment was named\nhint: -exp NAME runs one, -list shows them"))
	}
	return chosen, problems
}
