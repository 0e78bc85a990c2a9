package experiment

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"dgkip/harness/toml"
)

// Value is a point on an axis.
type Value struct {
	Text string     // as used in filters and tables
	node *toml.Node // a string, a number or a boolean
}

// Values is a list of values. A file may also write a single value.
type Values []Value

func (v *Values) FromNode(d *toml.Decoder, n *toml.Node) {
	list := n.List
	if n.Value != nil {
		list = []*toml.Node{n}
	}
	if n.Table != nil || len(list) == 0 {
		hint := ""
		if n.Table != nil {
			hint = "write the name of an axis with a dot in quotes, as in \"method.updates\" = [10, 20]"
		}
		if n.Table == nil {
			hint = "write at least one value"
		}
		d.Fault(n, "this must be a value or a list of values", hint)
		return
	}
	*v = nil
	for _, x := range list {
		switch x.Value.(type) {
		case string, int64, float64, bool:
			*v = append(*v, Value{fmt.Sprint(x.Value), x})
		default:
			d.Fault(x, "this must be a string, a number or a boolean, not "+x.Kind(), "")
		}
	}
}

func (v Values) matches(text string) bool {
	return slices.ContainsFunc(v, func(one Value) bool { return glob(one.Text, text) })
}

func glob(pattern, text string) bool {
	if !strings.ContainsAny(pattern, "*?[") {
		return pattern == text
	}
	ok, err := path.Match(pattern, text)
	return ok && err == nil
}

// Where selects cells that have one of the given values on every axis that it names. A value may be a
// pattern such as "dgkip-*".
type Where map[string]Values

func (w *Where) FromNode(d *toml.Decoder, n *toml.Node) {
	if n.Table == nil {
		d.Fault(n, "this must be a table of axes and their values, such as { method = \"dc\", ipc = [1, 10] }", "")
		return
	}
	*w = Where{}
	for _, k := range n.Keys() {
		var v Values
		v.FromNode(d, n.Table[k])
		if len(v) > 0 {
			(*w)[k] = v
		}
	}
}

// Matches reports whether a point is selected.
func (w Where) Matches(point func(axis string) (string, bool)) bool {
	for axis, values := range w {
		if text, ok := point(axis); !ok || !values.matches(text) {
			return false
		}
	}
	return true
}
