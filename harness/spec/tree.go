package spec

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/BurntSushi/toml"
)

// node is a value of a TOML document that knows where it stands.
type node struct {
	span
	text  *source
	value any // string, int64, float64, bool, time.Time; nil for tables and lists
	table map[string]*node
	list  []*node
}

// source is the file that a node comes from.
type source struct{ file, text string }

func (n *node) fault(onKey bool, message, hint string) Fault {
	from, to := n.val, n.valEnd
	if onKey {
		from, to = n.key, n.keyEnd
	}
	if n.text == nil {
		return Fault{Message: message, Hint: hint}
	}
	return faultAt(n.text.file, n.text.text, from, to, message, hint)
}

// keys lists the keys of a table in the order of the file.
func (n *node) keys() []string {
	return slices.SortedFunc(maps.Keys(n.table), func(a, b string) int {
		x, y := n.table[a], n.table[b]
		if x.key != y.key {
			return x.key - y.key
		}
		return cmpString(a, b)
	})
}

func cmpString(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// kind names the type of a value as a reader of TOML would.
func (n *node) kind() string {
	switch n.value.(type) {
	case string:
		return "a string"
	case int64:
		return "an integer"
	case float64:
		return "a float"
	case bool:
		return "a boolean"
	case time.Time:
		return "a date"
	}
	if n.table != nil {
		return "a table"
	}
	return "a list"
}

// parse reads a document.
func parse(file, text string) (*node, Faults) {
	var doc map[string]any
	if _, err := toml.Decode(text, &doc); err != nil {
		var at toml.ParseError
		if !errors.As(err, &at) {
			return nil, Faults{{File: file, Message: err.Error()}}
		}
		hint := ""
		if at.LastKey != "" {
			hint = fmt.Sprintf("the last key read was %q", at.LastKey)
		}
		return nil, Faults{faultAt(file, text, at.Position.Start, at.Position.Start+max(1, at.Position.Len), at.Message, hint)}
	}
	l := locate(text)
	var faults Faults
	for _, x := range l.newer {
		faults = append(faults, faultAt(file, text, x.from, max(x.to, x.from+1), x.what+" needs TOML 1.1; this file is TOML 1.0", ""))
	}
	return tree(&source{file, text}, l, doc, ""), faults
}

func tree(src *source, l *locator, v any, at place) *node {
	n := &node{span: l.spans[at], text: src}
	switch v := v.(type) {
	case map[string]any:
		n.table = map[string]*node{}
		for k, x := range v {
			n.table[k] = tree(src, l, x, at.at(k))
		}
	case []map[string]any:
		for i, x := range v {
			n.list = append(n.list, tree(src, l, x, at.index(i)))
		}
	case []any:
		for i, x := range v {
			n.list = append(n.list, tree(src, l, x, at.index(i)))
		}
	default:
		n.value = v
	}
	return n
}

// lists that an overlay extends instead of replacing them.
var extended = map[string]bool{"set": true, "exclude": true, "claim": true, "published": true, "figure": true}

// merge returns base with the overlay's values in place of its own. Tables merge
// key by key; at the top, lists of tables grow.
func merge(base, over *node, top bool) *node {
	if base == nil || base.table == nil || over.table == nil {
		return over
	}
	out := *base
	out.table = maps.Clone(base.table)
	for k, v := range over.table {
		old := out.table[k]
		if top && extended[k] && old != nil && old.table == nil && old.value == nil {
			both := *old
			both.list = append(slices.Clone(old.list), v.list...)
			out.table[k] = &both
			continue
		}
		out.table[k] = merge(old, v, false)
	}
	return &out
}
