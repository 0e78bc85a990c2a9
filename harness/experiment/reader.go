package experiment

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"dgkip/harness/data"
	"dgkip/harness/method"
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
	Profile *toml.Node            `toml:"profile"` // already merged, so only known to hints
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
		d.Fault(n, fmt.Sprintf("schema is %s; this program reads schema %d", is, Schema), "write schema = 1, or use the version of this program that wrote the file")
	}
}

func (r *reader) read() {
	r.titles = map[string]string{}
	r.doc = document{Seeds: seeds{Count: 1}}
	r.d.Into(r.root, &r.doc, "the file", shown...)
	doc := r.doc
	checkSchema(r.d, r.root)
	if doc.Profile != nil {
		r.d.FaultKey(doc.Profile, "a profile cannot have profiles of its own", "write [profile.NAME] only at the top")
	}
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
	if r.grid() {
		if r.cells(); r.d.Reported == 0 {
			r.overridden()
		}
	}
	if r.out.Seeds = r.seedsOf(point{}); len(r.out.Cells) > 0 {
		r.out.Seeds = slices.MaxFunc(r.out.Cells, func(a, b *Cell) int { return a.Seeds - b.Seeds }).Seeds
	}
}

// overridden reports changes by -set that no cell takes. Its tables would be called changed, but show the
// same records.
func (r *reader) overridden() {
	data, used := r.command.Get("data"), r.values("dataset")
	for _, name := range data.Keys() {
		if !slices.Contains(used, name) {
			r.d.FaultKey(data.Get(name), fmt.Sprintf("the grid has no dataset %q", name), suggest.Hint(name, used))
		}
	}
	taken := map[*toml.Node]bool{}
	for _, c := range r.out.Cells {
		own := c.Protocol.Info().Name
		for i, n := range c.written {
			n.Leaves(func(x *toml.Node, path ...string) {
				if i < 2 || path[0] == own || !slices.Contains(method.ProtocolNames(), path[0]) {
					taken[x] = true
				}
			})
		}
	}
	for _, part := range withKeys {
		r.command.Get(part).Leaves(func(n *toml.Node, path ...string) {
			if !taken[n] {
				r.d.FaultKey(n, fmt.Sprintf("no cell takes this value of %s.%s", part, strings.Join(path, ".")),
					"-show without -set prints the settings of every cell, and where each is set")
			}
		})
	}
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
