package experiment

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"dgkip/harness/data"
	"dgkip/harness/suggest"
	"dgkip/harness/toml"
)

// reader reads a file under one profile.
type reader struct {
	files
	file    string
	profile string
	options Options

	d       *toml.Decoder // shared by all profiles
	layers  []*toml.Node  // the files, from the outermost base to the file itself
	root    *toml.Node    // the merged layers; later layers win
	command *toml.Node    // the layer of -set, which is the last; may be nil
	doc     document
	out     *Spec
	strays  []string // axes with a dot that set no known key

	titles map[string]string // titles of datasets, by name
}

// document is a file without its display sections.
type document struct {
	Schema  int                   `toml:"schema" required:"schema = 1"`
	Name    string                `toml:"name" required:"true"`
	Title   string                `toml:"title" required:"true"`
	About   string                `toml:"about"`
	Base    string                `toml:"base"`
	Classes []int                 `toml:"classes"` // for known data without its own classes
	Grid    *toml.Node            `toml:"grid"`
	Exclude []Excluded            `toml:"exclude"`
	Set     []override            `toml:"set"`
	Method  map[string]*toml.Node `toml:"method"`
	Model   map[string]*toml.Node `toml:"model"`
	Data    map[string]Data       `toml:"data"`
	Eval    *toml.Node            `toml:"eval"`
	Seeds   seeds                 `toml:"seeds"`
	Cache   Cache                 `toml:"cache"`
}

// CheckValues implements toml.ValueChecker.
func (d document) CheckValues() error { return data.Config{Classes: d.Classes}.CheckValues() }

// override is a [[set]] section.
type override struct {
	When Where      `toml:"when" required:"true"`
	With *toml.Node `toml:"with" required:"true"`
}

// seeds is the number of seeds of all cells, and larger numbers for some.
type seeds struct {
	Count int       `toml:"count" min:"1" max:"1000"`
	More  []counted `toml:"more"`
}

// counted is a [[seeds.more]] section.
type counted struct {
	When  Where `toml:"when" required:"true"`
	Count int   `toml:"count" min:"1" max:"1000" required:"true"`
}

// checkSchema reports a file with another schema.
func checkSchema(d *toml.Decoder, root *toml.Node) {
	if n := root.Get("schema"); n != nil && n.Value != int64(Schema) {
		is := n.Kind()
		if _, whole := n.Value.(int64); whole {
			is = fmt.Sprint(n.Value)
		}
		d.Fault(n, fmt.Sprintf("schema is %s; this program reads schema %d", is, Schema), "")
	}
}

func (r *reader) read() {
	r.titles = map[string]string{}
	r.doc = document{Seeds: seeds{Count: 1}}
	r.d.Into(r.root, &r.doc, "the file", shown...)
	doc := r.doc
	checkSchema(r.d, r.root)
	switch n, file := r.root.Get("name"), stem(r.file); {
	case n == nil || doc.Name == "":
	case !validName.MatchString(file):
		r.d.Fault(n, fmt.Sprintf("%q cannot be the name of an experiment", file),
			"a name has lower-case letters and digits, with single - or _ between them, and begins with a letter: rename the file, such as to my-experiment.toml, and write name = \"my-experiment\"")
	case doc.Name != file:
		r.d.Fault(n, fmt.Sprintf("name must be %q, the name of the file", file), "")
	}
	r.data()
	r.out = &Spec{
		File: r.file, Name: doc.Name, Title: doc.Title, About: doc.About, Profile: r.profile,
		Data: doc.Data, Titles: map[string]string{}, Cache: doc.Cache, Excluded: doc.Exclude,
	}
	if r.grid() && r.inGrid() {
		r.cells()
	}
	if r.out.Seeds = r.seedsOf(point{}); len(r.out.Cells) > 0 {
		r.out.Seeds = slices.MaxFunc(r.out.Cells, func(a, b *Cell) int { return a.Seeds - b.Seeds }).Seeds
	}
}

// inGrid reports changes by -set that have no effect: columns and networks outside the grid, and settings
// that an axis overrides. It returns false if there are any.
func (r *reader) inGrid() bool {
	if r.profile != r.options.Profile || r.options.times { // because its grid may differ
		return true
	}
	before := r.d.Reported
	for _, axis := range []string{"method", "model"} {
		var used []string
		for _, v := range r.values(axis) {
			used = append(used, r.behind(v)...) // of networks, only their name
		}
		section := r.command.Get(axis)
		if section == nil || section.Table == nil {
			continue // already reported
		}
		for _, name := range section.Keys() {
			if !slices.Contains(used, name) {
				r.d.FaultKey(section.Get(name), fmt.Sprintf("the grid has no %s %q", axis, name), suggest.Hint(name, used))
			}
		}
	}
	for _, a := range r.out.Axes { // which would override -set
		head, key, dotted := strings.Cut(a.Name, ".")
		section := r.command.Get(head)
		if !dotted || section == nil || section.Table == nil {
			continue
		}
		under := []*toml.Node{section}
		if head != "eval" {
			under = nil
			for _, name := range section.Keys() {
				under = append(under, section.Get(name))
			}
		}
		for _, n := range under {
			for _, k := range strings.Split(key, ".") {
				n = n.Get(k)
			}
			if n != nil {
				r.d.FaultKey(n, a.Name+" is an axis of the grid, which overrides -set", fmt.Sprintf("-set 'grid.\"%s\"=[...]' changes its values", a.Name))
			}
		}
	}
	return r.d.Reported == before
}

// seedsOf returns the number of seeds of the cell at a point: the requested number, or else the file's.
func (r *reader) seedsOf(p point) int {
	n := r.doc.Seeds.Count
	for _, m := range r.doc.Seeds.More {
		if m.When.Matches(p.text) {
			n = max(n, m.Count)
		}
	}
	return max(1, cmp.Or(r.options.Seeds, n))
}

// data completes the [data.NAME] sections.
func (r *reader) data() {
	known := r.options.Datasets
	for name, one := range r.doc.Data {
		one.Name = name
		at, use := r.root.Get("data").Table[name], one.Use
		files := at.Table["format"] != nil // even if its value is wrong
		if use == "" && !files {
			use = name
		}
		switch {
		case !plainName.MatchString(name):
			r.d.FaultKey(at, fmt.Sprintf("%q cannot be the name of data", name), plainHint)
		case files && slices.Contains(known, name):
			r.d.FaultKey(at, name+" is a dataset of this program; your own images need another name", "")
		case use == "" || known == nil || slices.Contains(known, use):
		case one.Use == "":
			r.d.FaultKey(at, fmt.Sprintf("[data.%s] needs use, the name of known data, or format and train for files", name), suggest.Hint(name, known))
		default:
			r.d.Fault(at.Table["use"], fmt.Sprintf("unknown dataset %q", use), suggest.Hint(use, known))
		}
		one.Use = use
		if !files && name != use {
			one.Title = cmp.Or(one.Title, name) // not the title of the data it uses, which may also be in the grid
		}
		r.doc.Data[name] = r.classes(one)
	}
}

// classes adds the file's classes if the section of a dataset has none.
func (r *reader) classes(d Data) Data {
	d.Dir = filepath.Dir(r.file)
	if d.Classes == nil && !d.Own() {
		d.Classes = r.doc.Classes
	}
	return d
}

// own reports whether a node belongs to the file itself, not to its base.
func (r *reader) own(n *toml.Node) bool { return n.Source != nil && n.Source.File == r.file }
