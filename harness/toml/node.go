// Package toml reads TOML files strictly. Every value has a position. All mistakes are reported at once,
// each with its line, a caret and the nearest valid name.
//
// A file becomes a tree of nodes, trees can be merged, and a Decoder fills structs from them.
package toml

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// Node is a value with its position. One of Value, Table and List is set; an empty list may be nil.
type Node struct {
	Value any // string, int64, float64, bool or Date
	Table map[string]*Node
	List  []*Node

	// Source is the file of the node, or nil if it has none.
	Source *Source
	span
	order  []string // of the table's keys
	origin origin
}

// span is the position of a key and its value, in bytes. A table without its own header has the key of the
// first header that names it.
type span struct{ key, keyEnd, val, valEnd int }

// Date is a date or a time, as written.
type Date string

// Empty returns a table without keys, with the position of n.
func Empty(n *Node) *Node {
	out := &Node{Table: map[string]*Node{}}
	if n != nil {
		out.Source, out.span = n.Source, n.span
	}
	return out
}

// Table returns a table with one key, with the position of the value.
func Table(key string, value *Node) *Node {
	out := Empty(value)
	out.Set(key, value)
	return out
}

// Get returns the value under a key, or nil. A nil node has no keys.
func (n *Node) Get(key string) *Node {
	if n == nil {
		return nil
	}
	return n.Table[key]
}

// Text returns the string under a key, and whether there is one.
func (n *Node) Text(key string) (string, bool) {
	x := n.Get(key)
	if x == nil {
		return "", false
	}
	s, ok := x.Value.(string)
	return s, ok
}

// Keys returns the keys of a table in the order of the file. Merged keys come last. A nil node has none.
func (n *Node) Keys() []string {
	if n == nil {
		return nil
	}
	return n.order
}

// Leaves calls f for the values inside a table that are not tables with keys, with the keys that lead to them.
func (n *Node) Leaves(f func(x *Node, path ...string), path ...string) {
	for _, k := range n.Keys() {
		x, at := n.Table[k], append(slices.Clone(path), k)
		if x.Leaves(f, at...); len(x.Keys()) == 0 {
			f(x, at...)
		}
	}
}

// Rename changes a key to another one, which the table does not have.
func (n *Node) Rename(key, to string) {
	n.Table[to] = n.Table[key]
	delete(n.Table, key)
	n.order[slices.Index(n.order, key)] = to
}

// Set sets the value of a key. A new key comes last.
func (n *Node) Set(key string, value *Node) {
	if n.Table[key] == nil {
		n.order = append(n.order, key)
	}
	n.Table[key] = value
}

// Without returns n without some keys.
func (n *Node) Without(keys ...string) *Node {
	out := *n
	out.Table, out.order = map[string]*Node{}, nil
	for _, k := range n.order {
		if !slices.Contains(keys, k) {
			out.Set(k, n.Table[k])
		}
	}
	return &out
}

// Kind returns the name of the value's type, as in TOML.
func (n *Node) Kind() string {
	switch n.Value.(type) {
	case string:
		return "a string"
	case int64:
		return "an integer"
	case float64:
		return "a float"
	case bool:
		return "a boolean"
	case Date:
		return "a date"
	}
	if n.Table != nil {
		return "a table"
	}
	return "a list"
}

// Fault returns a fault at the value or at the key.
func (n *Node) Fault(onKey bool, message, hint string) Fault {
	if n.Source == nil {
		return Fault{Message: message, Hint: hint}
	}
	if onKey {
		return n.Source.fault(n.key, n.keyEnd, message, hint)
	}
	return n.Source.fault(n.val, n.valEnd, message, hint)
}

// Place returns the file and line of the value. It is "" for a nil node or a node without a file.
func (n *Node) Place() string {
	if n == nil || n.Source == nil {
		return ""
	}
	f := n.Fault(false, "", "")
	return fmt.Sprintf("%s:%d", f.File, f.Line)
}

// Merge returns base, with its values replaced by those of over. Tables merge key by key, and lists of
// tables are concatenated.
func Merge(base, over *Node) *Node {
	if base == nil || over == nil {
		return cmp.Or(over, base)
	}
	if base.ofTables() && over.ofTables() {
		both := *over
		both.List = slices.Concat(base.List, over.List)
		return &both
	}
	if base.Table == nil || over.Table == nil {
		return over
	}
	out := *base
	out.Table, out.order = maps.Clone(base.Table), slices.Clone(base.order)
	for _, k := range over.order {
		out.Set(k, Merge(out.Table[k], over.Table[k]))
	}
	return &out
}

func (n *Node) ofTables() bool { return len(n.List) > 0 && n.List[0].Table != nil }
