package spec

import (
	"slices"
	"strings"

	"dgkip/harness/toml"
)

// defaultModel is the networks of an experiment without a model axis.
const defaultModel = "conv"

// withKeys are what a [[set]] may change.
var withKeys = []string{"method", "model", "eval"}

// point is a cell's place in the grid.
type point map[string]Value

// text returns the coordinate on an axis, as filters and tables name it.
func (p point) text(axis string) (string, bool) {
	v, ok := p[axis]
	if !ok && axis == "model" {
		return defaultModel, true
	}
	return v.Text, ok
}

// cells makes the product of the axes.
func (r *reader) cells() {
	before := r.d.Reported
	r.checkSections()
	at := make([]int, len(r.out.Axes))
	for !r.d.Full() {
		p := point{}
		for i, a := range r.out.Axes {
			p[a.Name] = a.Values[at[i]]
		}
		out := slices.ContainsFunc(r.doc.Exclude, func(e Excluded) bool { return e.Where.Matches(p.text) })
		if c := r.cell(p); c != nil && !out {
			r.out.Cells = append(r.out.Cells, c)
		}
		i := len(at) - 1
		for ; i >= 0; i-- {
			if at[i]++; at[i] < len(r.out.Axes[i].Values) {
				break
			}
			at[i] = 0
		}
		if i < 0 {
			break
		}
	}
	if len(r.out.Cells) == 0 && len(r.bad) == 0 && r.d.Reported == before {
		r.d.FaultKey(r.doc.Grid, "every cell of the grid is excluded", "")
	}
}

// cell returns a point's cell, or nil if there is something wrong with its settings.
func (r *reader) cell(p point) *Cell {
	c := &Cell{Exp: r.out.Name, Point: map[string]string{"model": defaultModel}, Seeds: r.seedsOf(p)}
	for axis, v := range p {
		if _, bad := r.bad[axis+"\x00"+v.Text]; bad {
			return nil
		}
		c.Point[axis] = v.Text
	}
	c.Dataset, c.Column, c.Model = c.Point["dataset"], c.Point["method"], c.Point["model"]
	if i, ok := p["ipc"].Raw.(int64); ok {
		c.IPC = int(i)
	}
	var known bool
	if c.Data, known = r.doc.Data[c.Dataset]; !known {
		c.Data = r.classes(Data{Name: c.Dataset, Use: c.Dataset})
	}
	var netOK bool
	c.method = r.method(c.Column, r.changes("method", p))
	c.Net, netOK = r.model(c.Model, r.changes("model", p))
	if c.method == nil || !netOK {
		return nil
	}
	eval, s := r.eval(toml.Merge(r.doc.Eval, r.changes("eval", p)), c.method.Info())
	if eval == nil {
		return nil
	}
	c.Protocol, c.Trace = eval, NewTrace(s.Trace, s.Score)
	r.titled("method", c.Column, r.title(c.Column), r.out.Titles, func(name string) *toml.Node { return r.doc.Method[name] })
	r.titled("dataset", c.Dataset, c.Data.Shown(), r.titles, r.root.Get("data").Get)
	return c
}

// changes returns what [[set]] and axes with a dot say for a cell about one of withKeys,
// later ones winning, and axes over all; nil if they say nothing.
func (r *reader) changes(part string, p point) *toml.Node {
	var all *toml.Node
	for _, s := range r.doc.Set {
		if s.When.Matches(p.text) {
			all = toml.Merge(all, s.With.Get(part))
		}
	}
	for _, a := range r.out.Axes {
		head, key, dotted := strings.Cut(a.Name, ".")
		if !dotted || head != part {
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
