package experiment

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"dgkip/harness/method"
	"dgkip/harness/suggest"
	"dgkip/harness/toml"
)

// TimesAt returns the cell that supplies the time of c: the cell of Times at the same point of all its axes.
// It returns nil if there is none.
func (s *Spec) TimesAt(c *Cell) *Cell {
	if s.Times == nil {
		return nil
	}
	i := slices.IndexFunc(s.Times.Cells, func(x *Cell) bool {
		return !slices.ContainsFunc(s.Times.Axes, func(a Axis) bool {
			here, ok := c.At(a.Name)
			there, _ := x.At(a.Name)
			return !ok || here != there
		})
	})
	if i < 0 {
		return nil
	}
	return s.Times.Cells[i]
}

// Runs returns the experiments of the list, each followed by the experiment that supplies its times, if
// any.
func Runs(list []*Spec) []*Spec {
	var out []*Spec
	for _, s := range list {
		out = append(out, s)
		if s.Times != nil {
			out = append(out, s.Times)
		}
	}
	return out
}

// Timed reports whether times are shown that may come from the experiment's own runs. Metrics in seconds
// count even if another experiment supplies their values.
func (s *Spec) Timed() bool {
	var shown []string
	if t := s.Table; t != nil {
		if s.Times == nil && (t.Time || t.Making) {
			return true
		}
		shown = append(slices.Collect(maps.Values(t.Values)), t.Value)
	}
	for _, f := range s.Figures {
		shown = append(append(append(shown, f.X), f.Y...), f.Y2...)
	}
	return slices.ContainsFunc(shown, func(metric string) bool { return strings.Contains(metric, "seconds") })
}

// sections holds the display sections of a file.
type sections struct {
	Table      *Table      `toml:"table"`
	Figures    []Figure    `toml:"figure"`
	Published  []Published `toml:"published"`
	Claims     []Claim     `toml:"claim"`
	Deviations []Deviation `toml:"deviation"`
}

func newTable() *Table { return &Table{Digits: 2} }

// Section returns a pointer to the default settings of a display section, or nil if there is none of this
// name.
func Section(name string) any {
	if name == "table" {
		return newTable()
	}
	t := reflect.TypeFor[sections]()
	for i := range t.NumField() {
		if f := t.Field(i); f.Tag.Get("toml") == name {
			return reflect.New(f.Type.Elem()).Interface()
		}
	}
	return nil
}

// SectionNames returns the names of the display sections.
func SectionNames() []string { return toml.Keys(&sections{}) }

// sections reads the display sections, and reports their mistakes.
func (r *reader) sections(names Names) sections {
	var s sections
	root := toml.Empty(r.root)
	for _, k := range shown {
		if n := r.root.Get(k); n != nil {
			root.Set(k, n)
		}
	}
	if root.Get("table") != nil {
		s.Table = newTable()
	}
	r.d.Into(root, &s, "the file")
	c := checker{r.d, r, names, root}
	if s.Table != nil {
		c.table(s.Table, root.Table["table"])
	}
	for i, f := range s.Figures {
		c.figure(f, root.Table["figure"].List[i])
	}
	for i, claim := range s.Claims {
		c.claim(claim, root.Table["claim"].List[i])
	}
	for i, d := range s.Deviations {
		c.deviation(d, root.Table["deviation"].List[i], s.Claims)
	}
	c.unique("figure", "name")
	c.unique("claim", "id")
	s.Published = c.published(s.Published)
	return s
}

// checker finds names that the experiment lacks.
type checker struct {
	*toml.Decoder
	reader *reader
	names  Names // for all profiles
	root   *toml.Node
}

func (c checker) table(t *Table, n *toml.Node) {
	c.Known(n.Get("rows"), c.names.Axes, "an axis")
	before := c.Reported
	c.Known(n.Get("columns"), c.names.Axes, "an axis")
	if c.Reported > before {
		return // the names of columns are unknown
	}
	var heads []string
	for _, a := range t.Columns {
		heads = append(heads, c.names.Values[a]...)
	}
	if t.Times != "" {
		c.times(t, n.Get("times"))
	}
	unmarked := heads
	if slices.Contains(t.Columns, "method") { // a method may be outside the grid for now
		unmarked = With(heads, method.Names()...)
	}
	c.Known(n.Get("unmarked"), unmarked, "a column")
	c.heads(n.Get("values"), heads)
	c.heads(n.Get("usual"), heads)
	c.heads(n.Get("against"), heads)
	for _, column := range sortedKeys(t.Against) {
		if name := t.Against[column]; !slices.Contains(heads, name) {
			c.FaultKey(n.Get("against").Table[column], fmt.Sprintf("%q is not a column", name), suggest.Hint(name, heads))
		}
	}
	if g := n.Get("group"); g != nil {
		for _, one := range g.List {
			c.Known(one.Get("columns"), heads, "a column")
		}
	}
}

// times checks the name of the experiment that supplies a table's times. That experiment may not take its
// times from yet another one.
func (c checker) times(t *Table, n *toml.Node) {
	switch {
	case !t.Time && !t.Making:
		c.Fault(n, "times needs time = true or making = true", "")
	case !validName.MatchString(t.Times) || t.Times == c.reader.doc.Name:
		c.Fault(n, fmt.Sprintf("times is %q, which is not the name of another experiment", t.Times), "times = \"times\" names times.toml in this folder")
	default:
		root := c.reader.parse(c.Decoder, n, fmt.Sprintf("times is %q", t.Times), t.Times+".toml")
		if other := root.Get("table"); other != nil && other.Get("times") != nil {
			c.Fault(n, fmt.Sprintf("times is %q, which takes its own times from another experiment", t.Times), "")
		}
	}
}

// heads reports keys of a table that are not columns.
func (c checker) heads(n *toml.Node, heads []string) {
	if n == nil {
		return
	}
	for _, column := range n.Keys() {
		if !slices.Contains(heads, column) {
			c.FaultKey(n.Table[column], fmt.Sprintf("%q is not a column", column), suggest.Hint(column, heads))
		}
	}
}

// figureName matches valid names of figures, which become names of files.
var figureName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

func (c checker) figure(f Figure, n *toml.Node) {
	if at := n.Get("name"); at != nil && f.Name != "" && !figureName.MatchString(f.Name) {
		c.Fault(at, fmt.Sprintf("%q cannot be the name of a figure", f.Name), "it becomes part of file names, so it may only have letters, digits, _ and -; a title may have any character")
	}
	c.Known(n.Get("series"), c.names.Axes, "an axis")
	c.Known(n.Get("panels"), c.names.Axes, "an axis")
	c.only(f.Only, n)
}

// only reports axes and values of a filter that do not exist.
func (c checker) only(f Filter, n *toml.Node) {
	if !f.Empty() { // false if the filter could not be read
		c.names.Only(c.Decoder, n.Get("only"))
	}
}

func (c checker) claim(claim Claim, n *toml.Node) {
	methods := c.names.Values["method"]
	c.Known(n.Get("columns"), methods, "a method of this experiment")
	c.Known(n.Get("against"), methods, "a method of this experiment")
	if claim.Axis != "" && !slices.Contains(c.names.Axes, claim.Axis) {
		c.Fault(n.Get("axis"), fmt.Sprintf("there is no axis %q", claim.Axis), suggest.Hint(claim.Axis, c.names.Axes))
	}
	c.only(claim.Only, n)
}

func (c checker) deviation(d Deviation, n *toml.Node, claims []Claim) {
	c.names.Where(c.Decoder, n.Get("when"), d.When)
	var ids []string
	for _, claim := range claims {
		ids = append(ids, claim.ID)
	}
	c.Known(n.Get("claims"), ids, "a claim of this experiment")
}

// unique reports names that several elements of a list share.
func (c checker) unique(list, key string) {
	n := c.root.Get(list)
	if n == nil {
		return
	}
	seen := map[string]bool{}
	for _, one := range n.List {
		name, ok := one.Text(key)
		if ok && seen[name] {
			c.Fault(one.Get(key), fmt.Sprintf("a second [[%s]] has the %s %q", list, key, name), "")
		}
		seen[name] = true
	}
}

// published returns published numbers. Entries that name another file are replaced by the entries of that
// file.
func (c checker) published(list []Published) []Published {
	// Numbers of methods that the experiment does not run may be in the file too.
	methods := append(slices.Clone(c.names.Values["method"]), method.Names()...)
	var out []Published
	for i, p := range list {
		n := c.root.Get("published").List[i]
		c.names.Where(c.Decoder, n.Get("when"), p.When)
		for _, column := range sortedKeys(p.Values) {
			if !slices.Contains(methods, column) {
				c.FaultKey(n.Get("values").Table[column], fmt.Sprintf("%q is not a method of this experiment, nor of this program", column), suggest.Hint(column, methods))
			}
		}
		c.Known(n.Get("own"), methods, "a method of this experiment, nor of this program")
		c.heads(n.Get("also"), methods)
		for _, column := range sortedKeys(p.Also) {
			at := n.Get("also").Table[column]
			if other := p.Also[column]; !slices.Contains(methods, other) {
				c.FaultKey(at, fmt.Sprintf("%q is not a column", other), suggest.Hint(other, methods))
			}
			if p.From == "" {
				c.FaultKey(at, "also needs from", "")
			}
		}
		if p.From == "" {
			out = append(out, p)
		} else {
			out = append(out, c.from(p, n.Get("from"))...)
		}
	}
	return out
}

// also gives a column the numbers that the source has of another column, if any.
func (p *Published) also(of map[string]string) {
	values, family := maps.Clone(p.Values), maps.Clone(p.Family)
	for column, other := range of {
		if n, ok := values[other]; ok {
			p.Values[column] = n
		}
		if f, ok := family[other]; ok {
			p.Family[column] = f
		}
	}
}

// from returns the entries of another file that p selects.
func (c checker) from(p Published, n *toml.Node) []Published {
	root := c.reader.parse(c.Decoder, n, fmt.Sprintf("from %q", p.From), p.From)
	if root == nil {
		return nil
	}
	axes := c.names.Axes
	var out []Published
	for i, q := range readPublished(c.Decoder, root) {
		if p.Of != "" && q.Source != p.Of {
			continue
		}
		for _, axis := range sortedKeys(q.When) {
			if !slices.Contains(axes, axis) {
				at := root.Get("published").List[i].Get("when").Table[axis]
				c.FaultKey(at, fmt.Sprintf("there is no axis %q in %s", axis, c.reader.doc.Name), suggest.Hint(axis, axes))
			}
		}
		if len(p.When) > 0 {
			when := Where{}
			maps.Copy(when, q.When)
			maps.Copy(when, p.When)
			q.When = when
		}
		if p.Tolerance > 0 {
			q.Tolerance = p.Tolerance
		}
		q.also(p.Also)
		q.Own = append(slices.Clone(q.Own), p.Own...)
		q.Unchecked = q.Unchecked || p.Unchecked
		q.OnlyClaims = q.OnlyClaims || p.OnlyClaims
		out = append(out, q)
	}
	if len(out) == 0 {
		of := ""
		if p.Of != "" {
			of = fmt.Sprintf(" from %q", p.Of)
		}
		c.Fault(n, p.From+" has no published numbers"+of, "")
	}
	return out
}

// readPublished reads a file of published numbers.
func readPublished(d *toml.Decoder, root *toml.Node) []Published {
	var doc struct {
		Schema    int         `toml:"schema" required:"true"`
		Name      string      `toml:"name"`
		Title     string      `toml:"title"`
		About     string      `toml:"about"`
		Published []Published `toml:"published"`
	}
	d.Into(root, &doc, "the file")
	checkSchema(d, root)
	return doc.Published
}
