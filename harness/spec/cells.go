package spec

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"dgkip/harness/method"
	"dgkip/harness/nearest"
)

// defaultModel is the networks of an experiment without a model axis.
const defaultModel = "conv"

// withKeys are what a [[set]] may change.
var withKeys = []string{"method", "model", "eval", "limits"}

// scoring holds the keys of [eval] that are not a protocol's own.
type scoring struct {
	Protocol string `toml:"protocol"`
	Trace    int    `toml:"trace" min:"0"`
	Score    int    `toml:"score" min:"0"`
}

func reflectValue(p any) reflect.Value { return reflect.ValueOf(p).Elem() }

// copyOf returns a copy of the struct that a method or protocol points to.
func copyOf[T any](m T) T {
	old := reflect.ValueOf(m)
	if old.Kind() != reflect.Pointer {
		return m
	}
	fresh := reflect.New(old.Type().Elem())
	fresh.Elem().Set(old.Elem())
	return fresh.Interface().(T)
}

// cells makes the product of the axes.
func (r *reader) cells() {
	r.checkSections()
	if len(r.out.Axes) == 0 || r.broken {
		return
	}
	at := make([]int, len(r.out.Axes))
	total := 1
	for _, a := range r.out.Axes {
		if total *= len(a.Values); total > 100_000 {
			r.d.faultKey(r.doc.Grid, "the grid has more than 100,000 cells", "")
			return
		}
	}
	r.out.Excluded = r.doc.Exclude
	for range total {
		point := map[string]string{"model": defaultModel}
		raw := map[string]Value{}
		for i, a := range r.out.Axes {
			point[a.Name] = a.Values[at[i]].Text
			raw[a.Name] = a.Values[at[i]]
		}
		if !r.excluded(point) {
			if c := r.cell(point, raw); c != nil {
				c.Index = len(r.out.Cells)
				r.out.Cells = append(r.out.Cells, c)
			}
		}
		for i := len(at) - 1; i >= 0; i-- {
			if at[i]++; at[i] < len(r.out.Axes[i].Values) {
				break
			}
			at[i] = 0
		}
	}
	if len(r.out.Cells) == 0 && len(r.d.faults) == 0 {
		r.d.faultKey(r.doc.Grid, "every cell of the grid is excluded", "")
	}
}

func lookup(point map[string]string) func(string) (string, bool) {
	return func(axis string) (string, bool) { text, ok := point[axis]; return text, ok }
}

func (r *reader) excluded(point map[string]string) bool {
	found := false
	for i, e := range r.doc.Exclude {
		if e.Where.Matches(lookup(point)) {
			r.used[r.root.table["exclude"].list[i]] = true
			found = true
		}
	}
	return found
}

// checkSections finds mistakes in sections that no cell may get to use.
func (r *reader) checkSections() {
	for name, n := range r.doc.Method {
		r.method(name, n, nil)
	}
	for name, n := range r.doc.Model {
		r.model(name, n, nil)
	}
	r.eval(r.doc.Eval, method.ProtocolNames(), "")
	for i, s := range r.doc.Set {
		if s.With == nil {
			continue
		}
		if s.With.table == nil {
			r.d.fault(s.With, "with must be a table, such as { method = { steps = 100 } }", "")
			r.doc.Set[i].With = nil
			continue
		}
		for _, k := range s.With.keys() {
			if !slices.Contains(withKeys, k) {
				r.d.faultKey(s.With.table[k], fmt.Sprintf("a [[set]] cannot change %q", k), nearest.Hint(k, withKeys))
			} else if s.With.table[k].table == nil {
				r.d.fault(s.With.table[k], k+" must be a table", fmt.Sprintf("with = { %s = { key = value } }", k))
				r.doc.Set[i].With = nil
			}
		}
	}
}

// changes collects what axes with a dot and [[set]] say for a cell about one of
// withKeys, later ones winning.
func (r *reader) changes(part string, point map[string]string, raw map[string]Value) []*node {
	var out []*node
	for _, a := range r.out.Axes {
		head, key, dotted := strings.Cut(a.Name, ".")
		if !dotted || head != part {
			continue
		}
		n := raw[a.Name].node
		for _, k := range slices.Backward(strings.Split(key, ".")) {
			n = &node{span: n.span, text: n.text, table: map[string]*node{k: n}}
		}
		out = append(out, n)
	}
	for i, s := range r.doc.Set {
		if s.With == nil || !s.When.Matches(lookup(point)) {
			continue
		}
		r.used[r.root.table["set"].list[i]] = true
		if n := s.With.table[part]; n != nil {
			out = append(out, n)
		}
	}
	return out
}

func layered(n *node, over []*node) *node {
	if n == nil {
		n = &node{table: map[string]*node{}}
	}
	for _, o := range over {
		n = merge(n, o, false)
	}
	return n
}

func (r *reader) cell(point map[string]string, raw map[string]Value) *Cell {
	c := &Cell{
		Exp: r.out.Name, Point: point, Dataset: point["dataset"], Column: point["method"], Model: point["model"],
		Limits: r.doc.Limits,
	}
	if i, ok := raw["ipc"].Raw.(int64); ok {
		c.IPC = int(i)
	}
	changes := func(part string) []*node { return r.changes(part, point, raw) }

	section := r.doc.Method[c.Column]
	if at := raw["method"].node; section == nil {
		if method.New(c.Column) == nil {
			known := append(method.Names(), slices.Sorted(maps.Keys(r.doc.Method))...)
			r.d.fault(at, fmt.Sprintf("unknown method %q", c.Column), nearest.Hint(c.Column, known))
			return nil
		}
		// What is wrong with its settings is then said where the grid names it.
		section = &node{span: at.span, text: at.text, table: map[string]*node{}}
	}
	c.prototype = r.method(c.Column, section, changes("method"))
	net, ok := r.model(c.Model, r.doc.Model[c.Model], changes("model"))
	if !ok && r.doc.Model[c.Model] == nil {
		n := raw["model"].node
		if n != nil {
			r.d.fault(n, fmt.Sprintf("unknown model %q", c.Model), nearest.Hint(c.Model, append(method.Models(), slices.Sorted(maps.Keys(r.doc.Model))...))+"; [model.NAME] with a kind makes others")
		}
	}
	c.Net = net
	limits := layered(nil, changes("limits"))
	r.d.into(limits, &c.Limits, "limits")

	if d, own := r.doc.Data[c.Dataset]; own {
		c.Data = d
	} else {
		c.Data = r.classes(Data{Name: c.Dataset, Use: c.Dataset})
		if n := raw["dataset"].node; n != nil && r.options.Datasets != nil && !slices.Contains(r.options.Datasets, c.Dataset) {
			known := append(slices.Clone(r.options.Datasets), slices.Sorted(maps.Keys(r.doc.Data))...)
			r.d.fault(n, fmt.Sprintf("unknown dataset %q", c.Dataset), nearest.Hint(c.Dataset, known))
		}
	}
	if c.prototype == nil || !ok {
		return nil
	}
	protocol := c.prototype.Info().Protocol
	p, score := r.eval(layered(r.doc.Eval, changes("eval")), nil, protocol)
	if p == nil {
		return nil
	}
	c.Protocol, c.Trace = p, NewTrace(score.Trace, score.Score)
	if _, known := r.out.Titles[c.Column]; !known {
		r.out.Titles[c.Column] = r.title(c.Column)
	}
	return c
}

func (r *reader) title(column string) string {
	n := r.doc.Method[column]
	if n != nil && n.table["title"] != nil {
		if s, ok := n.table["title"].value.(string); ok {
			return s
		}
	}
	if base := r.base(column, n); base == column {
		return method.New(base).Info().Title
	}
	return column
}

// base returns the name of the method behind a column.
func (r *reader) base(column string, n *node) string {
	if n != nil && n.table != nil && n.table["use"] != nil {
		if s, ok := n.table["use"].value.(string); ok {
			return s
		}
	}
	return column
}

// method returns a column's method with the settings of its section and the
// changes to it, or nil after reporting why it cannot.
func (r *reader) method(column string, n *node, changes []*node) method.Method {
	if n != nil && n.table == nil {
		if changes == nil {
			r.d.fault(n, "must be a table", "")
		}
		return nil
	}
	base := r.base(column, n)
	m := method.New(base)
	if m == nil {
		if n != nil {
			at, onKey := n, true
			if u := n.table["use"]; u != nil {
				at, onKey = u, false
			}
			r.d.faults = append(r.d.faults, at.fault(onKey, fmt.Sprintf("unknown method %q", base), nearest.Hint(base, method.Names())))
		}
		return nil
	}
	if base != column && r.doc.Method[base] != nil {
		n = merge(r.doc.Method[base], n, false)
	}
	merged := layered(n, changes)
	for _, k := range []string{"use", "title"} {
		if x := merged.table[k]; x != nil {
			if _, ok := x.value.(string); !ok {
				r.d.fault(x, k+" must be a string, not "+x.kind(), "")
			}
		}
	}
	before := len(r.d.faults)
	r.d.into(merged, m, "the settings of "+base, "use", "title")
	if len(r.d.faults) > before {
		return nil
	}
	return m
}

func (r *reader) model(name string, n *node, changes []*node) (method.Model, bool) {
	kind := name
	if n != nil && n.table != nil && n.table["kind"] != nil {
		if s, ok := n.table["kind"].value.(string); ok {
			kind = s
		}
	}
	m, known := method.DefaultModel(kind)
	if !known && n == nil {
		return m, false
	}
	merged := layered(n, changes)
	before := len(r.d.faults)
	if known && merged.table != nil && merged.table["kind"] == nil {
		// The name says it.
		merged = merge(merged, &node{table: map[string]*node{"kind": {value: kind}}}, false)
	}
	r.d.into(merged, &m, "the settings of model "+name)
	return m, len(r.d.faults) == before
}

// eval reads [eval]. All sections of the listed protocols are checked; the
// chosen one, or else the one given, is returned.
func (r *reader) eval(n *node, check []string, otherwise string) (method.Protocol, scoring) {
	s := scoring{Protocol: otherwise}
	if n == nil {
		n = &node{table: map[string]*node{}}
	}
	if g := r.doc.Grid; n.text == nil && g != nil {
		at := *n
		at.span, at.text = g.span, g.text
		n = &at
	}
	before := len(r.d.faults)
	r.d.into(n, &s, "[eval]", method.ProtocolNames()...)
	if len(r.d.faults) > before {
		return nil, s
	}
	if s.Protocol == "" && check != nil {
		s.Protocol = check[0]
	}
	var chosen method.Protocol
	for _, name := range append(slices.Clone(check), s.Protocol) {
		p := method.NewProtocol(name)
		if p == nil {
			message := fmt.Sprintf("unknown protocol %q", name)
			if at := n.table["protocol"]; at != nil {
				r.d.fault(at, message, nearest.Hint(name, method.ProtocolNames()))
			} else {
				r.d.faultKey(r.doc.Grid, message+", which the method asks for", nearest.Hint(name, method.ProtocolNames()))
			}
			return nil, s
		}
		if at := n.table[name]; at != nil {
			before := len(r.d.faults)
			r.d.into(at, p, "[eval."+name+"]")
			if len(r.d.faults) > before {
				return nil, s
			}
		}
		chosen = p
	}
	return chosen, s
}

// crossCheck finds names that exist in no profile: conditions on cells may be
// meant for the grid of another one.
func (r *reader) crossCheck(all []*reader) {
	var axes, methods []string
	values := map[string][]string{}
	for _, o := range all {
		for _, a := range o.axisNames() {
			if !slices.Contains(axes, a) {
				axes = append(axes, a)
			}
			for _, v := range o.values(a) {
				if !slices.Contains(values[a], v) {
					values[a] = append(values[a], v)
				}
			}
		}
	}
	methods = values["method"]
	where := func(w Where, n *node, axes []string) {
		for _, axis := range slices.Sorted(maps.Keys(w)) {
			if !slices.Contains(axes, axis) {
				r.d.faultKey(n.table["when"].table[axis], fmt.Sprintf("there is no axis %q", axis), nearest.Hint(axis, axes))
				continue
			}
			for _, v := range w[axis] {
				if !slices.ContainsFunc(values[axis], func(text string) bool { return glob(v.Text, text) }) {
					r.d.fault(v.node, fmt.Sprintf("%s is not on the axis %s", v.Text, axis), nearest.Hint(v.Text, values[axis]))
				}
			}
		}
	}
	element := func(list string, i int) *node { return r.root.table[list].list[i] }
	before := len(r.d.faults)
	for i, s := range r.doc.Set {
		where(s.When, element("set", i), axes)
	}
	for i, e := range r.doc.Exclude {
		where(e.Where, element("exclude", i), axes)
	}
	if len(r.d.faults) == before && len(r.out.Cells) > 0 {
		for _, list := range []string{"set", "exclude"} {
			if n := r.root.table[list]; n != nil {
				for _, one := range n.list {
					if !r.used[one] {
						r.d.faultKey(one, "this [["+list+"]] matches no cell", "")
					}
				}
			}
		}
	}
	names := func(n *node, key string, known []string, what string) {
		if n == nil || n.table[key] == nil {
			return
		}
		for _, x := range n.table[key].list {
			if s, ok := x.value.(string); ok && !slices.Contains(known, s) {
				r.d.fault(x, fmt.Sprintf("%q is not %s", s, what), nearest.Hint(s, known))
			}
		}
	}
	if t := r.root.table["table"]; t != nil && r.doc.Table != nil {
		names(t, "rows", axes, "an axis")
		names(t, "columns", axes, "an axis")
		var heads []string
		for _, a := range r.doc.Table.Columns {
			heads = append(heads, values[a]...)
		}
		names(t, "unmarked", heads, "a column")
		for _, column := range slices.Sorted(maps.Keys(r.doc.Table.Values)) {
			if !slices.Contains(heads, column) {
				r.d.faultKey(t.table["values"].table[column], fmt.Sprintf("%q is not a column", column), nearest.Hint(column, heads))
			}
		}
		for _, column := range slices.Sorted(maps.Keys(r.doc.Table.Against)) {
			for _, name := range []string{column, r.doc.Table.Against[column]} {
				if !slices.Contains(heads, name) {
					r.d.faultKey(t.table["against"].table[column], fmt.Sprintf("%q is not a column", name), nearest.Hint(name, heads))
				}
			}
		}
		if g := t.table["group"]; g != nil {
			for _, one := range g.list {
				names(one, "columns", heads, "a column")
			}
		}
	}
	for i := range r.doc.Figure {
		n := element("figure", i)
		names(n, "series", axes, "an axis")
		names(n, "panels", axes, "an axis")
		r.only(n, axes, values)
	}
	for i := range r.doc.Claim {
		n := element("claim", i)
		names(n, "columns", methods, "a method of this experiment")
		names(n, "against", methods, "a method of this experiment")
		r.only(n, axes, values)
	}
	for i, p := range r.doc.Published {
		n := element("published", i)
		where(p.When, n, axes)
		for _, column := range slices.Sorted(maps.Keys(p.Values)) {
			if !slices.Contains(methods, column) {
				r.d.faultKey(n.table["values"].table[column], fmt.Sprintf("%q is not a method of this experiment", column), nearest.Hint(column, methods))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.doc.Method)) {
		if !slices.Contains(methods, name) && len(methods) > 0 && !r.isBase(name) {
			r.d.faultKey(r.root.table["method"].table[name], fmt.Sprintf("no column is of the method %q, and none uses it", name), nearest.Hint(name, methods))
		}
	}
	r.unique("figure", "name")
	r.unique("claim", "id")
}

// only checks the axes of a filter.
func (r *reader) only(n *node, axes []string, values map[string][]string) {
	if n.table == nil || n.table["only"] == nil {
		return
	}
	if s, ok := n.table["only"].value.(string); ok {
		f, err := ParseFilter(s, append([]string{"seed"}, axes...))
		if err != nil {
			r.d.fault(n.table["only"], err.Error(), "")
		}
		for _, problem := range f.Unmatched(func(axis string) []string { return values[axis] }) {
			r.d.fault(n.table["only"], problem, "")
		}
	}
}

// isBase tells whether some column's settings start from those of a section.
func (r *reader) isBase(section string) bool {
	for name, n := range r.doc.Method {
		if u := n.table["use"]; u != nil && name != section && u.value == any(section) {
			return true
		}
	}
	return false
}

// unique reports names that two elements of a list share.
func (r *reader) unique(list, key string) {
	n := r.root.table[list]
	if n == nil {
		return
	}
	seen := map[any]bool{}
	for _, one := range n.list {
		if one.table == nil || one.table[key] == nil {
			continue
		}
		name := one.table[key]
		if seen[name.value] {
			r.d.fault(name, fmt.Sprintf("a second [[%s]] has the %s %q", list, key, name.value), "")
		}
		seen[name.value] = true
	}
}
