package experiment

import (
	"slices"
	"strconv"
	"strings"

	"dgkip/harness/method"
	"dgkip/harness/toml"
)

// defaultModel is the model of an experiment without a model axis.
const defaultModel = "conv"

// withKeys lists the sections that a [[set]] may change.
var withKeys = []string{"method", "model", "eval"}

// point is a point of the grid.
type point map[string]Value

// text returns the coordinate on an axis, as used in filters and tables.
func (p point) text(axis string) (string, bool) {
	v, ok := p[axis]
	return v.Text, ok
}

// cells builds the cells from the product of the axes.
func (r *reader) cells() {
	before := r.d.Reported
	r.checkSections()
	all := 1
	for _, a := range r.out.Axes {
		all *= len(a.Values)
	}
	for n := 0; n < all && !r.d.Full(); n++ {
		p, rest := point{"model": {Text: defaultModel}}, n
		for _, a := range slices.Backward(r.out.Axes) { // the last axis changes first
			p[a.Name], rest = a.Values[rest%len(a.Values)], rest/len(a.Values)
		}
		out := slices.ContainsFunc(r.doc.Exclude, func(e Excluded) bool { return e.Where.Matches(p.text) })
		if c := r.cell(p); c != nil && !out {
			r.out.Cells = append(r.out.Cells, c)
		}
	}
	if len(r.out.Cells) == 0 && r.d.Reported == before {
		r.d.FaultKey(r.doc.Grid, "every cell of the grid is excluded", "remove an [[exclude]], or narrow its when")
	}
}

// cell returns the cell at a point, or nil if its settings have mistakes.
func (r *reader) cell(p point) *Cell {
	c := &Cell{Exp: r.out.Name, Point: map[string]string{}, Seeds: r.seedsOf(p)}
	for axis, v := range p {
		c.Point[axis] = v.Text
	}
	c.Dataset, c.Column, c.Model = c.Point["dataset"], c.Point["method"], c.Point["model"]
	c.IPC, _ = strconv.Atoi(c.Point["ipc"])
	var known bool
	if c.Data, known = r.doc.Data[c.Dataset]; !known {
		c.Data = r.classes(Data{Name: c.Dataset, Use: c.Dataset})
	}
	var netOK bool
	c.method, c.written[0] = r.method(c.Column, r.changes("method", c.Column, p))
	c.Net, c.written[1], netOK = r.model(c.Model, r.changes("model", c.Model, p))
	if c.method == nil || !netOK {
		return nil
	}
	c.written[2] = toml.Merge(r.doc.Eval, r.changes("eval", "", p))
	eval, s := r.eval(c.written[2], c.method.Info())
	if eval == nil {
		return nil
	}
	c.Protocol, c.Trace = eval, newTrace(s.Trace, s.Score)
	r.titled("method", c.Column, r.title(c.Column), r.out.Titles, func(name string) *toml.Node { return r.doc.Method[name] })
	r.titled("dataset", c.Dataset, c.Data.Shown(), r.titles, r.root.Get("data").Get)
	return c
}

// changes returns the cell's changes to a section of withKeys, or nil. Each file contributes its section
// and then its matching [[set]], the outermost base first. Axes with a dot come last. Later changes win.
func (r *reader) changes(part, name string, p point) *toml.Node {
	var all *toml.Node
	for _, layer := range r.layers {
		section := layer.Get(part)
		if name != "" {
			section = section.Get(name)
		}
		all = toml.Merge(all, section)
		for i, s := range r.doc.Set {
			if r.root.Get("set").List[i].Source == layer.Source && s.When.Matches(p.text) {
				all = toml.Merge(all, s.With.Get(part))
			}
		}
	}
	for _, a := range r.out.Axes {
		head, key, dotted := strings.Cut(a.Name, ".")
		if !dotted || head != part || slices.Contains(r.strays, a.Name) || part == "method" && r.passesOver(name, key) {
			continue
		}
		n := p[a.Name].node
		for _, k := range slices.Backward(strings.Split(key, ".")) {
			n = toml.Table(k, n)
		}
		all = toml.Merge(all, n)
	}
	return all
}

// passesOver reports whether an axis does not apply to a column: the column's method lacks the setting,
// but another method of the grid has it. The column then has one run for all points of the axis.
func (r *reader) passesOver(column, key string) bool {
	first, _, _ := strings.Cut(key, ".")
	has := func(column string) bool { return slices.Contains(toml.Keys(method.New(r.methodName(column))), first) }
	return !has(column) && slices.ContainsFunc(r.values("method"), has)
}
