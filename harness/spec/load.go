package spec

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"dgkip/harness/nearest"
)

// Schema is the version of the files' form.
const Schema = 1

// DefaultProfile is in use unless another is asked for.
const DefaultProfile = "desk"

// Profiles lists the sizes an experiment may be run in.
func Profiles() []string { return []string{"smoke", "desk", "paper"} }

// Options say how to read an experiment.
type Options struct {
	Profile  string   // DefaultProfile if empty
	Datasets []string // known ones; nil if not known
	Seeds    int      // how many; 0 for what the file says
}

// document is a file's form.
type document struct {
	Schema    int              `toml:"schema" required:"true"`
	Name      string           `toml:"name" required:"true"`
	Title     string           `toml:"title" required:"true"`
	About     string           `toml:"about"`
	Classes   []int            `toml:"classes"` // of known data whose section names none
	Grid      *node            `toml:"grid"`
	Exclude   []Excluded       `toml:"exclude"`
	Set       []override       `toml:"set"`
	Method    map[string]*node `toml:"method"`
	Model     map[string]*node `toml:"model"`
	Data      map[string]Data  `toml:"data"`
	Eval      *node            `toml:"eval"`
	Seeds     seeds            `toml:"seeds"`
	Limits    Limits           `toml:"limits"`
	Cache     Cache            `toml:"cache"`
	Table     *Table           `toml:"table"`
	Figure    []Figure         `toml:"figure"`
	Published []Published      `toml:"published"`
	Claim     []Claim          `toml:"claim"`
}

// override is a [[set]].
type override struct {
	When Where `toml:"when" required:"true"`
	With *node `toml:"with" required:"true"`
}

type seeds struct {
	Count int   `toml:"count" min:"1" max:"1000"`
	First int64 `toml:"first" min:"0"`
}

// ReadFile reads an experiment's file. The error is a Faults if the file is at
// fault.
func ReadFile(path string, o Options) (*Spec, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(path)
	open := func(name string) (file, text string, err error) {
		file = filepath.Join(dir, filepath.FromSlash(name))
		b, err := os.ReadFile(file)
		return file, string(b), err
	}
	return read(path, string(text), o, open)
}

// Parse reads an experiment from text. Other files that it names are not read.
func Parse(file, text string, o Options) (*Spec, error) {
	return read(file, text, o, func(name string) (string, string, error) {
		return name, "", fs.ErrNotExist
	})
}

type opener func(name string) (file, text string, err error)

func read(file, text string, o Options, open opener) (*Spec, error) {
	if o.Profile == "" {
		o.Profile = DefaultProfile
	}
	root, faults := parse(file, text)
	if root == nil {
		return nil, faults.err()
	}
	if len(root.table) == 0 {
		return nil, Faults{{File: file, Message: "the file is empty", Hint: "an experiment starts with schema, name and title, and has a [grid]"}}
	}
	base := *root
	base.table = map[string]*node{}
	overlays := map[string]*node{}
	for k, n := range root.table {
		if k != "profile" {
			base.table[k] = n
			continue
		}
		d := new(decoder)
		d.value(n, reflectValue(&overlays), "profile", "")
		faults = append(faults, d.faults...)
	}
	for name, n := range overlays {
		if !slices.Contains(Profiles(), name) {
			faults = append(faults, n.fault(true, fmt.Sprintf("unknown profile %q", name), nearest.Hint(name, Profiles())))
		}
		if n.table == nil {
			faults = append(faults, n.fault(false, "a profile must be a table", ""))
			delete(overlays, name)
		}
	}
	// Every profile is read, for a mistake in one is a mistake in the file; those
	// that the file does not mention are as the one without an overlay.
	var want *Spec
	used := map[*node]bool{}
	var readers []*reader
	for _, profile := range Profiles() {
		merged := &base
		if over := overlays[profile]; over != nil {
			merged = merge(&base, over, true)
		}
		r := &reader{file: file, open: open, options: o, used: used}
		r.options.Profile = profile
		s := r.spec(merged)
		readers = append(readers, r)
		if profile == o.Profile {
			want = s
		}
	}
	for _, r := range readers {
		r.crossCheck(readers)
		faults = append(faults, r.d.faults...)
	}
	if len(faults) == 0 && !isExperiment(root) {
		faults = Faults{{File: file, Message: "the file has neither [grid] nor [[figure]]", Hint: "[grid] says what is run: dataset, ipc and method"}}
	}
	if err := faults.err(); err != nil {
		return nil, err
	}
	return want, nil
}

// reader reads a file under one profile.
type reader struct {
	file    string
	open    opener
	options Options
	used    map[*node]bool // [[set]] and [[exclude]] that matched, in any profile

	d    decoder
	root *node
	doc  document
	out  *Spec

	broken bool // the grid has no cells to look at
}

var specName = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

func (r *reader) spec(root *node) *Spec {
	r.root = root
	r.doc = document{Seeds: seeds{Count: 1}}
	if n := root.table["table"]; n != nil {
		r.doc.Table = &Table{Digits: 2}
	}
	r.d.strctDefault(root, &r.doc)
	doc := &r.doc
	if n := root.table["schema"]; n != nil && n.value != int64(Schema) {
		r.d.fault(n, fmt.Sprintf("schema is %v; this program reads schema %d", n.value, Schema), "")
	}
	stem := strings.TrimSuffix(filepath.Base(r.file), ".toml")
	if n := root.table["name"]; n != nil && doc.Name != "" && (doc.Name != stem || !specName.MatchString(doc.Name)) {
		r.d.fault(n, fmt.Sprintf("name must be %q, as the file is called, in lower case", stem), "")
	}
	s := &Spec{
		File: r.file, Name: doc.Name, Title: doc.Title, About: doc.About, Profile: r.options.Profile,
		Data: doc.Data, Titles: map[string]string{}, Limits: doc.Limits, Cache: doc.Cache, Table: doc.Table,
		Figures: doc.Figure, Claims: doc.Claim,
	}
	r.out = s
	for name, one := range doc.Data {
		one.Name = name
		at, use := root.table["data"].table[name], one.Use
		files := at.table["format"] != nil // though its value may be wrong
		if use == "" && !files {
			use = name
		}
		switch {
		case name == "":
			r.d.faultKey(at, "a dataset needs a name", "write [data.NAME]")
		case files && slices.Contains(r.options.Datasets, name):
			r.d.faultKey(at, name+" is a dataset of this program; images of your own need another name", "")
		case use == "" || r.options.Datasets == nil || slices.Contains(r.options.Datasets, use):
		case one.Use == "":
			r.d.faultKey(at, fmt.Sprintf("[data.%s] needs use, the name of known data, or format and train for files", name), nearest.Hint(name, r.options.Datasets))
		default:
			r.d.fault(at.table["use"], fmt.Sprintf("unknown dataset %q", use), nearest.Hint(use, r.options.Datasets))
		}
		one.Use = use
		doc.Data[name] = r.classes(one)
	}
	if n := root.table["classes"]; n != nil && len(doc.Classes) == 1 {
		r.d.fault(n, "classes must name two classes or more", "")
	}
	count := doc.Seeds.Count
	if r.options.Seeds > 0 {
		count = r.options.Seeds
	}
	for i := range max(1, count) {
		s.Seeds = append(s.Seeds, uint64(doc.Seeds.First)+uint64(i))
	}
	if n := root.table["seeds"]; n != nil && doc.Seeds.First > math.MaxInt32 {
		r.d.fault(n.table["first"], "first must be below 2^31", "")
	}
	r.grid()
	r.cells()
	r.published()
	return s
}

// classes fills in the file's classes where a dataset's section names none.
func (r *reader) classes(d Data) Data {
	d.Dir = filepath.Dir(r.file)
	if d.Classes == nil && !d.Own() {
		d.Classes = r.doc.Classes
	}
	return d
}

// strctDefault decodes the document over the defaults it holds.
func (d *decoder) strctDefault(n *node, doc *document) {
	table := doc.Table
	d.into(n, doc, "the file")
	if table != nil && n.table["table"].table != nil {
		fresh := new(decoder) // the faults are already known
		fresh.into(n.table["table"], table, "[table]")
		doc.Table = table
	}
}

// grid reads the axes.
func (r *reader) grid() {
	n := r.doc.Grid
	if n == nil {
		return
	}
	if n.table == nil {
		return
	}
	for _, k := range n.keys() {
		var v Values
		v.fromNode(&r.d, n.table[k])
		seen := map[string]bool{}
		for _, one := range v {
			if seen[one.Text] {
				r.d.fault(one.node, fmt.Sprintf("%s stands twice on the axis %s", one.Text, k), "")
			}
			seen[one.Text] = true
		}
		if head, _, dotted := strings.Cut(k, "."); dotted && !slices.Contains(withKeys, head) {
			r.d.faultKey(n.table[k], fmt.Sprintf("axis %q sets nothing", k), "an axis with a dot sets what is after the dot, as in \"method.steps\"; known are "+strings.Join(withKeys, ", "))
			continue
		}
		if len(v) > 0 {
			r.out.Axes = append(r.out.Axes, Axis{k, v})
		}
	}
	for _, need := range []string{"dataset", "ipc", "method"} {
		if n.table[need] == nil {
			r.d.faultKey(n, fmt.Sprintf("[grid] lacks the axis %q", need), nearest.Hint(need, n.keys()))
			r.broken = true
		}
	}
	for _, a := range r.out.Axes {
		for _, v := range a.Values {
			i, isInt := v.Raw.(int64)
			_, isText := v.Raw.(string)
			switch {
			case a.Name == "ipc" && (!isInt || i < 1 || i > 1e6):
				r.d.fault(v.node, "ipc must be a positive integer", "")
			case (a.Name == "dataset" || a.Name == "method" || a.Name == "model") && !isText:
				r.d.fault(v.node, a.Name+" must be a name", "")
			}
		}
	}
}

// axisNames lists the axes of the grid, and those that every cell has.
func (r *reader) axisNames() []string {
	names := []string{"model"}
	for _, a := range r.out.Axes {
		if a.Name != "model" {
			names = append(names, a.Name)
		}
	}
	slices.Sort(names)
	return names
}

// values lists what stands on an axis.
func (r *reader) values(axis string) []string {
	for _, a := range r.out.Axes {
		if a.Name == axis {
			return Values(a.Values).Texts()
		}
	}
	if axis == "model" {
		return []string{defaultModel}
	}
	return nil
}

// published takes in the entries of other files.
func (r *reader) published() {
	for i, p := range r.doc.Published {
		if p.From == "" {
			r.out.Published = append(r.out.Published, p)
			continue
		}
		n := r.root.table["published"].list[i].table["from"]
		file, text, err := r.open(p.From)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				err = errors.New("there is no such file")
			}
			r.d.fault(n, fmt.Sprintf("from %q: %v", p.From, err), "")
			continue
		}
		from, root, faults := readPublished(file, text)
		r.d.faults = append(r.d.faults, faults...)
		if root == nil {
			continue
		}
		found := false
		for j, q := range from {
			if p.Of != "" && q.Source != p.Of {
				continue
			}
			found = true
			for _, axis := range slices.Sorted(maps.Keys(q.When)) {
				if known := r.axisNames(); !slices.Contains(known, axis) {
					at := root.table["published"].list[j].table["when"].table[axis]
					r.d.faultKey(at, fmt.Sprintf("there is no axis %q in %s", axis, r.doc.Name), nearest.Hint(axis, known))
				}
			}
			if len(p.When) > 0 {
				both := Where{}
				for k, v := range q.When {
					both[k] = v
				}
				for k, v := range p.When {
					both[k] = v
				}
				q.When = both
			}
			if p.Tolerance > 0 {
				q.Tolerance = p.Tolerance
			}
			q.OnlyClaims = q.OnlyClaims || p.OnlyClaims
			r.out.Published = append(r.out.Published, q)
		}
		if !found {
			r.d.fault(n, fmt.Sprintf("%s has no published numbers from %q", p.From, p.Of), "")
		}
	}
}

// readPublished reads a file of published numbers. The root is nil if it is no TOML.
func readPublished(file, text string) ([]Published, *node, Faults) {
	root, faults := parse(file, text)
	if root == nil {
		return nil, nil, faults
	}
	var doc struct {
		Schema    int         `toml:"schema" required:"true"`
		Name      string      `toml:"name"`
		Title     string      `toml:"title"`
		About     string      `toml:"about"`
		Published []Published `toml:"published"`
	}
	d := decoder{faults: faults}
	d.into(root, &doc, "the file")
	return doc.Published, root, d.faults
}

// isExperiment tells whether a file has what makes an experiment of it, if only in
// a profile.
func isExperiment(root *node) bool {
	if root.table["grid"] != nil || root.table["figure"] != nil {
		return true
	}
	if all := root.table["profile"]; all != nil {
		for _, p := range all.table {
			if p.table["grid"] != nil || p.table["figure"] != nil {
				return true
			}
		}
	}
	return false
}

// List names the experiments in a folder: its TOML files, but for those that only
// hold published numbers for others, in the order of the alphabet. Files that are
// empty or cannot be read are in it, too, so that asking for one says what is wrong
// with it.
func List(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".toml")
		if !ok || e.IsDir() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err == nil {
			root, _ := parse(e.Name(), string(text))
			if root != nil && root.table["published"] != nil && !isExperiment(root) {
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
	if strings.TrimSpace(list) == "all" {
		return known, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		base := strings.TrimSuffix(filepath.Base(filepath.ToSlash(name)), ".toml")
		switch {
		case name == "" || slices.Contains(names, name): // a comma too many
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
	return names, problems
}
