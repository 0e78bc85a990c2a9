package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dgkip/harness/suggest"
	"dgkip/harness/toml"
)

// Options control how an experiment is read.
type Options struct {
	Profile  string   // DefaultProfile if empty
	Datasets []string // known datasets; nil accepts all
	Seeds    int      // number of seeds; 0 uses the file's
	Set      []string // KEY=VALUE as in TOML, overriding the chosen profile

	// Library holds further files that an experiment may name. It may be nil.
	Library fs.FS
}

// ReadFile reads an experiment's file. The error is a toml.Faults if there are mistakes in the file, or in
// a file that it names.
func ReadFile(file string, o Options) (*Spec, error) {
	return read(files{filepath.Dir(file), os.DirFS(filepath.Dir(file)), o.Library}, filepath.Base(file), o)
}

// ReadFS is ReadFile for a file system. Relative paths of data start from the folder of the file, as if
// the file system were the current folder.
func ReadFS(fsys fs.FS, file string, o Options) (*Spec, error) {
	folder, err := fs.Sub(fsys, path.Dir(file))
	if err != nil {
		return nil, err
	}
	return read(files{path.Dir(file), folder, nil}, path.Base(file), o)
}

// Parse reads an experiment from text. The text cannot name other files.
func Parse(file, text string, o Options) (*Spec, error) {
	return readText(files{folder: filepath.Dir(file)}, file, text, o)
}

// files are the files that an experiment may name, in its own folder or else in the library.
type files struct {
	folder  string // for messages
	own     fs.FS  // the folder; nil for a text
	library fs.FS  // may be nil
}

// similar returns a hint with the name of an experiment like the given one, or "" if there is none.
func (f files) similar(name string) string {
	var known []string
	for _, one := range []fs.FS{f.own, f.library} {
		if one != nil {
			names, _ := ListFS(one, ".")
			known = append(known, names...)
		}
	}
	if meant := suggest.Name(name, known); meant != "" {
		return fmt.Sprintf("did you mean %q?", meant)
	}
	return ""
}

// textOf returns the text of a file.
func textOf(fsys fs.FS, file string) (string, error) {
	if fsys == nil {
		return "", fs.ErrNotExist
	}
	r, err := fsys.Open(file)
	if err != nil {
		return "", err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, toml.MaxSize+1))
	return string(b), err
}

// parse reads a file that another file names in node n. It reports mistakes there.
func (f files) parse(d *toml.Decoder, n *toml.Node, what, name string) *toml.Node {
	file, hint := filepath.Join(f.folder, name), ""
	text, err := textOf(f.own, name)
	if errors.Is(err, fs.ErrNotExist) {
		hint = f.similar(strings.TrimSuffix(name, ".toml"))
		err = fmt.Errorf("there is no file %s", file)
		if f.library != nil {
			file = name
			if text, err = textOf(f.library, name); err != nil {
				err = fmt.Errorf("there is no file %s, and no %s among the experiments of this program", filepath.Join(f.folder, name), name)
			}
		}
	}
	if errors.Is(err, fs.ErrInvalid) {
		hint = "name a file in the folder of the experiment"
	}
	if err != nil {
		d.Fault(n, fmt.Sprintf("%s: %v", what, err), hint)
		return nil
	}
	root, faults := toml.Parse(file, text)
	d.Faults = append(d.Faults, faults...)
	if root == nil {
		d.Fault(n, fmt.Sprintf("%s: %s has mistakes", what, file), "")
	}
	return root
}

// read reads an experiment in the folder of f.
func read(f files, name string, o Options) (*Spec, error) {
	text, err := textOf(f.own, name)
	if err != nil {
		return nil, err
	}
	return readText(f, filepath.Join(f.folder, name), text, o)
}

func readText(f files, file, text string, o Options) (*Spec, error) {
	o.Profile = cmp.Or(o.Profile, DefaultProfile)
	own, faults := toml.Parse(file, text)
	if own == nil {
		return nil, faults.Err()
	}
	if len(own.Table) == 0 {
		return nil, toml.Faults{{File: file, Message: "the file is empty", Hint: "an experiment starts with schema, name and title, and has a [grid]"}}
	}
	d := new(toml.Decoder)
	chain := chainOf(d, f, own, []string{stem(file)})
	changes := changesOf(d, o.Set)
	if len(d.Faults) > 0 {
		return nil, d.Faults.Err()
	}
	profiles := make([]*toml.Node, len(chain))
	for i, one := range chain {
		profiles[i] = profilesOf(d, one)
	}
	// Every profile is read, because a mistake in a profile is a mistake in the file.
	// A profile that no file mentions has the settings outside profiles.
	var all []*reader
	for _, name := range Profiles() {
		r := &reader{files: f, file: file, profile: name, options: o, d: d}
		r.root = toml.Empty(own) // gives errors about missing keys a position
		for i, one := range chain {
			layer := toml.Merge(one.Without("profile"), profiles[i].Get(name))
			if i < len(chain)-1 {
				layer = handedOn(layer)
			}
			r.layers = append(r.layers, layer)
			r.root = toml.Merge(r.root, layer)
		}
		if name == o.Profile && changes != nil { // other profiles may lack what -set changes
			r.command = changes
			r.layers = append(r.layers, changes)
			r.root = toml.Merge(r.root, changes)
		}
		r.read()
		all = append(all, r)
	}
	names := namesOf(all)
	for _, r := range all {
		r.check(names, all)
	}
	for _, x := range slices.Clone(d.Faults) {
		if n := own.Get("base"); n != nil && x.File != file && x.File != "-set" {
			d.Fault(n, fmt.Sprintf("%s inherits the mistakes of %s", file, x.File), "")
		}
	}
	var out *Spec
	for _, r := range all {
		if r.doc.Grid != nil {
			r.out.sections = r.sections(names)
		}
		if r.profile == o.Profile {
			out = r.out
		}
	}
	if d.Reported == 0 && all[0].doc.Grid == nil {
		return nil, toml.Faults{{File: file, Message: "the file has no [grid]", Hint: "[grid] lists what to run: dataset, ipc and method"}}
	}
	if err := d.Faults.Err(); err != nil || out.Table == nil || out.Table.Times == "" || len(o.Set) > 0 {
		return out, err // with -set, the table's own runs supply the times
	}
	return out, out.readTimes(f, o)
}

// readTimes reads the experiment that supplies the times of the table. It keeps only the cells that the
// table needs.
func (s *Spec) readTimes(f files, o Options) (err error) {
	o.Seeds = 0
	name := s.Table.Times + ".toml"
	s.Times, err = read(f, name, o)
	if errors.Is(err, fs.ErrNotExist) && o.Library != nil {
		s.Times, err = ReadFS(o.Library, name, o)
	}
	if err != nil {
		return err
	}
	var needed []*Cell
	for _, c := range s.Cells {
		x := s.TimesAt(c)
		if x == nil {
			continue
		}
		if x.timing == nil {
			needed = append(needed, x)
		}
		x.timing = append(x.timing, c)
	}
	s.Times.Cells = needed
	return nil
}

// changed lists the sections that -set may change.
var changed = []string{"method", "model", "eval", "grid", "data", "seeds", "classes"}

// changesOf returns the tree of changes by -set, or nil if there are none. A value that is not TOML is read
// as a string, because shells remove quotes.
func changesOf(d *toml.Decoder, list []string) *toml.Node {
	var text strings.Builder
	for _, one := range list {
		key, value, ok := strings.Cut(one, "=")
		line := key + " = " + value
		if root, _ := toml.Parse("-set", line); ok && root == nil && value != "" {
			if !strings.ContainsAny(value, "\"'[]{}") {
				line = key + " = " + strconv.Quote(value)
			}
		}
		if !ok || strings.Contains(one, "\n") {
			d.Faults = append(d.Faults, toml.Fault{File: "-set", Message: fmt.Sprintf("%q is not KEY=VALUE", one), Hint: "such as -set method.dgkip-ls.rate=0.02"})
			return nil
		}
		text.WriteString(line + "\n")
	}
	if text.Len() == 0 {
		return nil
	}
	root, faults := toml.Parse("-set", text.String())
	d.Faults = append(d.Faults, faults...)
	if root == nil {
		return nil
	}
	for _, k := range root.Keys() {
		if !slices.Contains(changed, k) {
			d.FaultKey(root.Get(k), fmt.Sprintf("-set cannot change %q", k), cmp.Or(suggest.Hint(k, changed), "it changes "+strings.Join(changed, ", ")))
		}
	}
	return root
}

func stem(file string) string { return strings.TrimSuffix(filepath.Base(file), ".toml") }

// shown lists the display sections.
var shown = []string{"table", "figure", "published", "claim", "deviation"}

// notTaken lists the keys that a file does not inherit from its base.
var notTaken = append([]string{"schema", "name", "title", "about", "base"}, shown...)

// chainOf returns the trees of a file and its bases, the outermost base first. names lists the files that
// led here, this one last.
func chainOf(d *toml.Decoder, f files, own *toml.Node, names []string) []*toml.Node {
	n, alone := own.Get("base"), []*toml.Node{own}
	if n == nil {
		return alone
	}
	name, ok := n.Value.(string)
	what := fmt.Sprintf("base of %s is %q", names[len(names)-1], name)
	switch {
	case !ok:
		d.Fault(n, "base must be the name of an experiment, not "+n.Kind(), "")
		return alone
	case !validName.MatchString(name):
		d.Fault(n, what+", which is not a name", "base = \"table1\" inherits the runs of table1.toml in this folder")
		return alone
	case slices.Contains(names, name):
		d.Fault(n, what+", which makes a circle: "+strings.Join(append(names, name), " -> "), "")
		return alone
	}
	base := f.parse(d, n, what, name+".toml")
	if base == nil {
		return alone
	}
	checkSchema(d, base)
	return append(chainOf(d, f, base, append(names, name)), own)
}

// handedOn returns the part of a file that other files inherit, without display sections and extra seeds.
func handedOn(n *toml.Node) *toml.Node {
	out := n.Without(notTaken...)
	if s := out.Get("seeds"); s != nil && s.Table != nil {
		out.Set("seeds", s.Without("more"))
	}
	return out
}

// profilesOf returns the table of profiles, or nil.
func profilesOf(d *toml.Decoder, root *toml.Node) *toml.Node {
	all := root.Get("profile")
	if all == nil {
		return nil
	}
	if all.Table == nil {
		d.Fault(all, "profile must be a table of profiles, not "+all.Kind(), "")
		return nil
	}
	out := toml.Empty(all)
	for _, name := range all.Keys() {
		n := all.Table[name]
		switch {
		case !slices.Contains(Profiles(), name):
			d.FaultKey(n, fmt.Sprintf("unknown profile %q", name), suggest.Hint(name, Profiles()))
		case n.Table == nil:
			d.Fault(n, "a profile must be a table", "")
		default:
			out.Set(name, n)
		}
	}
	return out
}
